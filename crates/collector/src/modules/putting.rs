//! Puts all documents of a plan in their order. What does not depend on each other is put at the same time.
//!
//! It must not know what a sweep is, except that a failed put means that there is none.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use futures::FutureExt;
use futures::future::BoxFuture;
use futures::stream::{self, StreamExt};
use sexton_client::resources::PutAsk;
use sexton_model::module::OnFailure;

use super::deploy::{DeployError, Deployed};
use super::event::FailedPut;
use super::lease::Locked;
use super::plan::{ModulePlan, PlannedPut, PutAction};
use super::prepare::Prepared;
use super::puts::{field_manager, put};
use super::{Event, Modules, Tell};

/// Puts at once.
const AT_ONCE: usize = 64;

impl Modules {
    /// Puts everything, or says what could not be put.
    pub(super) async fn put_all(
        &self,
        plan: &ModulePlan,
        locked: &Locked,
        tell: &Tell<'_>,
    ) -> Result<Deployed, DeployError> {
        let work =
            Work { modules: self, plan, tell, done: AtomicUsize::new(0), stop: AtomicBool::new(false) };
        let mut deployed = Deployed::default();
        let mut failed = Vec::new();
        for level in levels(&plan.documents, &plan.puts) {
            locked.check()?;
            let puts: Vec<BoxFuture<'_, _>> = level.map(|at| work.put_one(at).boxed()).collect();
            let mut puts = stream::iter(puts).buffer_unordered(AT_ONCE);
            while let Some(result) = puts.next().await {
                match result {
                    Some(Ok(PutAction::Create)) => deployed.created += 1,
                    Some(Ok(PutAction::Change | PutAction::Adopt)) => deployed.changed += 1,
                    Some(Ok(PutAction::Unchanged)) => deployed.unchanged += 1,
                    Some(Err(failure)) => failed.push(failure),
                    None => {}
                }
            }
            if work.stop.load(Ordering::SeqCst) {
                break;
            }
        }
        if failed.is_empty() {
            return Ok(deployed);
        }
        Err(DeployError::Puts { failed, of: plan.puts.len(), done: work.done.load(Ordering::SeqCst) })
    }
}

struct Work<'a> {
    modules: &'a Modules,
    plan: &'a ModulePlan,
    tell: &'a Tell<'a>,
    done: AtomicUsize,
    stop: AtomicBool,
}

impl Work<'_> {
    /// Puts one document; nothing if it is not wanted any more, because another one failed.
    async fn put_one(&self, at: usize) -> Option<Result<PutAction, FailedPut>> {
        if self.stop.load(Ordering::SeqCst) {
            return None;
        }
        let (plan, document, planned) = (self.plan, &self.plan.documents[at], &self.plan.puts[at]);
        let manager = &plan.spec.manager;
        let marked = document.marked(manager, &plan.deployment_id);
        let ask = PutAsk { manager: field_manager(manager), force: plan.force, dry_run: false };
        match put(&self.modules.tools.resources, document, &marked, &ask, planned.action).await {
            Ok((action, warnings)) => {
                let done = self.done.fetch_add(1, Ordering::SeqCst) + 1;
                let (origin, object) = (planned.origin.clone(), planned.object.clone());
                (self.tell)(Event::Put { origin, object, action, done, of: plan.puts.len(), warnings });
                Some(Ok(action))
            }
            Err(why) => {
                if plan.on_failure == OnFailure::Stop {
                    self.stop.store(true, Ordering::SeqCst);
                }
                let failure =
                    FailedPut { origin: planned.origin.clone(), object: planned.object.clone(), why };
                (self.tell)(Event::Failed(failure.clone()));
                Some(Err(failure))
            }
        }
    }
}

/// Documents that may be put at the same time, one level after the other. What only gets its marks is there already and
/// waits for nobody; others are put together if they are of one kind, stand next to each other and name no one.
fn levels(documents: &[Prepared], puts: &[PlannedPut]) -> Vec<std::ops::Range<usize>> {
    let mut levels = Vec::new();
    let (mut begin, mut last): (usize, Option<&Prepared>) = (0, None);
    for (at, (document, put)) in documents.iter().zip(puts).enumerate() {
        if put.action == PutAction::Unchanged {
            continue;
        }
        let together = last.is_none_or(|last| last.place.kind.resource == document.place.kind.resource);
        if at > begin && (!together || document.linked) {
            levels.push(begin..at);
            begin = at;
        }
        last = Some(document);
    }
    if begin < documents.len() {
        levels.push(begin..documents.len());
    }
    levels
}
