//! Rows under headings, aligned.

use serde_json::Value;

use super::style::harmless;

/// Columns are apart by so many spaces.
const GAP: usize = 3;

/// A table of texts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Lines {
    rows: Vec<Vec<String>>,
    widths: Vec<usize>,
}

impl Lines {
    /// A table with headings, which are written in capitals.
    pub(crate) fn new<'a>(headings: impl IntoIterator<Item = &'a str>) -> Lines {
        let mut lines = Lines::default();
        lines.add(headings.into_iter().map(str::to_uppercase).collect());
        lines
    }

    /// Adds a row.
    pub(crate) fn add(&mut self, row: Vec<String>) {
        for (at, cell) in row.iter().enumerate() {
            let width = cell.chars().count();
            match self.widths.get_mut(at) {
                Some(most) => *most = width.max(*most),
                None => self.widths.push(width),
            }
        }
        self.rows.push(row);
    }

    /// One row, as wide as those that are known so far.
    pub(crate) fn row(&self, row: &[String]) -> String {
        let mut line = String::new();
        for (at, cell) in row.iter().enumerate() {
            line.push_str(cell);
            if at + 1 < row.len() {
                let width = self.widths.get(at).copied().unwrap_or(0);
                let missing = width.saturating_sub(cell.chars().count()) + GAP;
                line.extend(std::iter::repeat_n(' ', missing));
            }
        }
        line.truncate(line.trim_end().len());
        line
    }

    /// The whole table.
    pub(crate) fn text(&self) -> String {
        self.lines().map(|line| line + "\n").collect()
    }

    /// The same without its headings, which do not make it wider either.
    #[must_use]
    pub(crate) fn without_headings(mut self) -> Lines {
        let rows = self.rows.split_off(self.rows.len().min(1));
        rows.into_iter().fold(Lines::default(), |mut lines, row| {
            lines.add(row);
            lines
        })
    }

    /// The rows one by one, without line ends.
    pub(crate) fn lines(&self) -> impl Iterator<Item = String> {
        self.rows.iter().map(|row| self.row(row))
    }
}

/// A cell as one line of plain text. What a terminal would take for an instruction is written out.
pub(crate) fn cell(value: &Value) -> String {
    let text = match value {
        Value::Null => "<none>".to_owned(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    harmless(&text).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn columns_are_aligned_and_nothing_trails() {
        let mut lines = Lines::new(["Name", "Data", "Age"]);
        lines.add(vec!["a".into(), "12".into(), "3s".into()]);
        lines.add(vec!["longer-name".into(), "1".into(), String::new()]);
        assert_eq!(lines.text(), "NAME          DATA   AGE\na             12     3s\nlonger-name   1\n");
    }

    #[test]
    fn cells_are_one_harmless_line() {
        assert_eq!(cell(&json!("a\nb\u{1b}[31m")), "a\\nb\\u{1b}[31m");
        assert_eq!((cell(&json!(3)), cell(&Value::Null)), ("3".into(), "<none>".into()));
    }
}
