//! Carries a plan out: take the lease, record the intent, put, seal, sweep. Always all of it, in this order.
//!
//! A deployment that ends in the middle is continued by the next: the kinds are recorded before anything is put, and
//! only a sealed deployment sweeps. It must not decide what is put or swept: that is the plan's.

use std::collections::BTreeSet;

use sexton_lifecycle::DeletionLimitExceeded;
use sexton_lifecycle::module::Member;
use sexton_model::module::{Intent, ModulePhase, Past, Sealed};
use sexton_model::time;

use super::event::FailedPut;
use super::plan::{ModulePlan, Sweep};
use super::records::{ModuleRecord, RecordsError};
use super::sweep::{Charge, SweepError, Swept, collection_name};
use super::{Event, Modules, Tell};
use crate::lease::{LeaseError, Locked};
use crate::preview::PreviewError;

/// The outcome of a deployment.
#[derive(Debug, Clone, Default)]
pub struct Deployed {
    /// How many were created.
    pub created: usize,
    /// How many were changed, adopted ones included.
    pub changed: usize,
    /// How many only got new marks.
    pub unchanged: usize,
    /// The outcome of the sweep, or why there was none.
    pub swept: Swept,
}

/// Why a deployment failed. Nothing was swept, unless the variant says so.
#[derive(Debug, thiserror::Error)]
pub enum DeployError {
    /// The sweep would exceed the deletion limit. Nothing was touched.
    #[error(transparent)]
    Held(Box<DeletionLimitExceeded>),
    /// Other managers wrote other values than the documents have. Nothing was touched.
    #[error("{fields} of {objects} objects have other managers")]
    Conflicts {
        /// How many fields.
        fields: usize,
        /// Of how many objects.
        objects: usize,
    },
    /// Another process works on the module, or has taken it over.
    #[error(transparent)]
    Lease(#[from] LeaseError),
    /// The module was deployed after the plan was made. Nothing was touched.
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
    /// The user may not delete what would be swept. Nothing was touched.
    #[error(transparent)]
    MayNot(#[from] PreviewError),
    /// Accusations of an earlier sweep could not be withdrawn: nothing was put.
    #[error("an earlier sweep goes on, and could not be stopped: nothing was put")]
    Withdraw(#[source] SweepError),
    /// It was sealed, but not swept to the end; the next deployment sweeps the rest.
    #[error("the deployment is sealed, but its sweep was not carried through")]
    Sweep(#[from] SweepError),
}

impl Modules {
    /// Carries out a plan.
    ///
    /// # Errors
    /// See [`DeployError`].
    pub async fn deploy(&self, plan: &ModulePlan, tell: &Tell<'_>) -> Result<Deployed, DeployError> {
        if let Some(held) = &plan.held {
            return Err(DeployError::Held(Box::new(held.clone())));
        }
        let fields: usize = plan.conflicting().map(|put| put.conflicts.len()).sum();
        if fields > 0 {
            return Err(DeployError::Conflicts { fields, objects: plan.conflicting().count() });
        }
        if let Some(destruction) = &plan.destruction {
            destruction.may_be_marked(self.tools.allowance.as_ref())?;
        }
        let locked = self.lease(&plan.spec.manager).take().await?;
        tell(Event::Locked { module: plan.spec.manager.clone() });
        let result = self.deploy_locked(plan, &locked, tell).await;
        locked.release().await;
        result
    }

    async fn deploy_locked(
        &self,
        plan: &ModulePlan,
        locked: &Locked,
        tell: &Tell<'_>,
    ) -> Result<Deployed, DeployError> {
        let records = self.records_of(&plan.spec.manager);
        let current = records.find(&plan.spec.manager).await?;
        let version = |record: Option<&ModuleRecord>| record.map(|record| record.version().to_owned());
        if version(current.as_ref()) != version(plan.record.as_ref()) {
            return Err(DeployError::Outdated(plan.spec.manager.clone()));
        }
        let mut record = current.unwrap_or_else(|| ModuleRecord::new(plan.spec.clone()));
        let before = record.status.phase;
        self.intend(plan, &mut record);
        records.write(&mut record).await?;
        tell(Event::Intended { deployment: plan.deployment_id.clone(), count: plan.puts.len() });

        let done = match self.withdraw_and_put(plan, locked, tell).await {
            Ok(done) => done,
            Err(error) => {
                self.fail(plan, &mut record, &error).await;
                return Err(error);
            }
        };
        locked.check()?;
        if plan.partial {
            record.status.intent = None;
            record.status.phase = before;
            records.write(&mut record).await?;
        } else {
            self.seal(plan, &mut record);
            records.write(&mut record).await?;
            tell(Event::Sealed { deployment: plan.deployment_id.clone() });
        }
        let swept = self.after_seal(plan, locked, tell).await?;
        if !swept.accused.is_empty() {
            self.count_swept(&mut record, swept.accused.len()).await;
        }
        Ok(Deployed { swept, ..done })
    }

    /// Puts the documents; without a sweep (dry gc) only after the accusations of an earlier one are withdrawn.
    async fn withdraw_and_put(
        &self,
        plan: &ModulePlan,
        locked: &Locked,
        tell: &Tell<'_>,
    ) -> Result<Deployed, DeployError> {
        if plan.sweep == Sweep::Renumber {
            let unmarked: Vec<&Member> = plan.unmarked().collect();
            self.withdraw(&unmarked, locked.epoch()).await.map_err(DeployError::Withdraw)?;
        }
        self.put_all(plan, locked, tell).await
    }

    /// Fills in the intent, which is recorded before the first put: the next deployment knows then where to look.
    fn intend(&self, plan: &ModulePlan, record: &mut ModuleRecord) {
        let mut kinds: BTreeSet<String> = record.status.kinds.drain(..).collect();
        kinds.extend(plan.documents.iter().map(|document| document.place.kind.resource.to_string()));
        record.status.kinds = kinds.into_iter().collect();
        record.status.phase = Some(ModulePhase::Deploying);
        record.status.intent = Some(Intent {
            deployment_id: plan.deployment_id.clone(),
            started_at: time::format(self.tools.clock.now()),
            by: self.tools.by.clone(),
            count: plan.puts.len() as u64,
            digest: plan.digest.clone(),
        });
    }

    fn seal(&self, plan: &ModulePlan, record: &mut ModuleRecord) {
        let (at, by) = (time::format(self.tools.clock.now()), self.tools.by.clone());
        let (deployment_id, count) = (plan.deployment_id.clone(), plan.puts.len() as u64);
        record.spec = plan.spec.clone();
        record.status.intent = None;
        record.status.phase = Some(ModulePhase::Sealed);
        let phase = ModulePhase::Sealed;
        let past = Past {
            deployment_id: deployment_id.clone(),
            at: at.clone(),
            by: by.clone(),
            phase,
            count,
            swept: 0,
            error: None,
        };
        record.status.history.insert(0, past);
        record.status.sealed =
            Some(Sealed { deployment_id, at, by, count, swept: 0, scope: plan.spec.scope.clone() });
    }

    /// Records the failure. Without the lease that is left to its holder.
    async fn fail(&self, plan: &ModulePlan, record: &mut ModuleRecord, error: &DeployError) {
        let error = match error {
            DeployError::Lease(_) => return,
            DeployError::Puts { failed, .. } => {
                let first = failed.first().map(|one| format!("{}: {}", one.object, one.why));
                format!("{error}; {}", first.unwrap_or_default())
            }
            other => other.to_string(),
        };
        record.status.phase = Some(ModulePhase::Failed);
        record.status.intent = None;
        let past = Past {
            deployment_id: plan.deployment_id.clone(),
            at: time::format(self.tools.clock.now()),
            by: self.tools.by.clone(),
            phase: ModulePhase::Failed,
            count: plan.puts.len() as u64,
            swept: 0,
            error: Some(error),
        };
        record.status.history.insert(0, past);
        if let Err(error) = self.records_of(&record.spec.manager).write(record).await {
            tracing::warn!(%error, "the failure of the deployment is not recorded");
        }
    }

    async fn after_seal(
        &self,
        plan: &ModulePlan,
        locked: &Locked,
        tell: &Tell<'_>,
    ) -> Result<Swept, DeployError> {
        match &plan.sweep {
            Sweep::None { why } => {
                tell(Event::NotSwept { why: why.clone() });
                Ok(Swept { why_not: Some(why.clone()), ..Swept::default() })
            }
            Sweep::Renumber => {
                let unmarked: Vec<&Member> = plan.unmarked().collect();
                let highest = plan.puts.iter().map(|put| put.order).max();
                let renumbered = self.renumber(&unmarked, highest, locked.epoch()).await?;
                tell(Event::Renumbered { count: renumbered });
                let why = "nothing is swept by this deployment (dry gc)".to_owned();
                Ok(Swept { renumbered, why_not: Some(why), ..Swept::default() })
            }
            Sweep::Accuse => {
                let module = plan.spec.manager.as_str();
                let charge = Charge {
                    module,
                    scope: Some(&plan.spec.scope),
                    looked_at: plan.looked_at,
                    parallel: plan.spec.parallel,
                    because: format!("not in the module since deployment {}", plan.deployment_id),
                    collection: collection_name("sweep", module, &plan.deployment_id),
                    epoch: locked.epoch(),
                };
                Ok(self.accuse(&plan.victims, &charge, tell).await?)
            }
        }
    }

    /// Records the number for users; nothing depends on it.
    async fn count_swept(&self, record: &mut ModuleRecord, count: usize) {
        let count = count as u64;
        if let Some(sealed) = &mut record.status.sealed {
            sealed.swept = count;
        }
        if let Some(past) = record.status.history.first_mut() {
            past.swept = count;
        }
        if let Err(error) = self.records_of(&record.spec.manager).write(record).await {
            tracing::debug!(%error, "how many were swept is not recorded");
        }
    }
}
