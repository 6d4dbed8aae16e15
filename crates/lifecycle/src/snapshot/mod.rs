//! The snapshot: the metadata of all objects as last seen, with the indexes that detection and planning need.
//!
//! It is kept up to date by observations and removals. It does not know where these come from, and it decides nothing.
//! An update costs as much as the changed object has references, however large the snapshot is.
//!
//! An object is a [`NodeId`]: an index into a table. All indexes are sets of such indexes. For a machine that was seen
//! before its owner, and for the owner after it:
//!
//! ```text
//!   put Vm/web (uid 2, owner uid 1)   nodes: [web]         dependents: {1: [web]}   absent: {1}   by_uid: {2: web}
//!   put App/shop (uid 1)              nodes: [web, shop]   dependents: {1: [web]}   absent: {}    by_uid: {2: web, 1:
//!   shop} remove uid 1                      nodes: [web, -]      dependents: {1: [web]}   absent: {1}   removals: {1:
//!   shop}
//! ```
//!
//! So after the first line `Vm/web` has an absent owner whose removal was not seen; after the third, one whose removal
//! was.
//!
//! ```
//! use sexton_lifecycle::{Observation, OwnerRef, Ownership, Snapshot};
//! use sexton_model::{GroupResource, Key, Revision, Uid, feed::FeedKind};
//!
//! let kind = |kind: &str, resource: &str| FeedKind {
//!     group: String::new(), version: "v1".into(), resource: resource.into(), kind: kind.into(),
//!     namespaced: true, served: true, broken: None,
//! };
//! let key = |resource: &str, name: &str| Key {
//!     kind: GroupResource::new("", resource), namespace: "a".into(), name: name.into(),
//! };
//! let mut snapshot = Snapshot::new();
//! snapshot.set_kinds(&[kind("App", "apps"), kind("Vm", "vms")]);
//! let shop = Observation::new(key("apps", "shop"), "App", "v1", Uid("u-shop".into()), Revision::new(1));
//! let mut web = Observation::new(key("vms", "web"), "Vm", "v1", Uid("u-web".into()), Revision::new(2));
//! web.owners = vec![OwnerRef {
//!     group: String::new(), version: "v1".into(), kind: "App".into(), name: "shop".into(),
//!     uid: Uid("u-shop".into()), is_controller: false, is_blocking: true,
//! }];
//! snapshot.put(web);
//! snapshot.put(shop);
//! snapshot.set_synced(true);
//!
//! let shop = snapshot.get(&Uid("u-shop".into())).unwrap();
//! let web = snapshot.find(&key("vms", "web")).unwrap();
//! assert_eq!(snapshot.dependents(shop).map(|(object, _)| object).collect::<Vec<_>>(), [web]);
//! assert_eq!(snapshot.owners(web)[0].1, Ownership::Valid(shop));
//! assert_eq!(snapshot.key(web).to_string(), "vms/a/web");
//!
//! snapshot.remove(&Uid("u-shop".into()), Revision::new(3), Some("ada"));
//! assert_eq!(snapshot.owners(web)[0].1, Ownership::Absent { seen: true });
//! ```

mod accessors;
mod indexes;
mod interner;
mod kinds;
mod node;
mod node_set;
mod observation;
mod owners;
mod removals;
mod subscribers;
mod updates;

use std::collections::{BTreeMap, BTreeSet};

use hashbrown::{DefaultHashBuilder, HashMap, HashTable};
use sexton_model::feed::FeedKind;
use sexton_model::{GroupResource, Key, Revision, Uid};

use interner::{CompactUid, Interner, Symbol};
use kinds::Kinds;
use node::{Node, NodeTable};
use node_set::NodeSet;
use removals::RemovalMemory;

pub use node::{CandidateRecord, NodeId};
pub use observation::{NotObservable, Observation, OwnerRef};
pub use owners::{Ownership, WhyInvalid, WhyUnknown};

/// The metadata of all objects as last seen. See the module for an example.
#[derive(Debug, Clone, Default)]
pub struct Snapshot {
    interner: Interner,
    kinds: Kinds,
    nodes: NodeTable,
    by_uid: HashTable<u32>,
    by_key: HashTable<u32>,
    hasher: DefaultHashBuilder,
    /// For each uid the objects with an owner reference to it, whether an object with that uid exists or not.
    dependents: HashMap<CompactUid, NodeSet>,
    /// The keys of `dependents` that no object has.
    absent: BTreeSet<CompactUid>,
    /// The objects in each namespace.
    members: HashMap<Symbol, BTreeSet<u32>>,
    /// The objects of each kind.
    instances: HashMap<u32, BTreeSet<u32>>,
    terminating: BTreeSet<u32>,
    candidates: BTreeSet<u32>,
    /// How many terminating objects are namespaces or definitions.
    terminating_containers: usize,
    /// How many terminating objects were approved with a plan.
    terminating_approved: usize,
    subscribers_by_uid: HashMap<CompactUid, NodeSet>,
    subscribers_by_key: HashMap<[u32; 3], NodeSet>,
    removals: RemovalMemory,
    /// For each kind with code the uid of its class.
    classes: BTreeMap<u32, CompactUid>,
    revision: Revision,
    synced: bool,
}

impl Snapshot {
    /// An empty snapshot: nothing was listed yet, no kind is known.
    pub fn new() -> Snapshot {
        Snapshot::default()
    }

    /// The number of objects.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Whether there are no objects.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The highest revision that was seen.
    pub fn revision(&self) -> Revision {
        self.revision
    }

    /// Records that everything up to a revision has been seen.
    pub fn advance(&mut self, revision: Revision) {
        self.revision = self.revision.max(revision);
    }

    /// Replaces the kinds of the server, in all their versions.
    pub fn set_kinds(&mut self, kinds: &[FeedKind]) {
        self.kinds.set(kinds);
    }

    /// Whether the server has this kind.
    pub fn is_kind_known(&self, group: &str, kind: &str) -> bool {
        self.kinds.find(group, kind).is_some_and(|name| self.kinds.by_number(name).namespaced.is_some())
    }

    /// Sets why not all objects of a kind can be listed; no object of it counts as absent then. `None`: they can.
    pub fn set_incomplete(&mut self, kind: GroupResource, reason: Option<String>) {
        self.kinds.set_incomplete(kind, reason);
    }

    /// The kinds that cannot be listed completely, and why.
    pub fn incomplete(&self) -> &BTreeMap<GroupResource, String> {
        self.kinds.incomplete()
    }

    /// Sets whether the first listing is complete. Until then no object counts as absent.
    pub fn set_synced(&mut self, synced: bool) {
        self.synced = synced;
    }

    /// Whether the first listing is complete and every kind can be listed.
    pub fn is_complete(&self) -> bool {
        self.synced && self.kinds.incomplete().is_empty()
    }

    /// Replaces the classes: from group and kind to the uid of the class with its code.
    pub fn set_classes(&mut self, classes: &BTreeMap<(String, String), Uid>) {
        for id in std::mem::take(&mut self.classes).into_values() {
            self.interner.release_uid(id);
        }
        for ((group, kind), uid) in classes {
            let (name, id) = (self.kinds.name(group, kind), self.interner.intern_uid(uid));
            self.classes.insert(name, id);
        }
    }

    /// The object with a uid.
    pub fn get(&self, uid: &Uid) -> Option<NodeId> {
        self.by_id(self.interner.find_uid(&uid.0)?)
    }

    /// The object with a key.
    pub fn find(&self, key: &Key) -> Option<NodeId> {
        let resource_id = self.kinds.find_resource_id(&key.kind.group, &key.kind.resource)?;
        let (namespace, name) = (self.interner.find(&key.namespace)?, self.interner.find(&key.name)?);
        self.find_by_key(resource_id, namespace, name)
    }

    /// Whether the object still exists.
    pub fn contains(&self, node: NodeId) -> bool {
        self.nodes.find(node).is_some()
    }

    /// All objects. Not to be used where the cost may not grow with the snapshot.
    pub fn nodes(&self) -> impl Iterator<Item = NodeId> + '_ {
        self.nodes.indexes().map(|index| self.nodes.id(index))
    }

    /// The terminating objects, by id.
    pub fn terminating(&self) -> impl Iterator<Item = NodeId> + '_ {
        self.terminating.iter().map(|index| self.nodes.id(*index))
    }

    /// The objects that are recorded as candidates, by id.
    pub fn candidates(&self) -> impl Iterator<Item = NodeId> + '_ {
        self.candidates.iter().map(|index| self.nodes.id(*index))
    }

    /// The objects with an owner reference to a uid that no object has, by id.
    pub fn nodes_with_absent_owners(&self) -> BTreeSet<NodeId> {
        let bags = self.absent.iter().filter_map(|id| self.dependents.get(id));
        bags.flat_map(NodeSet::iter).map(|index| self.nodes.id(index)).collect()
    }

    /// The uids of removed objects to which owner references remain.
    pub fn removed_owners(&self) -> impl Iterator<Item = Uid> + '_ {
        self.removed_owner_ids().map(|id| self.interner.uid(id))
    }

    pub(crate) fn removed_owner_ids(&self) -> impl Iterator<Item = CompactUid> + '_ {
        self.removals.iter().filter(|id| self.absent.contains(id))
    }

    /// The requester of a removal that was seen, as long as it is remembered.
    pub fn removal_requester(&self, uid: &Uid) -> Option<&str> {
        self.removals.get(self.interner.find_uid(&uid.0)?)?.by.as_deref()
    }

    /// Whether a removal was seen, as long as that is remembered.
    pub fn is_removal_known(&self, uid: &Uid) -> bool {
        self.interner.find_uid(&uid.0).is_some_and(|id| self.removals.get(id).is_some())
    }

    pub(crate) fn uid_of(&self, id: CompactUid) -> Uid {
        self.interner.uid(id)
    }

    pub(crate) fn by_id(&self, id: CompactUid) -> Option<NodeId> {
        let same = |index: &u32| self.nodes.get(*index).uid == id;
        self.by_uid.find(self.hash_uid(id), same).map(|index| self.nodes.id(*index))
    }

    pub(crate) fn find_by_key(&self, resource_id: u32, namespace: Symbol, name: Symbol) -> Option<NodeId> {
        let same = |index: &u32| {
            let node = self.nodes.get(*index);
            (self.kinds.get(node.kind).resource_id, node.namespace, node.name)
                == (resource_id, namespace, name)
        };
        let hash = self.hash_key(resource_id, namespace, name);
        self.by_key.find(hash, same).map(|index| self.nodes.id(*index))
    }

    /// The record of an object.
    ///
    /// # Panics
    /// If it is gone. Callers that keep ids while the snapshot changes check [`Snapshot::contains`] first.
    pub(crate) fn node(&self, node: NodeId) -> &Node {
        match self.nodes.find(node) {
            Some(node) => node,
            None => panic!("the object is not in the snapshot any more"),
        }
    }
}
