//! Environments: where the objects of a program are between its runs.
//!
//! ```text
//! open ─► remove (what the model dropped) ─► deploy ─► finish (store, destroy what is not reached, store the changes)
//! ```
//!
//! Objects are destroyed here, with their code in this process; a server destroys them with the same code when somebody
//! deletes their resources. It must not know how a program is written, nor how anything is shown.

mod burial;
mod finish;
mod keeper;
mod kinds;
mod open;
mod record;
mod run;
mod save;

pub use finish::Finished;
pub use open::{Ask, Opened};
pub use record::{Record, RecordError};
pub use save::SaveError;

use sexton_client::CallError;
use sexton_client::resources::{BulkError, ListError, PutError};
use sexton_collector::modules::LeaseError;

use crate::gc::{CollectError, KeeperError};
use crate::lua::ProgramError;
use crate::model::{ExportError, ImportError};
use crate::stored::Unreadable;
use crate::world::NewError;

/// Why an environment cannot be opened. Nothing was run.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// It cannot be called so.
    #[error("{name:?} cannot be the name of an environment: {why}")]
    Name {
        /// The name.
        name: String,
        /// Why not.
        why: String,
    },
    /// Objects of a class cannot be stored.
    #[error("objects of class {class} cannot be stored: {why}")]
    Class {
        /// The class.
        class: String,
        /// Why not.
        why: String,
    },
    /// Somebody else works on it.
    #[error(transparent)]
    Lease(#[from] LeaseError),
    /// Its record cannot be read.
    #[error(transparent)]
    Record(#[from] RecordError),
    /// A model that somebody had begun to store could not be finished.
    #[error(transparent)]
    Save(#[from] SaveError),
    /// Somebody was interrupted while storing it, and a preview writes nothing.
    #[error("the last model of the environment {0} is not completely stored yet: a run finishes it")]
    HalfStored(String),
    /// The server cannot be asked.
    #[error("the server cannot be asked")]
    Call(#[source] CallError),
    /// The objects cannot be listed.
    #[error("the objects of the environment cannot be listed")]
    List(#[from] ListError),
    /// Destroyed objects were not removed.
    #[error("destroyed objects were not removed")]
    Bulk(#[from] BulkError),
    /// What is stored is no environment.
    #[error(transparent)]
    Unreadable(#[from] Unreadable),
    /// The program cannot be loaded.
    #[error(transparent)]
    Program(#[from] ProgramError),
    /// The objects do not fit the classes of the program.
    #[error("the objects do not fit the program: {0}")]
    Import(#[from] ImportError),
}

/// Why a run failed.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The program failed.
    #[error(transparent)]
    Program(#[from] ProgramError),
    /// There was no collection.
    #[error(transparent)]
    Collect(#[from] CollectError),
    /// An object could not be made.
    #[error(transparent)]
    New(#[from] NewError),
    /// The record could not be written.
    #[error(transparent)]
    Record(RecordError),
}

/// Why a model was not stored.
#[derive(Debug, thiserror::Error)]
pub enum FinishError {
    /// There was no collection after the deployment.
    #[error(transparent)]
    Collect(#[from] CollectError),
    /// The objects cannot be written down.
    #[error(transparent)]
    Export(#[from] ExportError),
    /// The kinds of the objects could not be made.
    #[error("the kinds of the objects could not be made: {0}")]
    Kinds(#[from] PutError),
    /// It was not stored.
    #[error(transparent)]
    Save(#[from] SaveError),
    /// Destroyed objects were not removed.
    #[error("destroyed objects were not removed")]
    Bulk(#[from] BulkError),
    /// What was stored cannot be listed.
    #[error("the objects that were stored cannot be listed")]
    List(#[from] ListError),
    /// Nothing may be written.
    #[error(transparent)]
    Keeper(KeeperError),
    /// The end could not be noted.
    #[error(transparent)]
    Note(#[from] RunError),
}
