//! What objects are called: as short as it is clear from where the command was typed, and always so that it can be typed
//! again.

use std::collections::BTreeSet;

use sexton_client::{Kinds, Place};
use sexton_collector::modules::Member;
use sexton_lifecycle::{NodeId, Snapshot};
use sexton_model::hook::ObjectRef;

/// Labels relative to the namespace of the command: that namespace, and a group that is not needed, are left out.
#[derive(Debug, Clone, Default)]
pub(crate) struct Names {
    namespace: String,
    /// Kinds, with their groups, that need the group in a label: the name alone would mean another kind, or several.
    unclear: BTreeSet<(String, String)>,
}

impl Names {
    pub(crate) fn new(kinds: &Kinds, namespace: &str) -> Names {
        let clear = |kind: &str, group: &str| {
            kinds.resolve(kind).is_ok_and(|found| found.kind == kind && found.resource.group == group)
        };
        let unclear = kinds.all.iter().filter(|kind| !clear(&kind.kind, &kind.resource.group));
        let unclear = unclear.map(|kind| (kind.resource.group.clone(), kind.kind.clone())).collect();
        Names { namespace: namespace.to_owned(), unclear }
    }

    /// `Vm/web-1`, `Vm/other/web-1`, `Box.b.io/x`
    pub(crate) fn label(&self, object: &ObjectRef) -> String {
        let ObjectRef { group, kind, namespace, name, .. } = object;
        let kind = match self.unclear.contains(&(group.clone(), kind.clone())) && !group.is_empty() {
            true => format!("{kind}.{group}"),
            false => kind.clone(),
        };
        match namespace.as_str() {
            other if !other.is_empty() && other != self.namespace => format!("{kind}/{other}/{name}"),
            _ => format!("{kind}/{name}"),
        }
    }

    /// The label of the object with a name in a place.
    pub(crate) fn at(&self, place: &Place, name: &str) -> String {
        self.label(&ObjectRef {
            group: place.kind.resource.group.clone(),
            kind: place.kind.kind.clone(),
            namespace: place.namespace.clone().unwrap_or_default(),
            name: name.to_owned(),
            uid: String::new(),
        })
    }

    /// The label of an object of a module.
    pub(crate) fn member(&self, member: &Member) -> String {
        self.label(&ObjectRef {
            group: member.group.clone(),
            kind: member.kind.clone(),
            namespace: member.namespace.clone(),
            name: member.name.clone(),
            uid: member.uid.clone(),
        })
    }

    /// The label of an object in a snapshot.
    pub(crate) fn of(&self, snapshot: &Snapshot, life: NodeId) -> String {
        self.label(&snapshot.object_ref(life))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_not_clear_is_said() {
        let unclear = BTreeSet::from([("b.io".to_owned(), "Box".to_owned())]);
        let names = Names { namespace: "shop".into(), unclear };
        let label = |group: &str, kind: &str, namespace: &str| {
            let [group, kind, namespace] = [group, kind, namespace].map(str::to_owned);
            names.label(&ObjectRef { group, kind, namespace, name: "x".into(), uid: String::new() })
        };
        assert_eq!(label("a.io", "Vm", "shop"), "Vm/x");
        assert_eq!(label("a.io", "Vm", "other"), "Vm/other/x");
        assert_eq!(label("b.io", "Box", ""), "Box.b.io/x");
    }
}
