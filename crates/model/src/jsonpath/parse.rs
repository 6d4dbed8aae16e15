//! From text to steps. It must not know what a path is followed on.

use serde_json::Value;

use super::{Comparison, Filter, JsonPathError, MOST_BYTES, MOST_STEPS, Operand, Step};

/// Filters in filters, and no more than that.
const MOST_NESTED: usize = 4;

/// Compiles a path that begins with a dot or a bracket, perhaps behind a `$` or `@`.
pub(super) fn steps(text: &str) -> Result<Vec<Step>, JsonPathError> {
    if text.len() > MOST_BYTES {
        return Err(JsonPathError::TooLong);
    }
    Reader { text, at: 0, nested: 0 }.steps()
}

struct Reader<'a> {
    text: &'a str,
    /// A byte that begins a character.
    at: usize,
    nested: usize,
}

impl<'a> Reader<'a> {
    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn next(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn steps(mut self) -> Result<Vec<Step>, JsonPathError> {
        let mut steps = Vec::new();
        if matches!(self.next(), Some('$' | '@')) {
            self.at += 1;
        }
        while let Some(c) = self.next() {
            if steps.len() >= MOST_STEPS {
                return Err(JsonPathError::TooLong);
            }
            match c {
                '.' if self.rest().starts_with("...") => return Err(JsonPathError::Unexpected(self.at)),
                '.' if self.rest().starts_with("..") => {
                    // The dot that is left begins the field; a bracket may follow at once.
                    self.at += if self.rest().starts_with("..[") { 2 } else { 1 };
                    steps.push(Step::Below);
                }
                '.' => {
                    self.at += 1;
                    steps.extend(self.field()?);
                }
                '[' => steps.push(self.bracket()?),
                _ => return Err(JsonPathError::Unexpected(self.at)),
            }
        }
        Ok(steps)
    }

    /// A name behind a dot. Without one, the dot is the value itself.
    fn field(&mut self) -> Result<Option<Step>, JsonPathError> {
        let start = self.at;
        let mut name = String::new();
        while let Some(c) = self.next() {
            match c {
                '.' | '[' => break,
                '\\' => {
                    self.at += 1;
                    let escaped = self.next().ok_or(JsonPathError::Unexpected(self.at))?;
                    name.push(escaped);
                    self.at += escaped.len_utf8();
                }
                c if c.is_control()
                    || c.is_whitespace()
                    || matches!(
                        c,
                        '{' | '}' | '(' | ')' | ']' | '"' | '\'' | '|' | '=' | '<' | '>' | '!' | ',' | ';'
                    ) =>
                {
                    return Err(JsonPathError::Unexpected(self.at));
                }
                c => {
                    name.push(c);
                    self.at += c.len_utf8();
                }
            }
        }
        match name.as_str() {
            "" if start == self.text.len() || self.next() == Some('[') => Ok(None),
            "" => Err(JsonPathError::Unexpected(self.at)),
            "*" => Ok(Some(Step::All)),
            _ => Ok(Some(Step::Fields(vec![name]))),
        }
    }

    fn bracket(&mut self) -> Result<Step, JsonPathError> {
        let start = self.at;
        let end = closing(self.rest()).ok_or(JsonPathError::Unterminated(start))?;
        let inner = self.rest()[1..end].trim();
        self.at += end + 1;
        if let Some(filter) = inner.strip_prefix("?(").and_then(|filter| filter.strip_suffix(')')) {
            return Ok(Step::Where(self.filter(filter)?));
        }
        if inner == "*" {
            return Ok(Step::All);
        }
        let bad = || JsonPathError::BadIndex(inner.to_owned());
        if inner.starts_with(['\'', '"']) {
            let names: Option<Vec<String>> = parts(inner, ',').into_iter().map(quoted).collect();
            return names.map(Step::Fields).ok_or_else(bad);
        }
        if inner.contains(':') {
            return slice(inner).ok_or_else(bad);
        }
        let items: Option<Vec<i64>> = inner.split(',').map(|item| item.trim().parse().ok()).collect();
        items.map(Step::Items).ok_or_else(bad)
    }

    fn filter(&self, text: &str) -> Result<Filter, JsonPathError> {
        let bad = || JsonPathError::BadFilter(text.to_owned());
        let Some((at, length, comparison)) = compared(text) else {
            return Ok(Filter { left: self.operand(text)?, compared: None });
        };
        let comparison = comparison.ok_or_else(bad)?;
        let right = self.operand(&text[at + length..])?;
        Ok(Filter { left: self.operand(&text[..at])?, compared: Some((comparison, right)) })
    }

    fn operand(&self, text: &str) -> Result<Operand, JsonPathError> {
        let text = text.trim();
        let bad = || JsonPathError::BadFilter(text.to_owned());
        match text.chars().next().ok_or_else(bad)? {
            '@' if self.nested < MOST_NESTED => {
                let inner = Reader { text, at: 0, nested: self.nested + 1 };
                Ok(Operand::Path(inner.steps()?))
            }
            '\'' | '"' => quoted(text).map(|text| Operand::Value(text.into())).ok_or_else(bad),
            _ => match serde_json::from_str::<Value>(text) {
                Ok(value @ (Value::Bool(_) | Value::Number(_))) => Ok(Operand::Value(value)),
                _ => Err(bad()),
            },
        }
    }
}

/// Where the bracket that begins a text is closed. What is quoted does not count.
fn closing(text: &str) -> Option<usize> {
    let (mut depth, mut quote, mut escaped) = (0_usize, None, false);
    for (at, c) in text.char_indices() {
        match (quote, c) {
            _ if escaped => escaped = false,
            (Some(_), '\\') => escaped = true,
            (Some(open), c) if c == open => quote = None,
            (Some(_), _) => {}
            (None, '\'' | '"') => quote = Some(c),
            (None, '[') => depth += 1,
            (None, ']') => {
                depth -= 1;
                if depth == 0 {
                    return Some(at);
                }
            }
            (None, _) => {}
        }
    }
    None
}

/// The pieces of a text between separators that are not quoted.
fn parts(text: &str, separator: char) -> Vec<&str> {
    let (mut parts, mut start, mut quote, mut escaped) = (Vec::new(), 0, None, false);
    for (at, c) in text.char_indices() {
        match (quote, c) {
            _ if escaped => escaped = false,
            (Some(_), '\\') => escaped = true,
            (Some(open), c) if c == open => quote = None,
            (None, '\'' | '"') => quote = Some(c),
            (None, c) if c == separator => {
                parts.push(text[start..at].trim());
                start = at + c.len_utf8();
            }
            _ => {}
        }
    }
    parts.push(text[start..].trim());
    parts
}

/// What stands between two quotes of a kind.
fn quoted(text: &str) -> Option<String> {
    let open = text.chars().next().filter(|c| matches!(c, '\'' | '"'))?;
    let mut out = String::new();
    let mut rest = text[1..].chars();
    while let Some(c) = rest.next() {
        match c {
            '\\' => out.push(rest.next()?),
            c if c == open => return rest.as_str().is_empty().then_some(out),
            c => out.push(c),
        }
    }
    None
}

fn slice(text: &str) -> Option<Step> {
    let numbers: Vec<&str> = text.split(':').map(str::trim).collect();
    let number = |text: &str| if text.is_empty() { Some(None) } else { text.parse().ok().map(Some) };
    match numbers.as_slice() {
        [from, to] => Some(Step::Slice(number(from)?, number(to)?, 1)),
        [from, to, step] => {
            let step = number(step)?.unwrap_or(1);
            (step > 0).then_some(Step::Slice(number(from)?, number(to)?, step))
        }
        _ => None,
    }
}

/// Where a filter compares, how long the sign is, and what it means, if anything.
fn compared(text: &str) -> Option<(usize, usize, Option<Comparison>)> {
    let (mut quote, mut escaped, mut depth) = (None, false, 0_usize);
    for (at, c) in text.char_indices() {
        match (quote, c) {
            _ if escaped => escaped = false,
            (_, '\\') => escaped = true,
            (Some(open), c) if c == open => quote = None,
            (Some(_), _) => {}
            (None, '\'' | '"') => quote = Some(c),
            (None, '[') => depth += 1,
            (None, ']') => depth = depth.saturating_sub(1),
            (None, '=' | '!' | '<' | '>') if depth == 0 => {
                let sign = &text[at..];
                let length = sign.find(|c: char| !matches!(c, '=' | '!' | '<' | '>')).unwrap_or(sign.len());
                let comparison = match &sign[..length] {
                    "==" | "=" => Some(Comparison::Equal),
                    "!=" => Some(Comparison::Different),
                    "<" => Some(Comparison::Less),
                    "<=" => Some(Comparison::AtMost),
                    ">" => Some(Comparison::Greater),
                    ">=" => Some(Comparison::AtLeast),
                    _ => None,
                };
                return Some((at, length, comparison));
            }
            (None, _) => {}
        }
    }
    None
}
