//! The end of a whole module: all its objects are accused, and when they are gone its record is removed.
//!
//! No document is needed: the objects carry the module's label and their place in the order.

use std::collections::BTreeSet;

use sexton_lifecycle::module::{Member, in_scope, split_by_mark};
use sexton_model::GroupResource;
use sexton_model::module::{ModulePhase, ModuleSpec, default_scope, manager_name};
use sexton_model::time;
use tokio::time::Instant;

use super::digest::digest_of_victims;
use super::look::Unlistable;
use super::plan::PlanError;
use super::records::{ModuleRecord, RecordsError};
use super::sweep::{Charge, SweepError, Swept, collection_name};
use super::victims::{Destruction, Kept, Unmarked, Victim, divide, foresee_in};
use super::{Event, Modules, Tell};
use crate::lease::{LeaseError, Locked};
use crate::preview::PreviewError;

/// The plan of a module's destruction.
#[derive(Debug)]
pub struct DestroyPlan {
    /// The module.
    pub module: String,
    /// The objects that would be accused, in the order of their destruction.
    pub victims: Vec<Victim>,
    /// The objects that are not swept.
    pub kept: Vec<Kept>,
    /// The destruction that the accusations lead to, if there are any.
    pub destruction: Option<Destruction>,
    /// Kinds that could not be listed: then the record stays.
    pub unlistable: Vec<Unlistable>,
    /// Whether there is a record of the module.
    pub recorded: bool,
    /// The module as it was deployed last.
    pub spec: ModuleSpec,
    /// The digest of all that is destroyed.
    pub digest: String,
    pub(super) record: Option<ModuleRecord>,
    /// The kinds of which anything carries the label of the module.
    pub(super) kinds: BTreeSet<GroupResource>,
}

/// The outcome.
#[derive(Debug, Clone, Default)]
pub struct Destroyed {
    /// What was accused.
    pub swept: Swept,
    /// Whether the record was removed: there was nothing left.
    pub buried: bool,
    /// What is known of the module while this process has its lease.
    pub left: Option<Left>,
}

/// The record of a module as its destruction wrote it, and the kinds of which it had anything: as long as that is its
/// record, nothing was put, so nothing else need be looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Left {
    version: String,
    kinds: BTreeSet<GroupResource>,
}

/// Whether a module is gone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Buried {
    /// There is nothing left, and no record.
    Gone,
    /// These objects still exist, so the record stays.
    Left(Vec<Member>),
    /// Not everything could be seen, so the record stays.
    Unknown(Vec<Unlistable>),
}

/// Why a module was not destroyed.
#[derive(Debug, thiserror::Error)]
pub enum DestroyError {
    /// Another process works on it.
    #[error(transparent)]
    Lease(#[from] LeaseError),
    /// The record could not be written.
    #[error(transparent)]
    Record(#[from] RecordsError),
    /// The user may not delete what would be destroyed. Nothing was touched.
    #[error(transparent)]
    MayNot(#[from] PreviewError),
    /// The accusations were not written.
    #[error(transparent)]
    Sweep(#[from] SweepError),
}

impl Modules {
    /// Plans the destruction of a module. Writes nothing.
    ///
    /// # Errors
    /// See [`PlanError`].
    pub async fn plan_destroy(&self, name: &str) -> Result<DestroyPlan, PlanError> {
        manager_name(name).map_err(|why| PlanError::Name { name: name.to_owned(), why })?;
        let record = self.find_record(name).await?;
        let within = record.as_ref().and_then(|record| record.spec.scope.get("namespace"));
        let (mut looked, world) = self.look_around(name, within.map(String::as_str)).await?;
        let had = record.iter().flat_map(|record| record.status.kinds.iter().map(String::as_str));
        looked.set_unanswered_aside(had);
        let recorded = record.iter().flat_map(|record| record.status.kinds.iter().cloned());
        self.set_copies_aside(&mut looked, name, Some(recorded.collect()), |_| false).await;
        let scope = record.as_ref().map_or_else(|| default_scope(name), |record| record.spec.scope.clone());
        let all = looked.members.iter().chain(&looked.copies);
        let kinds = all.map(|one| GroupResource::new(one.group.as_str(), one.resource.as_str())).collect();
        // What the module put belongs to it, also if its scope is another one now. What only carries its label does not.
        let (own, others): (Vec<Member>, Vec<Member>) = looked
            .members
            .into_iter()
            .partition(|member| in_scope(&scope, member) || member.deployment.is_some());
        let order = split_by_mark(&default_scope(name), &own, |_| false).unmarked;
        let own = order.into_iter().map(|at| own[at].clone()).collect();
        let mut unmarked = divide(own).without_namespaces(&looked.unanswered);
        for victim in &mut unmarked.victims {
            "the whole module is destroyed".clone_into(&mut victim.reason);
        }
        let destruction = foresee_in(world, name, &mut unmarked)?;
        let Unmarked { victims, mut kept } = unmarked;
        let left = |why: &'static str| move |member| Kept { member, why: why.to_owned() };
        kept.extend(others.into_iter().map(left("it is not in the module's scope, and was never put by it")));
        kept.extend(
            looked.copies.into_iter().map(left("it carries the module's label, but was never put by it")),
        );
        Ok(DestroyPlan {
            module: name.to_owned(),
            digest: digest_of_victims(&victims, destruction.as_ref()),
            victims,
            kept,
            destruction,
            unlistable: looked.unlistable,
            recorded: record.is_some(),
            spec: record.as_ref().map_or_else(|| ModuleSpec::new(name), |record| record.spec.clone()),
            record,
            kinds,
        })
    }

    /// Accuses all objects of the plan. If none are left, removes the record; so it can be repeated.
    ///
    /// # Errors
    /// See [`DestroyError`].
    pub async fn destroy(&self, plan: &DestroyPlan, tell: &Tell<'_>) -> Result<Destroyed, DestroyError> {
        if plan.victims.is_empty() && !plan.recorded {
            return Ok(Destroyed::default());
        }
        if let Some(destruction) = &plan.destruction {
            destruction.may_be_marked(self.tools.allowance.as_ref())?;
        }
        let locked = self.lease(&plan.module).take().await?;
        tell(Event::Locked { module: plan.module.clone() });
        let result = self.destroy_locked(plan, &locked, tell).await;
        locked.release().await;
        let (swept, version) = result?;
        let left = Some(Left { version, kinds: plan.kinds.clone() }).filter(|_| plan.unlistable.is_empty());
        let buried =
            swept.accused.is_empty() && self.bury(&plan.module, left.as_ref()).await? == Buried::Gone;
        Ok(Destroyed { swept, buried, left })
    }

    async fn destroy_locked(
        &self,
        plan: &DestroyPlan,
        locked: &Locked,
        tell: &Tell<'_>,
    ) -> Result<(Swept, String), DestroyError> {
        // Recorded first, so that the record says why the objects disappear.
        let spec = || ModuleSpec::new(&plan.module);
        let mut record = plan.record.clone().unwrap_or_else(|| ModuleRecord::new(spec()));
        record.status.phase = Some(ModulePhase::Destroying);
        record.status.intent = None;
        self.records_of(&plan.module).write(&mut record).await?;
        let now = time::format(self.tools.clock.now());
        // Each attempt is a collection of its own.
        let number = locked.epoch().transitions;
        let charge = Charge {
            module: &plan.module,
            scope: None,
            looked_at: Instant::now(),
            parallel: record.spec.parallel,
            because: format!("the module is destroyed since {now}"),
            collection: collection_name("destroy", &plan.module, &format!("{now}-{number}")),
            epoch: locked.epoch(),
        };
        let swept = self.accuse(&plan.victims, &charge, tell).await?;
        Ok((swept, record.version().to_owned()))
    }

    /// Removes the record and the lease of a module of which nothing is left. `left` is what is known of a destruction that
    /// was carried out just now.
    ///
    /// # Errors
    /// See [`DestroyError`].
    pub async fn bury(&self, name: &str, left: Option<&Left>) -> Result<Buried, DestroyError> {
        let Some(record) = self.find_record(name).await? else { return Ok(Buried::Gone) };
        let locked = self.lease(name).take().await?;
        let result = self.bury_locked(&record, left).await;
        match result {
            Ok(Buried::Gone) => {
                self.lease(name).remove().await?;
                Ok(Buried::Gone)
            }
            other => {
                locked.release().await;
                other
            }
        }
    }

    async fn bury_locked(&self, record: &ModuleRecord, left: Option<&Left>) -> Result<Buried, DestroyError> {
        let name = &record.spec.manager;
        let within = record.spec.scope.get("namespace").map(String::as_str);
        let only = left.filter(|left| left.version == record.version()).map(|left| &left.kinds);
        let mut looked = self.look_at(name, within, only).await;
        looked.set_unanswered_aside(record.status.kinds.iter().map(String::as_str));
        let recorded = record.status.kinds.iter().cloned().collect();
        self.set_copies_aside(&mut looked, name, Some(recorded), |_| false).await;
        if !looked.members.is_empty() {
            return Ok(Buried::Left(looked.members));
        }
        if !looked.unlistable.is_empty() {
            return Ok(Buried::Unknown(looked.unlistable));
        }
        self.records_of(name).remove(record).await?;
        Ok(Buried::Gone)
    }
}
