//! Makes the plan of a deployment: from its documents and one look at the server. Reads, and asks for dry runs; never
//! writes.

use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;

use sexton_lifecycle::DeletionLimit;
use sexton_lifecycle::module::{Member, scope_change, split_by_mark};
use sexton_model::GroupResource;
use sexton_model::module::ModuleOrder;
use tokio::time::Instant;

use super::Modules;
use super::checks::{check, check_id, refuse_doomed, warnings, what_to_sweep};
use super::digest::digest;
use super::documents::Deployment;
use super::look::{Looked, Slot, look, slot_of};
use super::plan::{ModulePlan, PlanError, PlannedPut, ScopeShift, Sweep};
use super::prepare::{NotPrepared, Prepared, prepare};
use super::records::ModuleRecord;
use super::victims::{Unmarked, accused_before, divide, foresee, fuse};

impl Modules {
    /// Plans a deployment. Never writes: it reads, and asks for dry runs.
    ///
    /// # Errors
    /// See [`PlanError`].
    pub async fn plan(&self, deployment: &Deployment) -> Result<ModulePlan, PlanError> {
        let limits = check(deployment)?;
        let record = self.find_record(&deployment.spec.manager).await?;
        let kinds = self.kinds_now().await.map_err(|error| PlanError::Call(error.0))?;
        let order_before = order_before(deployment, record.as_ref())?;
        let documents = prepare(deployment, &kinds).map_err(|error| match error {
            NotPrepared::Refused(refusals) => PlanError::Refused(refusals),
            NotPrepared::Order(error) => PlanError::Order(error),
        })?;
        let documents: Vec<Arc<Prepared>> = documents.into_iter().map(Arc::new).collect();
        let whole: BTreeSet<(String, String)> = documents
            .iter()
            .map(|document| {
                let kind = &document.place.kind.resource;
                (kind.group.clone(), kind.resource.clone())
            })
            .collect();
        let spec = &deployment.spec;
        let within = spec.scope.get("namespace").map(String::as_str);
        let looked_at = Instant::now();
        let mut looked = look(&self.tools.resources, &kinds, (&spec.manager, within), &whole).await;
        let named = documents.iter().map(|document| document.place.kind.resource.to_string());
        let had = record.iter().flat_map(|record| record.status.kinds.iter().cloned());
        let had: Vec<String> = named.chain(had).collect();
        looked.set_unanswered_aside(had.iter().map(String::as_str));
        check_id(deployment, record.as_ref(), &looked)?;
        let live = self.live(&kinds, &documents, &mut looked).await?;
        let puts = self.judge_all(deployment, &kinds, &documents, live).await?;
        let named = documents.iter().map(|document| document.own_slot()).collect();
        let documents = documents.into_iter().filter(|document| document.wanted).collect();
        self.assemble(
            deployment,
            Material { record, documents, named, puts, looked, looked_at, limits, order_before },
        )
        .await
    }

    async fn assemble(&self, deployment: &Deployment, material: Material) -> Result<ModulePlan, PlanError> {
        let Material { record, documents, named, puts, mut looked, looked_at, limits, order_before } =
            material;
        let spec = &deployment.spec;
        let is_marked = |member: &Member| named.contains(&slot_of(member));
        let was_on =
            record.as_ref().is_some_and(|record| record.spec.support_gc && record.status.sealed.is_some());
        // Before a module sweeps for the first time, all objects with its label may be meant as members: a user is
        // asked.
        let kinds = record.as_ref().filter(|_| was_on).map(|record| kinds_of(record, &named));
        self.set_copies_aside(&mut looked, &spec.manager, kinds, is_marked).await;
        let sorted = split_by_mark(&spec.scope, &looked.members, is_marked);
        let in_scope = sorted.marked.len() + sorted.unmarked.len();
        let pick = |places: &[usize]| -> Vec<Member> {
            places.iter().map(|at| looked.members[*at].clone()).collect()
        };
        let mut unmarked = divide(pick(&sorted.unmarked)).without_namespaces(&looked.unanswered);
        let sweep = what_to_sweep(deployment, &looked);
        let destruction = match sweep {
            Sweep::Accuse => foresee(&self.tools, &spec.manager, &mut unmarked).await?,
            // Accusations are withdrawn in this case.
            Sweep::Renumber => None,
            // An earlier sweep continues whatever this deployment does: nothing may be put that it would take along.
            Sweep::None { .. } => {
                let mut before = accused_before(&documents, &looked.members);
                if let Some(doom) = foresee(&self.tools, &spec.manager, &mut before).await? {
                    refuse_doomed(&documents, &doom)?;
                }
                None
            }
        };
        let Unmarked { victims, kept } = unmarked;
        let held = destruction.as_ref().and_then(|doom| fuse(doom, &victims, in_scope, &limits));
        if let Some(doom) = &destruction {
            refuse_doomed(&documents, doom)?;
        }
        let status = record.as_ref().map(|record| &record.status);
        let previous = status.and_then(|status| status.sealed.clone());
        let scope_shift = previous.as_ref().filter(|sealed| sealed.scope != spec.scope).map(|sealed| {
            let change = scope_change(&sealed.scope, &spec.scope, &looked.members);
            ScopeShift { old: sealed.scope.clone(), enter: pick(&change.enter), leave: pick(&change.leave) }
        });
        let digest = digest(&documents, &puts, &sweep, &victims, destruction.as_ref());
        Ok(ModulePlan {
            spec: spec.clone(),
            deployment_id: deployment.deployment_id.clone(),
            warnings: warnings(&puts, &looked, &pick(&sorted.outside)),
            puts,
            first_gc: spec.support_gc && !was_on && !victims.is_empty(),
            sweep,
            victims,
            kept,
            destruction,
            unlistable: looked.unlistable,
            held,
            limits,
            in_scope,
            scope_shift,
            order_before,
            previous,
            interrupted: status.and_then(|status| status.intent.clone()),
            digest,
            on_failure: deployment.on_failure,
            partial: deployment.only.is_some(),
            force: deployment.force,
            record,
            documents,
            looked_at,
        })
    }
}

/// The kinds that a module has, or had: those of its record and those of its documents.
fn kinds_of(record: &ModuleRecord, named: &HashSet<Slot>) -> BTreeSet<String> {
    let kind = |(group, resource, ..): &Slot| GroupResource::new(group, resource).to_string();
    record.status.kinds.iter().cloned().chain(named.iter().map(kind)).collect()
}

/// The inputs of a plan.
struct Material {
    record: Option<ModuleRecord>,
    documents: Vec<Arc<Prepared>>,
    /// The keys of all documents, also of those that are not put this time.
    named: HashSet<Slot>,
    puts: Vec<PlannedPut>,
    looked: Looked,
    /// When the objects were listed.
    looked_at: Instant,
    limits: DeletionLimit,
    order_before: Option<ModuleOrder>,
}

/// The order of the last sealed deployment, if the module has another one now.
fn order_before(
    deployment: &Deployment,
    record: Option<&ModuleRecord>,
) -> Result<Option<ModuleOrder>, PlanError> {
    let now = deployment.spec.order;
    let sealed = record.filter(|record| record.status.sealed.is_some());
    let before = sealed.map(|record| record.spec.order).filter(|before| *before != now);
    match before.filter(|_| deployment.only.is_some()) {
        Some(before) => Err(PlanError::OrderChanged { before: before.word(), now: now.word() }),
        None => Ok(before),
    }
}
