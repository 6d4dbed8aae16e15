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
