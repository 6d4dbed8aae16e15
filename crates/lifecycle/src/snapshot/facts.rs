//! What is known of one life. Everything here is a question that costs as much as its answer is long.
//!
//! Every function that takes a [`LifeId`] panics if that life is gone: see [`Snapshot::contains`].

use std::cmp::Ordering;
use std::sync::Arc;

use sexton_model::hook::ObjectRef;
use sexton_model::subscription::Subscription;
use sexton_model::{GroupResource, Key, Policy, Revision, Uid};

use super::kinds::{DEFINITIONS, EVENTS, NAMESPACES};
use super::life::{Accused, Rare};
use super::words::NOTHING;
use super::{LifeId, Snapshot};

impl Snapshot {
    /// The slot.
    pub fn key(&self, life: LifeId) -> Key {
        let seen = self.life(life);
        let (row, name) = (self.kinds.get(seen.kind), self.kinds.named(seen.kind));
        Key {
            kind: GroupResource::new(name.group.as_str(), row.resource.as_str()),
            namespace: self.namespace(life).to_owned(),
            name: self.name(life).to_owned(),
        }
    }

    /// Whether a life is in this slot.
    pub fn is_at(&self, life: LifeId, key: &Key) -> bool {
        let seen = self.life(life);
        let kind = (self.kinds.named(seen.kind).group.as_str(), self.kinds.get(seen.kind).resource.as_str());
        kind == (key.kind.group.as_str(), key.kind.resource.as_str())
            && (self.namespace(life), self.name(life)) == (key.namespace.as_str(), key.name.as_str())
    }

    /// Orders lives by their slots, as their keys would be.
    pub fn compare(&self, a: LifeId, b: LifeId) -> Ordering {
        if self.are_in_same_place(a, b) {
            return self.name(a).cmp(self.name(b));
        }
        let words = |life: LifeId| {
            let seen = self.life(life);
            let (row, name) = (self.kinds.get(seen.kind), self.kinds.named(seen.kind));
            (name.group.as_str(), row.resource.as_str(), self.namespace(life), self.name(life))
        };
        words(a).cmp(&words(b))
    }

    /// The group; empty for the core group.
    pub fn group(&self, life: LifeId) -> &str {
        &self.kinds.named(self.life(life).kind).group
    }

    /// The kind's name.
    pub fn kind(&self, life: LifeId) -> &str {
        &self.kinds.named(self.life(life).kind).kind
    }

    /// The version in which it was seen.
    pub fn version(&self, life: LifeId) -> &str {
        &self.kinds.get(self.life(life).kind).version
    }

    /// The namespace; empty if it is in none.
    pub fn namespace(&self, life: LifeId) -> &str {
        self.words.text(self.life(life).namespace)
    }

    /// The name.
    pub fn name(&self, life: LifeId) -> &str {
        self.words.text(self.life(life).name)
    }

    /// The uid.
    pub fn uid(&self, life: LifeId) -> Uid {
        self.words.uid(self.life(life).uid)
    }

    /// The revision at which it was last seen to change.
    pub fn revision_of(&self, life: LifeId) -> Revision {
        self.life(life).revision
    }

    /// How often its desired state changed.
    pub fn generation(&self, life: LifeId) -> i64 {
        i64::from(self.life(life).generation)
    }

    /// Since when it exists, in seconds since 1970.
    pub fn created(&self, life: LifeId) -> i64 {
        self.life(life).created
    }

    /// What holds it once it is marked.
    pub fn finalizers(&self, life: LifeId) -> impl Iterator<Item = &str> + '_ {
        self.words.text(self.life(life).finalizers).split('\n').filter(|finalizer| !finalizer.is_empty())
    }

    /// Whether two lives are held by the same.
    pub fn have_same_finalizers(&self, one: LifeId, another: LifeId) -> bool {
        self.life(one).finalizers == self.life(another).finalizers
    }

    /// Whether two lives are of the same kind and in the same namespace.
    pub fn are_in_same_place(&self, one: LifeId, another: LifeId) -> bool {
        let (one, another) = (self.life(one), self.life(another));
        (one.kind, one.namespace) == (another.kind, another.namespace)
    }

    /// A life, named in full.
    pub fn object(&self, life: LifeId) -> ObjectRef {
        ObjectRef {
            group: self.group(life).to_owned(),
            kind: self.kind(life).to_owned(),
            namespace: self.namespace(life).to_owned(),
            name: self.name(life).to_owned(),
            uid: self.uid(life).0,
        }
    }

    /// The policy that its finalizers record. Of contradicting ones the least destructive counts.
    pub fn policy(&self, life: LifeId) -> Option<Policy> {
        self.life(life).recorded
    }

    fn rare(&self, life: LifeId) -> Option<&Rare> {
        self.life(life).rare.as_deref()
    }

    /// Whether it is marked.
    pub fn is_marked(&self, life: LifeId) -> bool {
        self.life(life).marked()
    }

    /// Since when it is marked, in seconds since 1970.
    pub fn deleted(&self, life: LifeId) -> Option<i64> {
        self.rare(life)?.deleted
    }

    /// The journal of its destruction, as it is written.
    pub fn journal(&self, life: LifeId) -> Option<&str> {
        self.rare(life)?.journal.as_deref()
    }

    /// "true" or the reason why it must not be destroyed.
    pub fn protect(&self, life: LifeId) -> Option<&str> {
        self.rare(life)?.protect.as_deref()
    }

    /// The digest of the plan in which it was approved.
    pub fn approved(&self, life: LifeId) -> Option<&str> {
        self.rare(life)?.approved.as_deref()
    }

    /// Who asked for the deletion from which its own follows.
    pub fn deleted_by(&self, life: LifeId) -> Option<&str> {
        self.rare(life)?.deleted_by.as_deref()
    }

    /// The collection in which it ends.
    pub fn collection(&self, life: LifeId) -> Option<&str> {
        self.rare(life)?.collection.as_deref()
    }

    /// Whether it was destroyed and is only there to be read.
    pub fn is_destroyed(&self, life: LifeId) -> bool {
        self.rare(life).is_some_and(|rare| rare.destroyed)
    }

    /// Where it stands in its module: higher ones go first.
    pub fn order(&self, life: LifeId) -> Option<i64> {
        self.rare(life)?.order
    }

    /// Whose it is.
    pub fn manager(&self, life: LifeId) -> Option<&str> {
        self.rare(life)?.manager.as_deref()
    }

    /// What could not be understood of it.
    pub fn note(&self, life: LifeId) -> Option<&str> {
        self.rare(life)?.note.as_deref()
    }

    /// What somebody wants of the collector about it, as it is written.
    pub fn request(&self, life: LifeId) -> Option<&str> {
        self.rare(life)?.request.as_deref()
    }

    /// That somebody who looked for garbage says that it is some.
    pub fn accusation(&self, life: LifeId) -> Option<&Arc<Accused>> {
        self.rare(life)?.accusation.as_ref()
    }

    /// What it wants to be told of, as it is written.
    pub fn subscriptions(&self, life: LifeId) -> &[Subscription] {
        self.rare(life).map_or(&[], |rare| &rare.subscriptions)
    }

    /// The namespace that it is in.
    pub fn namespace_life(&self, life: LifeId) -> Option<LifeId> {
        let seen = self.life(life);
        if seen.namespace == NOTHING { None } else { self.in_slot(NAMESPACES, NOTHING, seen.namespace) }
    }

    /// The definition of its kind.
    pub fn definition_life(&self, life: LifeId) -> Option<LifeId> {
        let row = self.kinds.get(self.life(life).kind);
        self.in_slot(DEFINITIONS, NOTHING, self.words.find(&row.definition)?)
    }

    /// The marked ones of its namespace and its definition.
    pub(crate) fn marked_around(&self, life: LifeId) -> [Option<LifeId>; 2] {
        if self.marked_around == 0 {
            return [None, None];
        }
        [self.namespace_life(life), self.definition_life(life)]
            .map(|around| around.filter(|around| self.is_marked(*around)))
    }

    /// Whether any marked life was approved with a plan.
    pub(crate) fn any_approved(&self) -> bool {
        self.marked_approved > 0
    }

    /// Whether it is a namespace.
    pub fn is_namespace(&self, life: LifeId) -> bool {
        self.kinds.get(self.life(life).kind).place == NAMESPACES
    }

    /// Whether it is an event: it tells of others, and is nothing that anybody means when they speak of objects.
    pub fn is_event(&self, life: LifeId) -> bool {
        self.kinds.get(self.life(life).kind).place == EVENTS
    }

    /// Whether it is a definition of a kind.
    pub fn is_definition(&self, life: LifeId) -> bool {
        self.kinds.get(self.life(life).kind).place == DEFINITIONS
    }

    /// What a namespace contains, or the objects that a definition defines. Nothing for anything else.
    pub fn contents(&self, life: LifeId) -> Box<dyn Iterator<Item = LifeId> + '_> {
        let none = Box::new(std::iter::empty());
        if self.is_namespace(life) {
            return match self.members.get(&self.life(life).name) {
                Some(members) => Box::new(members.iter().map(|index| self.lives.id(*index))),
                None => none,
            };
        }
        if !self.is_definition(life) {
            return none;
        }
        let Some((resource, group)) = self.name(life).split_once('.') else { return none };
        let Some(place) = self.kinds.find_place(group, resource) else { return none };
        let of_kind = self.kinds.at_place(place).filter_map(|name| self.instances.get(&name)).flatten();
        let here = move |life: &LifeId| self.kinds.get(self.life(*life).kind).place == place;
        Box::new(of_kind.map(|index| self.lives.id(*index)).filter(here))
    }

    /// All objects in a namespace of that name, whether or not the namespace itself exists.
    pub fn members(&self, namespace: &str) -> impl Iterator<Item = LifeId> + '_ {
        let members = self.words.find(namespace).and_then(|word| self.members.get(&word));
        members.into_iter().flatten().map(|index| self.lives.id(*index))
    }

    /// All objects of a kind.
    pub fn instances(&self, group: &str, kind: &str) -> impl Iterator<Item = LifeId> + '_ {
        let instances = self.kinds.find(group, kind).and_then(|name| self.instances.get(&name));
        instances.into_iter().flatten().map(|index| self.lives.id(*index))
    }

    /// The objects to whose kind a class gives code. Nobody for anything else.
    pub fn users_of(&self, class: LifeId) -> impl Iterator<Item = LifeId> + '_ {
        let uid = self.life(class).uid;
        let kinds = self.classes.iter().filter(move |(_, of)| **of == uid).map(|(kind, _)| kind);
        let users = kinds.filter_map(|kind| self.instances.get(kind)).flatten();
        users.map(|index| self.lives.id(*index))
    }

    /// The class that gives code to a life's kind.
    pub fn class_for(&self, life: LifeId) -> Option<LifeId> {
        self.by_id(*self.classes.get(&self.kinds.get(self.life(life).kind).name)?)
    }
}
