//! Modules: what they may sweep is checked when it is written down, not when it is swept.
//!
//! It must not know when that happens.

use sexton_model::module::ModuleSpec;
use sexton_model::{Document, FieldError};

use super::Change;
use crate::api::Target;
use crate::kinds::Special;

pub(super) fn module(target: &Target, change: &Change<'_>, errors: &mut Vec<FieldError>) {
    let spec = |document: &Document| document.object().get("spec").cloned();
    if target.kind.special != Special::Module || change.old.is_some_and(|old| spec(old) == spec(change.new)) {
        return;
    }
    if let Err(complaints) = ModuleSpec::parse(change.new.value()) {
        errors.extend(complaints);
    }
}
