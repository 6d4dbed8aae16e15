//! What keeps a namespace, a definition or a class that is still in use: their own holds beside ordinary finalizers.

use serde_json::{Value, json};
use sexton_model::Document;
use sexton_model::marks::{DEFINITION_HOLD, IN_USE_FINALIZER, NAMESPACE_HOLD};

use crate::api::Target;
use crate::kinds::Special;

/// Whether a namespace is held by its own list of finalizers.
pub fn has_spec_finalizers(document: &Document) -> bool {
    let list = document.value().pointer("/spec/finalizers").and_then(Value::as_array);
    list.is_some_and(|list| !list.is_empty())
}

/// Puts the hold for its contents on an object that is being deleted; a namespace and a definition say so in their
/// status.
pub fn hold_contents(target: &Target, document: &mut Document, now: &str) {
    match target.kind.special {
        Special::Namespace => {
            set_phase(document);
            let spec = document.object_mut().entry("spec").or_insert_with(|| json!({}));
            let mut list = spec["finalizers"].as_array().cloned().unwrap_or_default();
            if !list.iter().any(|name| name == NAMESPACE_HOLD) {
                // A client took it off before the namespace was terminating; its contents still go first.
                list.push(NAMESPACE_HOLD.into());
                *spec = json!({"finalizers": list});
            }
        }
        Special::Definition => {
            add_finalizer(document, DEFINITION_HOLD);
            add_terminating(document, now);
        }
        Special::Class => add_finalizer(document, IN_USE_FINALIZER),
        _ => {}
    }
}

fn add_finalizer(document: &mut Document, finalizer: &str) {
    let mut finalizers: Vec<String> = document.finalizers().iter().map(|&name| name.to_owned()).collect();
    if !finalizers.iter().any(|name| name == finalizer) {
        finalizers.push(finalizer.to_owned());
        document.set_finalizers(finalizers);
    }
}

fn remove_finalizer(document: &mut Document, finalizer: &str) {
    let kept = document.finalizers().into_iter().filter(|name| *name != finalizer);
    let kept: Vec<String> = kept.map(str::to_owned).collect();
    document.set_finalizers(kept);
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
        Special::Definition => remove_finalizer(document, DEFINITION_HOLD),
        Special::Class => remove_finalizer(document, IN_USE_FINALIZER),
        _ => {}
    }
}
