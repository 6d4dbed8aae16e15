//! Maintenance of the indexes: an object is linked into each when it is put, and unlinked before it changes or goes.

use std::hash::BuildHasher;

use hashbrown::hash_map::Entry;
use sexton_model::subscription::{Subscription, Target};

use super::Snapshot;
use super::interner::{CompactUid, EMPTY, Symbol};
use super::kinds::DEFINITIONS;
use super::node_set::NodeSet;

impl Snapshot {
    pub(super) fn hash_uid(&self, id: CompactUid) -> u64 {
        self.hasher.hash_one(id)
    }

    pub(super) fn hash_key(&self, resource_id: u32, namespace: Symbol, name: Symbol) -> u64 {
        self.hasher.hash_one([resource_id, namespace, name])
    }

    fn hash_key_of(&self, index: u32) -> u64 {
        let node = self.nodes.get(index);
        self.hash_key(self.kinds.get(node.kind).resource_id, node.namespace, node.name)
    }

    /// Adds an object to every index.
    pub(super) fn link(&mut self, index: u32) {
        let node = self.nodes.get(index);
        let (uid, namespace) = (node.uid, node.namespace);
        let (uid_hash, slot_hash) = (self.hash_uid(uid), self.hash_key_of(index));
        let (nodes, kinds, hasher) = (&self.nodes, &self.kinds, &self.hasher);
        self.by_uid.insert_unique(uid_hash, index, |other| hasher.hash_one(nodes.get(*other).uid));
        self.by_key.insert_unique(slot_hash, index, |other| {
            let node = nodes.get(*other);
            hasher.hash_one([kinds.get(node.kind).resource_id, node.namespace, node.name])
        });
        self.absent.remove(&uid);
        let node = self.nodes.get(index);
        for owner in &node.owners {
            insert_into(&mut self.dependents, owner.uid, index);
            let same = |other: &u32| self.nodes.get(*other).uid == owner.uid;
            if self.by_uid.find(self.hasher.hash_one(owner.uid), same).is_none() {
                self.absent.insert(owner.uid);
            }
        }
        if namespace != EMPTY {
            self.members.entry(namespace).or_default().insert(index);
        }
        self.instances.entry(self.kinds.get(node.kind).name).or_default().insert(index);
        if node.is_candidate() {
            self.candidates.insert(index);
        }
        if node.is_terminating() {
            self.terminating.insert(index);
            self.terminating_containers += usize::from(self.kinds.get(node.kind).resource_id <= DEFINITIONS);
            self.terminating_approved += usize::from(node.is_approved());
        }
        self.subscribe(index);
    }

    /// Removes an object from every index. Its interned strings keep their counts.
    pub(super) fn unlink(&mut self, index: u32) {
        self.unsubscribe(index);
        let (uid_hash, slot_hash) = (self.hash_uid(self.nodes.get(index).uid), self.hash_key_of(index));
        for (table, hash) in [(&mut self.by_uid, uid_hash), (&mut self.by_key, slot_hash)] {
            if let Ok(found) = table.find_entry(hash, |other| *other == index) {
                found.remove();
            }
        }
        let node = self.nodes.get(index);
        for owner in &node.owners {
            if remove_from(&mut self.dependents, owner.uid, index) {
                self.absent.remove(&owner.uid);
                if let Some(gone) = self.removals.release(owner.uid) {
                    self.interner.forget(&gone, owner.uid);
                }
            }
        }
        if let Some(members) = self.members.get_mut(&node.namespace) {
            members.remove(&index);
            if members.is_empty() {
                self.members.remove(&node.namespace);
            }
        }
        if let Some(instances) = self.instances.get_mut(&self.kinds.get(node.kind).name) {
            instances.remove(&index);
        }
        self.candidates.remove(&index);
        if self.terminating.remove(&index) {
            self.terminating_containers -= usize::from(self.kinds.get(node.kind).resource_id <= DEFINITIONS);
            self.terminating_approved -= usize::from(node.is_approved());
        }
    }

    fn subscribe(&mut self, index: u32) {
        let node = self.nodes.get(index);
        let Some(subscriptions) = node.rare.as_ref().map(|rare| rare.subscriptions.clone()) else { return };
        let own = self.interner.text(node.namespace).to_owned();
        for subscription in &subscriptions {
            if let Some(uid) = &subscription.uid {
                let id = self.interner.intern_uid(&sexton_model::Uid(uid.clone()));
                insert_into(&mut self.subscribers_by_uid, id, index);
                continue;
            }
            for (name, namespace, word) in targets(subscription, &own) {
                let of = self.kinds.name(name.0, name.1);
                let key = [of, self.interner.intern(namespace), self.interner.intern(word)];
                insert_into(&mut self.subscribers_by_key, key, index);
            }
        }
    }

    fn unsubscribe(&mut self, index: u32) {
        let node = self.nodes.get(index);
        let Some(subscriptions) = node.rare.as_ref().map(|rare| rare.subscriptions.clone()) else { return };
        let own = self.interner.text(node.namespace).to_owned();
        for subscription in &subscriptions {
            if let Some(uid) = &subscription.uid {
                if let Some(id) = self.interner.find_uid(uid) {
                    remove_from(&mut self.subscribers_by_uid, id, index);
                    self.interner.release_uid(id);
                }
                continue;
            }
            for (name, namespace, word) in targets(subscription, &own) {
                let interner = (self.interner.find(namespace), self.interner.find(word));
                if let (Some(of), (Some(namespace), Some(word))) = (self.kinds.find(name.0, name.1), interner)
                {
                    remove_from(&mut self.subscribers_by_key, [of, namespace, word], index);
                    self.interner.release(namespace);
                    self.interner.release(word);
                }
            }
        }
    }
}

type TargetKey<'a> = ((&'a str, &'a str), &'a str, &'a str);

/// The keys that a subscription by name can mean. Without a namespace: the subscriber's own, and none. A kind has
/// objects in only one of the two.
fn targets<'a>(subscription: &'a Subscription, own: &'a str) -> impl Iterator<Item = TargetKey<'a>> {
    let named = match &subscription.target {
        Target::Own => None,
        Target::Named { group, kind, namespace, name } => Some((group, kind, namespace, name)),
    };
    named.into_iter().flat_map(move |(group, kind, namespace, name)| {
        let key = move |namespace| ((group.as_str(), kind.as_str()), namespace, name.as_str());
        let first = key(namespace.as_deref().unwrap_or(own));
        let second = (namespace.is_none() && !own.is_empty()).then(|| key(""));
        std::iter::once(first).chain(second)
    })
}

fn insert_into<K: std::hash::Hash + Eq>(index: &mut hashbrown::HashMap<K, NodeSet>, key: K, member: u32) {
    match index.entry(key) {
        Entry::Occupied(mut node_set) => node_set.get_mut().insert(member),
        Entry::Vacant(resource_id) => _ = resource_id.insert(NodeSet::One(member)),
    }
}

/// Removes a member of a set in an index, and the set if it is empty then. Returns whether no member is left.
fn remove_from<K: std::hash::Hash + Eq>(
    index: &mut hashbrown::HashMap<K, NodeSet>,
    key: K,
    member: u32,
) -> bool {
    let Entry::Occupied(mut node_set) = index.entry(key) else { return true };
    let empty = node_set.get_mut().remove(member);
    if empty {
        node_set.remove();
    }
    empty
}
