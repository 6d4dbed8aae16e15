//! Why a program could not be loaded, or did not run to its end.

use super::clock::TimeIsUp;
use super::fault::Fault;
use crate::world::{CodeErrorKind, DeclareError};

/// A program failed.
#[derive(Debug, Clone, thiserror::Error)]
pub enum ProgramError {
    /// More text than a program may have.
    #[error("the program is longer than {limit} bytes")]
    TooLong {
        /// What it may have.
        limit: usize,
    },
    /// The text is not understood, or what it declares does not fit.
    #[error("{0}")]
    Text(Fault),
    /// A property is of a class that does not exist.
    #[error("{0}")]
    UndeclaredType(String),
    /// There is no class for the environment, and it cannot be declared.
    #[error("the class of environments")]
    Environment(#[source] DeclareError),
    /// It has no such function.
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
    /// Threads failed, and nobody waited for them.
    #[error("{}", threads(.0))]
    Threads(Vec<(u64, Fault)>),
    /// It took too long. Nothing of it runs any more.
    #[error("{}{why}", .place.as_ref().map(|place| format!("{place}: ")).unwrap_or_default())]
    TimeIsUp {
        /// How.
        why: TimeIsUp,
        /// Where it was, if it was not waiting.
        place: Option<String>,
    },
    /// The script engine could not be set up.
    #[error("the script engine cannot be set up: {0}")]
    Engine(String),
}

impl ProgramError {
    /// In which way it failed, as far as that is its own doing.
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
