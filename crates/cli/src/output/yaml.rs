//! YAML that every reader understands the same way: what was a string stays one.

use serde::Serialize;

use crate::failure::Failure;

/// A value as a YAML document.
pub(crate) fn text(value: &impl Serialize) -> Result<String, Failure> {
    let options = serde_saphyr::ser_options! {
        // Long lines are left as they are: folding them helps nobody who compares or copies.
        folded_wrap_chars: usize::MAX,
        min_fold_chars: usize::MAX,
    };
    serde_saphyr::to_string_with_options(value, options)
        .map_err(|error| Failure::new(format!("cannot write as YAML: {error}")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

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
