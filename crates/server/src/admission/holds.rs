//! What keeps a namespace or a definition that still has contents: their own holds beside ordinary finalizers.

use serde_json::{Value, json};
use sexton_model::Document;

use crate::api::Target;
use crate::kinds::Special;

/// A namespace's own finalizer, in its spec.
pub(super) const NAMESPACE_HOLD: &str = "kubernetes";
/// A definition's finalizer while it has instances.
const DEFINITION_HOLD: &str = "customresourcecleanup.apiextensions.k8s.io";

/// Whether a namespace is held by its own list of finalizers.
pub fn has_spec_finalizers(document: &Document) -> bool {
    let list = document.value().pointer("/spec/finalizers").and_then(Value::as_array);
    list.is_some_and(|list| !list.is_empty())
}

/// Marks something that holds others as going away.
pub fn hold_contents(target: &Target, document: &mut Document, now: &str) {
    match target.kind.special {
        Special::Namespace => {
            set_phase(document);
            let spec = document.object_mut().entry("spec").or_insert_with(|| json!({}));
            let mut list = spec["finalizers"].as_array().cloned().unwrap_or_default();
            if !list.iter().any(|name| name == NAMESPACE_HOLD) {
                // Somebody took it off a living namespace; its contents still go first.
                list.push(NAMESPACE_HOLD.into());
                *spec = json!({"finalizers": list});
            }
        }
        Special::Definition => {
            let mut finalizers: Vec<String> =
                document.finalizers().iter().map(|&name| name.to_owned()).collect();
            if !finalizers.iter().any(|name| name == DEFINITION_HOLD) {
                finalizers.push(DEFINITION_HOLD.to_owned());
                document.set_finalizers(finalizers);
            }
            add_terminating(document, now);
        }
        _ => {}
    }
}

fn set_phase(document: &mut Document) {
    let status = document.object_mut().entry("status").or_insert_with(|| json!({}));
    match status.as_object_mut() {
        Some(status) => drop(status.insert("phase".into(), "Terminating".into())),
        None => *status = json!({"phase": "Terminating"}),
    }
}

fn add_terminating(document: &mut Document, now: &str) {
    let conditions = document.value_mut().pointer_mut("/status/conditions").and_then(Value::as_array_mut);
    let Some(conditions) = conditions else { return };
    if !conditions.iter().any(|condition| condition["type"] == "Terminating") {
        conditions.push(json!({
            "type": "Terminating", "status": "True", "lastTransitionTime": now,
            "reason": "InstanceDeletionPending", "message": "CustomResource deletion is pending",
        }));
    }
}

/// Nothing is inside: the holds that only wait for the contents go.
pub fn release_contents(target: &Target, document: &mut Document) {
    match target.kind.special {
        Special::Namespace => {
            let list = document.value_mut().pointer_mut("/spec/finalizers").and_then(Value::as_array_mut);
            if let Some(list) = list {
                list.retain(|name| name != NAMESPACE_HOLD);
            }
            set_phase(document);
        }
        Special::Definition => {
            let kept = document.finalizers().into_iter().filter(|name| *name != DEFINITION_HOLD);
            let kept: Vec<String> = kept.map(str::to_owned).collect();
            document.set_finalizers(kept);
        }
        _ => {}
    }
}
