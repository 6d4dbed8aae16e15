//! What a deletion would lead to, without writing anything: a snapshot, a judgement and a plan.

use std::collections::{BTreeMap, BTreeSet};

use futures::StreamExt;
use sexton_client::resources::{FeedError, ListError};
use sexton_client::{CallError, Gateway, Lines, Resources};
use sexton_lifecycle::detect::{self, Roots};
use sexton_lifecycle::plan::{self, Plan};
use sexton_lifecycle::{
    DeletionScope, Detection, DetectionSettings, Finding, Grace, HypotheticalDeletion, NodeId, Snapshot,
};
use sexton_model::feed::Line;
use sexton_model::hook::Allowance;
use sexton_model::{Policy, Status, Uid, marks};

use crate::decide::Unproved;
use crate::hooked::handler_of;
use crate::hooks::allowance::{NotAllowed, may_call};
use crate::standing::Standing;
use crate::view::{Classes, View};

/// Why there is no preview.
#[derive(Debug, thiserror::Error)]
pub enum PreviewError {
    /// The feed cannot be opened.
    #[error("the server does not tell what there is")]
    Feed(#[from] FeedError),
    /// The feed ended before the listing was complete.
    #[error("the server stopped telling what there is")]
    Ended,
    /// The classes cannot be read.
    #[error("the classes cannot be read")]
    Classes(#[from] ListError),
    /// Classes exist that the user may not read: their methods would be skipped.
    #[error("nothing is deleted: there are classes on this server, and they may not be read")]
    HiddenClasses(#[source] CallError),
    /// A class cannot be parsed, and may have methods that must run before an object is removed.
    #[error("nothing is deleted: a class that runs code at the end of {0} cannot be understood")]
    BrokenClass(String),
    /// The user of this machine does not allow what a stored class would run or call at the end of an object.
    #[error("nothing is deleted: the end of {object} would run what is not allowed on this machine")]
    NotAllowed {
        /// The object.
        object: String,
        /// What is not allowed, and what would allow it.
        #[source]
        why: NotAllowed,
    },
    /// The plan did not pass its check: a mistake of ours.
    #[error("{0}")]
    Unproved(String),
}

/// A snapshot of all objects, with their classes.
#[derive(Debug)]
pub struct World {
    view: View,
    /// Why the user may not read the classes, if so.
    hidden_classes: Option<Box<Status>>,
    /// Whether it is a Kubernetes of others.
    kubernetes: bool,
}

impl World {
    /// Reads one complete listing.
    ///
    /// # Errors
    /// See [`PreviewError`].
    pub async fn look(gateway: &dyn Gateway, resources: &Resources) -> Result<World, PreviewError> {
        let (world, _) = World::hear_all(gateway.look().await?, resources, |_| {}).await?;
        Ok(World { kubernetes: !gateway.is_ours(), ..world })
    }

    /// Reads one complete listing, and returns the rest of the feed as well, to keep the snapshot up to date.
    ///
    /// # Errors
    /// See [`PreviewError`].
    pub async fn open(gateway: &dyn Gateway, resources: &Resources) -> Result<(World, Lines), PreviewError> {
        World::open_and(gateway, resources, |_| {}).await
    }

    /// The same; `also` is called with each line.
    pub(crate) async fn open_and(
        gateway: &dyn Gateway,
        resources: &Resources,
        also: impl FnMut(&Line) + Send,
    ) -> Result<(World, Lines), PreviewError> {
        let (world, lines) = World::hear_all(gateway.changes(None).await?, resources, also).await?;
        Ok((World { kubernetes: !gateway.is_ours(), ..world }, lines))
    }

    async fn hear_all(
        mut lines: Lines,
        resources: &Resources,
        mut also: impl FnMut(&Line) + Send,
    ) -> Result<(World, Lines), PreviewError> {
        let mut view = View::default();
        view.begin();
        while !view.synced() {
            let line: Line = lines.next().await.ok_or(PreviewError::Ended)??;
            also(&line);
            view.hear(line);
        }
        let mut hidden_classes = None;
        match Classes::read(resources, &view).await {
            Ok(classes) => {
                view.snapshot.set_classes(&classes.bindings());
                view.classes = classes;
            }
            // Without the classes one can look; only deletions are refused.
            Err(ListError::Call(CallError::Refused(status))) if status.code == 403 => {
                hidden_classes = Some(status);
            }
            Err(error) => return Err(error.into()),
        }
        Ok((World { view, hidden_classes, kubernetes: false }, lines))
    }

    /// Whether these objects may be marked for deletion, by what is seen here. `allowance` is what methods may run and
    /// call on this machine; nothing if it does not matter here.
    ///
    /// # Errors
    /// Classes may not be read or not be understood, and could have methods that must run at the end of an object; or
    /// such a method is not allowed. Marked, it would wait until that is mended.
    pub fn may_delete(
        &self,
        lives: impl IntoIterator<Item = NodeId>,
        allowance: Option<&Allowance>,
    ) -> Result<(), PreviewError> {
        if let Some(status) = &self.hidden_classes {
            return Err(PreviewError::HiddenClasses(CallError::Refused(status.clone())));
        }
        let snapshot = self.snapshot();
        let mut allowed = BTreeSet::new();
        for life in lives.into_iter().filter(|life| !snapshot.is_terminating(*life)) {
            if let Some(allowance) = allowance {
                self.check_methods(life, allowance, &mut allowed)?;
            }
            let subscribers = snapshot.subscribers_of(life).into_iter().map(|(subscriber, _)| subscriber);
            let broken =
                |one: NodeId| self.view.classes.broken(snapshot.group(one), snapshot.kind(one)).is_some();
            if std::iter::once(life).chain(subscribers).any(broken) {
                return Err(PreviewError::BrokenClass(snapshot.object_ref(life).to_string()));
            }
        }
        Ok(())
    }

    /// Refuses an object whose end would run or call what is not allowed. Scripts are refused while they run: only then
    /// it shows what they want.
    fn check_methods(
        &self,
        life: NodeId,
        allowance: &Allowance,
        allowed: &mut BTreeSet<String>,
    ) -> Result<(), PreviewError> {
        let snapshot = self.snapshot();
        let subscribers = snapshot.subscribers_of(life).into_iter().map(|(subscriber, _)| subscriber);
        let handlers = subscribers.filter_map(|one| handler_of(snapshot, &self.view.classes, life, one).ok());
        let class = self.view.classes.of(snapshot.group(life), snapshot.kind(life));
        let destroy = class.and_then(|class| class.destroy.clone());
        for method in destroy.into_iter().chain(handlers.map(|(_, method, _)| method)) {
            if allowed.insert(method.run.command())
                && let Err(refused) = may_call(&method.run, allowance)
            {
                let object = snapshot.object_ref(life).to_string();
                return Err(PreviewError::NotAllowed { object, why: refused });
            }
        }
        Ok(())
    }

    /// Classes that cannot be understood, a line for each: the objects of their kinds wait.
    pub fn ignored_classes(&self) -> &[String] {
        self.view.classes.nonsense()
    }

    /// Kinds that could not be listed completely, by reason.
    pub fn unseen(&self) -> BTreeMap<String, Vec<String>> {
        let mut unseen: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for (kind, why) in self.snapshot().incomplete() {
            unseen.entry(why.clone()).or_default().push(kind.to_string());
        }
        unseen
    }

    /// Applies a line of the feed.
    pub fn hear(&mut self, line: Line) {
        self.view.hear(line);
    }

    /// Blockers and steps under way of the terminating objects.
    pub fn standing(&self, judgement: &Detection) -> Standing {
        Standing::of(self.snapshot(), judgement)
    }

    /// The policy of a deletion that names none: as the server decides it.
    pub fn usual_policy(&self, life: NodeId) -> Policy {
        let snapshot = self.snapshot();
        let class = snapshot.kind(life) == "Class" && snapshot.group(life) == "sexton.dev";
        let holds_others = snapshot.is_namespace(life) || snapshot.is_definition(life) || class;
        if holds_others { Policy::Background } else { Policy::Cascade }
    }

    /// The snapshot.
    pub fn snapshot(&self) -> &Snapshot {
        &self.view.snapshot
    }

    /// The whole command or address of an object's `destroy`.
    pub fn destroy_method(&self, life: NodeId) -> Option<String> {
        let snapshot = self.snapshot();
        let class = self.view.classes.of(snapshot.group(life), snapshot.kind(life))?;
        class.destroy.as_ref().map(|method| method.run.command())
    }

    /// The whole command or address of the handler with which a subscriber is called for an object.
    pub fn handler_method(&self, life: NodeId, subscriber: NodeId) -> Option<String> {
        let found = handler_of(self.snapshot(), &self.view.classes, life, subscriber);
        found.ok().map(|(_, method, _)| method.run.command())
    }

    /// The class of the kind of an object.
    pub(crate) fn class_of(&self, life: NodeId) -> Option<Uid> {
        let snapshot = self.snapshot();
        self.view.classes.uid_of(snapshot.group(life), snapshot.kind(life)).cloned()
    }

    /// The object with a uid.
    pub fn life(&self, uid: &str) -> Option<NodeId> {
        self.snapshot().get(&Uid(uid.to_owned()))
    }

    /// What would follow from these deletions alone. Events that are deleted with their namespace are left out: they
    /// come and go all the time, and an approved plan must still be the same a moment later.
    ///
    /// # Errors
    /// The plan did not pass its check.
    pub fn if_deleted(
        &self,
        asked: &[HypotheticalDeletion],
        rules: &DetectionSettings,
    ) -> Result<(Detection, Plan), PreviewError> {
        let judgement = detect::follow_deletions(self.snapshot(), Roots::None, asked, &self.here(rules));
        self.planned(judgement.without_namespace_events(self.snapshot()))
    }

    /// What follows from terminating objects, and from accusations.
    ///
    /// # Errors
    /// The plan did not pass its check.
    pub fn under_way(&self, rules: &DetectionSettings) -> Result<(Detection, Plan), PreviewError> {
        let rules = &self.here(rules);
        let mut judgement = detect::follow_deletions(self.snapshot(), Roots::All, &[], rules);
        judgement.merge_candidates(detect::follow_candidates(self.snapshot(), rules));
        self.planned(judgement)
    }

    /// The rules as they are on this server.
    fn here(&self, rules: &DetectionSettings) -> DetectionSettings {
        DetectionSettings { kubernetes: self.kubernetes, ..rules.clone() }
    }

    /// What a command of ours left unfinished, with what follows from it: objects that carry the mark of an approved plan,
    /// of a sweep or of steps that were begun. Other terminating objects are left to the clients that deleted them.
    ///
    /// # Errors
    /// The plan did not pass its check.
    pub fn left_by_commands(&self, rules: &DetectionSettings) -> Result<(Detection, Plan), PreviewError> {
        let snapshot = self.snapshot();
        let (judgement, _) = self.under_way(rules)?;
        let ours = |life: NodeId| carries_our_marks(snapshot, life);
        let follows = |finding: &Finding| snapshot.get(&finding.root).is_some_and(ours);
        let left = judgement.doomed.iter().filter(|(life, finding)| ours(**life) || follows(finding));
        let scope = DeletionScope::only(left.map(|(life, _)| snapshot.uid(*life)));
        self.under_way(&DetectionSettings { scope, ..rules.clone() })
    }

    /// Objects with owners that do not exist, and what follows from them. Certain on a server of ours only.
    ///
    /// # Errors
    /// The plan did not pass its check.
    pub fn without_owners(&self, rules: &DetectionSettings) -> Result<(Detection, Plan), PreviewError> {
        let grace = Grace { now: 0, period: 0, since: &BTreeMap::new() };
        self.planned(detect::find_orphans(self.snapshot(), grace, rules).detection)
    }

    fn planned(&self, judgement: Detection) -> Result<(Detection, Plan), PreviewError> {
        let plan = plan::make(self.snapshot(), &judgement);
        match plan::verify(self.snapshot(), &judgement, &plan) {
            Ok(()) => Ok((judgement, plan)),
            Err(flaws) => Err(PreviewError::Unproved(Unproved(flaws).to_string())),
        }
    }
}

/// Whether one of our commands began to destroy an object: its plan was approved, it was swept, or it takes steps.
fn carries_our_marks(snapshot: &Snapshot, life: NodeId) -> bool {
    let ours = |finalizer: &str| {
        finalizer == marks::DESTROY_FINALIZER || Policy::recorded_by(finalizer) == Some(Policy::Cascade)
    };
    let marked = snapshot.is_terminating(life);
    let approved = snapshot.approved_plan(life).is_some() || snapshot.finalizers(life).any(ours);
    snapshot.candidate_record(life).is_some() || snapshot.journal(life).is_some() || (marked && approved)
}
