//! Label selectors: `a=b,c!=d,e in (x,y),f notin (z),g,!h`.

use crate::names;

use super::{BadSelector, MOST_BYTES, MOST_TERMS};

/// One term.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Term {
    /// The label is there and has one of these values.
    In(String, Vec<String>),
    /// The label is not there or has none of these values.
    NotIn(String, Vec<String>),
    Exists(String),
    Absent(String),
    /// The label is a number greater than this.
    Greater(String, i64),
    Less(String, i64),
}

/// All terms must match. The empty selector matches everything.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LabelSelector(Vec<Term>);

impl LabelSelector {
    /// Reads the text form.
    pub fn parse(text: &str) -> Result<LabelSelector, BadSelector> {
        if text.len() > MOST_BYTES {
            return Err(BadSelector::new(text, format!("longer than {MOST_BYTES} bytes")));
        }
        let terms: Vec<&str> = split_terms(text).map_err(|why| BadSelector::new(text, why))?;
        if terms.len() > MOST_TERMS {
            return Err(BadSelector::new(text, format!("more than {MOST_TERMS} terms")));
        }
        let terms = terms.into_iter().map(parse_term).collect::<Result<_, _>>();
        terms.map(LabelSelector).map_err(|why| BadSelector::new(text, why))
    }

    /// Whether everything matches.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether labels, looked up by `value_of`, match.
    pub fn matches<'a>(&self, value_of: impl Fn(&str) -> Option<&'a str>) -> bool {
        self.0.iter().all(|term| match term {
            Term::In(key, values) => value_of(key).is_some_and(|value| values.iter().any(|one| one == value)),
            Term::NotIn(key, values) => {
                !value_of(key).is_some_and(|value| values.iter().any(|one| one == value))
            }
            Term::Exists(key) => value_of(key).is_some(),
            Term::Absent(key) => value_of(key).is_none(),
            Term::Greater(key, than) => number(value_of(key)).is_some_and(|value| value > *than),
            Term::Less(key, than) => number(value_of(key)).is_some_and(|value| value < *than),
        })
    }
}

fn number(value: Option<&str>) -> Option<i64> {
    value?.parse().ok()
}

/// Splits at commas that are not inside parentheses.
fn split_terms(text: &str) -> Result<Vec<&str>, String> {
    if text.trim().is_empty() {
        return Ok(Vec::new());
    }
    let (mut terms, mut start, mut open) = (Vec::new(), 0, false);
    for (at, character) in text.char_indices() {
        match (character, open) {
            ('(', false) => open = true,
            (')', true) => open = false,
            ('(', true) | (')', false) => return Err(format!("unexpected {character:?} at byte {at}")),
            (',', false) => {
                terms.push(&text[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    if open {
        return Err("a '(' is never closed".to_owned());
    }
    terms.push(&text[start..]);
    Ok(terms)
}

fn parse_term(term: &str) -> Result<Term, String> {
    let term = term.trim();
    if let Some(key) = term.strip_prefix('!') {
        return Ok(Term::Absent(key_of(key)?));
    }
    if let Some(open) = term.find('(') {
        return parse_set(&term[..open], &term[open..]);
    }
    // Two-character operators first, so that `!=` is not read as `=`.
    for (operator, negate) in [("!=", true), ("==", false), ("=", false)] {
        if let Some((key, value)) = term.split_once(operator) {
            let (key, values) = (key_of(key)?, vec![value_of(value)?]);
            return Ok(if negate { Term::NotIn(key, values) } else { Term::In(key, values) });
        }
    }
    if let Some((key, than)) = term.split_once('>') {
        return Ok(Term::Greater(key_of(key)?, number_of(than)?));
    }
    if let Some((key, than)) = term.split_once('<') {
        return Ok(Term::Less(key_of(key)?, number_of(than)?));
    }
    Ok(Term::Exists(key_of(term)?))
}

fn parse_set(head: &str, set: &str) -> Result<Term, String> {
    let mut words = head.split_whitespace();
    let (Some(key), Some(operator), None) = (words.next(), words.next(), words.next()) else {
        return Err(format!("found {head:?} before '(', expected: a label key and 'in' or 'notin'"));
    };
    let inner = set.strip_prefix('(').and_then(|rest| rest.strip_suffix(')'));
    let inner = inner.ok_or_else(|| format!("found {set:?}, expected: a list in parentheses"))?;
    let values = inner.split(',').map(value_of).collect::<Result<Vec<_>, _>>()?;
    match operator {
        "in" => Ok(Term::In(key_of(key)?, values)),
        "notin" => Ok(Term::NotIn(key_of(key)?, values)),
        other => Err(format!("found {other:?}, expected: 'in' or 'notin'")),
    }
}

fn key_of(text: &str) -> Result<String, String> {
    let key = text.trim();
    names::qualified_name(key).map_err(|why| format!("key {key:?}: {why}"))?;
    Ok(key.to_owned())
}

fn value_of(text: &str) -> Result<String, String> {
    let value = text.trim();
    names::label_value(value).map_err(|why| format!("value {value:?}: {why}"))?;
    Ok(value.to_owned())
}

fn number_of(text: &str) -> Result<i64, String> {
    text.trim().parse().map_err(|_| format!("{text:?} is not a whole number"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    fn matches(selector: &str, labels: &[(&str, &str)]) -> bool {
        let labels: BTreeMap<&str, &str> = labels.iter().copied().collect();
        LabelSelector::parse(selector).unwrap().matches(|key| labels.get(key).copied())
    }

    #[test]
    fn terms_match_as_documented() {
        let web = [("app", "web"), ("tier", "1")];
        for (selector, expected) in [
            ("", true),
            ("app=web", true),
            ("app == web", true),
            ("app!=web", false),
            ("other!=web", true),
            ("app in (db, web)", true),
            ("app notin (db,web)", false),
            ("other notin (db)", true),
            ("app,tier", true),
            ("!app", false),
            ("!other,app=web", true),
            ("tier>0,tier<2", true),
            ("app>0", false),
            ("app=", false),
            ("other in ()", false),
        ] {
            assert_eq!(matches(selector, &web), expected, "{selector}");
        }
    }

    #[test]
    fn nonsense_is_refused_with_a_reason() {
        for bad in
            ["=x", "a=b=c", "a in x", "a in (x", "a )(", "a,,b", "a ~ b", "a=ä", "a b", "in (x)", "a>x"]
        {
            assert!(LabelSelector::parse(bad).is_err(), "{bad}");
        }
        let many = vec!["a"; MOST_TERMS + 1].join(",");
        assert!(LabelSelector::parse(&many).is_err());
        assert!(LabelSelector::parse(&"a".repeat(MOST_BYTES + 1)).is_err());
    }

    proptest! {
        #[test]
        fn never_panics(text in "[a-z=!(), <>]{0,40}|\\PC{0,40}") {
            let _ = LabelSelector::parse(&text);
        }

        /// Against a naive model: a selector made of known terms matches like the terms themselves.
        #[test]
        fn agrees_with_a_naive_model(
            labels in proptest::collection::btree_map("[a-c]", "[x-z]", 0..3),
            terms in proptest::collection::vec(("[a-c]", 0..6usize, proptest::collection::vec("[x-z]", 1..3)), 0..4),
        ) {
            let text = |(key, form, values): &(String, usize, Vec<String>)| match form {
                0 => format!("{key}={}", values[0]),
                1 => format!("{key} != {}", values[0]),
                2 => format!("{key} in ({})", values.join(",")),
                3 => format!("{key} notin ({})", values.join(", ")),
                4 => key.clone(),
                _ => format!("!{key}"),
            };
            let naive = |(key, form, values): &(String, usize, Vec<String>)| {
                let value = labels.get(key);
                match form {
                    0 => value == Some(&values[0]),
                    1 => value != Some(&values[0]),
                    2 => value.is_some_and(|value| values.contains(value)),
                    3 => value.is_none_or(|value| !values.contains(value)),
                    4 => value.is_some(),
                    _ => value.is_none(),
                }
            };
            let selector = terms.iter().map(text).collect::<Vec<_>>().join(",");
            let got = LabelSelector::parse(&selector).unwrap().matches(|key| labels.get(key).map(String::as_str));
            prop_assert_eq!(got, terms.iter().all(naive), "{}", selector);
        }
    }
}
