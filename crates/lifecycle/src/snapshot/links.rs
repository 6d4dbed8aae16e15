//! The indexes: what a life is entered in while it is there, and how it is taken out again.

use std::hash::BuildHasher;

use hashbrown::hash_map::Entry;
use sexton_model::subscription::{Subscription, Target};

use super::Snapshot;
use super::bag::Bag;
use super::kinds::DEFINITIONS;
use super::words::{Id, NOTHING, Word};

impl Snapshot {
    pub(super) fn hash_uid(&self, id: Id) -> u64 {
        self.hasher.hash_one(id)
    }

    pub(super) fn hash_slot(&self, place: u32, namespace: Word, name: Word) -> u64 {
        self.hasher.hash_one([place, namespace, name])
    }

    fn hash_slot_of(&self, index: u32) -> u64 {
        let life = self.lives.get(index);
        self.hash_slot(self.kinds.get(life.kind).place, life.namespace, life.name)
    }

    /// Enters a life in every index.
    pub(super) fn link(&mut self, index: u32) {
        let life = self.lives.get(index);
        let (uid, namespace) = (life.uid, life.namespace);
        let (uid_hash, slot_hash) = (self.hash_uid(uid), self.hash_slot_of(index));
        let (lives, kinds, hasher) = (&self.lives, &self.kinds, &self.hasher);
        self.by_uid.insert_unique(uid_hash, index, |other| hasher.hash_one(lives.get(*other).uid));
        self.by_slot.insert_unique(slot_hash, index, |other| {
            let life = lives.get(*other);
            hasher.hash_one([kinds.get(life.kind).place, life.namespace, life.name])
        });
        self.absent.remove(&uid);
        let life = self.lives.get(index);
        for owner in &life.owners {
            enter(&mut self.dependents, owner.uid, index);
            let same = |other: &u32| self.lives.get(*other).uid == owner.uid;
            if self.by_uid.find(self.hasher.hash_one(owner.uid), same).is_none() {
                self.absent.insert(owner.uid);
            }
        }
        if namespace != NOTHING {
            self.members.entry(namespace).or_default().insert(index);
        }
        self.instances.entry(self.kinds.get(life.kind).name).or_default().insert(index);
        if life.accused() {
            self.accused.insert(index);
        }
        if life.marked() {
            self.marked.insert(index);
            self.marked_around += usize::from(self.kinds.get(life.kind).place <= DEFINITIONS);
            self.marked_approved += usize::from(life.approved());
        }
        self.subscribe(index);
    }

    /// Takes a life out of every index. Its words are still counted on.
    pub(super) fn unlink(&mut self, index: u32) {
        self.unsubscribe(index);
        let (uid_hash, slot_hash) = (self.hash_uid(self.lives.get(index).uid), self.hash_slot_of(index));
        for (table, hash) in [(&mut self.by_uid, uid_hash), (&mut self.by_slot, slot_hash)] {
            if let Ok(found) = table.find_entry(hash, |other| *other == index) {
                found.remove();
            }
        }
        let life = self.lives.get(index);
        for owner in &life.owners {
            if leave(&mut self.dependents, owner.uid, index) {
                self.absent.remove(&owner.uid);
                if let Some(gone) = self.gone.unneeded(owner.uid) {
                    self.words.forget(&gone, owner.uid);
                }
            }
        }
        if let Some(members) = self.members.get_mut(&life.namespace) {
            members.remove(&index);
            if members.is_empty() {
                self.members.remove(&life.namespace);
            }
        }
        if let Some(instances) = self.instances.get_mut(&self.kinds.get(life.kind).name) {
            instances.remove(&index);
        }
        self.accused.remove(&index);
        if self.marked.remove(&index) {
            self.marked_around -= usize::from(self.kinds.get(life.kind).place <= DEFINITIONS);
            self.marked_approved -= usize::from(life.approved());
        }
    }

    fn subscribe(&mut self, index: u32) {
        let life = self.lives.get(index);
        let Some(subscriptions) = life.rare.as_ref().map(|rare| rare.subscriptions.clone()) else { return };
        let own = self.words.text(life.namespace).to_owned();
        for subscription in &subscriptions {
            if let Some(uid) = &subscription.uid {
                let id = self.words.take_uid(&sexton_model::Uid(uid.clone()));
                enter(&mut self.subscribers_by_uid, id, index);
                continue;
            }
            for (name, namespace, word) in targets(subscription, &own) {
                let of = self.kinds.name(name.0, name.1);
                let key = [of, self.words.take(namespace), self.words.take(word)];
                enter(&mut self.subscribers_by_slot, key, index);
            }
        }
    }

    fn unsubscribe(&mut self, index: u32) {
        let life = self.lives.get(index);
        let Some(subscriptions) = life.rare.as_ref().map(|rare| rare.subscriptions.clone()) else { return };
        let own = self.words.text(life.namespace).to_owned();
        for subscription in &subscriptions {
            if let Some(uid) = &subscription.uid {
                if let Some(id) = self.words.find_uid(uid) {
                    leave(&mut self.subscribers_by_uid, id, index);
                    self.words.release_id(id);
                }
                continue;
            }
            for (name, namespace, word) in targets(subscription, &own) {
                let words = (self.words.find(namespace), self.words.find(word));
                if let (Some(of), (Some(namespace), Some(word))) = (self.kinds.find(name.0, name.1), words) {
                    leave(&mut self.subscribers_by_slot, [of, namespace, word], index);
                    self.words.release(namespace);
                    self.words.release(word);
                }
            }
        }
    }
}

type Slot<'a> = ((&'a str, &'a str), &'a str, &'a str);

/// The slots that a subscription by name can mean. Without a namespace it is the subscriber's own, or none at all: a
/// kind has objects in only one of the two.
fn targets<'a>(subscription: &'a Subscription, own: &'a str) -> impl Iterator<Item = Slot<'a>> {
    let named = match &subscription.target {
        Target::Own => None,
        Target::Named { group, kind, namespace, name } => Some((group, kind, namespace, name)),
    };
    named.into_iter().flat_map(move |(group, kind, namespace, name)| {
        let slot = move |namespace| ((group.as_str(), kind.as_str()), namespace, name.as_str());
        let first = slot(namespace.as_deref().unwrap_or(own));
        let second = (namespace.is_none() && !own.is_empty()).then(|| slot(""));
        std::iter::once(first).chain(second)
    })
}

fn enter<K: std::hash::Hash + Eq>(index: &mut hashbrown::HashMap<K, Bag>, key: K, member: u32) {
    match index.entry(key) {
        Entry::Occupied(mut bag) => bag.get_mut().insert(member),
        Entry::Vacant(place) => _ = place.insert(Bag::One(member)),
    }
}

/// Says whether nobody is left.
fn leave<K: std::hash::Hash + Eq>(index: &mut hashbrown::HashMap<K, Bag>, key: K, member: u32) -> bool {
    let Entry::Occupied(mut bag) = index.entry(key) else { return true };
    let empty = bag.get_mut().remove(member);
    if empty {
        bag.remove();
    }
    empty
}
