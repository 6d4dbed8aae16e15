//! The only place that prints: measurements to stdout, talk to stderr.
//! Must not know: what is measured or how.
#![allow(clippy::print_stdout, clippy::print_stderr)]

use std::fmt::Display;

use serde::Serialize;

/// Prints one measurement as exactly one line of JSON on stdout.
pub(crate) fn line(measurement: &impl Serialize) {
    match serde_json::to_string(measurement) {
        Ok(text) => println!("{text}"),
        Err(error) => talk(format_args!("cannot print measurement: {error}")),
    }
}

/// Says something to the person at the terminal.
pub(crate) fn talk(words: impl Display) {
    eprintln!("sexton-bench: {words}");
}
