//! Documents from a text, and lists taken apart. Every complaint names file, line and document.
//!
//! It must not know how a text is read.

use serde_json::Value;
use sexton_client::resources::text as text_at;

use super::pieces::{Unreadable, pieces, read, read_all};
use super::{Document, Origin};
use crate::failure::Failure;

/// All documents of a text. Lists are taken apart.
pub(super) fn documents(
    file: &str,
    text: &str,
    one_more: &(dyn Fn() + Sync),
) -> Result<Vec<Document>, Failure> {
    let mut documents = Vec::new();
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let pieces = pieces(text);
    let is_json = file.ends_with(".json");
    for ((line, _), values) in pieces.iter().zip(read_all(&pieces, is_json, one_more)) {
        let origin = Origin { file: file.to_owned(), line: *line, number: documents.len() + 1 };
        for value in values.map_err(|error| broken(&origin, text, &error))? {
            take(&origin, value, &mut documents)?;
        }
    }
    Ok(documents)
}

/// The only value of a text; an empty one is an empty object.
pub(super) fn value(file: &str, text: &str) -> Result<Value, Failure> {
    let origin = Origin { file: file.to_owned(), line: 1, number: 1 };
    let read = read(text, file.ends_with(".json"));
    let mut values = read.map_err(|error| broken(&origin, text, &error))?;
    match values.len() {
        0 => Ok(Value::Object(serde_json::Map::new())),
        1 => Ok(values.remove(0)),
        _ => Err(Failure::new(format!("{file}: there must be one document in it"))),
    }
}

/// A document that cannot be read, with the line of it that says why.
fn broken(origin: &Origin, text: &str, error: &Unreadable) -> Failure {
    let Unreadable { format, what, place } = error;
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
    texts(origin, &value)?;
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

/// Labels and annotations are texts: a number that was meant as one is found here, where its file and line are known.
fn texts(origin: &Origin, value: &Value) -> Result<(), Failure> {
    for field in ["labels", "annotations"] {
        let (at, name) = (value.pointer(&format!("/metadata/{field}")), format!("metadata.{field}"));
        let wrong = match at {
            None | Some(Value::Null) => continue,
            Some(Value::Object(map)) => map
                .iter()
                .find(|(_, value)| !value.is_string())
                .map(|(key, value)| format!("{name}[{key}] must be a string, and is {value}")),
            Some(other) => Some(format!("{name} must be a mapping of strings, and is {other}")),
        };
        if let Some(wrong) = wrong {
            let failure = Failure::new(format!("{origin}: {wrong}"));
            return Err(failure.detail("in YAML, numbers and words like true are strings only in quotes"));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_quietly(file: &str, text: &str) -> Result<Vec<Document>, Failure> {
        documents(file, text, &|| {})
    }

    #[test]
    fn labels_and_annotations_are_texts() {
        let said = |metadata: &str| {
            let text = format!("# one\n---\napiVersion: v1\nkind: Pod\nmetadata: {{name: a, {metadata}}}\n");
            read_quietly("a.yaml", &text).map_err(|failure| failure.what)
        };
        let wrong = "a.yaml:2 (document 1): metadata.labels[a] must be a string, and is 1";
        assert_eq!(said("labels: {a: 1}").unwrap_err(), wrong);
        let wrong = "a.yaml:2 (document 1): metadata.annotations[b] must be a string, and is true";
        assert_eq!(said("annotations: {a: x, b: true}").unwrap_err(), wrong);
        assert!(said("labels: [a]").unwrap_err().ends_with("must be a mapping of strings, and is [\"a\"]"));
        assert!(said("labels: {a: '1'}, annotations: null").is_ok());
    }

    #[test]
    fn what_is_wrong_with_yaml_is_said_in_words() {
        let said = |text: &str| read_quietly("a.yaml", text).unwrap_err().what;
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
        let read = read_quietly("f.yaml", &text).unwrap();
        assert_eq!(read[0].value["a"], serde_json::json!([420, 15, 31, 1000, 0, 0.5, -8]));
    }

    const ONE: &str = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n";

    fn places(text: &str) -> Vec<(usize, usize, String)> {
        let found = read_quietly("f.yaml", text).unwrap();
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
        let failure = read_quietly("f.yaml", &bad).unwrap_err();
        assert!(failure.what.starts_with("f.yaml:6:"), "{failure:?}");
        assert!(failure.what.contains("(document 2)"), "{failure:?}");
        let missing = read_quietly("f.yaml", "kind: X\n").unwrap_err();
        assert_eq!(missing.what, "f.yaml:1 (document 1): apiVersion is missing");
        let number = read_quietly("f.yaml", "apiVersion: v1\nkind: X\nmetadata: {name: 1}\n").unwrap_err();
        assert_eq!(number.what, "f.yaml:1 (document 1): metadata.name must be a string, and is 1");
        let twice = read_quietly("f.yaml", "kind: X\nkind: Y\n").unwrap_err();
        assert!(twice.what.contains("the key kind is there twice"), "{twice:?}");
        let twice = read_quietly("f.yaml", "{\"kind\": 1,\n \"kind\": 2}\n").unwrap_err();
        assert_eq!(twice.what, "f.yaml:2:7 (document 1): not JSON: the key kind is there twice");
        let json = read_quietly("f.json", "{\n \"a\": }\n").unwrap_err();
        assert!(json.what.starts_with("f.json:2:"), "{json:?}");
    }
}
