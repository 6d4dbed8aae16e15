//! Reading what modules say of themselves, strictly: everything else is refused with its place.
//!
//! It must not know what it is read for.

use serde_json::{Map, Value};

use super::{
    MANAGER_KEY, MAX_PARALLEL, MAX_SCOPE, MAX_TEXT, ModuleOrder, ModuleSpec, Scope, default_scope,
    limit_text, manager_name,
};
use crate::class::read::{Errors, object, text, within};
use crate::invalid::FieldError;
use crate::names;

pub(super) fn spec(document: &Value, name: &str, errors: &mut Errors) -> Option<ModuleSpec> {
    let known = ["apiVersion", "kind", "metadata", "spec", "status"];
    let document = object(document, "", &known, errors)?;
    let mut read = ModuleSpec::new(name);
    if let Err(complaint) = manager_name(name) {
        errors.push(FieldError::invalid("metadata.name", name, complaint));
    }
    let Some(spec) = document.get("spec") else { return Some(read) };
    let spec =
        object(spec, "spec", &[MANAGER_KEY, "scope", "supportGc", "maxDelete", "order", "parallel"], errors)?;
    if spec.contains_key(MANAGER_KEY) {
        let manager = text(spec, "spec", MANAGER_KEY, errors)?;
        // Two records of one manager would be two leases for the same resources.
        if manager != name {
            let detail = format!("must be the name of the module, which is {name:?}");
            errors.push(FieldError::invalid("spec.manager", manager, detail));
        }
    }
    read.scope = scope(spec, "spec", "scope", name, errors)?;
    read.support_gc = flag(spec, "spec", "supportGc", true, errors)?;
    read.max_delete = limit(spec, "spec", errors)?;
    read.order = order(spec, "spec", errors)?.unwrap_or_default();
    read.parallel = parallel(spec, "spec", errors)?;
    Some(read)
}

/// A scope; without one, the usual one. What is wrong with it is said.
pub(super) fn scope(
    map: &Map<String, Value>,
    path: &str,
    name: &str,
    manager: &str,
    errors: &mut Errors,
) -> Option<Scope> {
    let place = within(path, name);
    let Some(value) = map.get(name) else { return Some(default_scope(manager)) };
    let Some(given) = value.as_object() else {
        errors.push(FieldError::invalid(place, value.clone(), "must be a map of attributes to texts"));
        return None;
    };
    if given.len() > MAX_SCOPE {
        errors.push(FieldError::too_many(place, given.len(), MAX_SCOPE));
        return None;
    }
    let mut scope = Scope::new();
    for (key, value) in given {
        match value.as_str() {
            Some(text) if text.len() <= MAX_TEXT && key.len() <= MAX_TEXT => {
                scope.insert(key.clone(), text.to_owned());
            }
            Some(_) => errors.push(FieldError::too_long(format!("{place}.{key}"), MAX_TEXT)),
            None => {
                errors.push(FieldError::invalid(format!("{place}.{key}"), value.clone(), "must be a text"))
            }
        }
    }
    if let Err(detail) = check_scope(&scope, manager) {
        errors.push(FieldError::invalid(place, value.clone(), detail));
    }
    Some(scope)
}

/// Whether a scope is one that a module may have: with its own manager, and no other.
///
/// # Errors
/// Why not, in words.
pub fn check_scope(scope: &Scope, manager: &str) -> Result<(), names::Complaint> {
    match scope.get(MANAGER_KEY) {
        Some(own) if own == manager => {}
        Some(other) => {
            return Err(format!(
                "its manager is {other:?}, but the module is {manager:?}: a module sweeps only what it manages itself"
            ));
        }
        None => {
            return Err(format!(
                "must have the attribute 'manager' with the value {manager:?}: without it, resources of others would be swept"
            ));
        }
    }
    for (key, value) in scope {
        if !matches!(key.as_str(), MANAGER_KEY | "apiVersion" | "kind" | "namespace" | "name") {
            names::qualified_name(key).map_err(|complaint| format!("the label {key:?}: {complaint}"))?;
            names::label_value(value)
                .map_err(|complaint| format!("the value of the label {key:?}: {complaint}"))?;
        }
    }
    Ok(())
}

pub(super) fn flag(
    map: &Map<String, Value>,
    path: &str,
    name: &str,
    usual: bool,
    errors: &mut Errors,
) -> Option<bool> {
    match map.get(name) {
        None => Some(usual),
        Some(Value::Bool(said)) => Some(*said),
        Some(other) => {
            errors.push(FieldError::invalid(within(path, name), other.clone(), "must be true or false"));
            None
        }
    }
}

/// `maxDelete`, as a text or a number.
pub(super) fn limit(map: &Map<String, Value>, path: &str, errors: &mut Errors) -> Option<Option<String>> {
    let Some(value) = map.get("maxDelete").filter(|value| !value.is_null()) else { return Some(None) };
    let said = value.as_str().map(str::to_owned).or_else(|| value.as_u64().map(|number| number.to_string()));
    match said.as_deref().map(limit_text) {
        Some(Ok(())) => Some(said),
        _ => {
            let detail = "must be a number of objects or a percentage, e.g. 20 or '30%'";
            errors.push(FieldError::invalid(within(path, "maxDelete"), value.clone(), detail));
            None
        }
    }
}

/// `order`, one of its words; nothing if it is not said.
pub(super) fn order(
    map: &Map<String, Value>,
    path: &str,
    errors: &mut Errors,
) -> Option<Option<ModuleOrder>> {
    let Some(value) = map.get("order").filter(|value| !value.is_null()) else { return Some(None) };
    let found = value.as_str().and_then(ModuleOrder::named);
    if found.is_none() {
        let words = ModuleOrder::ALL.map(ModuleOrder::word);
        errors.push(FieldError::not_supported(within(path, "order"), value.clone(), &words));
    }
    Some(Some(found?))
}

/// `parallel`, from 1 to [`MAX_PARALLEL`]; nothing if it is not said.
pub(super) fn parallel(map: &Map<String, Value>, path: &str, errors: &mut Errors) -> Option<Option<u32>> {
    let Some(value) = map.get("parallel").filter(|value| !value.is_null()) else { return Some(None) };
    let number = value.as_u64().and_then(|number| u32::try_from(number).ok());
    let found = number.filter(|number| (1..=MAX_PARALLEL).contains(number));
    if found.is_none() {
        let detail = format!("must be a number of objects from 1 to {MAX_PARALLEL}");
        errors.push(FieldError::invalid(within(path, "parallel"), value.clone(), detail));
    }
    Some(Some(found?))
}
