//! Field selectors: `metadata.name=x,status.phase!=Running`. Which fields a kind offers is the registry's business.

use super::{BadSelector, MOST_BYTES, MOST_TERMS};

/// One term of a field selector.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FieldTerm {
    /// Dotted path.
    pub field: String,
    /// The value to compare with.
    pub value: String,
    /// Whether the field must equal the value, or must not.
    pub equal: bool,
}

/// All terms must match. The empty selector matches everything.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FieldSelector(Vec<FieldTerm>);

impl FieldSelector {
    /// Reads the text form. In values `\,` `\=` and `\\` stand for themselves.
    pub fn parse(text: &str) -> Result<FieldSelector, BadSelector> {
        if text.len() > MOST_BYTES {
            return Err(BadSelector::new(text, format!("longer than {MOST_BYTES} bytes")));
        }
        let terms = split_unescaped(text);
        if terms.len() > MOST_TERMS {
            return Err(BadSelector::new(text, format!("more than {MOST_TERMS} terms")));
        }
        let terms = terms.into_iter().filter(|term| !term.trim().is_empty()).map(parse_term);
        let terms: Result<Vec<_>, String> = terms.collect();
        terms.map(FieldSelector).map_err(|why| BadSelector::new(text, why))
    }

    /// The terms.
    pub fn terms(&self) -> &[FieldTerm] {
        &self.0
    }

    /// Whether everything matches.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The one name that can match, if the selector pins it: such a list is a single look-up.
    pub fn exact(&self, field: &str) -> Option<&str> {
        self.0.iter().find(|term| term.equal && term.field == field).map(|term| term.value.as_str())
    }

    /// Whether fields, looked up by `value_of`, match. A missing field is the empty text, as in Kubernetes.
    pub fn matches<V: AsRef<str>>(&self, value_of: impl Fn(&str) -> Option<V>) -> bool {
        self.0.iter().all(|term| {
            let value = value_of(&term.field);
            (value.as_ref().map_or("", AsRef::as_ref) == term.value) == term.equal
        })
    }
}

fn split_unescaped(text: &str) -> Vec<&str> {
    let (mut parts, mut start, mut escaped) = (Vec::new(), 0, false);
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b',' => {
                parts.push(&text[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&text[start..]);
    parts
}

fn parse_term(term: &str) -> Result<FieldTerm, String> {
    for (operator, equal) in [("!=", false), ("==", true), ("=", true)] {
        if let Some((field, value)) = term.split_once(operator) {
            let field = field.trim();
            if field.is_empty() {
                return Err(format!("{term:?} names no field"));
            }
            return Ok(FieldTerm { field: field.to_owned(), value: unescape(value)?, equal });
        }
    }
    Err(format!("{term:?} has no '=' or '!='"))
}

fn unescape(value: &str) -> Result<String, String> {
    let mut plain = String::with_capacity(value.len());
    let mut characters = value.chars();
    while let Some(character) = characters.next() {
        match character {
            '\\' => match characters.next() {
                Some(escaped @ ('\\' | ',' | '=')) => plain.push(escaped),
                _ => return Err(format!("{value:?} has a '\\' before something else than '\\', ',' or '='")),
            },
            '=' => return Err(format!("{value:?} has an unescaped '='")),
            other => plain.push(other),
        }
    }
    Ok(plain)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn terms_match() {
        let value = |field: &str| (field == "metadata.name").then_some("a,b");
        for (selector, expected) in [
            ("", true),
            ("metadata.name=a\\,b", true),
            ("metadata.name==a\\,b", true),
            ("metadata.name!=a\\,b", false),
            ("metadata.name!=x,other=", true),
            ("other=x", false),
        ] {
            assert_eq!(FieldSelector::parse(selector).unwrap().matches(value), expected, "{selector}");
        }
        let selector = FieldSelector::parse("metadata.name=x,a!=b").unwrap();
        assert_eq!(selector.exact("metadata.name"), Some("x"));
        assert_eq!(selector.exact("a"), None);
    }

    #[test]
    fn nonsense_is_refused() {
        for bad in ["a", "=x", "a=b=c", "a=\\x", "a=\\"] {
            assert!(FieldSelector::parse(bad).is_err(), "{bad}");
        }
    }

    proptest! {
        #[test]
        fn escaped_values_come_back(value in "\\PC{0,20}") {
            let escaped: String = value
                .chars()
                .flat_map(|c| if matches!(c, '\\' | ',' | '=') { vec!['\\', c] } else { vec![c] })
                .collect();
            let selector = FieldSelector::parse(&format!("f={escaped}")).unwrap();
            prop_assert_eq!(selector.exact("f"), Some(value.as_str()));
        }

        #[test]
        fn never_panics(text in "[a-z=!,\\\\]{0,30}|\\PC{0,30}") {
            let _ = FieldSelector::parse(&text);
        }
    }
}
