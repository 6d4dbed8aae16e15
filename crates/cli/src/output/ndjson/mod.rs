//! The stream for programs that `-o json` asks for: one JSON document per line. The first is a `Header` with the version of
//! the form, the last a `Result` with the exit code; between them stand the [`Event`]s of the command, errors included.
//!
//! It must not know what a command does: commands hand over events and a summary. docs/output.md describes the form.

mod event;
#[cfg(test)]
mod tests;

use std::ffi::OsString;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use clap::ArgMatches;
use serde::Serialize;
use serde_json::{Map, Value, json};
use sexton_model::Uid;

pub(crate) use event::{Change, Conflict, Event, Next};

use super::{Output, screen};
use crate::failure::{Exit, Failure};
use crate::settings::Settings;
use crate::suggest;

/// Grows when a program that reads the form has to be changed. New kinds of lines and new fields do not change it.
pub(crate) const VERSION: u32 = 1;

/// Commands with one Kubernetes document as the answer to `-o json`, as kubectl prints it.
const DOCUMENTS: [&str; 2] = ["get", "install-crds"];

/// The stream of one command.
#[derive(Debug)]
pub(crate) struct Stream {
    command: String,
    target: String,
    started: Instant,
    /// What the command has to say in its last line.
    summary: Mutex<Map<String, Value>>,
}

impl Stream {
    pub(crate) fn new(command: String, settings: Option<&Settings>) -> Stream {
        let target = settings.map(Settings::target_name).unwrap_or_default();
        Stream { command, target, started: Instant::now(), summary: Mutex::default() }
    }

    fn header(&self) -> String {
        let (command, target) = (self.command.as_str(), self.target.as_str());
        line(&Event::Header { version: VERSION, sexton: env!("CARGO_PKG_VERSION"), command, target })
    }

    fn result(&self, exit: Exit) -> String {
        let summary = self.summary.lock().map(|summary| summary.clone()).unwrap_or_default();
        let seconds = seconds(self.started.elapsed());
        line(&Event::Result { exit: exit as u8, result: exit.word(), seconds, summary })
    }
}

/// One document as one line.
pub(crate) fn line(document: &impl Serialize) -> String {
    let text = serde_json::to_string(document);
    // Events of this program always serialize; if one does not, the reader gets an error line and not silence.
    let text =
        text.unwrap_or_else(|error| json!({"kind": "Error", "message": error.to_string()}).to_string());
    screen::json(&text).into_owned() + "\n"
}

/// The line about an object that is gone.
pub(crate) fn gone(label: &str, uid: &Uid) -> String {
    line(&Event::Gone { label, uid: &uid.0 })
}

/// In thousandths: more would only look exact.
pub(crate) fn seconds(took: Duration) -> f64 {
    (took.as_secs_f64() * 1000.0).round() / 1000.0
}

/// The words of the command, such as `plan delete`, if its answer is to be a stream.
pub(crate) fn asked(matches: &ArgMatches) -> Option<String> {
    let mut words = Vec::new();
    let mut inner = matches;
    while let Some((word, deeper)) = inner.subcommand() {
        words.push(word);
        inner = deeper;
    }
    let form = inner.try_get_raw("output").ok().flatten().and_then(|mut forms| forms.next_back());
    let flag = inner.try_get_one::<bool>("json").ok().flatten() == Some(&true);
    let is_json = form.is_some_and(|form| form.eq_ignore_ascii_case("json")) || flag;
    (is_json && !words.iter().any(|word| DOCUMENTS.contains(word))).then(|| words.join(" "))
}

/// The same for words that could not be understood.
pub(crate) fn asked_in_vain(typed: &[OsString]) -> bool {
    let words: Vec<&str> = typed.iter().map(|word| word.to_str().unwrap_or_default()).collect();
    let own = words.split(|word| *word == "--").next().unwrap_or_default();
    let whole = |word: &&str| ["-ojson", "-o=json", "--output=json"].contains(word);
    let pair = |pair: &[&str]| ["-o", "--output"].contains(&pair[0]) && pair[1] == "json";
    let command = own.iter().skip(1).find(|word| !word.starts_with('-'));
    !command.is_some_and(|word| DOCUMENTS.contains(word))
        && (own.iter().any(whole) || own.windows(2).any(pair))
}

impl Output {
    /// Whether the answer is a stream for programs.
    pub(crate) fn is_stream(&self) -> bool {
        self.stream.is_some()
    }

    /// Writes an event; nothing if the answer is not a stream.
    pub(crate) fn event(&self, event: &Event<'_>) -> Result<(), Failure> {
        if self.is_stream() { self.data(&line(event)) } else { Ok(()) }
    }

    /// Begins the stream.
    pub(crate) fn begin(&self) -> Result<(), Failure> {
        self.stream.as_ref().map_or(Ok(()), |stream| self.data(&stream.header()))
    }

    /// What stands in the last line beside the exit code; the fields of a JSON object.
    pub(crate) fn summarize(&self, fields: Value) {
        if let (Some(stream), Value::Object(fields)) = (&self.stream, fields)
            && let Ok(mut summary) = stream.summary.lock()
        {
            summary.extend(fields);
        }
    }

    /// Ends the stream. A reader that has gone misses nothing.
    pub(crate) fn end(&self, exit: Exit) {
        if let Some(stream) = &self.stream {
            let _ = self.data(&stream.result(exit));
        }
    }

    /// Lines as a complete stream, for a file.
    pub(crate) fn framed(&self, command: &str, lines: &str, settings: &Settings) -> String {
        let stream = Stream::new(command.to_owned(), Some(settings));
        format!("{}{lines}{}", stream.header(), stream.result(Exit::Done))
    }

    /// What went wrong, for programs.
    pub(crate) fn error_event(&self, failure: &Failure) {
        let next = failure.next.iter();
        let next = next.map(|(what, command)| Next { what, command: suggest::complete(command) }).collect();
        let (result, details) = (failure.exit.word(), failure.details.as_slice());
        let _ = self.event(&Event::Error { result, message: &failure.what, details, next });
    }
}
