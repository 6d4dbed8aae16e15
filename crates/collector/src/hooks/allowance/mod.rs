//! Whether a method may be called: running programs and calling services is the right of the operator.
//!
//! A collector that works for others (`serve`, `collect`) does nothing of it unless it is allowed. A command on the
//! store of this process has no operator but its user: it passes no [`Allowance`], and does what the documents say.
//! It must not know what is called for, nor what follows from a refusal.

mod address;
mod program;
mod variables;

use address::check_host;
pub use address::{ConnectError, connect};
pub(super) use program::PATH;
pub use program::{ProgramError, allowed_dir, program};

use std::path::Path;

use http::Uri;
use sexton_model::class::Run;
use sexton_model::hook::Allowance;
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

/// Whether a method may be called, as far as it shows before. What is not there or makes no sense fails when it is
/// called.
///
/// # Errors
/// It is not allowed.
pub fn may_call(run: &Run, allowance: &Allowance) -> Result<(), NotAllowed> {
    match run {
        Run::Exec { argv, dir, env } => {
            let name = argv.first().map_or("", String::as_str);
            match program(allowance, name, Path::new(dir.as_deref().unwrap_or("/")), env) {
                Err(ProgramError::NotAllowed(refused)) => Err(refused),
                Ok(_) | Err(ProgramError::NotThere(_)) => Ok(()),
            }
        }
        Run::Http { url } => {
            let Ok(uri) = url.parse::<Uri>() else { return Ok(()) };
            let usual_port = if uri.scheme_str() == Some("https") { 443 } else { 80 };
            let port = uri.port_u16().unwrap_or(usual_port);
            uri.host().map_or(Ok(()), |host| check_host(allowance, host, port, usual_port))
        }
        Run::Lua { .. } => Ok(()),
    }
}

/// A text of a class, within bounds and on one line.
fn shown(text: impl std::fmt::Display) -> String {
    tame(&text.to_string(), MAX_SHOWN)
}
