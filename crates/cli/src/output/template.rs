//! Templates as `kubectl get -o jsonpath=…` takes them: text, `{.path}`, `{"text"}`, `{range .path}…{end}`; and paths to sort
//! by. It must not know what it is filled in with.

use std::cmp::Ordering;

use serde_json::Value;
use sexton_model::jsonpath::{JsonPath, JsonPathError};

/// Ranges in ranges, and no more than that.
const MOST_NESTED: usize = 16;

/// A compiled template.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Template(Vec<Part>);

#[derive(Debug, Clone, PartialEq)]
enum Part {
    Text(String),
    /// Values of a path, with spaces between them. `$` begins at the whole document, also within a range.
    Path {
        path: JsonPath,
        whole: bool,
    },
    Range {
        path: JsonPath,
        whole: bool,
        inner: Vec<Part>,
    },
}

/// Why a text is no template.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum TemplateError {
    #[error("{{{expression}}}: {error}")]
    Path { expression: String, error: JsonPathError },
    #[error("the brace at byte {0} is not closed")]
    Unclosed(usize),
    #[error("{{}} says nothing; {{.}} is the whole document")]
    Empty,
    #[error("a quote is not closed in {{{0}}}")]
    Quote(String),
    #[error("{{range}} has no {{end}}")]
    Endless,
    #[error("{{end}} without {{range}}")]
    End,
    #[error("ranges within ranges are nested too deeply")]
    Nested,
}

/// A piece of the text of a template.
enum Piece<'a> {
    Text(&'a str),
    Braces(&'a str),
}

impl Template {
    /// Compiles a template. A path without braces is taken as one with braces.
    pub(crate) fn parse(text: &str) -> Result<Template, TemplateError> {
        if !text.contains('{') && !text.is_empty() {
            let path = relaxed(text)?;
            return Ok(Template(vec![Part::Path { path, whole: false }]));
        }
        let mut pieces = pieces(text)?.into_iter();
        let parts = parts(&mut pieces, 0)?;
        Ok(Template(parts))
    }

    /// The text for a document.
    pub(crate) fn fill(&self, document: &Value) -> String {
        let mut text = String::new();
        fill(&self.0, document, document, &mut text);
        text
    }
}

/// A path as people type it: `metadata.name`, `.metadata.name` or `{.metadata.name}`.
pub(crate) fn relaxed(text: &str) -> Result<JsonPath, TemplateError> {
    let bare = text.trim();
    let bare = bare.strip_prefix('{').and_then(|inner| inner.strip_suffix('}')).unwrap_or(bare).trim();
    let dotted = match bare.starts_with(['.', '[', '$', '@']) {
        true => bare.to_owned(),
        false => format!(".{bare}"),
    };
    match bare {
        "" => Err(TemplateError::Empty),
        _ => JsonPath::parse(&dotted)
            .map_err(|error| TemplateError::Path { expression: bare.to_owned(), error }),
    }
}

/// Text and braces in turn. Braces within quotes do not count.
fn pieces(text: &str) -> Result<Vec<Piece<'_>>, TemplateError> {
    let (mut pieces, mut rest, mut at) = (Vec::new(), text, 0);
    while let Some(open) = rest.find('{') {
        if open > 0 {
            pieces.push(Piece::Text(&rest[..open]));
        }
        let inner = &rest[open + 1..];
        let close = closing(inner).ok_or(TemplateError::Unclosed(at + open))?;
        pieces.push(Piece::Braces(inner[..close].trim()));
        at += open + close + 2;
        rest = &inner[close + 1..];
    }
    if !rest.is_empty() {
        pieces.push(Piece::Text(rest));
    }
    Ok(pieces)
}

fn closing(text: &str) -> Option<usize> {
    let (mut quote, mut escaped) = (None, false);
    for (at, c) in text.char_indices() {
        match (quote, c) {
            _ if escaped => escaped = false,
            (_, '\\') => escaped = true,
            (Some(open), c) if c == open => quote = None,
            (None, '\'' | '"') => quote = Some(c),
            (None, '}') => return Some(at),
            _ => {}
        }
    }
    None
}

/// The parts up to the `{end}` of this depth, or to the end of the text.
fn parts<'a>(pieces: &mut impl Iterator<Item = Piece<'a>>, depth: usize) -> Result<Vec<Part>, TemplateError> {
    if depth > MOST_NESTED {
        return Err(TemplateError::Nested);
    }
    let mut parts = Vec::new();
    while let Some(piece) = pieces.next() {
        let inner = match piece {
            Piece::Text(text) => {
                parts.push(Part::Text(text.to_owned()));
                continue;
            }
            Piece::Braces(inner) => inner,
        };
        let range = inner.strip_prefix("range").filter(|rest| rest.starts_with([' ', '.', '[', '\t']));
        if inner == "end" {
            return if depth > 0 { Ok(parts) } else { Err(TemplateError::End) };
        } else if let Some(path) = range {
            let (path, whole) = path_of(path.trim())?;
            parts.push(Part::Range { path, whole, inner: self::parts(pieces, depth + 1)? });
        } else if inner.starts_with(['"', '\'']) {
            parts.push(Part::Text(quoted(inner)?));
        } else {
            let (path, whole) = path_of(inner)?;
            parts.push(Part::Path { path, whole });
        }
    }
    if depth > 0 { Err(TemplateError::Endless) } else { Ok(parts) }
}

fn path_of(text: &str) -> Result<(JsonPath, bool), TemplateError> {
    Ok((relaxed(text)?, text.starts_with('$')))
}

/// What stands between quotes, with the escapes that Go knows.
fn quoted(text: &str) -> Result<String, TemplateError> {
    let unclosed = || TemplateError::Quote(text.to_owned());
    let quote = text.chars().next().ok_or_else(unclosed)?;
    let inner = text[1..].strip_suffix(quote).ok_or_else(unclosed)?;
    let mut out = String::new();
    let mut rest = inner.chars();
    while let Some(c) = rest.next() {
        match c {
            '\\' => out.push(match rest.next().ok_or_else(unclosed)? {
                'n' => '\n',
                't' => '\t',
                'r' => '\r',
                '0' => '\0',
                other => other,
            }),
            c if c == quote => return Err(unclosed()),
            c => out.push(c),
        }
    }
    Ok(out)
}

fn fill(parts: &[Part], whole: &Value, here: &Value, text: &mut String) {
    for part in parts {
        let from = |whole_document: bool| if whole_document { whole } else { here };
        match part {
            Part::Text(words) => text.push_str(words),
            Part::Path { path, whole } => {
                let values = path.all_within(from(*whole), usize::MAX);
                let words: Vec<String> = values.into_iter().map(word).collect();
                text.push_str(&words.join(" "));
            }
            Part::Range { path, whole: whole_document, inner } => {
                for item in path.all_within(from(*whole_document), usize::MAX) {
                    fill(inner, whole, item, text);
                }
            }
        }
    }
}

fn word(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        other => other.to_string(),
    }
}

/// The order of two values that something is sorted by. What is not there comes first, numbers count as numbers, also
/// within text: `web-9` comes before `web-10`.
pub(crate) fn order(left: Option<&Value>, right: Option<&Value>) -> Ordering {
    match (left, right) {
        (Some(Value::Number(left)), Some(Value::Number(right))) => {
            let (left, right) = (left.as_f64().unwrap_or(0.0), right.as_f64().unwrap_or(0.0));
            left.total_cmp(&right)
        }
        (Some(left), Some(right)) => natural(&word(left), &word(right)),
        (left, right) => left.is_some().cmp(&right.is_some()),
    }
}

fn natural(left: &str, right: &str) -> Ordering {
    let (mut left, mut right) = (left, right);
    loop {
        let digits = |text: &str| text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        let (many, others) = (digits(left), digits(right));
        if many > 0 && others > 0 {
            let number = |text: &str, many: usize| text[..many].trim_start_matches('0').to_owned();
            let (one, other) = (number(left, many), number(right, others));
            let order = (one.len(), &one).cmp(&(other.len(), &other));
            if order != Ordering::Equal {
                return order;
            }
            (left, right) = (&left[many..], &right[others..]);
            continue;
        }
        match (left.chars().next(), right.chars().next()) {
            (Some(one), Some(other)) if one == other => {
                (left, right) = (&left[one.len_utf8()..], &right[other.len_utf8()..]);
            }
            (one, other) => return one.cmp(&other),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn filled(template: &str) -> String {
        let list = json!({"kind": "List", "items": [
            {"metadata": {"name": "a", "labels": {"x.y/z": "1"}}, "n": 1, "ports": [{"p": 80}, {"p": 443}]},
            {"metadata": {"name": "b"}, "n": null, "ports": []},
        ]});
        Template::parse(template).unwrap().fill(&list)
    }

    #[test]
    fn templates_are_filled_as_kubectl_fills_them() {
        for (template, expected) in [
            ("{.items[*].metadata.name}", "a b"),
            ("{ .items[0].metadata.name }", "a"),
            (".items[*].metadata.name", "a b"),
            ("items[*].metadata.name", "a b"),
            ("{range .items[*]}{.metadata.name}{\"\\n\"}{end}", "a\nb\n"),
            ("{range .items[*]}{.metadata.name}: {.ports[*].p}{'\\t'}{end}", "a: 80 443\tb: \t"),
            ("{range .items[*]}{range .ports[*]}{.p},{end};{end}", "80,443,;;"),
            ("{range .items[*]}{$.kind}/{.metadata.name} {end}", "List/a List/b "),
            ("{range .items[*]}{@.metadata.name}{end}", "ab"),
            ("{.items[?(@.metadata.name==\"b\")].metadata.name}", "b"),
            ("{.items[0].metadata.labels.x\\.y/z}", "1"),
            ("{.items[0].ports}", "[{\"p\":80},{\"p\":443}]"),
            ("names: {.items[*].metadata.name}!", "names: a b!"),
            ("{.nothing.at.all}", ""),
            ("{.items[7].metadata.name}{.items[1].n}", ""),
            ("{\"{braces}\"}{'it\\'s'}{\"\\\\\"}", "{braces}it's\\"),
            ("", ""),
        ] {
            assert_eq!(filled(template), expected, "{template}");
        }
    }

    #[test]
    fn what_is_no_template_is_refused() {
        for template in [
            "{",
            "{}",
            "{ }",
            "}{",
            "{.a",
            "{\"a}",
            "{'a\"}",
            "{range .a}",
            "{end}",
            "{range .a}{end}{end}",
            "{range}{end}",
            "{.a[}",
            "{.a[?(]}",
            "{\"a\"b}",
            "a b",
            "{range .a}{range .b}{end}",
            "{.a | b}",
        ] {
            assert!(Template::parse(template).is_err(), "{template}");
        }
        assert!(Template::parse(&"{range .a}".repeat(1000)).is_err());
    }

    #[test]
    fn numbers_are_sorted_as_numbers() {
        let mut names = vec![json!("web-10"), json!("web-9"), json!("web"), json!("api-2"), json!("web-09")];
        names.sort_by(|a, b| order(Some(a), Some(b)));
        assert_eq!(json!(names), json!(["api-2", "web", "web-9", "web-09", "web-10"]));
        assert_eq!(order(Some(&json!(9)), Some(&json!(10))), Ordering::Less);
        assert_eq!(order(None, Some(&json!(0))), Ordering::Less);
        assert_eq!(order(None, None), Ordering::Equal);
    }

    proptest! {
        #[test]
        fn nothing_panics(template in "[a-z.{}\\[\\]\"'\\\\$@?()=*: ]{0,40}", left in ".{0,12}", right in ".{0,12}") {
            if let Ok(template) = Template::parse(&template) {
                template.fill(&json!({"a": [{"b": 1}]}));
            }
            let order = natural(&left, &right);
            prop_assert_eq!(order.reverse(), natural(&right, &left));
        }
    }
}
