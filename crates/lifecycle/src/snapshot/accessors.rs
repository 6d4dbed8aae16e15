//! The metadata of one object. Each accessor costs as much as its result is long.
//!
//! All of them panic if the object is gone: see [`Snapshot::contains`].

use std::cmp::Ordering;
use std::sync::Arc;

use sexton_model::hook::ObjectRef;
use sexton_model::subscription::Subscription;
use sexton_model::{GroupResource, Key, Policy, Revision, Uid};

use super::interner::EMPTY;
use super::kinds::{DEFINITIONS, EVENTS, NAMESPACES};
use super::node::{CandidateRecord, RareMetadata};
use super::{NodeId, Snapshot};

impl Snapshot {
    /// Its key.
    pub fn key(&self, node: NodeId) -> Key {
        let seen = self.node(node);
        let (row, name) = (self.kinds.get(seen.kind), self.kinds.named(seen.kind));
        Key {
            kind: GroupResource::new(name.group.as_str(), row.resource.as_str()),
            namespace: self.namespace(node).to_owned(),
            name: self.name(node).to_owned(),
        }
    }

    /// Whether an object has this key.
    pub fn has_key(&self, node: NodeId, key: &Key) -> bool {
        let seen = self.node(node);
        let kind = (self.kinds.named(seen.kind).group.as_str(), self.kinds.get(seen.kind).resource.as_str());
        kind == (key.kind.group.as_str(), key.kind.resource.as_str())
            && (self.namespace(node), self.name(node)) == (key.namespace.as_str(), key.name.as_str())
    }

    /// Compares two objects by key, without building the keys.
    pub fn compare_keys(&self, a: NodeId, b: NodeId) -> Ordering {
        if self.have_same_kind_and_namespace(a, b) {
            return self.name(a).cmp(self.name(b));
        }
        let interner = |node: NodeId| {
            let seen = self.node(node);
            let (row, name) = (self.kinds.get(seen.kind), self.kinds.named(seen.kind));
            (name.group.as_str(), row.resource.as_str(), self.namespace(node), self.name(node))
        };
        interner(a).cmp(&interner(b))
    }

    /// The group; empty for the core group.
    pub fn group(&self, node: NodeId) -> &str {
        &self.kinds.named(self.node(node).kind).group
    }

    /// The kind's name.
    pub fn kind(&self, node: NodeId) -> &str {
        &self.kinds.named(self.node(node).kind).kind
    }

    /// The API version in which it was seen.
    pub fn version(&self, node: NodeId) -> &str {
        &self.kinds.get(self.node(node).kind).version
    }

    /// The namespace; empty if it is in none.
    pub fn namespace(&self, node: NodeId) -> &str {
        self.interner.text(self.node(node).namespace)
    }

    /// The name.
    pub fn name(&self, node: NodeId) -> &str {
        self.interner.text(self.node(node).name)
    }

    /// The uid.
    pub fn uid(&self, node: NodeId) -> Uid {
        self.interner.uid(self.node(node).uid)
    }

    /// The revision at which it was last seen to change.
    pub fn revision_of(&self, node: NodeId) -> Revision {
        self.node(node).revision
    }

    /// `metadata.generation`: how often its desired state changed.
    pub fn generation(&self, node: NodeId) -> i64 {
        i64::from(self.node(node).generation)
    }

    /// Its creation, in seconds since 1970.
    pub fn created(&self, node: NodeId) -> i64 {
        self.node(node).created
    }

    /// Its finalizers.
    pub fn finalizers(&self, node: NodeId) -> impl Iterator<Item = &str> + '_ {
        self.interner.text(self.node(node).finalizers).split('\n').filter(|finalizer| !finalizer.is_empty())
    }

    /// Whether two objects have the same finalizers.
    pub fn have_same_finalizers(&self, one: NodeId, another: NodeId) -> bool {
        self.node(one).finalizers == self.node(another).finalizers
    }

    /// Whether two objects are of the same kind and in the same namespace.
    pub fn have_same_kind_and_namespace(&self, one: NodeId, another: NodeId) -> bool {
        let (one, another) = (self.node(one), self.node(another));
        (one.kind, one.namespace) == (another.kind, another.namespace)
    }

    /// The full reference of an object: kind, namespace, name, uid.
    pub fn object_ref(&self, node: NodeId) -> ObjectRef {
        ObjectRef {
            group: self.group(node).to_owned(),
            kind: self.kind(node).to_owned(),
            namespace: self.namespace(node).to_owned(),
            name: self.name(node).to_owned(),
            uid: self.uid(node).0,
        }
    }

    /// The deletion policy that its finalizers record. Of contradicting ones the least destructive counts.
    pub fn policy(&self, node: NodeId) -> Option<Policy> {
        self.node(node).recorded_policy
    }

    fn rare(&self, node: NodeId) -> Option<&RareMetadata> {
        self.node(node).rare.as_deref()
    }

    /// Whether `deletionTimestamp` is set.
    pub fn is_terminating(&self, node: NodeId) -> bool {
        self.node(node).is_terminating()
    }

    /// `deletionTimestamp`, in seconds since 1970.
    pub fn terminating_since(&self, node: NodeId) -> Option<i64> {
        self.rare(node)?.terminating_since
    }

    /// The journal of its destruction, undecoded.
    pub fn journal(&self, node: NodeId) -> Option<&str> {
        self.rare(node)?.journal.as_deref()
    }

    /// Set if it is protected: "true", or the reason.
    pub fn protection(&self, node: NodeId) -> Option<&str> {
        self.rare(node)?.protect.as_deref()
    }

    /// The digest of the plan with which its deletion was approved.
    pub fn approved_plan(&self, node: NodeId) -> Option<&str> {
        self.rare(node)?.approved.as_deref()
    }

    /// The requester of the deletion from which its own follows.
    pub fn requester(&self, node: NodeId) -> Option<&str> {
        self.rare(node)?.requester.as_deref()
    }

    /// The collection that destroys it.
    pub fn collection(&self, node: NodeId) -> Option<&str> {
        self.rare(node)?.collection.as_deref()
    }

    /// Whether it is destroyed, and kept only to be read.
    pub fn is_destroyed(&self, node: NodeId) -> bool {
        self.rare(node).is_some_and(|rare| rare.is_destroyed)
    }

    /// Its place in the order of its module: higher ones are destroyed first.
    pub fn order(&self, node: NodeId) -> Option<i64> {
        self.rare(node)?.order
    }

    /// The module that manages it.
    pub fn manager(&self, node: NodeId) -> Option<&str> {
        self.rare(node)?.manager.as_deref()
    }

    /// What could not be parsed and is ignored.
    pub fn note(&self, node: NodeId) -> Option<&str> {
        self.rare(node)?.note.as_deref()
    }

    /// A request to the collector about it (retry, force), undecoded.
    pub fn request(&self, node: NodeId) -> Option<&str> {
        self.rare(node)?.request.as_deref()
    }

    /// The record that makes it a candidate, if it has one.
    pub fn candidate_record(&self, node: NodeId) -> Option<&Arc<CandidateRecord>> {
        self.rare(node)?.candidate_record.as_ref()
    }

    /// Its subscriptions.
    pub fn subscriptions(&self, node: NodeId) -> &[Subscription] {
        self.rare(node).map_or(&[], |rare| &rare.subscriptions)
    }

    /// The namespace that it is in.
    pub fn namespace_of(&self, node: NodeId) -> Option<NodeId> {
        let seen = self.node(node);
        if seen.namespace == EMPTY { None } else { self.find_by_key(NAMESPACES, EMPTY, seen.namespace) }
    }

    /// The definition of its kind.
    pub fn definition_of(&self, node: NodeId) -> Option<NodeId> {
        let row = self.kinds.get(self.node(node).kind);
        self.find_by_key(DEFINITIONS, EMPTY, self.interner.find(&row.definition)?)
    }

    /// Its namespace and its definition, as far as they are terminating. Usually neither is, which costs nothing.
    pub(crate) fn terminating_containers_of(&self, node: NodeId) -> [Option<NodeId>; 2] {
        if self.terminating_containers == 0 {
            return [None, None];
        }
        [self.namespace_of(node), self.definition_of(node)]
            .map(|container| container.filter(|container| self.is_terminating(*container)))
    }

    /// Whether any terminating object was approved with a plan. Usually false; lets callers skip the search for
    /// approvals.
    pub(crate) fn has_approved(&self) -> bool {
        self.terminating_approved > 0
    }

    /// Whether it is a namespace.
    pub fn is_namespace(&self, node: NodeId) -> bool {
        self.kinds.get(self.node(node).kind).resource_id == NAMESPACES
    }

    /// Whether it is an event. Events are left out of what users see, count and approve.
    pub fn is_event(&self, node: NodeId) -> bool {
        self.kinds.get(self.node(node).kind).resource_id == EVENTS
    }

    /// Whether it is a definition of a kind.
    pub fn is_definition(&self, node: NodeId) -> bool {
        self.kinds.get(self.node(node).kind).resource_id == DEFINITIONS
    }

    /// The contents of a container: the objects in a namespace, or those of the kind of a definition. Empty for others.
    pub fn contents(&self, node: NodeId) -> Box<dyn Iterator<Item = NodeId> + '_> {
        let none = Box::new(std::iter::empty());
        if self.is_namespace(node) {
            return match self.members.get(&self.node(node).name) {
                Some(members) => Box::new(members.iter().map(|index| self.nodes.id(*index))),
                None => none,
            };
        }
        if !self.is_definition(node) {
            return none;
        }
        let Some((resource, group)) = self.name(node).split_once('.') else { return none };
        let Some(resource_id) = self.kinds.find_resource_id(group, resource) else { return none };
        let of_kind =
            self.kinds.kinds_of_resource(resource_id).filter_map(|name| self.instances.get(&name)).flatten();
        let here = move |node: &NodeId| self.kinds.get(self.node(*node).kind).resource_id == resource_id;
        Box::new(of_kind.map(|index| self.nodes.id(*index)).filter(here))
    }

    /// All objects in a namespace of that name, whether or not the namespace itself exists.
    pub fn members(&self, namespace: &str) -> impl Iterator<Item = NodeId> + '_ {
        let members = self.interner.find(namespace).and_then(|word| self.members.get(&word));
        members.into_iter().flatten().map(|index| self.nodes.id(*index))
    }

    /// All objects of a kind.
    pub fn instances(&self, group: &str, kind: &str) -> impl Iterator<Item = NodeId> + '_ {
        let instances = self.kinds.find(group, kind).and_then(|name| self.instances.get(&name));
        instances.into_iter().flatten().map(|index| self.nodes.id(*index))
    }

    /// The objects of the kind whose code a class has. Empty if the object is no class.
    pub fn objects_of_class(&self, class: NodeId) -> impl Iterator<Item = NodeId> + '_ {
        let uid = self.node(class).uid;
        let kinds = self.classes.iter().filter(move |(_, of)| **of == uid).map(|(kind, _)| kind);
        let users = kinds.filter_map(|kind| self.instances.get(kind)).flatten();
        users.map(|index| self.nodes.id(*index))
    }

    /// The class that has the code of an object's kind.
    pub fn class_of(&self, node: NodeId) -> Option<NodeId> {
        self.by_id(*self.classes.get(&self.kinds.get(self.node(node).kind).name)?)
    }
}
