//! Estimated widths of text. The font of the viewer is not known, so widths are rather too large than too small.

use crate::output::style::Style;

/// The width of a character in a font of size 1.
fn advance(c: char) -> f64 {
    match c {
        'i' | 'j' | 'l' | '.' | ',' | ':' | ';' | '\'' | '|' | '!' => 0.33,
        'f' | 't' | 'r' | '-' | '/' | ' ' | '(' | ')' | '[' | ']' | 'I' => 0.43,
        'm' | 'w' | 'M' | 'W' | '@' | '%' | '…' => 0.98,
        'A'..='Z' => 0.75,
        c if c.is_ascii() => 0.65,
        // Latin with accents is as wide as without; what is further away may be as wide as high.
        '\u{80}'..='\u{24f}' => 0.68,
        _ => 1.05,
    }
}

/// How wide a text is at a size.
pub(super) fn width(text: &str, size: f64) -> f64 {
    text.chars().map(advance).sum::<f64>() * size
}

/// A text that is at most so wide. What is too long loses its middle.
pub(super) fn fit(text: &str, size: f64, room: f64) -> String {
    let mut most = text.chars().count();
    let mut fitted = text.to_owned();
    while most > 1 && width(&fitted, size) > room {
        most -= 1;
        fitted = Style::PLAIN.fit(text, most);
    }
    fitted
}
