//! Candidates as a snapshot for `sexton_lifecycle`, which plans their destruction as if they were stored resources.
//!
//! ```text
//! objects in memory                            snapshot
//!   app  ─owns─► net ─owns─► vm                  vm: owner app
//!   (app and vm are candidates, net lives on)    app
//!   vm   ─subscribed to─► disk (candidate)       vm: dependency on disk
//! ```
//!
//! - Each candidate becomes one node. Its owner is the nearest candidate up the chain of owners: ownership counts
//!   transitively, also through objects that live on.
//! - Live objects that connect candidates through destruction dependencies become nodes as well, without an owner.
//! - Node names are creation numbers, so that the planner's order by name is creation order.

use hashbrown::{HashMap, HashSet};
use sexton_lifecycle::{Observation, OwnerRef, Snapshot};
use sexton_model::feed::FeedKind;
use sexton_model::subscription::{Subscription, Target};
use sexton_model::{GroupResource, Key, Revision, Uid};

use crate::world::{Object, ObjectKey, Store};

/// One kind for objects of all classes: the planner sorts by kind first, and the order must be creation order.
const KIND: &str = "Object";
const RESOURCE: &str = "objects";
const VERSION: &str = "v1";
/// A node has at most this many dependencies. More of them are spread over a tree of relay nodes, which stand for no
/// object and live on: the snapshot looks up a subscription by scanning all dependencies of one node.
const MAX_DIRECT_DEPENDENCIES: usize = 32;

/// Builds the snapshot of candidates and of the live objects that connect them through destruction dependencies.
pub(super) struct SnapshotBuilder<'a> {
    store: &'a Store,
    candidates: &'a [ObjectKey],
    doomed: HashSet<ObjectKey>,
    /// For each live owner that was looked up: the nearest candidate above it.
    above: HashMap<ObjectKey, Option<ObjectKey>>,
    /// Relay nodes, see [`MAX_DIRECT_DEPENDENCIES`].
    relays: Vec<Observation>,
}

impl<'a> SnapshotBuilder<'a> {
    pub(super) fn new(store: &'a Store, candidates: &'a [ObjectKey]) -> SnapshotBuilder<'a> {
        SnapshotBuilder {
            store,
            candidates,
            doomed: candidates.iter().copied().collect(),
            above: HashMap::new(),
            relays: Vec::new(),
        }
    }

    /// The snapshot. The candidates are its first nodes, in the given order.
    pub(super) fn snapshot(mut self) -> Snapshot {
        let mut snapshot = Snapshot::new();
        snapshot.set_kinds(&[FeedKind {
            group: String::new(),
            version: VERSION.to_owned(),
            resource: RESOURCE.to_owned(),
            kind: KIND.to_owned(),
            namespaced: false,
            served: true,
            broken: None,
        }]);
        snapshot.set_synced(true);
        // Ownership counts only between candidates; dependencies also lead through live objects.
        let candidates = self.candidates;
        for key in candidates {
            let owner = self.nearest_owner(*key);
            self.put(&mut snapshot, *key, owner);
        }
        for key in self.live_between() {
            self.put(&mut snapshot, key, None);
        }
        for relay in std::mem::take(&mut self.relays) {
            snapshot.put(relay);
        }
        snapshot
    }

    fn put(&mut self, snapshot: &mut Snapshot, key: ObjectKey, owner: Option<ObjectKey>) {
        let Some(object) = self.store.get(key) else { return };
        let mut seen = observation(name(object), object.id.as_str());
        seen.owners.extend(owner.and_then(|owner| self.store.get(owner)).map(|owner| OwnerRef {
            group: String::new(),
            version: VERSION.to_owned(),
            kind: KIND.to_owned(),
            name: name(owner),
            uid: Uid(owner.id.as_str().to_owned()),
            is_controller: false,
            is_blocking: false,
        }));
        let targets = object.targets().filter_map(|target| Some((target, self.store.get(target)?)));
        let (own, others): (Vec<_>, Vec<_>) = targets.partition(|(target, _)| *target == key);
        let others =
            others.into_iter().map(|(_, other)| dependency(name(other), other.id.as_str())).collect();
        seen.subscriptions = self.relayed(others);
        seen.subscriptions.extend(own.first().map(|(_, own)| Subscription {
            target: Target::Own,
            uid: Some(own.id.as_str().to_owned()),
            handler: None,
            count: 1,
        }));
        snapshot.put(seen);
    }

    /// Dependencies with the same transitive targets, at most [`MAX_DIRECT_DEPENDENCIES`] of them; adds relay nodes for
    /// the rest.
    fn relayed(&mut self, mut all: Vec<Subscription>) -> Vec<Subscription> {
        while all.len() > MAX_DIRECT_DEPENDENCIES {
            let mut above = Vec::with_capacity(all.len().div_ceil(MAX_DIRECT_DEPENDENCIES));
            for some in all.chunks(MAX_DIRECT_DEPENDENCIES) {
                // Object ids contain no spaces, so this name is free.
                let relay = format!("relay {}", self.relays.len());
                let mut seen = observation(relay.clone(), &relay);
                seen.subscriptions = some.to_vec();
                self.relays.push(seen);
                above.push(dependency(relay.clone(), &relay));
            }
            all = above;
        }
        all
    }

    /// The live objects to which candidates are subscribed, directly or through other live objects.
    fn live_between(&self) -> Vec<ObjectKey> {
        let (mut found, mut seen): (Vec<ObjectKey>, HashSet<ObjectKey>) = (Vec::new(), HashSet::new());
        let mut left: Vec<ObjectKey> = self.candidates.to_vec();
        while let Some(key) = left.pop() {
            let Some(object) = self.store.get(key) else { continue };
            for target in object.targets().filter(|target| !self.doomed.contains(target)) {
                if self.store.get(target).is_some() && seen.insert(target) {
                    found.push(target);
                    left.push(target);
                }
            }
        }
        found
    }

    /// The nearest candidate up the chain of owners.
    fn nearest_owner(&mut self, key: ObjectKey) -> Option<ObjectKey> {
        let mut path = Vec::new();
        let mut at = self.store.get(key)?.owner;
        let found = loop {
            let Some(owner) = at else { break None };
            if self.doomed.contains(&owner) {
                break Some(owner);
            }
            if let Some(known) = self.above.get(&owner) {
                break *known;
            }
            path.push(owner);
            at = self.store.get(owner).and_then(|owner| owner.owner);
        };
        self.above.extend(path.into_iter().map(|owner| (owner, found)));
        found
    }
}

fn observation(name: String, id: &str) -> Observation {
    let kind = GroupResource::new("", RESOURCE);
    let slot = Key { kind, namespace: String::new(), name };
    Observation::new(slot, KIND, VERSION, Uid(id.to_owned()), Revision::new(1))
}

/// A destruction dependency on another node.
fn dependency(name: String, id: &str) -> Subscription {
    let (group, kind) = (String::new(), KIND.to_owned());
    let target = Target::Named { group, kind, namespace: None, name };
    Subscription { target, uid: Some(id.to_owned()), handler: None, count: 1 }
}

/// The name of an object's node. Names sort in creation order.
fn name(object: &Object) -> String {
    format!("{:020}", object.sequence)
}
