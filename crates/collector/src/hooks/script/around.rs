//! The objects to which an object refers, and to which these refer: what a script may look at.

use std::collections::{BTreeSet, VecDeque};

use serde_json::Value;
use sexton_client::CallError;
use sexton_client::resources::text;
use sexton_model::environment::{self, Reference};
use sexton_model::hook::{Call, MAX_AROUND};

use super::{Scripts, place_of};

impl Scripts {
    /// All that can be reached from the objects of a call, the nearest first, and at most so many.
    pub(super) async fn around(&self, call: &Call) -> Result<Vec<Value>, CallError> {
        let mut known: BTreeSet<String> = BTreeSet::new();
        let mut wanted: VecDeque<(String, Reference)> = VecDeque::new();
        for object in std::iter::once(&call.object).chain(&call.subscriber) {
            known.insert(text(object, "/metadata/uid").to_owned());
            wanted.extend(named_by(object));
        }
        let mut found = Vec::new();
        while let Some((namespace, reference)) = wanted.pop_front() {
            if found.len() == MAX_AROUND {
                break;
            }
            if !known.insert(reference.uid.clone()) {
                continue;
            }
            let place = place_of(&reference.kind, &namespace);
            let object = self.resources.find(&place, &reference.name).await?;
            if let Some(object) = object.filter(|object| text(object, "/metadata/uid") == reference.uid) {
                wanted.extend(named_by(&object));
                found.push(object);
            }
        }
        Ok(found)
    }
}

/// The objects that an object names: in its properties, and as its owners.
fn named_by(object: &Value) -> Vec<(String, Reference)> {
    let namespace = text(object, "/metadata/namespace");
    let mut named = environment::references(&object["spec"]);
    let owners = object.pointer("/metadata/ownerReferences").and_then(Value::as_array);
    for owner in owners.into_iter().flatten() {
        if text(owner, "/apiVersion").starts_with(environment::CLASSES_GROUP) {
            let field = |name: &str| text(owner, name).to_owned();
            named.push(Reference { kind: field("/kind"), name: field("/name"), uid: field("/uid") });
        }
    }
    named.into_iter().map(|reference| (namespace.to_owned(), reference)).collect()
}
