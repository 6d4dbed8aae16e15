//! Errors of scripts as messages: with file and line, and the calls that led there.
//!
//! The script engine nests errors in each other and adds its own frames; this module unwraps them.

use std::fmt;

use mlua::Lua;

use super::clock::TimeIsUp;
use crate::world::{CodeError, CodeErrorKind};

/// The maximum number of calls in a fault.
const MAX_CALLS: usize = 6;
/// The maximum length of a message in bytes.
const MAX_MESSAGE_BYTES: usize = 4 << 10;
/// The chunks of the script engine and the prelude. Their frames are left out.
pub(super) const INTERNAL: [&str; 2] = ["__mlua_async_poll", "[sexton]"];

/// An error of a script.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// The kind of failure.
    pub kind: CodeErrorKind,
    /// What happened, with file and line where they are known.
    pub message: String,
    /// The calls that led there, innermost first.
    pub calls: Vec<String>,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        for call in &self.calls {
            write!(f, "\n  {call}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Fault {}

impl Fault {
    /// The fault for an error of the script engine.
    pub(super) fn of(error: &mlua::Error) -> Fault {
        if let Some(why) = error.downcast_ref::<TimeIsUp>() {
            let mut fault =
                Fault { kind: CodeErrorKind::Deadline, message: why.to_string(), calls: Vec::new() };
            fault.calls = calls(&traceback(error));
            if let Some(first) = fault.calls.first().and_then(|call| call.split(' ').next()) {
                fault.message = format!("{first} {}", fault.message);
            }
            return fault;
        }
        if let Some(inner) = error.downcast_ref::<Fault>() {
            return inner.clone();
        }
        let root = root(error);
        let kind = match root {
            mlua::Error::MemoryError(_) => CodeErrorKind::Memory,
            mlua::Error::RuntimeError(text) if text.starts_with("not enough memory") => CodeErrorKind::Memory,
            _ => CodeErrorKind::Failed,
        };
        let text = match root {
            mlua::Error::RuntimeError(text) => text.clone(),
            mlua::Error::SyntaxError { message, .. } => message.clone(),
            mlua::Error::MemoryError(_) => "it wanted more memory than it may use".to_owned(),
            other => other.to_string(),
        };
        let (message, trace) = match text.split_once("\nstack traceback:") {
            Some((message, trace)) => (message.to_owned(), trace.to_owned()),
            None => (text, String::new()),
        };
        let mut calls = calls(&trace);
        for call in self::calls(&traceback(error)) {
            if !calls.contains(&call) && calls.len() < MAX_CALLS {
                calls.push(call);
            }
        }
        let message = if kind == CodeErrorKind::Memory {
            "it wanted more memory than it may use".to_owned()
        } else {
            cut(&message)
        };
        Fault { kind, message, calls }
    }

    /// The fault as an error of a class's code.
    pub(super) fn into_code_error(self) -> CodeError {
        CodeError { message: self.to_string(), kind: self.kind }
    }
}

/// The innermost cause of an error.
fn root(error: &mlua::Error) -> &mlua::Error {
    let mut error = error;
    while let mlua::Error::CallbackError { cause, .. } | mlua::Error::WithContext { cause, .. } = error {
        error = cause;
    }
    error
}

/// The tracebacks of all layers, innermost first.
fn traceback(error: &mlua::Error) -> String {
    let mut layers = Vec::new();
    let mut error = error;
    while let mlua::Error::CallbackError { cause, traceback } = error {
        layers.push(traceback.as_str());
        error = cause;
    }
    layers.reverse();
    layers.join("\n")
}

/// The script's own frames in a traceback.
fn calls(traceback: &str) -> Vec<String> {
    let frames = traceback.lines().map(str::trim).filter(|line| {
        let internal = INTERNAL.iter().any(|name| line.starts_with(name));
        !line.is_empty() && !internal && !line.starts_with("[C]") && !line.starts_with("stack traceback")
    });
    let mut calls: Vec<String> = Vec::new();
    for frame in frames {
        if calls.len() < MAX_CALLS && calls.last().is_none_or(|last| last != frame) {
            calls.push(cut(frame));
        }
    }
    calls
}

fn cut(text: &str) -> String {
    let mut end = text.len().min(MAX_MESSAGE_BYTES);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text[..end].trim_end().to_owned()
}

/// The error that a function of the host raises in a script, with the script's file and line.
pub(super) fn raise(lua: &Lua, message: impl fmt::Display) -> mlua::Error {
    mlua::Error::RuntimeError(match place(lua) {
        Some(place) => format!("{place}: {message}"),
        None => message.to_string(),
    })
}

/// The file and line where the script is.
pub(super) fn place(lua: &Lua) -> Option<String> {
    for level in 0..12 {
        let found = lua.inspect_stack(level, |frame| {
            let source = frame.source();
            let name = source.short_src.as_deref().unwrap_or("").to_owned();
            let mine = source.what == "C" || name == "[C]" || INTERNAL.contains(&name.as_str());
            (!mine).then(|| frame.current_line().map(|line| format!("{name}:{line}")))
        })?;
        if let Some(place) = found {
            return place;
        }
    }
    None
}
