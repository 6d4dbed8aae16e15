//! How lives are named: for programs with everything, for people as short as it is clear.

use sexton_model::Uid;
use sexton_model::hook::ObjectRef;

use crate::snapshot::{OwnerRef, Snapshot};

/// From where somebody looks: what goes without saying there is not said.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Naming {
    /// The namespace in which commands are typed.
    pub namespace: String,
    /// Whether kinds are named with their group, because the name alone could be another one's.
    pub groups: bool,
}

impl Naming {
    /// `Vm/web-1`, with the namespace if it is another than the usual one.
    pub fn name(&self, object: &ObjectRef) -> String {
        match object.namespace.as_str() {
            other if !other.is_empty() && other != self.namespace => {
                format!("{}/{other}/{}", self.kind(object), object.name)
            }
            _ => self.word(object),
        }
    }

    /// What is typed to name it: `Vm/web-1`, or `Vm/web-1 -n other`.
    pub fn typed(&self, object: &ObjectRef) -> String {
        format!("{}{}", self.word(object), self.flag(&object.namespace))
    }

    /// The flag for a namespace, if one is needed.
    pub(super) fn flag(&self, namespace: &str) -> String {
        match namespace {
            other if !other.is_empty() && other != self.namespace => format!(" -n {other}"),
            _ => String::new(),
        }
    }

    fn word(&self, object: &ObjectRef) -> String {
        format!("{}/{}", self.kind(object), object.name)
    }

    fn kind(&self, object: &ObjectRef) -> String {
        match object.group.as_str() {
            group if self.groups && !group.is_empty() => format!("{}.{group}", object.kind),
            _ => object.kind.clone(),
        }
    }
}

/// A life with a uid; if it is gone, only that.
pub(super) fn of_uid(snapshot: &Snapshot, uid: &Uid) -> ObjectRef {
    match snapshot.get(uid) {
        Some(life) => snapshot.object(life),
        None => ObjectRef { uid: uid.0.clone(), ..ObjectRef::default() },
    }
}

/// An owner as it is written; where it is, the reference does not say: its own namespace or none.
pub(super) fn of_reference(snapshot: &Snapshot, reference: &OwnerRef) -> ObjectRef {
    let namespace = match snapshot.get(&reference.uid) {
        Some(owner) => snapshot.namespace(owner).to_owned(),
        None => String::new(),
    };
    ObjectRef {
        group: reference.group.clone(),
        kind: reference.kind.clone(),
        namespace,
        name: reference.name.clone(),
        uid: reference.uid.0.clone(),
    }
}
