//! Lists whose items are told apart: by what they are, or by some of their fields.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use super::complaints::{Complaints, Place};
use super::node::{List, Structural};
use crate::invalid::FieldError;

/// Complains about items that are there twice. What was there twice before may stay so.
pub(super) fn unique(
    schema: &Structural,
    items: &[Value],
    old: Option<&Value>,
    place: &mut Place,
    complaints: &mut Complaints,
) {
    if schema.list == List::Atomic || !complaints.step(items.len()) {
        return;
    }
    let before = repeated(schema, old.and_then(Value::as_array).map_or(&[][..], Vec::as_slice));
    let before: BTreeSet<String> = before.into_iter().map(|(_, identity)| identity.to_string()).collect();
    for (at, identity) in repeated(schema, items) {
        if !before.contains(&identity.to_string()) {
            let field = place.in_item(at, |place| place.text().to_owned());
            complaints.add(FieldError::duplicate(field, identity));
        }
    }
}

/// Items that are there before, each once, however often.
fn repeated(schema: &Structural, items: &[Value]) -> Vec<(usize, Value)> {
    let mut seen: BTreeMap<String, bool> = BTreeMap::new();
    let mut again = Vec::new();
    for (at, item) in items.iter().enumerate() {
        let Some(identity) = identity(schema, item) else { continue };
        match seen.get_mut(&identity.to_string()) {
            None => {
                seen.insert(identity.to_string(), false);
            }
            Some(told @ false) => {
                *told = true;
                again.push((at, identity));
            }
            Some(true) => {}
        }
    }
    again
}

/// What tells an item from others.
fn identity(schema: &Structural, item: &Value) -> Option<Value> {
    match &schema.list {
        List::Atomic => None,
        List::Set => Some(item.clone()),
        List::Map(keys) => {
            let map = item.as_object()?;
            let key = |name: &String| map.get(name).map(|value| (name.clone(), value.clone()));
            Some(Value::Object(keys.iter().filter_map(key).collect::<Map<String, Value>>()))
        }
    }
}

/// The items of a list as they were before, to be found by what tells them apart.
pub(super) struct Before<'a> {
    schema: &'a Structural,
    items: BTreeMap<String, &'a Value>,
}

impl<'a> Before<'a> {
    pub(super) fn new(schema: &'a Structural, old: Option<&'a Value>) -> Before<'a> {
        let mut items = BTreeMap::new();
        if let (List::Map(_), Some(Value::Array(old))) = (&schema.list, old) {
            for item in old {
                if let Some(identity) = identity(schema, item) {
                    items.entry(identity.to_string()).or_insert(item);
                }
            }
        }
        Before { schema, items }
    }

    /// The same item as it was. Those of other lists have no identity.
    pub(super) fn find(&self, item: &Value) -> Option<&'a Value> {
        if self.items.is_empty() {
            return None;
        }
        identity(self.schema, item).and_then(|identity| self.items.get(&identity.to_string()).copied())
    }
}
