//! Resolution of owner references: the owner that a reference means, or what is known about its absence.
//!
//! | the uid of the reference | ownership |
//! |---|---|
//! | belongs to an object with that kind, name, and a fitting namespace | `Valid` |
//! | belongs to an object, but kind, name or namespace differ | `Invalid` |
//! | belonged to a removed object that matched | `Absent { seen: true }` |
//! | is unknown, and another object has that key | `Absent { seen: false }` |
//! | is unknown, and not all objects of the kind are listed | `Unknown` |
//! | is unknown otherwise | `Absent { seen: false }` |

use sexton_model::Uid;

use super::interner::{CompactUid, EMPTY};
use super::node::{Node, PackedOwnerRef};
use super::node_set::NodeSet;
use super::removals::RemovedObject;
use super::{NodeId, OwnerRef, Snapshot};

/// What an owner reference resolves to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ownership {
    /// This object.
    Valid(NodeId),
    /// The owner does not exist, and that is certain.
    Absent {
        /// Whether its removal was seen. Otherwise it was only never listed.
        seen: bool,
    },
    /// The object with that uid does not match the reference. Such a reference neither keeps an object nor dooms it.
    Invalid(WhyInvalid),
    /// The owner may exist or not.
    Unknown(WhyUnknown),
}

/// How the object with the uid of a reference differs from the reference.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum WhyInvalid {
    /// It has another name.
    Name,
    /// It is of another kind.
    Kind,
    /// It is in another namespace.
    Namespace,
    /// It is in a namespace, and the dependent is in none.
    NotInNamespace,
}

/// Why it is not known whether an owner exists.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum WhyUnknown {
    /// The server has no such kind now.
    KindUnknown,
    /// Not all objects of the kind can be listed, for this reason.
    Incomplete(String),
    /// The first listing is not complete yet.
    Starting,
}

impl Snapshot {
    /// The owner references of an object, and what each resolves to.
    pub fn owners(&self, node: NodeId) -> Vec<(OwnerRef, Ownership)> {
        let seen = self.node(node);
        seen.owners.iter().map(|owner| (self.owner_ref(owner), self.ownership(seen, owner))).collect()
    }

    /// The same with the references in their packed form.
    pub(crate) fn resolved_references(
        &self,
        node: NodeId,
    ) -> impl Iterator<Item = (&PackedOwnerRef, Ownership)> + '_ {
        let seen = self.node(node);
        seen.owners.iter().map(move |owner| (owner, self.ownership(seen, owner)))
    }

    /// The uid of each owner reference of an object, and what it resolves to.
    pub fn owner_uids(&self, node: NodeId) -> impl Iterator<Item = (Uid, Ownership)> + '_ {
        self.resolved_references(node)
            .map(|(reference, ownerships)| (self.interner.uid(reference.uid), ownerships))
    }

    /// What each owner reference of an object resolves to.
    pub fn ownerships(&self, node: NodeId) -> impl Iterator<Item = Ownership> + '_ {
        self.resolved_references(node).map(|(_, ownerships)| ownerships)
    }

    /// The owners of an object that exist and match their references.
    pub fn valid_owners(&self, node: NodeId) -> impl Iterator<Item = NodeId> + '_ {
        self.resolved_references(node).filter_map(|(_, owner)| match owner {
            Ownership::Valid(owner) => Some(owner),
            _ => None,
        })
    }

    /// The objects with a valid reference to this one, and that reference.
    pub fn dependents(&self, node: NodeId) -> impl Iterator<Item = (NodeId, OwnerRef)> + '_ {
        let owner = self.node(node).uid;
        self.valid_dependents(node).filter_map(move |dependent| {
            let owner_ref = self.references(dependent, owner);
            let mut valid = owner_ref.filter(move |reference| self.matches(dependent, reference, node));
            Some((dependent, self.owner_ref(valid.next()?)))
        })
    }

    /// The objects with a valid reference to this one.
    pub(crate) fn valid_dependents(&self, node: NodeId) -> impl Iterator<Item = NodeId> + '_ {
        let owner = self.node(node).uid;
        self.all_dependents(owner).filter(move |dependent| self.depends_on(*dependent, node))
    }

    /// Whether an object has a valid reference to an owner.
    pub fn depends_on(&self, dependent: NodeId, owner: NodeId) -> bool {
        let mut references = self.references(dependent, self.node(owner).uid);
        references.any(|reference| self.matches(dependent, reference, owner))
    }

    /// Whether a dependent blocks the foreground deletion of an owner: a valid reference says `blockOwnerDeletion`.
    pub fn is_blocking(&self, dependent: NodeId, owner: NodeId) -> bool {
        let mut references = self.references(dependent, self.node(owner).uid);
        references.any(|reference| reference.is_blocking() && self.matches(dependent, reference, owner))
    }

    /// Whether two objects have equal owner references.
    pub fn have_same_owners(&self, one: NodeId, another: NodeId) -> bool {
        self.node(one).owners == self.node(another).owners
    }

    /// All objects with an owner reference to a uid, valid or not, whether an object with that uid exists or not.
    pub fn dependents_of(&self, uid: &Uid) -> impl Iterator<Item = NodeId> + '_ {
        self.interner.find_uid(&uid.0).into_iter().flat_map(|id| self.all_dependents(id))
    }

    pub(crate) fn all_dependents(&self, uid: CompactUid) -> impl Iterator<Item = NodeId> + '_ {
        let node_set = self.dependents.get(&uid).into_iter();
        node_set.flat_map(NodeSet::iter).map(|index| self.nodes.id(index))
    }

    /// Whether any object has an owner reference to this one, valid or not.
    pub fn is_referenced(&self, node: NodeId) -> bool {
        self.dependents.contains_key(&self.node(node).uid)
    }

    /// The number of objects with an owner reference to this one, valid or not.
    pub fn dependent_count(&self, node: NodeId) -> usize {
        self.dependents.get(&self.node(node).uid).map_or(0, NodeSet::len)
    }

    fn references(&self, dependent: NodeId, owner: CompactUid) -> impl Iterator<Item = &PackedOwnerRef> + '_ {
        self.node(dependent).owners.iter().filter(move |reference| reference.uid == owner)
    }

    fn matches(&self, dependent: NodeId, reference: &PackedOwnerRef, owner: NodeId) -> bool {
        self.mismatch(self.node(dependent), reference, self.node(owner)).is_none()
    }

    pub(crate) fn ownership(&self, dependent: &Node, reference: &PackedOwnerRef) -> Ownership {
        if let Some(owner) = self.by_id(reference.uid) {
            return match self.mismatch(dependent, reference, self.node(owner)) {
                None => Ownership::Valid(owner),
                Some(why) => Ownership::Invalid(why),
            };
        }
        if self.seen_removal(dependent, reference).is_some() {
            return Ownership::Absent { seen: true };
        }
        let name = self.kinds.named(reference.kind());
        let taken = name.resource_ids.iter().any(|resource_id| {
            let here = self.find_by_key(*resource_id, dependent.namespace, reference.name);
            here.or_else(|| self.find_by_key(*resource_id, EMPTY, reference.name)).is_some()
        });
        let unknown = match (&name.incomplete, name.namespaced) {
            _ if taken => None,
            (Some(reason), _) => Some(WhyUnknown::Incomplete(reason.clone())),
            (_, None) => Some(WhyUnknown::KindUnknown),
            _ if !self.synced => Some(WhyUnknown::Starting),
            _ => None,
        };
        unknown.map_or(Ownership::Absent { seen: false }, Ownership::Unknown)
    }

    /// The removed owner of a reference, if its removal was seen and the reference matched it.
    pub(crate) fn seen_removal(
        &self,
        dependent: &Node,
        reference: &PackedOwnerRef,
    ) -> Option<&RemovedObject> {
        let gone = self.removals.get(reference.uid)?;
        let kind = self.kinds.get(gone.kind).name == self.kinds.get(reference.kind()).name;
        let resource_id = self.namespace_mismatch(dependent, gone.namespace).is_none();
        (kind && resource_id && gone.name == reference.name).then_some(gone)
    }

    fn mismatch(&self, dependent: &Node, reference: &PackedOwnerRef, owner: &Node) -> Option<WhyInvalid> {
        if self.kinds.get(owner.kind).name != self.kinds.get(reference.kind()).name {
            return Some(WhyInvalid::Kind);
        }
        if owner.name != reference.name {
            return Some(WhyInvalid::Name);
        }
        self.namespace_mismatch(dependent, owner.namespace)
    }

    /// An owner has to be in the namespace of its dependent, or in none.
    fn namespace_mismatch(&self, dependent: &Node, namespace: u32) -> Option<WhyInvalid> {
        if namespace == dependent.namespace || namespace == EMPTY {
            None
        } else if dependent.namespace == EMPTY {
            Some(WhyInvalid::NotInNamespace)
        } else {
            Some(WhyInvalid::Namespace)
        }
    }

    pub(crate) fn owner_ref(&self, reference: &PackedOwnerRef) -> OwnerRef {
        let name = self.kinds.named(reference.kind());
        OwnerRef {
            group: name.group.clone(),
            version: self.kinds.get(reference.kind()).version.clone(),
            kind: name.kind.clone(),
            name: self.interner.text(reference.name).to_owned(),
            uid: self.interner.uid(reference.uid),
            is_controller: reference.is_controller(),
            is_blocking: reference.is_blocking(),
        }
    }
}
