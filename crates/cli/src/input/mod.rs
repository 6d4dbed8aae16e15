//! Documents from files, directories and stdin. Everything is read before anything is done.
//!
//! It must not know kinds: a document is anything that has one.

pub(crate) mod durations;
mod files;
mod json;
mod parse;
mod pieces;

use std::fmt;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::Value;

use crate::failure::Failure;

/// Where a document stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Origin {
    /// The file, as it was named, or `stdin`.
    pub(crate) file: String,
    /// The line on which it begins.
    pub(crate) line: usize,
    /// The how manieth of its file, from 1.
    pub(crate) number: usize,
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{} (document {})", self.file, self.line, self.number)
    }
}

/// A document, with all that makes it an object.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Document {
    pub(crate) origin: Origin,
    pub(crate) api_version: String,
    pub(crate) kind: String,
    /// Empty if it names none.
    pub(crate) namespace: String,
    pub(crate) name: String,
    pub(crate) value: Value,
}

/// Reads all documents of some files, of which there must be one at least.
pub(crate) fn read(paths: &[String]) -> Result<Vec<Document>, Failure> {
    match read_any(paths)? {
        none if none.is_empty() => {
            Err(Failure::new(format!("there are no documents in {}", paths.join(", "))))
        }
        documents => Ok(documents),
    }
}

/// The files below some paths that say how documents are deployed.
pub(crate) fn settings_files(paths: &[String]) -> Result<Vec<PathBuf>, Failure> {
    files::settings(paths)
}

/// Reads a file that holds one document of settings.
pub(crate) fn read_settings(file: &str) -> Result<Value, Failure> {
    let text = std::fs::read_to_string(file)
        .map_err(|error| Failure::new(format!("cannot read {file}: {error}")))?;
    parse::value(file, &text)
}

/// Called with the number of documents read so far, and of all documents.
pub(crate) type Counted<'a> = dyn Fn(usize, usize) + Sync + 'a;

/// Reads all documents of some files, or says what is wrong with each file.
pub(crate) fn read_any(paths: &[String]) -> Result<Vec<Document>, Failure> {
    read_counting(paths, &|_, _| {})
}

/// The same, with a callback for progress.
pub(crate) fn read_counting(paths: &[String], tell: &Counted<'_>) -> Result<Vec<Document>, Failure> {
    let (mut documents, mut faults) = (Vec::new(), Vec::new());
    let texts = files::texts(paths)?;
    let all: usize = texts.iter().map(|(_, text)| pieces::pieces(text).len()).sum();
    let read = AtomicUsize::new(0);
    let one_more = || tell(read.fetch_add(1, Ordering::Relaxed) + 1, all);
    for (name, text) in texts {
        match parse::documents(&name, &text, &one_more) {
            Ok(found) => documents.extend(found),
            Err(fault) => faults.push(fault),
        }
    }
    match faults.len() {
        0 => Ok(documents),
        1 => Err(faults.remove(0)),
        many => {
            let failure = Failure::new(format!("{many} files cannot be read"));
            Err(faults.into_iter().fold(failure, |failure, fault| {
                fault
                    .details
                    .into_iter()
                    .fold(failure.detail(fault.what), |failure, detail| failure.detail(detail))
            }))
        }
    }
}
