//! Which owners exist: yes, no, unknown, or a reference that does not match its owner.

use std::collections::HashMap;

use sexton_model::feed::OwnerReference;
use sexton_model::rule::KindName;

/// Whether the owner that a reference means exists.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Existence {
    /// It does.
    Exists,
    /// It does not, and that is proved.
    Absent {
        /// The uid of the object that has its name now.
        successor: Option<String>,
    },
    /// That is not known, for this reason.
    Unknown(String),
    /// The object with that uid does not match the reference, for this reason. No evidence of anything.
    Invalid(String),
}

/// Kind, namespace and name of an owner.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct OwnerKey {
    /// Group and kind.
    pub kind: KindName,
    /// Empty if it is in no namespace.
    pub namespace: String,
    /// The name.
    pub name: String,
}

/// The objects of all kinds that owner references name. A kind that was not listed completely is unknown.
#[derive(Debug, Clone, Default)]
pub struct Owners {
    by_uid: HashMap<String, OwnerKey>,
    uids: HashMap<OwnerKey, String>,
    /// For each kind whether its objects are in namespaces, or why it could not be listed.
    kinds: HashMap<KindName, Result<bool, String>>,
}

impl Owners {
    /// Adds an object that exists.
    pub fn insert(&mut self, uid: &str, at: OwnerKey) {
        self.uids.insert(at.clone(), uid.to_owned());
        self.by_uid.insert(uid.to_owned(), at);
    }

    /// Records that all objects of a kind were added.
    pub fn set_listed(&mut self, kind: KindName, namespaced: bool) {
        self.kinds.entry(kind).or_insert(Ok(namespaced));
    }

    /// Records that not all objects of a kind could be listed. Wins over [`Owners::set_listed`], whichever comes first.
    pub fn set_not_listed(&mut self, kind: KindName, why: impl Into<String>) {
        self.kinds.insert(kind, Err(why.into()));
    }

    /// Whether a kind was listed, successfully or not.
    pub fn has_kind(&self, kind: &KindName) -> bool {
        self.kinds.contains_key(kind)
    }

    /// The uid of the object with a key.
    pub fn uid_of(&self, key: &OwnerKey) -> Option<&str> {
        self.uids.get(key).map(String::as_str)
    }

    /// Whether the owner of a reference exists, for a dependent in this namespace (empty for none).
    pub fn existence(&self, namespace: &str, reference: &OwnerReference) -> Existence {
        let kind = kind_of(reference);
        if reference.uid.is_empty() {
            return Existence::Invalid("it names no uid".into());
        }
        if let Some(at) = self.by_uid.get(&reference.uid) {
            return mismatch(namespace, &kind, reference, at).map_or(Existence::Exists, Existence::Invalid);
        }
        let namespaced = match self.kinds.get(&kind) {
            Some(Ok(namespaced)) => *namespaced,
            Some(Err(why)) => return Existence::Unknown(why.clone()),
            None => return Existence::Unknown(format!("objects of the kind {kind} were not listed")),
        };
        if namespaced && namespace.is_empty() {
            return Existence::Invalid(format!(
                "an object in no namespace cannot have a {kind} as its owner"
            ));
        }
        let inside = if namespaced { namespace.to_owned() } else { String::new() };
        let key = OwnerKey { kind, namespace: inside, name: reference.name.clone() };
        Existence::Absent { successor: self.uids.get(&key).cloned() }
    }
}

/// The kind that a reference names; the version does not matter.
pub(super) fn kind_of(reference: &OwnerReference) -> KindName {
    let group = reference.api_version.rsplit_once('/').map_or("", |(group, _)| group);
    KindName { group: group.to_owned(), kind: reference.kind.clone() }
}

fn mismatch(namespace: &str, kind: &KindName, reference: &OwnerReference, at: &OwnerKey) -> Option<String> {
    if at.kind != *kind {
        Some(format!("the object with that uid is a {}", at.kind))
    } else if at.name != reference.name {
        Some(format!("the object with that uid is called {:?}", at.name))
    } else if at.namespace != namespace && !at.namespace.is_empty() {
        Some(format!("the object with that uid is in the namespace {:?}", at.namespace))
    } else {
        None
    }
}
