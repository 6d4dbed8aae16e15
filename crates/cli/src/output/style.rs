//! How text is fitted to its reader: colours, width and characters; and how numbers are written.
//!
//! It must not know what is printed, and does not look at the terminal itself: the caller did.

use std::time::Duration;

use super::{Paint, painted, screen};

pub(crate) use super::screen::inline as harmless;

/// What the reader can show.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Style {
    /// Whether symbols are painted.
    pub(crate) colours: bool,
    /// Whether lines and dots may be drawn with more than ASCII.
    pub(crate) unicode: bool,
    /// The columns of a terminal. `None` is a file or another program, for which nothing is cut.
    pub(crate) width: Option<usize>,
}

/// Narrower terminals are taken for this wide: below it nothing could be read anyway.
const NARROWEST: usize = 40;

impl Style {
    /// For a file or another program.
    pub(crate) const PLAIN: Style = Style { colours: false, unicode: true, width: None };

    /// Paints a text, if this reader sees colours.
    pub(crate) fn paint(self, text: &str, paint: Paint) -> String {
        if text.is_empty() { String::new() } else { painted(text, paint, self.colours) }
    }

    /// The first word for readers of more than ASCII, the second for others.
    pub(crate) fn pick(self, unicode: &'static str, ascii: &'static str) -> &'static str {
        if self.unicode { unicode } else { ascii }
    }

    /// What stands for something left out.
    pub(crate) fn ellipsis(self) -> &'static str {
        self.pick("…", "...")
    }

    /// What stands between two facts of a line.
    pub(crate) fn dot(self) -> &'static str {
        self.pick(" · ", " - ")
    }

    /// The columns that a line may have.
    pub(crate) fn columns(self) -> usize {
        self.width.map_or(usize::MAX, |width| width.max(NARROWEST))
    }

    /// A text of at most so many columns. What is too long loses its middle: names differ at both ends.
    pub(crate) fn fit(self, text: &str, most: usize) -> String {
        self.shorten(text, most, most.saturating_sub(width(self.ellipsis())).div_ceil(2))
    }

    /// A text of at most so many columns. What is too long loses its end.
    pub(crate) fn cut(self, text: &str, most: usize) -> String {
        self.shorten(text, most, most.saturating_sub(width(self.ellipsis())))
    }

    fn shorten(self, text: &str, most: usize, head: usize) -> String {
        let length = width(text);
        if length <= most {
            return text.to_owned();
        }
        let dots = self.ellipsis();
        let tail = most.saturating_sub(width(dots) + head);
        let begin: String = text.chars().take(head).collect();
        let end: String = text.chars().skip(length - tail).collect();
        // Where not even the dots have room, as many of them as have.
        format!("{begin}{dots}{end}").chars().take(most).collect()
    }
}

/// The columns that a text takes. Colours take none.
pub(crate) fn width(text: &str) -> usize {
    screen::visible(text).chars().count()
}

/// A text with spaces behind it, up to so many columns.
pub(crate) fn padded(text: &str, columns: usize) -> String {
    format!("{text}{}", " ".repeat(columns.saturating_sub(width(text))))
}

/// A text in lines of at most so many columns, broken between words; all but the first are indented. Words are never broken.
pub(crate) fn wrapped(text: &str, columns: usize, indent: usize) -> Vec<String> {
    let words = text.trim_start_matches(' ');
    let mut line = " ".repeat(text.len() - words.len());
    let (mut lines, mut is_empty) = (Vec::new(), true);
    for word in words.split(' ') {
        if !is_empty && width(&line) + 1 + width(word) > columns {
            lines.push(std::mem::replace(&mut line, " ".repeat(indent)));
        } else if !is_empty {
            line.push(' ');
        }
        line.push_str(word);
        is_empty = false;
    }
    lines.push(line);
    lines
}

/// `10,000`
pub(crate) fn count(number: usize) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// `1st`, `2nd`, `11th`
pub(crate) fn ordinal(number: usize) -> String {
    let ending = match (number % 10, number % 100) {
        (_, 11..=13) => "th",
        (1, _) => "st",
        (2, _) => "nd",
        (3, _) => "rd",
        _ => "th",
    };
    format!("{}{ending}", count(number))
}

/// `0.3 s`, `40 s`, `4 min`, `3 h`, `2 d`
pub(crate) fn time(duration: Duration) -> String {
    let seconds = duration.as_secs();
    match seconds {
        0..10 if duration.subsec_millis() >= 50 => format!("{:.1} s", duration.as_secs_f64()),
        0..100 => format!("{seconds} s"),
        100..7200 => format!("{} min", seconds / 60),
        7200..172_800 => format!("{} h", seconds / 3600),
        _ => format!("{} d", seconds / 86_400),
    }
}

/// Whether a locale is written in UTF-8. The first of these variables that says something decides, as in the C library;
/// if none does, it is: a container without any locale shows UTF-8 nearly always.
pub(crate) fn speaks_unicode(lc_all: Option<&str>, lc_ctype: Option<&str>, lang: Option<&str>) -> bool {
    let said = [lc_all, lc_ctype, lang].into_iter().flatten().find(|value| !value.is_empty());
    said.is_none_or(|locale| {
        let locale = locale.to_ascii_lowercase();
        locale.contains("utf-8") || locale.contains("utf8")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_names_lose_their_middle() {
        let ascii = Style { unicode: false, ..Style::PLAIN };
        assert_eq!(Style::PLAIN.fit("ConfigMap/settings", 18), "ConfigMap/settings");
        assert_eq!(Style::PLAIN.fit("ConfigMap/settings", 9), "Conf…ings");
        assert_eq!(ascii.fit("ConfigMap/settings", 9), "Con...ngs");
        assert_eq!(Style::PLAIN.cut("ConfigMap/settings", 9), "ConfigMa…");
        for most in 0..30 {
            for style in [Style::PLAIN, ascii] {
                assert!(width(&style.fit("Vm/größer-als-alles", most)) <= most);
                assert!(width(&style.cut("Vm/größer-als-alles", most)) <= most);
            }
        }
    }

    #[test]
    fn numbers_are_said_as_people_say_them() {
        let said: Vec<String> = [1, 2, 3, 4, 11, 12, 13, 21, 111, 1002].into_iter().map(ordinal).collect();
        assert_eq!(said.join(" "), "1st 2nd 3rd 4th 11th 12th 13th 21st 111th 1,002nd");
        assert_eq!([0, 999, 1000, 1_234_567].map(count), ["0", "999", "1,000", "1,234,567"]);
        let times = [300, 12_000, 40_000, 240_000, 10_800_000, 259_200_000].map(Duration::from_millis);
        assert_eq!(times.map(time), ["0.3 s", "12 s", "40 s", "4 min", "3 h", "3 d"]);
    }

    #[test]
    fn lines_are_broken_between_words() {
        assert_eq!(wrapped("one two three", 7, 2), ["one two", "  three"]);
        assert_eq!(wrapped("  one two", 5, 4), ["  one", "    two"]);
        assert_eq!(wrapped("a unbreakable b", 5, 0), ["a", "unbreakable", "b"]);
        assert_eq!(wrapped("", 5, 2), [""]);
    }

    #[test]
    fn a_terminal_is_told_nothing() {
        assert_eq!(harmless("Vm/a\u{1b}[2J\n"), "Vm/a\\u{1b}[2J\\n");
        assert!(matches!(harmless("Vm/größer"), std::borrow::Cow::Borrowed(_)));
    }

    #[test]
    fn the_first_variable_that_is_set_decides() {
        assert!(speaks_unicode(None, None, None));
        assert!(speaks_unicode(None, Some(""), Some("de_DE.UTF-8")));
        assert!(speaks_unicode(Some("C.utf8"), None, Some("C")));
        assert!(!speaks_unicode(Some("C"), None, Some("en_US.UTF-8")));
        assert!(!speaks_unicode(None, None, Some("POSIX")));
    }
}
