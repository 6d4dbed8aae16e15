//! Modules: documents that are put together, marked while they are put, and swept once they are no longer put.
//!
//! ```text
//! documents ─► look ─► plan ─► (somebody agrees) ─► lease ─► intent ─► puts ─► seal ─► accusations
//! ```
//!
//! A sweep only accuses: order, steps, protection and destruction are the collector's. Everything goes through the
//! public API, so that it works with any Kubernetes. It must not print, nor ask anybody anything.

mod checks;
mod conflicts;
mod copied;
mod deploy;
mod deployment_mark;
mod destroy;
mod diff;
mod digest;
mod documents;
mod event;
mod handover;
mod hearing;
mod judgement;
mod judging;
mod look;
mod plan;
mod planning;
mod prepare;
mod puts;
mod putting;
mod records;
mod renewing;
mod sweep;
mod transfer;
mod unchanged;
mod victims;
mod whereabouts;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use sexton_client::kinds::DiscoverError;
use sexton_client::{Gateway, Kinds, Resources};
use sexton_model::hook::Allowance;

use crate::clock::Clock;

pub use crate::lease::{LeaseError, LeaseGiver, LeaseView, Locked, WorkLease};
pub use conflicts::FieldConflict;
pub use deploy::{DeployError, Deployed};
pub use destroy::{Buried, DestroyError, DestroyPlan, Destroyed, Left};
pub use diff::FieldChange;
pub use documents::{Deployment, Refusal, Source};
pub use event::{Event, FailedPut};
pub use look::Unlistable;
pub use plan::{ModulePlan, PlanError, PlannedPut, PutAction, ScopeShift, Sweep};
pub use records::{Home, ModuleRecord, RecordsError};
pub use sweep::{SweepError, Swept};
pub use transfer::{Transfer, TransferError, Transferred};
pub use victims::{Destruction, Kept, Victim};

pub use sexton_lifecycle::module::Member;

/// Is told what happens while it happens.
pub type Tell<'a> = dyn Fn(Event) + Send + Sync + 'a;

/// With what modules are worked on.
#[derive(Debug, Clone)]
pub struct Tools {
    /// The resources of the server.
    pub resources: Resources,
    /// The same for feeds and writes in bulk.
    pub gateway: Arc<dyn Gateway>,
    /// Tells the time.
    pub clock: Arc<dyn Clock>,
    /// Who asks, as people know them.
    pub by: String,
    /// Who holds leases: no other process has this name.
    pub holder: String,
    /// Nobody else can be at work, because what is worked on is open to this process alone: whoever still has a lease
    /// died with it.
    pub alone: bool,
    /// What methods of classes may run and call on this machine; nothing if that is not decided here, because they are
    /// the user's own or run elsewhere.
    pub allowance: Option<Allowance>,
}

/// The modules of a server.
#[derive(Debug, Clone)]
pub struct Modules {
    tools: Tools,
    kinds: Arc<Kinds>,
    home: Home,
    /// The namespaces of those modules whose records are not in the usual place.
    elsewhere: Arc<Mutex<BTreeMap<String, String>>>,
}

/// A module as it is recorded, and who works on it.
#[derive(Debug, Clone)]
pub struct ModuleView {
    /// The record.
    pub record: ModuleRecord,
    /// Who holds the lease, if somebody does.
    pub lease: Option<LeaseView>,
}

impl Modules {
    /// Learns what the server serves, and where records of modules are kept there.
    ///
    /// # Errors
    /// The server does not say which kinds it has.
    pub async fn open(tools: Tools) -> Result<Modules, DiscoverError> {
        let kinds = tools.resources.kinds().await?;
        let home = Home::of(&kinds);
        Ok(Modules { tools, kinds, home, elsewhere: Arc::default() })
    }

    /// Where records are kept.
    pub fn home(&self) -> Home {
        self.home
    }

    /// What the server served when it was asked.
    pub fn kinds(&self) -> &Kinds {
        &self.kinds
    }

    /// All modules, by name.
    ///
    /// # Errors
    /// See [`RecordsError`].
    pub async fn list(&self) -> Result<Vec<ModuleView>, RecordsError> {
        let mut views = Vec::new();
        for record in self.all_records().await? {
            let lease = self.lease(&record.spec.manager).holder().await.map_err(RecordsError::Lease)?;
            views.push(ModuleView { record, lease });
        }
        Ok(views)
    }

    /// One module.
    ///
    /// # Errors
    /// See [`RecordsError`].
    pub async fn find(&self, name: &str) -> Result<Option<ModuleView>, RecordsError> {
        let Some(record) = self.find_record(name).await? else { return Ok(None) };
        let lease = self.lease(name).holder().await.map_err(RecordsError::Lease)?;
        Ok(Some(ModuleView { record, lease }))
    }

    /// Takes the lease of a module away from whoever holds it, and tells who that was.
    ///
    /// # Errors
    /// See [`LeaseError`].
    pub async fn unlock(&self, name: &str) -> Result<Option<LeaseView>, LeaseError> {
        // Whoever may not read the record may still hold the lease in the usual place.
        let _ = self.find_record(name).await;
        self.lease(name).break_it().await
    }

    /// What the server serves now: kinds come and go, also with what is deployed. Where a question is expensive, what
    /// this process knows is enough: it knows of the definitions that it writes itself.
    async fn kinds_now(&self) -> Result<Arc<Kinds>, DiscoverError> {
        match self.kinds.bulk {
            true => self.tools.resources.kinds_anew().await,
            false => self.tools.resources.kinds().await,
        }
    }
}
