//! Everything that is printed. Data goes to stdout, talk to stderr, colours only to terminals.
//!
//! It must not know where what it prints comes from.

#[allow(dead_code, reason = "the commands that show these come with the collector")]
pub(crate) mod graph;
#[allow(dead_code, reason = "the commands that show these come with the collector")]
pub(crate) mod ndjson;
pub(crate) mod object;
#[allow(dead_code, reason = "the commands that show these come with the collector")]
pub(crate) mod progress;
#[allow(dead_code, reason = "the commands that show these come with the collector")]
pub(crate) mod style;
pub(crate) mod table;
#[allow(dead_code, reason = "the commands that show these come with the collector")]
pub(crate) mod tree;
#[allow(dead_code, reason = "the commands that show these come with the collector")]
pub(crate) mod why;
pub(crate) mod yaml;

use std::io::{ErrorKind, IsTerminal, Write};
use std::process::ExitCode;

use crate::failure::Failure;

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

/// Where output goes, and whether it is coloured.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Output {
    data_colours: bool,
    talk_colours: bool,
}

impl Output {
    /// Looks at the terminal and at the variables that everybody honours.
    pub(crate) fn new(no_color: bool) -> Output {
        let set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
        let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
        let allowed = !no_color && !set("NO_COLOR") && !dumb;
        Output {
            data_colours: allowed && std::io::stdout().is_terminal(),
            talk_colours: allowed && std::io::stderr().is_terminal(),
        }
    }

    /// Whether talk is coloured.
    pub(crate) fn talks_in_colours(&self) -> bool {
        self.talk_colours
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
        self.line(&format!("{} {text}", painted(&symbol.to_string(), paint, self.data_colours)))
    }

    /// Writes a line of talk. If nobody listens, nothing is lost.
    pub(crate) fn talk(&self, text: &str) {
        let _ = writeln!(std::io::stderr().lock(), "{text}");
    }

    /// Writes a question, and stays on its line.
    pub(crate) fn prompt(&self, text: &str) {
        let mut stderr = std::io::stderr().lock();
        let _ = stderr.write_all(text.as_bytes()).and_then(|()| stderr.flush());
    }

    /// Tells what the server wants people to know.
    pub(crate) fn warn(&self, about: &str, warnings: &[String]) {
        for warning in warnings {
            self.talk(&format!(
                "{}: {about}: {warning}",
                painted("warning", Paint::Change, self.talk_colours)
            ));
        }
    }

    /// Tells what went wrong, and what to type next.
    pub(crate) fn explain(&self, failure: &Failure) {
        if failure.quiet {
            return;
        }
        let word = if failure.exit == crate::failure::Exit::Held { "held" } else { "error" };
        let mut text = format!("{}: {}", painted(word, Paint::Bad, self.talk_colours), failure.what);
        for detail in &failure.details {
            for line in detail.lines() {
                text.push_str("\n  ");
                text.push_str(line);
            }
        }
        let width = failure.next.iter().map(|(aim, _)| aim.chars().count()).max().unwrap_or(0);
        for (aim, command) in &failure.next {
            text.push_str(&format!("\n  {aim:width$}   {command}"));
        }
        self.talk(&text);
    }

    /// The end of a command that went wrong.
    pub(crate) fn fail(&self, failure: &Failure) -> ExitCode {
        self.explain(failure);
        failure.exit.into()
    }
}

fn painted(text: &str, paint: Paint, colours: bool) -> String {
    if colours { format!("\x1b[{}m{text}\x1b[0m", paint.code()) } else { text.to_owned() }
}
