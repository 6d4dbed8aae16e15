//! What `lifecycle` is shown of accused objects: one life for each, with its nearest accused owner and its dependencies.

use hashbrown::{HashMap, HashSet};
use sexton_lifecycle::{Observation, OwnerRef, Snapshot};
use sexton_model::feed::FeedKind;
use sexton_model::subscription::{Subscription, Target};
use sexton_model::{GroupResource, Key, Revision, Uid};

use crate::world::{Object, ObjectKey, Store};

/// The one kind of all objects: their order is that of their births, whatever their classes.
const KIND: &str = "Object";
const RESOURCE: &str = "objects";
const VERSION: &str = "v1";
/// A life depends on so many others directly. More are told of over lives that stand for nothing and live on: who is
/// subscribed to whom is looked up among all dependencies of one life.
const MOST_DIRECT: usize = 32;

/// Tells a snapshot of those who are accused, and of those through whom destruction dependencies lead.
pub(super) struct Witness<'a> {
    store: &'a Store,
    accused: &'a [ObjectKey],
    doomed: HashSet<ObjectKey>,
    /// The nearest accused owner above each living owner that was asked.
    above: HashMap<ObjectKey, Option<ObjectKey>>,
    /// Lives that stand for nothing.
    relays: Vec<Observation>,
}

impl<'a> Witness<'a> {
    pub(super) fn new(store: &'a Store, accused: &'a [ObjectKey]) -> Witness<'a> {
        Witness {
            store,
            accused,
            doomed: accused.iter().copied().collect(),
            above: HashMap::new(),
            relays: Vec::new(),
        }
    }

    /// The accused come first, in their order.
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
        // Ownership counts only between those who die; dependencies lead through those who live on, too.
        let accused = self.accused;
        for key in accused {
            let owner = self.owner(*key);
            self.put(&mut snapshot, *key, owner);
        }
        for key in self.between() {
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

    /// The same dependencies, few of them direct.
    fn relayed(&mut self, mut all: Vec<Subscription>) -> Vec<Subscription> {
        while all.len() > MOST_DIRECT {
            let mut above = Vec::with_capacity(all.len().div_ceil(MOST_DIRECT));
            for some in all.chunks(MOST_DIRECT) {
                // No id has a space in it.
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

    /// Those who live on and are subscribed to by somebody accused, directly or through others who live on.
    fn between(&self) -> Vec<ObjectKey> {
        let (mut found, mut seen): (Vec<ObjectKey>, HashSet<ObjectKey>) = (Vec::new(), HashSet::new());
        let mut left: Vec<ObjectKey> = self.accused.to_vec();
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

    /// The nearest accused owner: ownership counts transitively, also through those who live on.
    fn owner(&mut self, key: ObjectKey) -> Option<ObjectKey> {
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

/// A dependency on another life.
fn dependency(name: String, id: &str) -> Subscription {
    let (group, kind) = (String::new(), KIND.to_owned());
    let target = Target::Named { group, kind, namespace: None, name };
    Subscription { target, uid: Some(id.to_owned()), handler: None, count: 1 }
}

/// The name of an object among lives: sorted like their births.
fn name(object: &Object) -> String {
    format!("{:020}", object.birth)
}
