//! Errors of loading and running programs.

use super::clock::TimeIsUp;
use super::fault::Fault;
use crate::world::{CodeErrorKind, DeclareError};

/// Why a program could not be loaded or failed.
#[derive(Debug, Clone, thiserror::Error)]
pub enum ProgramError {
    /// Its text is too long.
    #[error("the program is longer than {limit} bytes")]
    TooLong {
        /// The maximum length in bytes.
        limit: usize,
    },
    /// Its text has a syntax error, or its declarations are wrong.
    #[error("{0}")]
    Text(Fault),
    /// A property is of a class that does not exist.
    #[error("{0}")]
    UndeclaredType(String),
    /// The default class of environments cannot be declared.
    #[error("the class of environments")]
    Environment(#[source] DeclareError),
    /// It lacks the function to run.
    #[error("{program} has no function {entry}: write `function {entry}(environment) … end`")]
    NoEntry {
        /// The program.
        program: String,
        /// The function.
        entry: String,
    },
    /// Its code failed.
    #[error("{0}")]
    Code(Fault),
    /// Threads failed that were not joined.
    #[error("{}", threads(.0))]
    Threads(Vec<(u64, Fault)>),
    /// It reached a time limit. None of its code runs any more.
    #[error("{}{why}", .place.as_ref().map(|place| format!("{place}: ")).unwrap_or_default())]
    TimeIsUp {
        /// The limit.
        why: TimeIsUp,
        /// The place in the program, if it was computing.
        place: Option<String>,
    },
    /// The script engine could not be set up.
    #[error("the script engine cannot be set up: {0}")]
    Engine(String),
}

impl ProgramError {
    /// The kind of failure.
    pub fn kind(&self) -> CodeErrorKind {
        match self {
            ProgramError::Text(fault) | ProgramError::Code(fault) => fault.kind,
            ProgramError::TimeIsUp { .. } => CodeErrorKind::Deadline,
            _ => CodeErrorKind::Failed,
        }
    }
}

fn threads(faults: &[(u64, Fault)]) -> String {
    let all: Vec<String> = faults.iter().map(|(id, fault)| format!("thread {id}: {fault}")).collect();
    format!("nobody joined what failed: {}", all.join("\n"))
}
