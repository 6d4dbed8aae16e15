//! What a rule for leftovers says besides: of which owners, and how they are recognized.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::kinds::{KindName, kind_name};
use crate::class::read::{Errors, within};
use crate::invalid::FieldError;
use crate::names;

/// Stands for the owner's name in the value of a label.
pub const NAME: &str = "{name}";
/// More labels are refused.
const MAX_LABELS: usize = 20;

/// Of which owners leftovers are looked for, and how they are recognized.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Leftover {
    /// The kind of the owners.
    pub owner: KindName,
    /// The labels of what belongs to an owner, with [`NAME`] where its name stands.
    pub labels: BTreeMap<String, String>,
    /// Whether what is left of a former owner is taken when one of the same name is made.
    pub on_create: bool,
    /// Whether what is left of an owner is taken when that is gone.
    pub on_delete: bool,
    /// Whether an owner cannot be made while there are leftovers of its name.
    pub hold: bool,
}

impl Leftover {
    /// The labels of what belongs to an owner of this name, as a selector.
    pub fn selector_for(&self, name: &str) -> String {
        let terms = self.labels.iter().map(|(key, value)| format!("{key}={}", value.replace(NAME, name)));
        terms.collect::<Vec<_>>().join(",")
    }

    /// The labels of what belongs to an owner of any name, as a selector.
    pub fn selector_for_all(&self) -> String {
        let terms = self.labels.iter().map(|(key, value)| match value.contains(NAME) {
            true => key.clone(),
            false => format!("{key}={value}"),
        });
        terms.collect::<Vec<_>>().join(",")
    }

    /// The name of the owner to which an object with these labels belongs, if there is one.
    pub fn name_in<'a>(&self, label: impl Fn(&str) -> Option<&'a str>) -> Option<&'a str> {
        let mut name = None;
        for (key, pattern) in &self.labels {
            let value = label(key)?;
            let Some((before, after)) = pattern.split_once(NAME) else {
                if value == pattern {
                    continue;
                }
                return None;
            };
            let found = value.strip_prefix(before)?.strip_suffix(after)?;
            if found.is_empty() || name.is_some_and(|name| name != found) {
                return None;
            }
            name = Some(found);
        }
        name
    }
}

/// Reads the fields that only such rules have.
pub(super) fn read(spec: &Map<String, Value>, errors: &mut Errors) -> Option<Leftover> {
    let owner = match spec.get("owner") {
        Some(value) => kind_name(value, "spec.owner", errors),
        None => {
            let example = "the kind whose leftovers are meant, e.g. {group: example.com, kind: RedisCluster}";
            errors.push(FieldError::required("spec.owner", example));
            None
        }
    };
    let labels = labels(spec, errors);
    let (on_create, on_delete) = moments(spec, errors)?;
    let hold = match spec.get("hold") {
        None => false,
        Some(Value::Bool(hold)) => *hold,
        Some(other) => {
            errors.push(FieldError::invalid("spec.hold", other.clone(), "must be true or false"));
            return None;
        }
    };
    Some(Leftover { owner: owner?, labels: labels?, on_create, on_delete, hold })
}

fn labels(spec: &Map<String, Value>, errors: &mut Errors) -> Option<BTreeMap<String, String>> {
    let example = "the labels of what belongs to an owner, e.g. {app: \"{name}\", managed: \"true\"}";
    let Some(map) = spec.get("labels").and_then(Value::as_object).filter(|map| !map.is_empty()) else {
        errors.push(FieldError::required("spec.labels", example));
        return None;
    };
    if map.len() > MAX_LABELS {
        errors.push(FieldError::too_many("spec.labels", map.len(), MAX_LABELS));
        return None;
    }
    let mut labels = BTreeMap::new();
    for (key, value) in map {
        let place = within("spec.labels", key);
        let Some(text) = value.as_str() else {
            errors.push(FieldError::invalid(place, value.clone(), "must be a text"));
            return None;
        };
        if let Err(complaint) = names::qualified_name(key) {
            errors.push(FieldError::invalid("spec.labels", key.as_str(), complaint));
        }
        if text.matches(NAME).count() > 1 {
            errors.push(FieldError::invalid(&place, text, format!("{NAME} may stand there once")));
        }
        if let Err(complaint) = names::label_value(&text.replace(NAME, "x")) {
            errors.push(FieldError::invalid(place, text, complaint));
        }
        labels.insert(key.clone(), text.to_owned());
    }
    if !labels.values().any(|value| value.contains(NAME)) {
        // Without it every object that is so labelled would belong to every owner.
        let detail = format!("one of them must have the owner's name in it, as {NAME}");
        errors.push(FieldError::invalid("spec.labels", Value::Object(map.clone()), detail));
    }
    Some(labels)
}

fn moments(spec: &Map<String, Value>, errors: &mut Errors) -> Option<(bool, bool)> {
    let Some(value) = spec.get("on") else { return Some((true, true)) };
    let list = value.as_array().filter(|list| !list.is_empty());
    let known = |word: &Value| word == "create" || word == "delete";
    match list.filter(|list| list.iter().all(known)) {
        Some(list) => {
            Some((list.iter().any(|word| word == "create"), list.iter().any(|word| word == "delete")))
        }
        None => {
            errors.push(FieldError::not_supported("spec.on", value.clone(), &["create", "delete"]));
            None
        }
    }
}
