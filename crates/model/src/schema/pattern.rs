//! Patterns as definitions write them: the syntax of Go, compiled within bounds, once, when they are first needed.
//!
//! Both syntaxes come from the same family. What differs is translated: `\d`, `\w`, `\s` and `\b` mean ASCII there, and
//! inside of brackets fewer signs have a meaning.

use std::sync::OnceLock;

use regex::{Regex, RegexBuilder};

/// Bytes of a compiled pattern: a larger one is no grammar that a field has.
const MOST_BYTES: usize = 1 << 20;
/// What is kept while matching.
const MOST_CACHE: usize = 1 << 18;
/// As deep as brackets nest.
const MOST_NESTING: u32 = 100;
/// A pattern that is longer is not read.
const MOST_TEXT: usize = 16 << 10;

/// A pattern.
#[derive(Debug)]
pub(super) struct Pattern {
    pub(super) text: String,
    compiled: OnceLock<Option<Regex>>,
}

impl Pattern {
    pub(super) fn new(text: &str) -> Pattern {
        Pattern { text: text.to_owned(), compiled: OnceLock::new() }
    }

    /// Whether any part of a text matches. What cannot be compiled says nothing.
    pub(super) fn matches(&self, text: &str) -> bool {
        let compiled = self.compiled.get_or_init(|| compiled(&self.text).ok());
        compiled.as_ref().is_none_or(|regex| regex.is_match(text))
    }
}

/// The pattern as something to match with, or why that cannot be.
pub(super) fn compiled(text: &str) -> Result<Regex, String> {
    if text.len() > MOST_TEXT {
        return Err(format!("it is longer than {MOST_TEXT} bytes"));
    }
    let mut builder = RegexBuilder::new(&translated(text));
    let builder = builder.size_limit(MOST_BYTES).dfa_size_limit(MOST_CACHE).nest_limit(MOST_NESTING);
    builder.build().map_err(|error| last_line(&error))
}

/// The error itself, without the drawing of where it is.
fn last_line(error: &regex::Error) -> String {
    let text = error.to_string();
    let line = text.lines().last().unwrap_or_default().trim();
    line.strip_prefix("error: ").unwrap_or(line).to_owned()
}

/// The same pattern in our syntax.
fn translated(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 16);
    let mut signs = text.chars().peekable();
    let mut inside = false;
    let mut first = false;
    while let Some(sign) = signs.next() {
        let was_first = std::mem::take(&mut first);
        match sign {
            '\\' => match signs.next() {
                Some(escaped) => out.push_str(&escape(escaped, inside)),
                None => out.push('\\'),
            },
            '[' if !inside => {
                inside = true;
                out.push('[');
                if signs.next_if_eq(&'^').is_some() {
                    out.push('^');
                }
                first = true;
            }
            // In the first place it stands for itself.
            ']' if inside && was_first => out.push_str("\\]"),
            ']' if inside => {
                inside = false;
                out.push(']');
            }
            '[' if signs.peek() == Some(&':') => out.push_str(&named_class(&mut signs)),
            '[' | '&' | '~' if inside => {
                out.push('\\');
                out.push(sign);
            }
            // Itself at either end, a range in between. Two of them would take something away.
            '-' if inside && (was_first || signs.peek() == Some(&']')) => out.push_str("\\-"),
            '-' if inside && signs.next_if_eq(&'-').is_some() => out.push_str("-\\-"),
            other => out.push(other),
        }
    }
    out
}

fn escape(escaped: char, inside: bool) -> String {
    match (escaped, inside) {
        ('d', false) => "[0-9]".into(),
        ('d', true) => "0-9".into(),
        ('D', _) => "[^0-9]".into(),
        ('w', false) => "[0-9A-Za-z_]".into(),
        ('w', true) => "0-9A-Za-z_".into(),
        ('W', _) => "[^0-9A-Za-z_]".into(),
        ('s', false) => r"[\t\n\f\r ]".into(),
        ('s', true) => r"\t\n\f\r ".into(),
        ('S', _) => r"[^\t\n\f\r ]".into(),
        ('b', false) => r"(?-u:\b)".into(),
        (other, _) => format!("\\{other}"),
    }
}

/// `[:alpha:]` and the like inside of brackets; anything else is a bracket that stands for itself.
fn named_class(signs: &mut std::iter::Peekable<std::str::Chars<'_>>) -> String {
    let rest: String = signs.clone().take_while(|sign| *sign != ']').collect();
    let name = rest.strip_prefix(':').and_then(|name| name.strip_suffix(':'));
    match name {
        Some(name) if !name.is_empty() && name.chars().all(|c| c.is_ascii_lowercase() || c == '^') => {
            signs.by_ref().take(rest.chars().count() + 1).for_each(drop);
            format!("[{rest}]")
        }
        _ => "\\[".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_mean_what_they_mean_in_definitions() {
        let cases: &[(&str, &[&str], &[&str])] = &[
            ("^a+$", &["a", "aa"], &["", "ab"]),
            ("b", &["abc"], &["ac"]),
            (r"^\d+$", &["12"], &["१२", "a"]),
            (r"^[\w.-]+$", &["a_1.-"], &["ä", "a b"]),
            (r"^[^\s]+$", &["ab"], &["a b"]),
            (r"^\S+@\S+$", &["a@b"], &["a b@c d"]),
            (r"^[[:alpha:]_]+$", &["ab_"], &["a1"]),
            (r"^[a[]+$", &["a["], &["b"]),
            (r"^[]a]+$", &["]a"], &["b"]),
            (r"^[a-z&&b]+$", &["a&b"], &["A"]),
            (r"^[+--]+$", &["+,-"], &["a"]),
            (r"^[a-]+$", &["a-"], &["b"]),
            (r"\bfoo\b", &["a foo b"], &["afoo"]),
            (r"^\p{L}+$", &["äß"], &["1"]),
            (r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?$", &["a-b"], &["-a"]),
            (r"^v\/[0-9]{1,3}$", &["v/1"], &["v/"]),
        ];
        for (text, good, bad) in cases {
            let regex = compiled(text).unwrap();
            good.iter().for_each(|given| assert!(regex.is_match(given), "{text} matches {given:?}"));
            bad.iter().for_each(|given| assert!(!regex.is_match(given), "{text} does not match {given:?}"));
        }
    }

    #[test]
    fn what_is_too_large_or_no_pattern_is_refused() {
        for bad in [
            "(",
            "a{2,1}",
            "(?=a)",
            r"\1",
            "((a{1000}){1000}){1000}",
            &"(".repeat(10_000),
            &"a".repeat(20_000),
        ] {
            assert!(compiled(bad).is_err(), "{}", &bad[..bad.len().min(40)]);
        }
        assert!(Pattern::new("(").matches("anything"));
    }

    proptest::proptest! {
        #[test]
        fn never_panics(text in "[\\[\\]\\\\^$&~:a-z0-9(){}*+?|.-]{0,40}|\\PC{0,40}", given in "\\PC{0,20}") {
            Pattern::new(&text).matches(&given);
        }
    }
}
