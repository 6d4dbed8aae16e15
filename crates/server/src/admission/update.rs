//! What an update may not do.

use serde_json::Value;
use sexton_model::FieldError;

use super::Change;
use crate::api::Target;

pub(super) fn immutable_fields(_: &Target, change: &Change<'_>, errors: &mut Vec<FieldError>) {
    let Some(old) = change.old else { return };
    for field in ["uid", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds"] {
        let (was, is) = (old.metadata().get(field), change.new.metadata().get(field));
        if was != is {
            let value = is.cloned().unwrap_or(Value::Null);
            errors.push(FieldError::invalid(format!("metadata.{field}"), value, "field is immutable"));
        }
    }
}

/// On whom it depends is part of the judgement that ends it.
pub(super) fn no_new_owners(_: &Target, change: &Change<'_>, errors: &mut Vec<FieldError>) {
    let Some(old) = change.old.filter(|old| old.is_terminating()) else { return };
    let had = old.owner_references();
    for (at, reference) in change.new.owner_references().iter().enumerate() {
        if !had.contains(reference) {
            let field = format!("metadata.ownerReferences[{at}]");
            let detail = "owner references can only be removed while the object is being deleted";
            errors.push(FieldError::forbidden(field, detail));
        }
    }
}

pub(super) fn no_new_finalizers(_: &Target, change: &Change<'_>, errors: &mut Vec<FieldError>) {
    let Some(old) = change.old.filter(|old| old.is_terminating()) else { return };
    let had = old.finalizers();
    let added: Vec<&str> = change.new.finalizers().into_iter().filter(|name| !had.contains(name)).collect();
    if !added.is_empty() {
        let detail = format!(
            "no new finalizers can be added if the object is being deleted, found new finalizers {added:?}"
        );
        errors.push(FieldError::forbidden("metadata.finalizers", detail));
    }
}
