//! Everything that is printed: data on stdout, talk on stderr, colours only on terminals.
//!
//! It must not know where what it prints comes from.

pub(crate) mod graph;
pub(crate) mod ndjson;
pub(crate) mod object;
pub(crate) mod progress;
pub(crate) mod screen;
pub(crate) mod style;
pub(crate) mod table;
pub(crate) mod template;
pub(crate) mod tree;
pub(crate) mod why;
pub(crate) mod yaml;

use std::io::{self, ErrorKind};
use std::process::ExitCode;
use std::sync::Arc;

use clap::ValueEnum;

use crate::failure::Failure;
use crate::suggest;
use ndjson::{Event, Stream};
use style::Style;

/// What colour says beside the symbol.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Paint {
    /// Something came.
    Good,
    /// Something is different.
    Change,
    /// A deletion, or an error.
    Bad,
    /// Nothing happened.
    Faint,
}

impl Paint {
    fn code(self) -> &'static str {
        match self {
            Paint::Good => "32",
            Paint::Change => "33",
            Paint::Bad => "31",
            Paint::Faint => "2",
        }
    }
}

/// The form of an answer, for commands that have no other.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Form {
    /// For people
    #[default]
    Text,
    /// A stream of JSON lines for programs; docs/output.md describes it
    Json,
}

/// The flag for it. Which form was chosen is asked of [`Output::is_stream`].
#[derive(Debug, Clone, Default, clap::Args)]
pub(crate) struct FormFlag {
    /// The form of the answer
    #[arg(short, long, value_enum, default_value_t = Form::Text)]
    output: Form,
}

/// The two outputs of the program with their styles, and the stream of events, if the answer is for programs.
#[derive(Debug, Clone)]
pub(crate) struct Output {
    data: Style,
    talk: Style,
    /// Where the answer is for programs.
    stream: Option<Arc<Stream>>,
}

impl Output {
    /// The outputs for this terminal and environment: `NO_COLOR`, `TERM`, and the locale.
    pub(crate) fn new(no_color: bool) -> Output {
        let set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
        let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
        let allowed = !no_color && !set("NO_COLOR") && !dumb;
        let said = |name: &str| std::env::var(name).ok();
        let (all, ctype, lang) = (said("LC_ALL"), said("LC_CTYPE"), said("LANG"));
        let unicode = style::speaks_unicode(all.as_deref(), ctype.as_deref(), lang.as_deref());
        let style = |stream: screen::Stream| {
            let terminal = stream.is_terminal();
            let width = terminal.then(|| stream.columns().unwrap_or(USUAL_COLUMNS));
            Style { colours: allowed && terminal, unicode, width }
        };
        Output { data: style(screen::Stream::Data), talk: style(screen::Stream::Talk), stream: None }
    }

    /// The same with an answer for programs.
    pub(crate) fn streaming(self, stream: Option<Stream>) -> Output {
        Output { stream: stream.map(Arc::new), ..self }
    }

    /// How data is to look.
    pub(crate) fn data_style(&self) -> Style {
        self.data
    }

    /// How talk is to look.
    pub(crate) fn talk_style(&self) -> Style {
        self.talk
    }

    /// Whether talk can be drawn over.
    pub(crate) fn is_live(&self) -> bool {
        self.talk.width.is_some()
    }

    /// Whether data is read by a person.
    pub(crate) fn is_watched(&self) -> bool {
        self.data.width.is_some()
    }

    /// Writes data, neutralised.
    pub(crate) fn data(&self, text: &str) -> Result<(), Failure> {
        written(screen::Stream::Data.write(text))
    }

    /// Writes a value that was asked for: exactly as it is for a program or a file, neutralised for a terminal.
    pub(crate) fn exact(&self, text: &str) -> Result<(), Failure> {
        match self.is_watched() {
            true => self.data(text),
            false => written(screen::Stream::Data.bytes(text.as_bytes())),
        }
    }

    /// Writes a line of data. It stays one line, whatever is in it.
    pub(crate) fn line(&self, text: &str) -> Result<(), Failure> {
        self.data(&format!("{}\n", screen::single(text)))
    }

    /// Writes a line of data that is read by people: on a terminal it is broken between words.
    pub(crate) fn prose(&self, text: &str) -> Result<(), Failure> {
        let text = screen::single(text);
        let indent = text.chars().take_while(|c| *c == ' ').count() + MARK_INDENT;
        self.data(&lines(&style::wrapped(&text, self.data.columns(), indent)))
    }

    /// Writes a line of data that begins with a symbol.
    /// On a terminal it is broken between words.
    pub(crate) fn mark(&self, symbol: char, paint: Paint, text: &str) -> Result<(), Failure> {
        let line = self.marked(symbol, paint, &screen::single(text));
        self.data(&lines(&style::wrapped(&line, self.data.columns(), MARK_INDENT)))
    }

    /// Writes one event: for people a line that begins with a symbol, for programs the event itself.
    pub(crate) fn tell(
        &self,
        event: &Event<'_>,
        symbol: char,
        paint: Paint,
        text: &str,
    ) -> Result<(), Failure> {
        if self.is_stream() { self.event(event) } else { self.mark(symbol, paint, text) }
    }

    /// A line of data that begins with a symbol.
    pub(crate) fn marked(&self, symbol: char, paint: Paint, text: &str) -> String {
        format!("{} {text}", self.data.paint(&symbol.to_string(), paint))
    }

    /// Writes a line of talk: one line, which a terminal is given broken between words. If there is no reader, nothing is
    /// lost.
    pub(crate) fn talk(&self, text: &str) {
        let text = screen::single(text);
        let indent = text.chars().take_while(|c| *c == ' ').count() + MARK_INDENT;
        self.talk_text(&lines(&style::wrapped(&text, self.talk.columns(), indent)));
    }

    /// Writes commands to type next to stderr, each with its purpose.
    pub(crate) fn suggest<W: AsRef<str>, C: AsRef<str>>(&self, commands: &[(W, C)]) {
        // Commands are never broken.
        self.talk_text(&lines(&suggest::lines(commands, self.talk)));
    }

    /// Writes talk of several lines, or of half a one, neutralised.
    pub(crate) fn talk_text(&self, text: &str) {
        let _ = screen::Stream::Talk.write(text);
    }

    /// Writes a question, and stays on its line.
    pub(crate) fn prompt(&self, text: &str) {
        self.talk_text(text);
    }

    /// Writes the warnings of a server about an object.
    pub(crate) fn warn(&self, about: &str, warnings: &[String]) {
        for warning in warnings {
            let _ = self.event(&Event::Warning { about, message: warning });
            self.talk(&format!("{}: {about}: {warning}", self.talk.paint("warning", Paint::Change)));
        }
    }

    /// Writes a failure and the commands to type next. Nothing for a quiet failure.
    pub(crate) fn explain(&self, failure: &Failure) {
        if failure.quiet {
            return;
        }
        self.error_event(failure);
        let word = if failure.exit == crate::failure::Exit::Held { "held" } else { "error" };
        let columns = self.talk.columns();
        let mut lines = Vec::new();
        for (at, line) in format!("{word}: {}", failure.what).lines().enumerate() {
            // Only the first line begins at the edge: the message may contain lines of text by others.
            let edge = if at == 0 { "" } else { "  " };
            lines.extend(style::wrapped(&format!("{edge}{line}"), columns, 2));
        }
        for detail in failure.details.iter().flat_map(|detail| detail.lines()) {
            lines.extend(style::wrapped(&format!("  {detail}"), columns, 4));
        }
        lines.extend(suggest::lines(&failure.next, self.talk));
        self.talk_text(&(lines.join("\n").replacen(word, &self.talk.paint(word, Paint::Bad), 1) + "\n"));
    }

    /// The end of a command that went wrong.
    pub(crate) fn fail(&self, failure: &Failure) -> ExitCode {
        self.explain(failure);
        self.end(failure.exit);
        failure.exit.into()
    }
}

fn lines(lines: &[String]) -> String {
    lines.iter().map(|line| format!("{line}\n")).collect()
}

/// The indent of all lines but the first one of a mark, or of talk.
const MARK_INDENT: usize = 2;
/// For a terminal that does not know its columns.
const USUAL_COLUMNS: usize = 80;

fn written(result: io::Result<()>) -> Result<(), Failure> {
    result.map_err(|error| match error.kind() {
        ErrorKind::BrokenPipe => Failure::nobody_listens(),
        _ => Failure::new(format!("cannot write: {error}")),
    })
}

fn painted(text: &str, paint: Paint, colours: bool) -> String {
    match colours {
        true => {
            format!("{}{text}{}", screen::own(&format!("\x1b[{}m", paint.code())), screen::own("\x1b[0m"))
        }
        false => text.to_owned(),
    }
}
