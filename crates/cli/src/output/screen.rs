//! The one writer of stdout and stderr. Whatever it is given, a terminal shows it and obeys none of it.
//!
//! Names, annotations, errors and bodies of servers are the words of others: in them, characters that a terminal takes
//! for instructions, or that show text in another order or not at all, are written out as `\u{1b}`. Sequences of our own
//! (colours, lines that are drawn over) stand between seals that are drawn by lot for each run, so that no text from
//! outside can pass for one of ours.
//!
//! Nothing else of the command line may reach stdout or stderr; a test of the house looks.

use std::borrow::Cow;
use std::io::{self, IsTerminal, Write};
use std::sync::LazyLock;

/// What begins and ends a sequence of our own.
struct Seal {
    begin: String,
    end: String,
}

/// 122 random bits: cannot be guessed by text that was written before this process began.
static SEAL: LazyLock<Seal> = LazyLock::new(|| {
    let lot = uuid::Uuid::new_v4().simple();
    Seal { begin: format!("\x1b{lot}<"), end: format!("\x1b{lot}>") }
});

/// Where something is written to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stream {
    /// stdout
    Data,
    /// stderr
    Talk,
}

impl Stream {
    /// Whether a person reads it.
    pub(crate) fn is_terminal(self) -> bool {
        match self {
            Stream::Data => io::stdout().is_terminal(),
            Stream::Talk => io::stderr().is_terminal(),
        }
    }

    /// The columns of the terminal, if it knows them.
    pub(crate) fn columns(self) -> Option<usize> {
        let size = match self {
            Stream::Data => rustix::termios::tcgetwinsize(io::stdout()),
            Stream::Talk => rustix::termios::tcgetwinsize(io::stderr()),
        };
        size.ok().map(|size| usize::from(size.ws_col)).filter(|columns| *columns > 0)
    }

    /// Writes text, neutralised.
    pub(crate) fn write(self, text: &str) -> io::Result<()> {
        self.bytes(&mut neutral(text).as_bytes())
    }

    /// Writes bytes as they are: for programs and files, never for a terminal.
    pub(crate) fn bytes(self, mut bytes: impl io::Read) -> io::Result<()> {
        match self {
            Stream::Data => copy(&mut bytes, io::stdout().lock()),
            Stream::Talk => copy(&mut bytes, io::stderr().lock()),
        }
    }
}

fn copy(bytes: &mut impl io::Read, mut to: impl Write) -> io::Result<()> {
    io::copy(bytes, &mut to).and_then(|_| to.flush())
}

/// A sequence of our own, which reaches the terminal as it is.
pub(crate) fn own(sequence: &str) -> String {
    format!("{}{sequence}{}", SEAL.begin, SEAL.end)
}

/// Whether a character must not reach a terminal: controls (C0, DEL, C1), what turns the direction of text, what parts
/// lines, and what cannot be seen. The joiners U+200C and U+200D pass: words of some languages and emoji need them.
pub(crate) fn is_instruction(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}' | '\u{200e}' | '\u{200f}'
            | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}'
            | '\u{e0000}'..='\u{e007f}')
}

/// A text of others as a part of a line: line ends and tabs are written out as well.
pub(crate) fn inline(text: &str) -> Cow<'_, str> {
    rewritten(text, is_instruction, |c| c.escape_default().collect())
}

/// Text as a terminal may get it: the words of others neutralised, sequences of our own opened.
pub(crate) fn neutral(text: &str) -> Cow<'_, str> {
    opened(text, |words| rewritten(words, is_loud, |c| c.escape_default().collect()), str::to_owned)
}

/// A text that stays one line: line ends in it are written out.
pub(crate) fn single(text: &str) -> Cow<'_, str> {
    let ends = |c: char| matches!(c, '\n' | '\r');
    opened(text, |words| rewritten(words, ends, |c| c.escape_default().collect()), own)
}

/// Text without sequences of our own: what can be seen of it.
pub(crate) fn visible(text: &str) -> Cow<'_, str> {
    opened(text, Cow::Borrowed, |_| String::new())
}

/// JSON in which no character is an instruction. They can only stand within strings, where an escape means the same.
pub(crate) fn json(text: &str) -> Cow<'_, str> {
    rewritten(text, is_loud, |c| {
        let mut units = [0; 2];
        c.encode_utf16(&mut units).iter().map(|unit| format!("\\u{unit:04x}")).collect()
    })
}

/// Whether a character must not stand in text of several lines.
pub(crate) fn is_loud(c: char) -> bool {
    is_instruction(c) && !matches!(c, '\n' | '\t')
}

fn rewritten(
    text: &str,
    is_meant: impl Fn(char) -> bool + Copy,
    escape: impl Fn(char) -> String,
) -> Cow<'_, str> {
    if !text.contains(is_meant) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        if is_meant(c) {
            out.push_str(&escape(c));
        } else {
            out.push(c);
        }
    }
    Cow::Owned(out)
}

/// Text with its own sequences opened in one way, and all else in another. A seal that is not closed is none.
fn opened<'a>(
    text: &'a str,
    words: impl Fn(&'a str) -> Cow<'a, str>,
    own: impl Fn(&str) -> String,
) -> Cow<'a, str> {
    if !text.contains(SEAL.begin.as_str()) {
        return words(text);
    }
    let (mut out, mut rest) = (String::with_capacity(text.len()), text);
    while let Some((before, after)) = rest.split_once(SEAL.begin.as_str()) {
        let Some((sequence, behind)) = after.split_once(SEAL.end.as_str()) else { break };
        out.push_str(&words(before));
        out.push_str(&own(sequence));
        rest = behind;
    }
    out.push_str(&words(rest));
    Cow::Owned(out)
}

/// Makes panics use this writer, too: their messages may contain text of others.
pub(crate) fn tell_panics() {
    std::panic::set_hook(Box::new(|panic| {
        let thread = std::thread::current();
        let mut text = format!("thread '{}' {panic}\n", thread.name().unwrap_or("unnamed"));
        let trace = std::backtrace::Backtrace::capture();
        match trace.status() {
            std::backtrace::BacktraceStatus::Captured => text.push_str(&trace.to_string()),
            _ => text.push_str("this is a defect of sexton; RUST_BACKTRACE=1 shows where\n"),
        }
        let _ = Stream::Talk.write(&text);
    }));
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// What terminals obey, by its beginning: ESC, CSI, OSC, BEL, backspace, C1, bidirectional, invisible.
    const TRICKS: [&str; 12] = [
        "\x1b[2J",
        "\x1b]0;title\x07",
        "\x1b]52;c;cm0gLXJm\x1b\\",
        "\u{9b}31m",
        "\u{9d}0;title\u{9c}",
        "\x08\x08ok",
        "a\rb",
        "\x7f",
        "\u{202e}txt.exe",
        "\u{2066}a\u{2069}",
        "a\u{200b}b\u{feff}",
        "\u{e0041}",
    ];

    #[test]
    fn what_a_terminal_would_obey_is_written_out() {
        for trick in TRICKS {
            let shown = neutral(trick);
            assert!(!shown.contains(is_loud) && shown.contains('\\'), "{shown}");
            assert!(!json(trick).contains(is_loud));
        }
        assert_eq!(neutral("a\x1b[2J\u{9b}b"), "a\\u{1b}[2J\\u{9b}b");
        assert_eq!(inline("a\nb\tc"), "a\\nb\\tc");
        assert!(matches!(neutral("größer\t👩‍🚀\n"), Cow::Borrowed(_)), "words and pictures pass");
    }

    #[test]
    fn only_our_own_sequences_pass() {
        let painted = format!("{}Vm/\x1b[2J\nx{}", own("\x1b[31m"), own("\x1b[0m"));
        assert_eq!(neutral(&painted), "\x1b[31mVm/\\u{1b}[2J\nx\x1b[0m");
        assert_eq!(neutral(&single(&painted)), "\x1b[31mVm/\\u{1b}[2J\\nx\x1b[0m");
        assert_eq!(visible(&painted), "Vm/\x1b[2J\nx");
        // A colour sequence in text of others is not taken for one of ours, and neither is half a seal.
        assert_eq!(neutral("\x1b[31mfine\x1b[0m"), "\\u{1b}[31mfine\\u{1b}[0m");
        let unclosed = format!("{}\x1b[2J", SEAL.begin);
        assert!(!neutral(&unclosed).contains('\x1b'));
    }

    #[test]
    fn json_means_the_same() {
        let value = serde_json::json!({"a\u{9b}": TRICKS, "b": "\u{e0041}\n"});
        for text in [value.to_string(), format!("{value:#}")] {
            let safe = json(&text);
            assert!(!safe.contains(is_loud), "{safe}");
            assert_eq!(serde_json::from_str::<serde_json::Value>(&safe).unwrap(), value);
        }
    }

    proptest! {
        #[test]
        fn nothing_loud_passes(text in "(?s).{0,60}", tail in "[\\x1b\\x00-\\x1f\\u{80}-\\u{9f}\\u{202a}-\\u{202e}]{0,8}") {
            let text = text + &tail;
            prop_assert!(!neutral(&text).contains(is_loud));
            prop_assert!(!inline(&text).contains(is_instruction));
            prop_assert_eq!(visible(&text), text.as_str());
        }
    }
}
