//! Updates of a snapshot by events: an object was seen, was removed, or a kind was listed again.
//!
//! The order of events does not matter: each carries a revision, and older news about an object are ignored.

use std::collections::HashSet;

use sexton_model::{GroupResource, Policy, Revision, Uid};

use super::interner::{CompactUid, Interner};
use super::node::{Node, PackedOwnerRef, RareMetadata, recorded_policy};
use super::removals::RemovedObject;
use super::{NodeId, Observation, Snapshot};

impl Snapshot {
    /// Records an object as seen. Another object with the same key is gone then.
    ///
    /// Returns the object and the terminating objects that may have waited for it: see [`Snapshot::remove`].
    pub fn put(&mut self, seen: Observation) -> Vec<NodeId> {
        self.advance(seen.revision);
        let id = self.interner.intern_uid(&seen.uid);
        let touched = self.put_id(id, seen);
        self.interner.release_uid(id);
        touched
    }

    fn put_id(&mut self, id: CompactUid, seen: Observation) -> Vec<NodeId> {
        if self.removals.get(id).is_some_and(|gone| seen.revision <= gone.at) {
            return Vec::new();
        }
        let known = self.by_id(id);
        if known.is_some_and(|known| seen.revision < self.node(known).revision) {
            return Vec::new();
        }
        let mut touched = Vec::new();
        if let Some(other) = self.find(&seen.key).filter(|other| self.node(*other).uid != id) {
            if self.node(other).revision > seen.revision {
                return Vec::new();
            }
            touched = self.remove_node(other, seen.revision, None);
        }
        let node = self.intern(id, seen);
        let index = match known {
            Some(known) => {
                touched.extend(self.nodes_waiting_for(known));
                self.unlink(known.index);
                let old = self.nodes.get(known.index).clone();
                self.nodes.replace(known.index, node);
                self.release(&old);
                known.index
            }
            None => {
                if let Some(gone) = self.removals.revive(id) {
                    self.interner.forget(&gone, id);
                }
                self.nodes.insert(node)
            }
        };
        self.link(index);
        let id = self.nodes.id(index);
        touched.extend(self.nodes_waiting_for(id));
        touched.push(id);
        touched.sort_unstable();
        touched.dedup();
        touched.retain(|node| self.contains(*node));
        touched
    }

    /// Records an object as removed at a revision, with the requester if it is known. The removal is remembered as long
    /// as other objects refer to the uid, and for some time besides.
    ///
    /// Returns the terminating objects that may have waited for this one: owners, namespace, definition, subscribers.
    /// They have to be examined again, and so have its dependents, which [`Snapshot::dependents_of`] finds.
    pub fn remove(&mut self, uid: &Uid, at: Revision, by: Option<&str>) -> Vec<NodeId> {
        self.advance(at);
        match self.get(uid) {
            Some(node) => self.remove_node(node, at, by),
            None => Vec::new(),
        }
    }

    fn remove_node(&mut self, node: NodeId, at: Revision, by: Option<&str>) -> Vec<NodeId> {
        let touched = self.nodes_waiting_for(node);
        let by = by.map(str::to_owned).or_else(|| self.requester(node).map(str::to_owned));
        let orphans = self.is_terminating(node) && self.policy(node) == Some(Policy::Orphan);
        self.unlink(node.index);
        let Some(old) = self.nodes.remove(node.index) else { return touched };
        let mut gone = RemovedObject::new(old.kind, old.namespace, old.name, at.max(old.revision));
        gone.by = by;
        if orphans {
            gone.policy = Policy::Orphan;
        }
        self.interner.keep(&gone, old.uid);
        let dependents = &self.dependents;
        if let Some((id, forgotten)) =
            self.removals.insert(old.uid, gone, |id: CompactUid| dependents.contains_key(&id))
        {
            self.interner.forget(&forgotten, id);
        }
        if self.dependents.contains_key(&old.uid) {
            self.absent.insert(old.uid);
        }
        self.release(&old);
        touched
    }

    /// Removes what a new listing of a kind (or of everything) at a revision does not contain. Returns the uids.
    pub fn remove_unlisted(
        &mut self,
        kind: Option<&GroupResource>,
        listed: &HashSet<Uid>,
        at: Revision,
    ) -> Vec<Uid> {
        let resource_id = kind.map(|kind| self.kinds.find_resource_id(&kind.group, &kind.resource));
        let stale = |node: &NodeId| {
            let seen = self.node(*node);
            let of_kind = resource_id
                .is_none_or(|resource_id| resource_id == Some(self.kinds.get(seen.kind).resource_id));
            of_kind && seen.revision <= at && !listed.contains(&self.uid(*node))
        };
        let stale: Vec<NodeId> = self.nodes().filter(stale).collect();
        let uids = stale.iter().map(|node| self.uid(*node)).collect();
        stale.into_iter().for_each(|node| drop(self.remove_node(node, at, None)));
        uids
    }

    /// The terminating objects that may wait for this one.
    fn nodes_waiting_for(&self, node: NodeId) -> Vec<NodeId> {
        let owners = self.node(node).owners.iter().filter_map(|owner| self.by_id(owner.uid));
        let around = self.namespace_of(node).into_iter().chain(self.definition_of(node));
        let subscribers = self.subscribers_of(node).into_iter().map(|(subscriber, _)| subscriber);
        let all = owners.chain(around).chain(subscribers);
        let mut all: Vec<NodeId> =
            all.filter(|other| *other != node && self.is_terminating(*other)).collect();
        all.sort_unstable();
        all.dedup();
        all
    }

    fn intern(&mut self, uid: CompactUid, seen: Observation) -> Node {
        let interner = &mut self.interner;
        let mut owners: Vec<PackedOwnerRef> = Vec::with_capacity(seen.owners.len());
        for owner in &seen.owners {
            let kind = self.kinds.row(&owner.group, &owner.version, &owner.kind, "");
            let (name, uid) = (interner.intern(&owner.name), interner.intern_uid(&owner.uid));
            let of = self.kinds.get(kind).name;
            let same = |known: &PackedOwnerRef| {
                (known.uid, known.name, self.kinds.get(known.kind()).name) == (uid, name, of)
            };
            // Duplicate references become one, so that each owner counts once.
            let at = owners.iter().position(same).unwrap_or(owners.len());
            if at < owners.len() {
                interner.release(name);
                interner.release_uid(uid);
            } else {
                owners.push(PackedOwnerRef::new(uid, name, kind));
            }
            owners[at].also(owner.is_controller, owner.is_blocking);
        }
        let rare = RareMetadata {
            terminating_since: seen.terminating_since,
            subscriptions: seen.subscriptions,
            protect: seen.protect,
            journal: seen.journal,
            requester: seen.requester,
            approved: seen.approved,
            collection: seen.collection,
            is_destroyed: seen.is_destroyed,
            order: seen.order,
            manager: seen.manager,
            note: seen.note,
            request: seen.request,
            candidate_record: seen.candidate_record,
        };
        let key = &seen.key;
        Node {
            uid: interner.retain_uid(uid),
            revision: seen.revision,
            created: seen.created,
            generation: seen.generation.clamp(0, i64::from(u32::MAX)) as u32,
            owners: owners.into_boxed_slice(),
            rare: if rare == RareMetadata::default() { None } else { Some(Box::new(rare)) },
            kind: self.kinds.row(&key.kind.group, &seen.version, &seen.kind, &key.kind.resource),
            namespace: interner.intern(&key.namespace),
            name: interner.intern(&key.name),
            finalizers: interner.intern(&seen.finalizers.join("\n")),
            recorded_policy: recorded_policy(seen.finalizers.iter().map(String::as_str)),
        }
    }

    fn release(&mut self, node: &Node) {
        for owner in &node.owners {
            self.interner.release(owner.name);
            self.interner.release_uid(owner.uid);
        }
        for word in [node.namespace, node.name, node.finalizers] {
            self.interner.release(word);
        }
        self.interner.release_uid(node.uid);
    }
}

impl Interner {
    fn keep(&mut self, gone: &RemovedObject, id: CompactUid) {
        self.retain_uid(id);
        for word in [gone.namespace, gone.name] {
            self.retain(word);
        }
    }

    pub(super) fn forget(&mut self, gone: &RemovedObject, id: CompactUid) {
        self.release(gone.namespace);
        self.release(gone.name);
        self.release_uid(id);
    }
}
