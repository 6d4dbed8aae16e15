//! The end of a whole module: all that it manages is accused, and once all of it is gone its record is removed.

use super::lease::LeaseError;
use super::look::Unlistable;
use super::plan::PlanError;
use super::records::{ModuleRecord, RecordsError};
use super::sweep::{SweepError, Swept};
use super::victims::{Destruction, Kept, Victim};
use super::{Modules, Tell};
use sexton_lifecycle::module::Member;

/// What the end of a module would come to.
#[derive(Debug)]
pub struct DestroyPlan {
    /// The module.
    pub module: String,
    /// Who would be accused, in the order in which they go.
    pub victims: Vec<Victim>,
    /// Who is spared.
    pub kept: Vec<Kept>,
    /// What the accusations come to, if there are any.
    pub destruction: Option<Destruction>,
    /// What could not be listed: then the record stays.
    pub unlistable: Vec<Unlistable>,
    /// Whether there is a record of the module.
    pub recorded: bool,
    /// Stands for all of it.
    pub digest: String,
    pub(super) record: Option<ModuleRecord>,
}

/// What became of it.
#[derive(Debug, Clone, Default)]
pub struct Destroyed {
    /// What was accused. With nothing left to accuse, the record is gone already.
    pub swept: Swept,
    /// Whether the record was removed: there was nothing left.
    pub buried: bool,
}

/// Whether a module is over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Buried {
    /// There is nothing left, and no record.
    Gone,
    /// These are still there, so the record stays.
    Left(Vec<Member>),
    /// Not everything could be seen, so the record stays.
    Unknown(Vec<Unlistable>),
}

/// Why a module was not destroyed.
#[derive(Debug, thiserror::Error)]
pub enum DestroyError {
    /// Somebody else works on it.
    #[error(transparent)]
    Lease(#[from] LeaseError),
    /// The record could not be written.
    #[error(transparent)]
    Record(#[from] RecordsError),
    /// The accusations were not written.
    #[error(transparent)]
    Sweep(#[from] SweepError),
}

impl Modules {
    /// What the end of a module would come to. Writes nothing.
    ///
    /// # Errors
    /// See [`PlanError`].
    pub async fn plan_destroy(&self, _name: &str) -> Result<DestroyPlan, PlanError> {
        todo!()
    }

    /// Accuses all that was planned. If there is nothing left, the record is removed: doing it twice is no mistake.
    ///
    /// # Errors
    /// See [`DestroyError`].
    pub async fn destroy(&self, _plan: &DestroyPlan, _tell: &Tell<'_>) -> Result<Destroyed, DestroyError> {
        todo!()
    }

    /// Removes the record and the lease of a module of which nothing is left.
    ///
    /// # Errors
    /// See [`DestroyError`].
    pub async fn bury(&self, _name: &str) -> Result<Buried, DestroyError> {
        todo!()
    }
}
