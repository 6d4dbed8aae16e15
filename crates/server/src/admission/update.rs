//! What an update may not do, and what only the collector may write.

use serde_json::Value;
use sexton_model::marks::{ACCUSED, APPROVED, OF_MARKS, OF_THE_COLLECTOR};
use sexton_model::{Document, FieldError};

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

/// A client that could write what was done to an object could have one removed that was never destroyed. What an update
/// leaves out was filled in before.
pub(super) fn marks_of_the_collector(_: &Target, change: &Change<'_>, errors: &mut Vec<FieldError>) {
    for name in OF_THE_COLLECTOR {
        let was = change.old.and_then(|old| old.annotation(name));
        if change.new.annotation(name) != was {
            errors.push(if change.old.is_some() { of_the_collector(name) } else { of_another(name) });
        }
    }
    // What a plan approved is said with its deletion, and cannot be changed after that.
    if change.new.annotation(APPROVED) != change.old.and_then(|old| old.annotation(APPROVED)) {
        let detail = "is written with an approved deletion only; leave it out";
        errors.push(FieldError::forbidden(format!("metadata.annotations[{APPROVED}]"), detail));
    }
    // The requester of a deletion is known when it is asked for, not before.
    for name in OF_MARKS {
        let said = change.new.annotation(name);
        if said.is_some() && said != change.old.and_then(|old| old.annotation(name)) {
            let detail = "is written with the deletion of an object only; leave it out";
            errors.push(FieldError::forbidden(format!("metadata.annotations[{name}]"), detail));
        }
    }
    // Any client can take an accusation off. It cannot be copied to another object with the rest of a document.
    let accused = change.new.annotation(ACCUSED);
    if accused.is_some() && accused != change.old.and_then(|old| old.annotation(ACCUSED)) {
        let detail = "is written by whoever looks for garbage only; leave it out";
        errors.push(FieldError::forbidden(format!("metadata.annotations[{ACCUSED}]"), detail));
    }
}

/// Which annotation of the collector a patch takes off. A patch that does so means it, unlike a document that does not
/// speak of it.
pub(crate) fn taken_off(old: &Document, new: &Document) -> Option<FieldError> {
    let gone = |name: &&str| old.annotation(name).is_some() && new.annotation(name).is_none();
    OF_THE_COLLECTOR.into_iter().find(gone).map(of_the_collector)
}

/// On a new object: it speaks of the end of the object from which the document was copied.
fn of_another(name: &str) -> FieldError {
    let detail =
        "tells of the destruction of another object, from which this document was copied; leave it out";
    FieldError::forbidden(format!("metadata.annotations[{name}]"), detail)
}

fn of_the_collector(name: &str) -> FieldError {
    let detail = "is written by the collector only; to have it do something else about this object, type: \
                  sexton retry, or sexton force";
    FieldError::forbidden(format!("metadata.annotations[{name}]"), detail)
}

/// Refuses new owners of a terminating object: its destruction was decided for the owners that it has.
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
