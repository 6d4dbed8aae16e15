//! Puts all documents of a plan, level by level: documents in one level do not depend on each other, and are put at
//! once.
//!
//! 1. Renew the marks of unchanged objects, many in one request (`renewing`).
//! 2. Put each level with up to [`AT_ONCE`] requests, and confirm the lease before each. The next level begins when
//!    all of
//!    this one are put.
//! 3. After a failure, depending on the module, put no more, or go on. Either way the result is an error, and a
//!    deployment
//!    with an error is not sealed and does not sweep.

use std::collections::HashSet;
use std::sync::Arc;

use sexton_client::Resources;
use sexton_client::resources::PutAsk;
use sexton_model::module::OnFailure;
use tokio::task::JoinSet;

use super::conflicts::TakeOver;
use super::deploy::{DeployError, Deployed};
use super::event::FailedPut;
use super::plan::{ModulePlan, PlannedPut, PutAction};
use super::prepare::Prepared;
use super::puts::{Foreseen, field_manager, put};
use super::{Event, Modules, Tell};
use crate::lease::{Hold, Locked};

/// The most puts at a time.
const AT_ONCE: usize = 64;

/// The index of a document, and the result of its put.
type Outcome = (usize, Result<(PutAction, Vec<String>), String>);

impl Modules {
    /// Puts all documents, or returns those that could not be put.
    pub(super) async fn put_all(
        &self,
        plan: &ModulePlan,
        locked: &Locked,
        tell: &Tell<'_>,
    ) -> Result<Deployed, DeployError> {
        let mut work = Work::new(self, plan, locked, tell);
        work.renewed = self.renew(plan, locked).await;
        for level in levels(&plan.documents, &plan.puts) {
            locked.check()?;
            work.put_level(level).await;
            if work.stopped {
                break;
            }
        }
        locked.check()?;
        if work.failed.is_empty() {
            return Ok(work.deployed);
        }
        Err(DeployError::Puts { failed: work.failed, of: plan.puts.len(), done: work.done })
    }
}

/// What all puts of a deployment share.
struct Common {
    resources: Resources,
    manager: String,
    deployment: String,
    ask: PutAsk,
    hold: Arc<Hold>,
}

struct Work<'a> {
    plan: &'a ModulePlan,
    locked: &'a Locked,
    tell: &'a Tell<'a>,
    common: Arc<Common>,
    deployed: Deployed,
    failed: Vec<FailedPut>,
    done: usize,
    /// Indexes of documents with objects that have their marks already.
    renewed: HashSet<usize>,
    /// A put failed, and no further one begins.
    stopped: bool,
}

impl<'a> Work<'a> {
    fn new(modules: &Modules, plan: &'a ModulePlan, locked: &'a Locked, tell: &'a Tell<'a>) -> Work<'a> {
        let manager = plan.spec.manager.clone();
        let ask = PutAsk { manager: field_manager(&manager), force: false, dry_run: false };
        let (resources, deployment) = (modules.tools.resources.clone(), plan.deployment_id.clone());
        let common = Arc::new(Common { resources, manager, deployment, ask, hold: locked.hold() });
        let deployed = Deployed::default();
        Work {
            plan,
            locked,
            tell,
            common,
            deployed,
            failed: Vec::new(),
            done: 0,
            renewed: HashSet::new(),
            stopped: false,
        }
    }

    /// Puts the documents of one level. Dropping the future ends the puts under way.
    async fn put_level(&mut self, level: std::ops::Range<usize>) {
        let mut waiting = level;
        let mut tasks: JoinSet<Outcome> = JoinSet::new();
        loop {
            while tasks.len() < AT_ONCE
                && !self.stopped
                && self.locked.check().is_ok()
                && let Some(at) = waiting.next()
            {
                match self.renewed.contains(&at) {
                    true => self.take((at, Ok((PutAction::Unchanged, Vec::new())))),
                    false => self.begin(at, &mut tasks),
                }
            }
            match tasks.join_next().await {
                None => return,
                Some(Ok(outcome)) => self.take(outcome),
                Some(Err(error)) => {
                    if let Ok(panic) = error.try_into_panic() {
                        std::panic::resume_unwind(panic);
                    }
                }
            }
        }
    }

    fn begin(&self, at: usize, tasks: &mut JoinSet<Outcome>) {
        let (common, document) = (self.common.clone(), self.plan.documents[at].clone());
        let planned = &self.plan.puts[at];
        let take = match self.plan.force {
            false => TakeOver::Nothing,
            true if planned.unforeseen => TakeOver::Everything,
            true => TakeOver::Fields(planned.conflicts.clone()),
        };
        let foreseen = Foreseen { action: planned.action, take, awaits_kind: planned.awaits_kind };
        tasks.spawn(async move {
            if let Err(lost) = common.hold.confirm().await {
                return (at, Err(lost.to_string()));
            }
            let marked = document.marked(&common.manager, &common.deployment);
            (at, put(&common.resources, &document, &marked, &common.ask, foreseen).await)
        });
    }

    fn take(&mut self, (at, result): Outcome) {
        let planned = &self.plan.puts[at];
        let (origin, object) = (planned.origin.clone(), planned.object.clone());
        match result {
            Ok((action, warnings)) => {
                self.done += 1;
                match action {
                    PutAction::Create => self.deployed.created += 1,
                    PutAction::Change | PutAction::Adopt => self.deployed.changed += 1,
                    PutAction::Unchanged => self.deployed.unchanged += 1,
                }
                let (done, of) = (self.done, self.plan.puts.len());
                (self.tell)(Event::Put { origin, object, action, done, of, warnings });
            }
            // After a lost lease a put was not made; that is no failure of the document.
            Err(_) if self.locked.check().is_err() => {}
            Err(why) => {
                self.stopped |= self.plan.on_failure == OnFailure::Stop;
                let failure = FailedPut { origin, object, why };
                (self.tell)(Event::Failed(failure.clone()));
                self.failed.push(failure);
            }
        }
    }
}

/// The documents as ranges that may be put at the same time, one after the other. Unchanged objects exist already and
/// wait for nothing. The others share a level if they are neighbours of one kind and refer to no other document.
fn levels(documents: &[Arc<Prepared>], puts: &[PlannedPut]) -> Vec<std::ops::Range<usize>> {
    let mut levels = Vec::new();
    let (mut begin, mut last): (usize, Option<&Arc<Prepared>>) = (0, None);
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
