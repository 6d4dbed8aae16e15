//! Everything that is printed. Data goes to stdout, talk to stderr, colours only to terminals.
//!
//! It must not know where what it prints comes from.

pub(crate) mod graph;
pub(crate) mod ndjson;
pub(crate) mod object;
pub(crate) mod progress;
pub(crate) mod style;
pub(crate) mod table;
pub(crate) mod template;
pub(crate) mod tree;
pub(crate) mod why;
pub(crate) mod yaml;

use std::io::{ErrorKind, IsTerminal, Write};
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
    /// Something goes, or went wrong.
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

/// Where output goes, and how it is to look there.
#[derive(Debug, Clone)]
pub(crate) struct Output {
    data: Style,
    talk: Style,
    /// Where the answer is for programs.
    stream: Option<Arc<Stream>>,
}

impl Output {
    /// Looks at the terminal and at the variables that everybody honours.
    pub(crate) fn new(no_color: bool) -> Output {
        let set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
        let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
        let allowed = !no_color && !set("NO_COLOR") && !dumb;
        let said = |name: &str| std::env::var(name).ok();
        let (all, ctype, lang) = (said("LC_ALL"), said("LC_CTYPE"), said("LANG"));
        let unicode = style::speaks_unicode(all.as_deref(), ctype.as_deref(), lang.as_deref());
        let style = |terminal: bool, size: Option<usize>| Style {
            colours: allowed && terminal,
            unicode,
            width: size.filter(|_| terminal),
        };
        let (stdout, stderr) = (std::io::stdout(), std::io::stderr());
        Output {
            data: style(stdout.is_terminal(), columns(&stdout)),
            talk: style(stderr.is_terminal(), columns(&stderr)),
            stream: None,
        }
    }

    /// The same with an answer for programs.
    pub(crate) fn streaming(self, stream: Option<Stream>) -> Output {
        Output { stream: stream.map(Arc::new), ..self }
    }

    /// Whether talk is coloured.
    pub(crate) fn talks_in_colours(&self) -> bool {
        self.talk.colours
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

    /// Writes data as it is.
    pub(crate) fn data(&self, text: &str) -> Result<(), Failure> {
        let mut stdout = std::io::stdout().lock();
        let written = stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush());
        written.map_err(|error| match error.kind() {
            ErrorKind::BrokenPipe => Failure::nobody_listens(),
            _ => Failure::new(format!("cannot write: {error}")),
        })
    }

    /// Writes a line of data.
    pub(crate) fn line(&self, text: &str) -> Result<(), Failure> {
        self.data(&format!("{text}\n"))
    }

    /// Writes a line of data that begins with a symbol.
    pub(crate) fn mark(&self, symbol: char, paint: Paint, text: &str) -> Result<(), Failure> {
        self.line(&self.marked(symbol, paint, text))
    }

    /// Tells of something: a line that begins with a symbol for people, an event for programs.
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

    /// Writes a line of talk. If nobody listens, nothing is lost.
    pub(crate) fn talk(&self, text: &str) {
        let _ = writeln!(std::io::stderr().lock(), "{text}");
    }

    /// Tells what can be typed next: for what, and the command.
    pub(crate) fn suggest<W: AsRef<str>, C: AsRef<str>>(&self, commands: &[(W, C)]) {
        suggest::lines(commands, self.talk).iter().for_each(|line| self.talk(line));
    }

    /// Writes talk as it is.
    pub(crate) fn talk_text(&self, text: &str) {
        let mut stderr = std::io::stderr().lock();
        let _ = stderr.write_all(text.as_bytes()).and_then(|()| stderr.flush());
    }

    /// Writes a question, and stays on its line.
    pub(crate) fn prompt(&self, text: &str) {
        self.talk_text(text);
    }

    /// Tells what the server wants people to know.
    pub(crate) fn warn(&self, about: &str, warnings: &[String]) {
        for warning in warnings {
            let _ = self.event(&Event::Warning { about, message: warning });
            self.talk(&format!("{}: {about}: {warning}", self.talk.paint("warning", Paint::Change)));
        }
    }

    /// Tells what went wrong, and what to type next.
    pub(crate) fn explain(&self, failure: &Failure) {
        if failure.quiet {
            return;
        }
        self.error_event(failure);
        let word = if failure.exit == crate::failure::Exit::Held { "held" } else { "error" };
        let columns = self.talk.columns();
        let mut lines = Vec::new();
        for line in format!("{word}: {}", failure.what).lines() {
            lines.extend(style::wrapped(line, columns, 2));
        }
        for detail in failure.details.iter().flat_map(|detail| detail.lines()) {
            lines.extend(style::wrapped(&format!("  {detail}"), columns, 4));
        }
        lines.extend(suggest::lines(&failure.next, self.talk));
        self.talk(&lines.join("\n").replacen(word, &self.talk.paint(word, Paint::Bad), 1));
    }

    /// The end of a command that went wrong.
    pub(crate) fn fail(&self, failure: &Failure) -> ExitCode {
        self.explain(failure);
        self.end(failure.exit);
        failure.exit.into()
    }
}

/// The columns of a terminal; narrower than some width nothing can be laid out.
fn columns(terminal: &impl std::os::fd::AsFd) -> Option<usize> {
    let size = rustix::termios::tcgetwinsize(terminal).ok();
    size.map(|size| usize::from(size.ws_col)).filter(|columns| *columns > 0).or(Some(80))
}

fn painted(text: &str, paint: Paint, colours: bool) -> String {
    if colours { format!("\x1b[{}m{text}\x1b[0m", paint.code()) } else { text.to_owned() }
}
