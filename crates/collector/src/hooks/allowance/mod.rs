//! Whether a method may be called: running programs and calling services is the right of the operator.
//!
//! A collector that works for others (`serve`, `collect`) does nothing of it unless it is allowed. A command on the
//! store of this process has no operator but its user: it passes no [`Allowance`], and does what the documents say.
//! It must not know what is called for, nor what follows from a refusal.

mod address;
mod program;
mod variables;

pub use address::{ConnectError, connect};
pub(super) use program::PATH;
pub use program::{ProgramError, allowed_dir, program};

use sexton_model::text::tame;

/// The blocker of an object with a method that is not allowed.
pub const OPERATOR: &str = "the operator's settings";
/// Where hooks could be; used in proposals.
const EXAMPLE_DIR: &str = "/etc/sexton/hooks";
/// Bytes of a path or name of a class that are shown: two of them and the rest of a sentence fit into a reason.
const MAX_SHOWN: usize = 300;

/// Why a method is not called: in words, with what would allow it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct NotAllowed(pub String);

/// A text of a class, within bounds and on one line.
fn shown(text: impl std::fmt::Display) -> String {
    tame(&text.to_string(), MAX_SHOWN)
}
