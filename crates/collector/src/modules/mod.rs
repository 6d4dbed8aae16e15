//! Modules: sets of documents that are deployed together. Each put marks its object with the id of the deployment;
//! objects of the module that no document names any more are unmarked, and swept.
//!
//! ```text
//! documents ─► look ─► plan ─► (a user approves) ─► lease ─► intent ─► puts ─► seal ─► accusations
//! ```
//!
//! A sweep only writes accusations: order, steps, protection and destruction are the collector's. Everything uses the
//! public API, so that it works with any Kubernetes. It must not print, and asks no questions.
//!
//! By phase: `planning` reads (`look`, `hearing`, `copied`), validates (`prepare`, `checks`), decides per document
//! (`judging`, `judgement`, `unchanged`) and finds what would be destroyed (`victims`). `deploy` writes: `putting`
//! (`renewing`, `puts`), then `sweep`. `destroy` ends a module, `transfer` moves an object to another module.

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

/// Receives the events of a deployment while it runs.
pub type Tell<'a> = dyn Fn(Event) + Send + Sync + 'a;

/// What all operations on modules need: server, clock, identity.
#[derive(Debug, Clone)]
pub struct Tools {
    /// The server's resources.
    pub resources: Resources,
    /// The server's change feed, and writes in bulk.
    pub gateway: Arc<dyn Gateway>,
    /// Tells the time.
    pub clock: Arc<dyn Clock>,
    /// The requester, as users know them.
    pub by: String,
    /// The name under which leases are held: unique for each process.
    pub holder: String,
    /// Whether this process alone has access to the store: then the holder of any lease found there has ended.
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
    /// The namespaces of modules with records that are not in the usual one.
    elsewhere: Arc<Mutex<BTreeMap<String, String>>>,
}

/// A module's record, and the holder of its lease.
#[derive(Debug, Clone)]
pub struct ModuleView {
    /// The record.
    pub record: ModuleRecord,
    /// The lease, if it is held.
    pub lease: Option<LeaseView>,
}

impl Modules {
    /// Reads which kinds the server serves, and so where it keeps records of modules.
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

    /// The kinds that the server served when this was opened.
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

    /// Takes the lease of a module away from its holder, and returns the former holder.
    ///
    /// # Errors
    /// See [`LeaseError`].
    pub async fn unlock(&self, name: &str) -> Result<Option<LeaseView>, LeaseError> {
        // A user may be allowed to break the lease in the usual namespace without being allowed to read the record.
        let _ = self.find_record(name).await;
        self.lease(name).break_it().await
    }

    /// The kinds that the server serves now: they change, also by what is deployed. On a server of another make,
    /// where discovery is expensive, what this process knows is enough: it knows the definitions that it writes
    /// itself.
    async fn kinds_now(&self) -> Result<Arc<Kinds>, DiscoverError> {
        match self.kinds.bulk {
            true => self.tools.resources.kinds_anew().await,
            false => self.tools.resources.kinds().await,
        }
    }
}
