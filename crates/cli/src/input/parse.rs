//! Documents from a text: YAML with `---` between them, or JSON. Every complaint names file, line and document.

use serde_json::Value;
use sexton_client::resources::text as text_at;

use super::{Document, Origin, json};
use crate::failure::Failure;

/// All documents of a text. Lists are taken apart.
pub(super) fn documents(file: &str, text: &str) -> Result<Vec<Document>, Failure> {
    let mut documents = Vec::new();
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    for (line, piece) in pieces(text) {
        let number = documents.len() + 1;
        let origin = Origin { file: file.to_owned(), line, number };
        for value in values(&origin, text, piece)? {
            take(&origin, value, &mut documents)?;
        }
    }
    Ok(documents)
}

/// The only value of a text; an empty one is an empty object.
pub(super) fn value(file: &str, text: &str) -> Result<Value, Failure> {
    let origin = Origin { file: file.to_owned(), line: 1, number: 1 };
    let mut values = values(&origin, text, text)?;
    match values.len() {
        0 => Ok(Value::Object(serde_json::Map::new())),
        1 => Ok(values.remove(0)),
        _ => Err(Failure::new(format!("{file}: there must be one document in it"))),
    }
}

/// The texts of the documents, and the lines on which they begin. Three dashes at the beginning of a line always end a
/// document, even within a block of text.
fn pieces(text: &str) -> Vec<(usize, &str)> {
    let mut pieces = Vec::new();
    let (mut start, mut start_line, mut at) = (0, 1, 0);
    for (number, line) in text.split_inclusive('\n').enumerate() {
        let is_marker = line
            .strip_prefix("---")
            .is_some_and(|rest| rest.is_empty() || rest.starts_with(char::is_whitespace));
        if is_marker && at > 0 {
            pieces.push((start_line, &text[start..at]));
            (start, start_line) = (at, number + 1);
        }
        at += line.len();
    }
    pieces.push((start_line, &text[start..]));
    pieces
}

/// The values of one document: none if it is empty, several if it is JSON after JSON.
fn values(origin: &Origin, text: &str, piece: &str) -> Result<Vec<Value>, Failure> {
    let is_json = origin.file.ends_with(".json");
    if is_json || piece.trim_start().starts_with('{') {
        match json::values(piece) {
            Ok(values) => return Ok(values),
            // What is JSON and wrong in itself would be no better as YAML.
            Err(error) if is_json || error.is_data() => {
                let what = error.to_string();
                let what = what.split(" at line ").next().unwrap_or_default();
                return Err(broken(origin, text, "JSON", what, Some((error.line(), error.column()))));
            }
            Err(_) => {}
        }
    }
    // Comments and separators alone are no document.
    let is_content = |line: &str| {
        !line.trim().is_empty() && !line.trim_start().starts_with('#') && line.trim_end() != "---"
    };
    if !piece.lines().any(is_content) {
        return Ok(Vec::new());
    }
    // As other tools for Kubernetes read it: 0644 is what the permissions of a file look like.
    let options = serde_saphyr::options! { with_snippet: false, legacy_octal_numbers: true };
    serde_saphyr::from_str_with_options::<Value>(piece, options).map(|value| vec![value]).map_err(|error| {
        let place = error.location().map(|place| (place.line() as usize, place.column() as usize));
        let what = error.without_snippet().to_string();
        let what = what.split(" at line ").next().unwrap_or_default().trim_end_matches([':', ',']).to_owned();
        broken(origin, text, "YAML", &in_our_words(&what), place)
    })
}

/// What the reader of YAML says in words that are meant for programmers.
fn in_our_words(what: &str) -> String {
    if let Some(key) = what.strip_prefix("duplicate mapping key: ") {
        let key = key.split(", set ").next().unwrap_or_default();
        return format!("the key {key} is there twice");
    }
    match what {
        what if what.starts_with("budget breached") => {
            "it is too large, or repeats itself too often by its aliases".to_owned()
        }
        what if what.starts_with("multiple YAML documents") => {
            "there must be one document in it, and there are more".to_owned()
        }
        what if what.starts_with("non-finite float") => "a number is too large, or is none".to_owned(),
        what if what.starts_with("recursive references") => "an alias stands within what it means".to_owned(),
        what => what.to_owned(),
    }
}

/// A document that cannot be read, with the line of it that says why.
fn broken(origin: &Origin, text: &str, format: &str, what: &str, place: Option<(usize, usize)>) -> Failure {
    let Some((line, column)) = place.filter(|(line, _)| *line > 0) else {
        return Failure::new(format!("{origin}: not {format}: {what}"));
    };
    let line = origin.line + line - 1;
    let heading =
        format!("{}:{line}:{column} (document {}): not {format}: {what}", origin.file, origin.number);
    let source = text.lines().nth(line - 1).unwrap_or_default();
    let shown: String = source.chars().take(100).map(|c| if c.is_control() { ' ' } else { c }).collect();
    let arrow = format!("{:>width$}", '^', width = column.clamp(1, 101));
    let margin = " ".repeat(line.to_string().len());
    Failure::new(heading).detail(format!("{line} | {shown}\n{margin} | {arrow}"))
}

/// Takes a value for a document, or for a list of them.
fn take(origin: &Origin, mut value: Value, documents: &mut Vec<Document>) -> Result<(), Failure> {
    if value.is_null() {
        return Ok(());
    }
    let kind = text_at(&value, "/kind").to_owned();
    if kind.ends_with("List")
        && let Some(Value::Array(items)) = value.get_mut("items").map(Value::take)
    {
        for item in items {
            take(origin, item, documents)?;
        }
        return Ok(());
    }
    if !value.is_object() {
        return Err(Failure::new(format!(
            "{origin}: a document must be a mapping with apiVersion, kind and metadata.name"
        )));
    }
    for (field, pointer) in
        [("apiVersion", "/apiVersion"), ("kind", "/kind"), ("metadata.name", "/metadata/name")]
    {
        match value.pointer(pointer) {
            Some(Value::String(text)) if !text.is_empty() => {}
            Some(Value::String(_) | Value::Null) | None => {
                let failure = Failure::new(format!("{origin}: {field} is missing"));
                return Err(match value.pointer("/metadata/generateName") {
                    Some(_) if field == "metadata.name" => {
                        failure.detail("a generated name would be another object each time: give it one")
                    }
                    _ => failure,
                });
            }
            Some(other) => {
                let failure = Failure::new(format!("{origin}: {field} must be a string, and is {other}"));
                return Err(failure.detail("in YAML, numbers and words like true are strings only in quotes"));
            }
        }
    }
    documents.push(Document {
        origin: Origin { number: documents.len() + 1, ..origin.clone() },
        api_version: text_at(&value, "/apiVersion").to_owned(),
        kind,
        namespace: text_at(&value, "/metadata/namespace").to_owned(),
        name: text_at(&value, "/metadata/name").to_owned(),
        value,
    });
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_wrong_with_yaml_is_said_in_words() {
        let said = |text: &str| documents("a.yaml", text).unwrap_err().what;
        assert_eq!(said("a: 1\na: 2\n"), "a.yaml:2:1 (document 1): not YAML: the key a is there twice");
        assert_eq!(
            said("a: &a [*a]\n"),
            "a.yaml:1:8 (document 1): not YAML: an alias stands within what it means"
        );
        let mut text = String::from("a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n");
        for n in 1..7 {
            let before = vec![format!("*a{}", n - 1); 10].join(", ");
            text.push_str(&format!("a{n}: &a{n} [{before}]\n"));
        }
        assert!(
            said(&text).ends_with("it is too large, or repeats itself too often by its aliases"),
            "{}",
            said(&text)
        );
    }

    /// As other tools for Kubernetes read the same text.
    #[test]
    fn numbers_are_read_as_elsewhere() {
        let text = format!("{ONE}a: [0644, 0o17, 0x1F, 1_000, 0, 0.5, -010]\n");
        let read = documents("f.yaml", &text).unwrap();
        assert_eq!(read[0].value["a"], serde_json::json!([420, 15, 31, 1000, 0, 0.5, -8]));
    }

    const ONE: &str = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n";

    fn places(text: &str) -> Vec<(usize, usize, String)> {
        let found = documents("f.yaml", text).unwrap();
        found.into_iter().map(|found| (found.origin.number, found.origin.line, found.name)).collect()
    }

    #[test]
    fn documents_know_where_they_stand() {
        let text = format!("# first\n---\n{ONE}---\n# nothing\n---\n{ONE}...\n");
        assert_eq!(places(&text), [(1, 2, "a".into()), (2, 8, "a".into())]);
        assert_eq!(places(""), []);
        assert_eq!(places("---\n---\n"), []);
    }

    #[test]
    fn lists_and_json_are_taken_apart() {
        let json = r#"{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"}}"#;
        assert_eq!(places(&format!("{json}\n{json}")).len(), 2);
        let list = format!("apiVersion: v1\nkind: List\nitems: [{json}, {json}]\n");
        assert_eq!(places(&list).iter().map(|place| place.0).collect::<Vec<_>>(), [1, 2]);
    }

    #[test]
    fn complaints_name_the_line_and_the_document() {
        let bad = format!("{ONE}---\nkind: X\n  bad: [\n");
        let failure = documents("f.yaml", &bad).unwrap_err();
        assert!(failure.what.starts_with("f.yaml:6:"), "{failure:?}");
        assert!(failure.what.contains("(document 2)"), "{failure:?}");
        let missing = documents("f.yaml", "kind: X\n").unwrap_err();
        assert_eq!(missing.what, "f.yaml:1 (document 1): apiVersion is missing");
        let number = documents("f.yaml", "apiVersion: v1\nkind: X\nmetadata: {name: 1}\n").unwrap_err();
        assert_eq!(number.what, "f.yaml:1 (document 1): metadata.name must be a string, and is 1");
        let twice = documents("f.yaml", "kind: X\nkind: Y\n").unwrap_err();
        assert!(twice.what.contains("the key kind is there twice"), "{twice:?}");
        let twice = documents("f.yaml", "{\"kind\": 1,\n \"kind\": 2}\n").unwrap_err();
        assert_eq!(twice.what, "f.yaml:2:7 (document 1): not JSON: the key kind is there twice");
        let json = documents("f.json", "{\n \"a\": }\n").unwrap_err();
        assert!(json.what.starts_with("f.json:2:"), "{json:?}");
    }
}
