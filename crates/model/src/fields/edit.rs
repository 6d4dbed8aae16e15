//! Editing encoded FieldsV1 in place, so that a write that changes little costs little.
//!
//! Works on FieldsV1 with canonical keys only, which is what this crate writes. The forms of a node:
//! `{}` is the thing itself, `{"f:b":{}}` something below it, and a `"."` says both.
//! It must not know entries or managers.

use serde_json::{Map, Value};

use super::fieldsv1::encode_entry;
use super::set::{Entry, FieldSet};

/// The key that says that the node itself is in the set.
pub(super) const ITSELF: &str = ".";

/// Takes a set out of encoded fields.
pub(super) fn subtract(fields: &mut Map<String, Value>, gone: &FieldSet) {
    for entry in &gone.entries {
        let Some(Value::Object(node)) = fields.get_mut(&entry.key) else {
            continue;
        };
        let stays = is_member(node) && !entry.member;
        if node.is_empty() {
            if !stays {
                fields.remove(&entry.key);
            }
            continue;
        }
        subtract(node, &entry.children);
        if set_member(node, stays) {
            fields.remove(&entry.key);
        }
    }
}

/// Adds a set to encoded fields.
pub(super) fn add(fields: &mut Map<String, Value>, more: FieldSet) {
    for entry in more.entries {
        match fields.get_mut(&entry.key) {
            Some(Value::Object(node)) => add_entry(node, entry),
            _ => {
                let (key, node) = encode_entry(entry);
                fields.insert(key, node);
            }
        }
    }
}

fn add_entry(node: &mut Map<String, Value>, entry: Entry) {
    let member = is_member(node) || entry.member;
    add(node, entry.children);
    set_member(node, member);
}

fn is_member(node: &Map<String, Value>) -> bool {
    node.is_empty() || node.contains_key(ITSELF)
}

/// Spells whether the node itself is in the set; says whether then nothing is left to spell.
fn set_member(node: &mut Map<String, Value>, member: bool) -> bool {
    node.remove(ITSELF);
    if node.is_empty() {
        return !member;
    }
    if member {
        node.insert(ITSELF.to_owned(), Value::Object(Map::new()));
    }
    false
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::fields::PathElement;
    use proptest::prelude::*;

    fn set() -> impl Strategy<Value = FieldSet> {
        let path = prop::collection::vec("[a-c]".prop_map(PathElement::Field), 1..4);
        prop::collection::vec(path, 0..8).prop_map(|paths| {
            let mut set = FieldSet::new();
            for path in &paths {
                set.insert(path);
            }
            set
        })
    }

    fn edited(set: &FieldSet, edit: impl FnOnce(&mut Map<String, Value>)) -> Value {
        let mut fields = set.encode();
        edit(fields.as_object_mut().unwrap());
        fields
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn editing_in_place_is_editing_the_set(a in set(), b in set()) {
            prop_assert_eq!(edited(&a, |fields| subtract(fields, &b)), a.difference(&b).encode());
            prop_assert_eq!(edited(&a, |fields| add(fields, b.clone())), a.union(&b).encode());
        }
    }
}
