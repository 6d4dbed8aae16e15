//! The content of a call: the object, the callee and its method, and which of the objects around them are doomed.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use sexton_client::ServedKind;
use sexton_lifecycle::destruction::{Callee, Phase};
use sexton_lifecycle::{Finding, NodeId};
use sexton_model::Uid;
use sexton_model::hook::{MAX_DOOMED, ObjectRef};

use super::{Caller, Lane, handler_of};
use crate::controller::Collector;
use crate::decide::Decision;
use crate::perform::Hand;

impl Collector {
    pub(super) fn caller(
        &self,
        hand: &Hand,
        decision: &Decision,
        life: NodeId,
        callee: Callee,
        phase: Phase,
        attempt: u32,
    ) -> Caller {
        let snapshot = &self.view.snapshot;
        let subscriber = match &callee {
            Callee::Destroy => None,
            Callee::Subscriber(uid) => snapshot.get(&Uid(uid.clone())),
        };
        let method = match (&callee, subscriber) {
            (Callee::Destroy, _) => self.destroy_method(life),
            (Callee::Subscriber(_), Some(subscriber)) => {
                handler_of(snapshot, &self.view.classes, life, subscriber)
                    .map(|(name, method, class)| (name, method, class.retry))
            }
            (Callee::Subscriber(uid), None) => Err(format!("the subscriber {uid} is gone")),
        };
        let finding = decision.judgement.doomed.get(&life);
        let (doomed, doomed_count) = self.doomed_refs(decision, finding);
        let (is_doomed, is_destroyed) = self.fates(decision, life, subscriber, phase);
        Caller {
            resources: self.means.resources.clone(),
            runner: self.means.runner.clone(),
            slots: self.slots.of(method.as_ref().ok().map(|(_, method, _)| &method.run)).clone(),
            lane: self.lane(subscriber.unwrap_or(life)),
            max_time: self.settings.max_hook_time,
            uid: snapshot.uid(life).0,
            object: self.address(life),
            subscriber: subscriber.map(|other| {
                let (kind, namespace, name) = self.address(other);
                (kind, namespace, name, snapshot.uid(other).0)
            }),
            callee,
            phase,
            key: String::new(),
            wanted: Arc::default(),
            attempt,
            session: finding.and_then(|one| self.ledger.collection_of(one)).unwrap_or_default().to_owned(),
            epoch: hand.epoch(),
            doomed,
            doomed_count,
            is_doomed,
            is_destroyed,
            method,
            clock: self.means.clock.clone(),
        }
    }

    /// The lane in which a call of a method of this object waits.
    fn lane(&self, life: NodeId) -> Lane {
        let snapshot = &self.view.snapshot;
        let class = (snapshot.group(life).to_owned(), snapshot.kind(life).to_owned());
        Lane { class, namespace: snapshot.key(life).namespace }
    }

    fn destroy_method(
        &self,
        life: NodeId,
    ) -> Result<(String, sexton_model::class::Method, sexton_model::class::Retry), String> {
        let snapshot = &self.view.snapshot;
        let kind = snapshot.kind(life);
        if let Some(why) = self.view.classes.broken(snapshot.group(life), kind) {
            return Err(why.to_owned());
        }
        let class = self.view.classes.of(snapshot.group(life), kind);
        let class = class.ok_or_else(|| format!("there is no class for {kind} any more"))?;
        let method = class.destroy.clone().ok_or_else(|| format!("the class of {kind} has no destroy"))?;
        Ok((sexton_model::class::DESTROY.to_owned(), method, class.retry))
    }

    /// Kind, namespace and name of an object.
    fn address(&self, life: NodeId) -> (ServedKind, String, String) {
        let snapshot = &self.view.snapshot;
        let key = snapshot.key(life);
        let mut kind = ServedKind::well_known(
            &key.kind.group,
            &key.kind.resource,
            snapshot.kind(life),
            !key.namespace.is_empty(),
        );
        kind.version = snapshot.version(life).to_owned();
        (kind, key.namespace, key.name)
    }

    /// The objects that are doomed in the same collection: the first of them, and how many there are.
    fn doomed_refs(&self, decision: &Decision, of: Option<&Finding>) -> (Vec<ObjectRef>, usize) {
        let mut same =
            decision.plan.steps().filter(|step| of.is_none_or(|one| one.root == step.finding.root));
        let first = same.by_ref().take(MAX_DOOMED).map(|step| self.view.snapshot.object_ref(step.node));
        let first: Vec<ObjectRef> = first.collect();
        let count = first.len() + same.count();
        (first, count)
    }

    /// For each object that the two of them refer to: is it doomed, and is it destroyed?
    fn fates(
        &self,
        decision: &Decision,
        life: NodeId,
        subscriber: Option<NodeId>,
        phase: Phase,
    ) -> (BTreeMap<String, bool>, BTreeMap<String, bool>) {
        let snapshot = &self.view.snapshot;
        let mut known: BTreeSet<NodeId> = BTreeSet::new();
        for one in [Some(life), subscriber].into_iter().flatten() {
            known.insert(one);
            known.extend(snapshot.targets_of(one));
            known.extend(snapshot.owners(one).iter().filter_map(|(owner, _)| snapshot.get(&owner.uid)));
        }
        let uid = |one: &NodeId| snapshot.uid(*one).0;
        let doomed = known.iter().map(|one| (uid(one), decision.judgement.is_doomed(*one))).collect();
        let destroyed = known.iter().map(|one| {
            (uid(one), snapshot.is_destroyed(*one) || (*one == life && phase == Phase::Destroyed))
        });
        (doomed, destroyed.collect())
    }
}
