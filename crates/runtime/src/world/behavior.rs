//! The code of a class, whatever it is written in.

use std::rc::Rc;

use futures::future::LocalBoxFuture;

use super::{Handle, Value};
use crate::gc::Session;

/// The code of one class, without that of its parents. Rust implements it for native classes.
pub trait Behavior {
    /// Whether there is a method, handlers, `init` and `destroy` included.
    fn has(&self, method: &str) -> bool;

    /// Runs a method that there is.
    fn call<'a>(&'a self, call: Call) -> LocalBoxFuture<'a, Result<Value, CodeError>>;
}

/// One call of a method.
#[derive(Debug, Clone)]
pub struct Call {
    /// Whose.
    pub this: Handle,
    /// Its name.
    pub method: Rc<str>,
    /// With what.
    pub args: Args,
}

/// What a method is given.
#[derive(Debug, Clone)]
pub enum Args {
    /// `init` of a new object; its properties are set.
    Init,
    /// `destroy`.
    Destroy {
        /// The session in which it happens.
        gc: Session,
    },
    /// A handler of a destruction dependency.
    Event {
        /// The session in which it happens.
        gc: Session,
        /// Who is destroyed.
        object: Handle,
    },
    /// Any other method.
    Plain(Vec<Value>),
}

/// Code failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct CodeError {
    /// What happened, and where if that is known.
    pub message: String,
    /// In which way.
    pub kind: CodeErrorKind,
}

/// In which way code failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CodeErrorKind {
    /// It raised an error.
    Failed,
    /// It took too long.
    Deadline,
    /// It wanted too much memory.
    Memory,
    /// It was ended from outside.
    Stopped,
}

impl CodeError {
    /// An error that code raised.
    pub fn failed(message: impl Into<String>) -> CodeError {
        CodeError { message: message.into(), kind: CodeErrorKind::Failed }
    }
}

/// A class without code.
pub struct NoCode;

impl Behavior for NoCode {
    fn has(&self, _: &str) -> bool {
        false
    }

    fn call<'a>(&'a self, call: Call) -> LocalBoxFuture<'a, Result<Value, CodeError>> {
        let error = CodeError::failed(format!("there is no method {}", call.method));
        Box::pin(std::future::ready(Err(error)))
    }
}
