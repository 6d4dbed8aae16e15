//! How objects are named in texts: as short as is unambiguous where the user works.

use sexton_model::Uid;
use sexton_model::hook::ObjectRef;

use crate::snapshot::{OwnerRef, Snapshot};

/// Where the user works: parts of a name that are implied there are left out.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Naming {
    /// The namespace of the user's commands.
    pub namespace: String,
    /// Whether kinds are named with their group, because several kinds have the same name.
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

    /// The arguments that name it in a command: `Vm/web-1`, or `Vm/web-1 -n other`.
    pub fn arguments(&self, object: &ObjectRef) -> String {
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

/// The object with a uid; if it is gone, a reference with the uid alone.
pub(super) fn of_uid(snapshot: &Snapshot, uid: &Uid) -> ObjectRef {
    match snapshot.get(uid) {
        Some(node) => snapshot.object_ref(node),
        None => ObjectRef { uid: uid.0.clone(), ..ObjectRef::default() },
    }
}

/// The owner of a reference. Its namespace, which references do not name, comes from the owner if it exists.
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
