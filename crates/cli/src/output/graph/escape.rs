//! Names as each form takes them: whatever a label holds, it stays a label.

use crate::output::screen::is_instruction;

/// Text of an XML document or of an attribute. What XML cannot hold at all becomes a replacement character.
pub(super) fn xml(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&apos;"),
            '\t' | '\n' | '\r' => out.push(' '),
            c if is_instruction(c) || matches!(c, '\u{fffe}' | '\u{ffff}') => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}

/// The inside of a quoted string of Graphviz.
pub(super) fn dot(text: &str) -> String {
    let escaped = |c: char| match c {
        '"' => "\\\"".to_owned(),
        '\\' => "\\\\".to_owned(),
        c if is_instruction(c) => " ".to_owned(),
        c => c.to_string(),
    };
    text.chars().map(escaped).collect()
}

/// The inside of a quoted string of Mermaid, which knows entities with `#` instead of `&`.
pub(super) fn mermaid(text: &str) -> String {
    let escaped = |c: char| match c {
        '"' => "#quot;".to_owned(),
        '<' => "#lt;".to_owned(),
        '>' => "#gt;".to_owned(),
        '&' => "#amp;".to_owned(),
        '#' | '`' | '\\' | ';' => format!("#{};", u32::from(c)),
        c if is_instruction(c) => " ".to_owned(),
        c => c.to_string(),
    };
    text.chars().map(escaped).collect()
}
