//! What is known of owners: three answers, and a fourth for references that are not what they say.

use std::collections::HashMap;

use sexton_model::feed::OwnerReference;
use sexton_model::rule::KindName;

/// Whether the owner that a reference means exists.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Existence {
    /// It does.
    Living,
    /// It does not, and that is proved.
    Absent {
        /// The life that has its name now.
        successor: Option<String>,
    },
    /// That cannot be said, and why.
    Unknown(String),
    /// The life exists, but is not what the reference says: no evidence of anything.
    Invalid(String),
}

/// Where a life is.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Whereabouts {
    /// Group and kind.
    pub kind: KindName,
    /// Empty if it is in no namespace.
    pub namespace: String,
    /// The name.
    pub name: String,
}

/// What a look at the kinds of all owners found. Whatever was not looked at completely is unknown.
#[derive(Debug, Clone, Default)]
pub struct Owners {
    lives: HashMap<String, Whereabouts>,
    slots: HashMap<Whereabouts, String>,
    /// Kinds that were seen completely and whether they are in namespaces; or why not.
    kinds: HashMap<KindName, Result<bool, String>>,
}

impl Owners {
    /// A life that exists.
    pub fn lives(&mut self, uid: &str, at: Whereabouts) {
        self.slots.insert(at.clone(), uid.to_owned());
        self.lives.insert(uid.to_owned(), at);
    }

    /// All lives of a kind were told.
    pub fn complete(&mut self, kind: KindName, namespaced: bool) {
        self.kinds.entry(kind).or_insert(Ok(namespaced));
    }

    /// Not all lives of a kind were told. This is never taken back.
    pub fn incomplete(&mut self, kind: KindName, why: impl Into<String>) {
        self.kinds.insert(kind, Err(why.into()));
    }

    /// Whether a kind was asked about.
    pub fn knows(&self, kind: &KindName) -> bool {
        self.kinds.contains_key(kind)
    }

    /// The life that has a slot.
    pub fn holder(&self, slot: &Whereabouts) -> Option<&str> {
        self.slots.get(slot).map(String::as_str)
    }

    /// Whether the owner exists that somebody in this namespace (empty for none) names.
    pub fn existence(&self, namespace: &str, reference: &OwnerReference) -> Existence {
        let kind = kind_of(reference);
        if reference.uid.is_empty() {
            return Existence::Invalid("it names no uid".into());
        }
        if let Some(at) = self.lives.get(&reference.uid) {
            return misfit(namespace, &kind, reference, at).map_or(Existence::Living, Existence::Invalid);
        }
        let namespaced = match self.kinds.get(&kind) {
            Some(Ok(namespaced)) => *namespaced,
            Some(Err(why)) => return Existence::Unknown(why.clone()),
            None => return Existence::Unknown(format!("nobody looked at {kind}")),
        };
        if namespaced && namespace.is_empty() {
            return Existence::Invalid(format!(
                "an object in no namespace cannot have a {kind} as its owner"
            ));
        }
        let inside = if namespaced { namespace.to_owned() } else { String::new() };
        let slot = Whereabouts { kind, namespace: inside, name: reference.name.clone() };
        Existence::Absent { successor: self.slots.get(&slot).cloned() }
    }
}

/// The kind that a reference names; the version does not matter.
pub(super) fn kind_of(reference: &OwnerReference) -> KindName {
    let group = reference.api_version.rsplit_once('/').map_or("", |(group, _)| group);
    KindName { group: group.to_owned(), kind: reference.kind.clone() }
}

fn misfit(namespace: &str, kind: &KindName, said: &OwnerReference, at: &Whereabouts) -> Option<String> {
    if at.kind != *kind {
        Some(format!("that life is a {}", at.kind))
    } else if at.name != said.name {
        Some(format!("that life is called {:?}", at.name))
    } else if at.namespace != namespace && !at.namespace.is_empty() {
        Some(format!("that life is in the namespace {:?}", at.namespace))
    } else {
        None
    }
}
