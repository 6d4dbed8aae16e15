//! YAML that every reader understands the same way: what was a string stays one.

use serde::Serialize;
use serde_json::Value;

use super::screen;
use crate::failure::Failure;

/// A value as a YAML document.
pub(crate) fn text(value: &impl Serialize) -> Result<String, Failure> {
    let text = written(value)?;
    match text.contains(screen::is_loud) {
        true => quieted(value),
        false => Ok(text),
    }
}

fn written(value: &impl Serialize) -> Result<String, Failure> {
    let options = serde_saphyr::ser_options! {
        // Long lines are not folded: folded text is hard to compare and to copy.
        folded_wrap_chars: usize::MAX,
        min_fold_chars: usize::MAX,
    };
    serde_saphyr::to_string_with_options(value, options).map_err(|error| cannot(&error))
}

fn cannot(error: &dyn std::fmt::Display) -> Failure {
    Failure::new(format!("cannot write as YAML: {error}"))
}

/// The same document, in which no character is an instruction to a terminal. The writer of YAML escapes most of them,
/// but not those that turn the direction of text: texts with such are left out at first, and then put in with escapes.
fn quieted(value: &impl Serialize) -> Result<String, Failure> {
    let mut value = serde_json::to_value(value).map_err(|error| cannot(&error))?;
    let mut left_out = LeftOut { mark: format!("x{}x", uuid::Uuid::new_v4().simple()), texts: Vec::new() };
    left_out.take(&mut value);
    let text = written(&value)?;
    let mut pieces = text.split(left_out.mark.as_str());
    let mut whole = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        // A mark is followed by the number of its text.
        let (number, rest) = piece.split_once('x').unwrap_or((piece, ""));
        let text = number.parse().ok().and_then(|number: usize| left_out.texts.get(number));
        whole.push_str(&quoted(text.map_or("", String::as_str)));
        whole.push_str(rest);
    }
    Ok(whole)
}

/// Texts that stand in a document as marks.
struct LeftOut {
    mark: String,
    texts: Vec<String>,
}

impl LeftOut {
    fn take(&mut self, value: &mut Value) {
        match value {
            Value::String(text) => self.replace(text),
            Value::Array(items) => items.iter_mut().for_each(|item| self.take(item)),
            Value::Object(fields) => {
                for (mut name, mut field) in std::mem::take(fields) {
                    self.replace(&mut name);
                    self.take(&mut field);
                    fields.insert(name, field);
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    fn replace(&mut self, text: &mut String) {
        if text.contains(screen::is_loud) {
            let mark = format!("{}{}x", self.mark, self.texts.len());
            self.texts.push(std::mem::replace(text, mark));
        }
    }
}

/// A text in quotes. The escapes of JSON are escapes of YAML as well, but YAML knows no pairs of surrogates.
fn quoted(text: &str) -> String {
    let json = Value::from(text).to_string();
    let escape = |c: char| match screen::is_loud(c) {
        true if c > '\u{ffff}' => format!("\\U{:08X}", u32::from(c)),
        true => format!("\\u{:04X}", u32::from(c)),
        false => c.to_string(),
    };
    json.chars().map(escape).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// Words that some reader of YAML takes for something else than a string.
    const WORDS: &[&str] = &[
        "yes",
        "no",
        "on",
        "y",
        "n",
        "true",
        "null",
        "~",
        "",
        " ",
        "1",
        "1.5",
        "1e3",
        "0x10",
        "0o7",
        "012",
        ".5",
        "1_000",
        "12:30:45",
        "2026-01-01",
        ".inf",
        ".nan",
        "-",
        "- a",
        "a: b",
        "a #b",
        "#a",
        "[a",
        "{a",
        "&a",
        "*a",
        "!a",
        "|",
        ">",
        "%a",
        "@a",
        "`a",
        "'a'",
        "\"a\"",
        "a'b\"c",
        "---",
        "...",
        "<<",
        "=",
        "a:",
        ": a",
        " lead",
        "trail ",
        "tab\t",
        "a\nb",
        "a\nb\n",
        "a\n\n\nb\n\n",
        "\n",
        "\na",
        "  a\nb",
        "a\r\nb",
        "\u{1b}",
        "\u{85}",
        "\u{feff}",
        "ü",
        "\\",
        "a\\nb",
        "TRUE",
        "Null",
        "NO",
        "-1",
        "+1",
        "1.",
        "0b1",
        "1,000",
    ];

    fn round(value: &Value) -> String {
        let text = text(value).unwrap();
        let back: Value = serde_saphyr::from_str(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
        assert_eq!(&back, value, "{text}");
        text
    }

    #[test]
    fn strings_stay_strings() {
        for word in WORDS {
            let text = round(&json!({"data": {"k": word}, "list": [word, {"a": word}]}));
            let plain = format!("k: {word}\n");
            let must_quote = ["yes", "no", "on", "true", "null", "~", "1", "1.5", "1e3", "2026-01-01", "NO"];
            assert!(!must_quote.contains(word) || !text.contains(&plain), "{text}");
        }
        for key in ["yes", "1", "null", "a: b", "", "a\nb", "#"] {
            round(&json!({"data": {key: "v"}}));
        }
        round(
            &json!({"long": "word ".repeat(100), "longer": format!("{}\n{}", "x".repeat(300), "y ".repeat(90))}),
        );
    }

    /// What a terminal would obey is escaped, and still the same text to every reader.
    #[test]
    fn nothing_in_it_is_an_instruction() {
        let tricks =
            ["a\u{9b}2J", "\u{202e}b\n", "\x1b]0;\x07", "c\u{200b}", "\u{e0041}\"\\", "\u{2066}: #x"];
        for trick in tricks {
            let value = json!({"data": {trick: "v", "k": trick, "plain": "x"}, "list": [trick, [trick]]});
            let text = round(&value);
            assert!(!text.contains(screen::is_loud), "{text}");
            assert!(text.contains("  plain: x\n"), "the rest looks as ever: {text}");
        }
    }

    #[test]
    fn everything_else_is_what_it_was() {
        round(
            &json!({"a": null, "b": true, "c": 1, "d": -1.5, "e": [], "f": {}, "g": [[], {}, null], "h": 1e300}),
        );
        round(&json!({"big": u64::MAX, "small": i64::MIN, "nested": [[1, [2]], [{"a": [1]}]]}));
        let text = round(&json!({"apiVersion": "v1", "data": {"a": "x\ny\n"}, "list": ["a", "b"]}));
        assert_eq!(text, "apiVersion: v1\ndata:\n  a: |\n    x\n    y\nlist:\n- a\n- b\n");
    }
}
