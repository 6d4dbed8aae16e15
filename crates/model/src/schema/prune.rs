//! Pruning: fields that a schema does not name are taken out, and told.

use serde_json::{Map, Value};

use super::complaints::Place;
use super::node::{Additional, Structural};

/// What every resource has, whether its schema names it or not.
const OF_ANY_RESOURCE: [&str; 3] = ["apiVersion", "kind", "metadata"];

/// What metadata consists of, sorted.
pub const METADATA_FIELDS: [&str; 15] = [
    "annotations",
    "creationTimestamp",
    "deletionGracePeriodSeconds",
    "deletionTimestamp",
    "finalizers",
    "generateName",
    "generation",
    "labels",
    "managedFields",
    "name",
    "namespace",
    "ownerReferences",
    "resourceVersion",
    "selfLink",
    "uid",
];

/// Paths that are told of. The rest is taken out without being named.
const MOST_TOLD: usize = 64;

impl Structural {
    /// Takes out of a resource what this does not name. Says what that was, as paths such as `spec.list[0].field`; of a
    /// great many only the first.
    pub fn prune(&self, resource: &mut Value) -> Vec<String> {
        let mut told = Told::default();
        told.prune(&mut Place::default(), resource, Some(self), true);
        told.paths
    }

    /// The same for a value that stands somewhere in a resource.
    pub(super) fn prune_part(&self, value: &mut Value) -> Vec<String> {
        let mut told = Told::default();
        told.prune(&mut Place::default(), value, Some(self), self.embedded);
        told.paths
    }
}

/// What was taken out.
#[derive(Default)]
struct Told {
    paths: Vec<String>,
}

impl Told {
    /// What is a resource keeps its type and metadata.
    fn prune(&mut self, place: &mut Place, value: &mut Value, schema: Option<&Structural>, resource: bool) {
        match value {
            Value::Object(map) => self.prune_map(place, map, schema, resource),
            Value::Array(items) => {
                let below = schema.and_then(|schema| schema.items.as_deref());
                // What is kept as it is needs no look at each of its items.
                if below.is_none() && schema.is_some_and(|schema| schema.preserves) {
                    return;
                }
                for (at, item) in items.iter_mut().enumerate().filter(|(_, item)| has_parts(item)) {
                    place.in_item(at, |place| self.prune(place, item, below, is_resource(below)));
                }
            }
            _ => {}
        }
    }

    fn prune_map(
        &mut self,
        place: &mut Place,
        map: &mut Map<String, Value>,
        schema: Option<&Structural>,
        resource: bool,
    ) {
        let keeps = schema.is_some_and(|schema| schema.preserves);
        let open = schema.is_some_and(|schema| !matches!(schema.additional, Additional::No));
        if keeps && !open && !resource && schema.is_some_and(|schema| schema.properties.is_empty()) {
            return;
        }
        map.retain(|name, value| {
            if resource && OF_ANY_RESOURCE.contains(&name.as_str()) {
                if name == "metadata" && !place.text().is_empty() {
                    self.prune_metadata(place, value);
                }
                return true;
            }
            let property = schema.and_then(|schema| schema.properties.get(name));
            if property.is_none() && !open {
                if !keeps {
                    self.tell(place, name);
                }
                return keeps;
            }
            let below = property.or_else(|| schema.and_then(|schema| schema.additional.schema()));
            if has_parts(value) {
                place.in_field(name, |place| self.prune(place, value, below, is_resource(below)));
            }
            true
        });
    }

    /// The metadata of a resource inside of another.
    fn prune_metadata(&mut self, place: &Place, metadata: &mut Value) {
        let Value::Object(map) = metadata else { return };
        map.retain(|name, _| {
            let known = METADATA_FIELDS.binary_search(&name.as_str()).is_ok();
            if !known {
                self.tell(place, &format!("metadata.{name}"));
            }
            known
        });
    }

    fn tell(&mut self, place: &Place, name: &str) {
        if self.paths.len() < MOST_TOLD {
            self.paths.push(place.child(name));
        }
    }
}

fn has_parts(value: &Value) -> bool {
    value.is_array() || value.is_object()
}

fn is_resource(schema: Option<&Structural>) -> bool {
    schema.is_some_and(|schema| schema.embedded)
}
