//! Programs in Luau: the sandbox, declarations, objects in scripts, green threads.
//!
//! A program's text declares classes; its `deploy` creates objects, lets go of them, and asks the collector to tidy up.
//! All of it happens on one thread of the system; green threads are coroutines that take turns at it. Objects are
//! held by scripts as handles, so that every variable, argument, upvalue and table of every thread keeps alive what it
//! holds, and nothing else does.
//!
//! What programs find there, beside the harmless part of Luau's own library:
//!
//! - `format "1.4"`, `class(name, { extends, properties, init, destroy, methods… })`: while the text runs
//! - `new(class, properties, owner, name)`, `Object.id/name/owner/class/is`: objects
//! - `spawn(f, …)`, `join(thread)`, `sleep(seconds)`: green threads
//! - `GC.collect/subscribe/unsubscribe/isDestroyed`, and for handlers `gc.phase`, `gc:isDoomed(o)`, `gc:cancel(reason)`
//! - `log(…)`, `print(…)`; `exec{ program, args, stdin, timeout }` and `http{ url, method, headers, body, timeout }` as
//!   far as they are granted
//!
//! Nothing outside of this folder touches the script engine.

mod class_value;
mod clock;
mod code;
mod context;
mod contracts;
mod create;
mod declare;
mod engine;
mod error;
mod exec;
mod fault;
mod format;
mod gc_api;
mod http;
mod limits;
mod memory;
mod object;
mod output;
mod program;
mod sandbox;
mod scheduler;
mod session;
mod stored_call;
mod thread_api;
mod threads;
mod trace;
mod values;
mod weight;

pub use clock::TimeIsUp;
pub use error::ProgramError;
pub use fault::Fault;
pub use format::Format;
pub use limits::{Grants, Limits};
pub use output::{Lines, Output, Silent};
pub use program::{ENTRY, ENVIRONMENT, Host, Program, Source};
pub use stored_call::{Changed, StoredAnswer, StoredCall, StoredError, StoredMethod, call_stored};
