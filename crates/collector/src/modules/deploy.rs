//! A deployment: lease, intent, puts, seal, sweep. In this order, and nothing of it is left out.

use super::event::FailedPut;
use super::lease::LeaseError;
use super::plan::ModulePlan;
use super::records::RecordsError;
use super::sweep::{SweepError, Swept};
use super::{Modules, Tell};
use sexton_lifecycle::Held;

/// What became of a deployment.
#[derive(Debug, Clone, Default)]
pub struct Deployed {
    /// How many were created.
    pub created: usize,
    /// How many were changed, adopted ones included.
    pub changed: usize,
    /// How many only got their marks.
    pub unchanged: usize,
    /// What the sweep came to, or why there was none.
    pub swept: Swept,
}

/// Why a deployment was not carried through. Whatever it is: nothing was swept, unless it says so.
#[derive(Debug, thiserror::Error)]
pub enum DeployError {
    /// The sweep would destroy too much. Nothing was touched.
    #[error(transparent)]
    Held(Box<Held>),
    /// Somebody else works on the module, or has taken it over.
    #[error(transparent)]
    Lease(#[from] LeaseError),
    /// Somebody deployed the module after the plan was made. Nothing was touched.
    #[error("the module {0} was deployed by somebody else since this plan was made")]
    Outdated(String),
    /// The record could not be written.
    #[error(transparent)]
    Record(#[from] RecordsError),
    /// Resources could not be put: the deployment is not sealed, and nothing was swept.
    #[error("{} of {of} resources could not be put: the deployment is not sealed, and nothing was swept", .failed.len())]
    Puts {
        /// Which ones, and why.
        failed: Vec<FailedPut>,
        /// How many were to be put.
        of: usize,
        /// How many were put.
        done: usize,
    },
    /// It was sealed, but not swept to the end; the next deployment sweeps the rest.
    #[error("the deployment is sealed, but its sweep was not carried through")]
    Sweep(#[from] SweepError),
}

impl Modules {
    /// Does what was planned.
    ///
    /// # Errors
    /// See [`DeployError`].
    pub async fn deploy(&self, _plan: &ModulePlan, _tell: &Tell<'_>) -> Result<Deployed, DeployError> {
        todo!()
    }
}
