//! Environments: where the objects of a program are stored between its runs.
//!
//! ```text
//! open ─► remove (objects missing in the incoming model) ─► deploy ─► finish (store, destroy unreachable, store changes)
//! ```
//!
//! Objects are destroyed here, with their code in this process. When their resources are deleted through a server, its
//! collector runs the same code in a worker. This module must not know how a program is written, nor how results are
//! shown.

mod belonging;
mod burial;
mod changes;
mod checks;
mod end;
mod finish;
mod import;
mod keeper;
mod kinds;
mod open;
mod pending;
mod predecessor;
mod record;
mod run;
mod save;

pub use end::Ended;
pub use finish::Finished;
pub use kinds::KindsError;
pub use open::{Ask, Here, Opened};
pub use pending::{Pending, PendingObject, give_up_pending, pending, retry_pending};
pub use record::{Record, RecordError, note_interrupted};
pub use save::SaveError;

use sexton_client::CallError;
use sexton_client::resources::{BulkError, DeleteError, ListError};
use sexton_collector::modules::LeaseError;

use crate::gc::{CollectError, RecorderError};
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
    /// Another kind has one of the names that the kind of a class would have.
    #[error(
        "objects of class {class} cannot be stored: their kind would be called {name}, as the kind {other} is"
    )]
    TakenKind {
        /// The class.
        class: String,
        /// The name.
        name: String,
        /// The kind that has it.
        other: String,
        /// The definition of that kind.
        definition: String,
    },
    /// The kind of a class is defined otherwise than programs need it.
    #[error("objects of class {class} cannot be stored: the definition {definition} {why}")]
    UnfitKind {
        /// The class.
        class: String,
        /// The definition.
        definition: String,
        /// What does not fit.
        why: String,
    },
    /// The namespace is being deleted.
    #[error("the namespace {0} is being deleted: nothing can be stored in it")]
    NamespaceTerminates(String),
    /// The incoming model is empty.
    #[error("the model has no objects, and {stored} are stored: all of them would be destroyed")]
    EmptyModel {
        /// How many.
        stored: usize,
    },
    /// The incoming model has objects, and none of those that are stored: another environment's, or with new ids.
    #[error("the model has none of the {stored} stored objects: all of them would be destroyed")]
    NothingKept {
        /// How many.
        stored: usize,
    },
    /// The incoming model says something of an object that cannot be.
    #[error("{path}: {what}")]
    Contradicts {
        /// Where in the model.
        path: String,
        /// What cannot be.
        what: String,
    },
    /// Another process holds its lease.
    #[error(transparent)]
    Lease(#[from] LeaseError),
    /// Its record cannot be read.
    #[error(transparent)]
    Record(#[from] RecordError),
    /// A model that an interrupted run had begun to store could not be finished.
    #[error(transparent)]
    Save(#[from] SaveError),
    /// An interrupted run has stored a part of its model, and a preview must not finish that.
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
    #[error(transparent)]
    Kinds(#[from] KindsError),
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
    Keeper(RecorderError),
    /// The record could not be removed.
    #[error("the record of the environment could not be removed")]
    Delete(#[from] DeleteError),
    /// The end could not be noted.
    #[error(transparent)]
    Note(#[from] RunError),
}
