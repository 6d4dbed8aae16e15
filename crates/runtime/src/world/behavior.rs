//! The interface between the world and the code of classes, in whatever language it is written.

use std::rc::Rc;

use futures::future::LocalBoxFuture;

use super::{Handle, Value};
use crate::gc::Session;

/// The code of one class, without that of its parents. Implemented for script classes in [`crate::lua`]; native classes
/// implement it in Rust.
pub trait Behavior {
    /// Whether the class itself has a method with this name; handlers, `init` and `destroy` are methods, too.
    fn has(&self, method: &str) -> bool;

    /// Runs a method for which [`Behavior::has`] is true.
    fn call<'a>(&'a self, call: Call) -> LocalBoxFuture<'a, Result<Value, CodeError>>;
}

/// One call of a method.
#[derive(Debug, Clone)]
pub struct Call {
    /// The object on which it is called.
    pub this: Handle,
    /// The name of the method.
    pub method: Rc<str>,
    /// The arguments.
    pub args: Args,
}

/// The arguments of a method call.
#[derive(Debug, Clone)]
pub enum Args {
    /// For `init` of a new object, with its properties set already.
    Init,
    /// For `destroy`.
    Destroy {
        /// The running session.
        gc: Session,
    },
    /// For a handler of a destruction dependency.
    Event {
        /// The running session.
        gc: Session,
        /// The object that is destroyed.
        object: Handle,
    },
    /// For any other method.
    Plain(Vec<Value>),
}

/// A failure of a class's code.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct CodeError {
    /// What happened, with file and line if they are known.
    pub message: String,
    /// The kind of failure.
    pub kind: CodeErrorKind,
}

/// The kinds of failure of code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CodeErrorKind {
    /// The code raised an error.
    Failed,
    /// It exceeded a time limit.
    Deadline,
    /// It exceeded the memory limit.
    Memory,
    /// It was stopped from outside, or its program is not loaded any more.
    Stopped,
}

impl CodeError {
    /// The error for code that raised `message`.
    pub fn failed(message: impl Into<String>) -> CodeError {
        CodeError { message: message.into(), kind: CodeErrorKind::Failed }
    }
}

/// The behavior of a class without methods.
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
