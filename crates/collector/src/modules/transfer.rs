//! From one module to another: in one write, so that there is no moment at which a sweep of either could take it.

use super::Modules;
use super::records::RecordsError;
use sexton_client::resources::PutError;
use sexton_client::{CallError, Place};

/// What is to be transferred.
#[derive(Debug, Clone)]
pub struct Transfer {
    /// Kind and namespace.
    pub place: Place,
    /// The name.
    pub name: String,
    /// Only if this is its module now; without it, whoever's it is.
    pub from: Option<String>,
    /// The module that gets it.
    pub to: String,
    /// Do everything but write.
    pub dry_run: bool,
}

/// What became of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Transferred {
    /// The module that had it, if one did.
    pub from: Option<String>,
    /// The module that has it.
    pub to: String,
    /// Whether it had it already.
    pub unchanged: bool,
    /// What to do next, in words.
    pub next: String,
}

/// Why it was not transferred.
#[derive(Debug, thiserror::Error)]
pub enum TransferError {
    /// There is no such object.
    #[error("there is no such object")]
    Missing,
    /// It is somebody else's.
    #[error("it belongs to {}, not to {expected}", .found.as_deref().unwrap_or("no module"))]
    NotTheirs {
        /// Whose it is.
        found: Option<String>,
        /// Whose it was said to be.
        expected: String,
    },
    /// It is on its way out already.
    #[error("it is being deleted already")]
    Terminating,
    /// Another tool manages it.
    #[error("it is part of the ApplySet {0} of another tool")]
    ApplySet(String),
    /// The module cannot be called so.
    #[error("{name:?} cannot be the name of a module: {why}")]
    Name {
        /// The name.
        name: String,
        /// Why not.
        why: String,
    },
    /// The record of a module cannot be read.
    #[error(transparent)]
    Record(#[from] RecordsError),
    /// It was not written.
    #[error("it was not written")]
    Put(#[from] PutError),
    /// It could not be read.
    #[error("it could not be read")]
    Call(#[from] CallError),
}

impl Modules {
    /// Gives an object to another module.
    ///
    /// # Errors
    /// See [`TransferError`].
    pub async fn transfer(&self, _ask: &Transfer) -> Result<Transferred, TransferError> {
        todo!()
    }
}
