//! Which definition has which name: within one group, a name belongs to the definition that had it first.
//!
//! Names become part of a definition's status. It must not know how definitions are stored, nor when this is asked.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};
use sexton_model::Document;

/// The names that definitions of one group have, each with its owner.
#[derive(Debug, Clone, Default)]
pub(crate) struct Taken {
    /// Plurals, singulars and short names, and the definition that each belongs to.
    resources: BTreeSet<(String, String)>,
    /// Kinds and kinds of lists.
    kinds: BTreeSet<(String, String)>,
}

/// No names at all.
pub(super) static NONE_TAKEN: Taken = Taken { resources: BTreeSet::new(), kinds: BTreeSet::new() };

impl Taken {
    /// Takes in the names that a definition has.
    pub(super) fn add(&mut self, definition: &Document) {
        let Some(names) = definition.value().pointer("/status/acceptedNames") else { return };
        let owner = definition.name();
        let own = |name: &str| (name.to_owned(), owner.to_owned());
        let text = |field: &str| names.get(field).and_then(Value::as_str).filter(|name| !name.is_empty());
        self.resources.extend(["plural", "singular"].iter().filter_map(|field| text(field)).map(own));
        self.resources.extend(strings(names, "shortNames").into_iter().map(|name| own(&name)));
        self.kinds.extend(["kind", "listKind"].iter().filter_map(|field| text(field)).map(own));
    }

    /// Takes in the names that others have.
    pub(super) fn extend(&mut self, others: &Taken) {
        self.resources.extend(others.resources.iter().cloned());
        self.kinds.extend(others.kinds.iter().cloned());
    }
}

fn strings(names: &Value, field: &str) -> Vec<String> {
    let list = names.get(field).and_then(Value::as_array);
    list.into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
}

/// Whether a name belongs to another definition.
fn others(taken: &BTreeSet<(String, String)>, name: &str, owner: &str) -> bool {
    let from = (name.to_owned(), String::new());
    taken.range(from..).take_while(|(taken, _)| taken == name).any(|(_, other)| other != owner)
}

/// Whether a definition has all the names that it asks for.
pub(super) fn has_its_names(definition: &Document) -> bool {
    is_true(definition, "NamesAccepted")
}

/// Whether a definition's objects are served.
pub(super) fn is_established(definition: &Document) -> bool {
    is_true(definition, "Established")
}

fn is_true(definition: &Document, kind: &str) -> bool {
    let conditions = definition.value().pointer("/status/conditions").and_then(Value::as_array);
    conditions
        .into_iter()
        .flatten()
        .any(|condition| condition["type"] == kind && condition["status"] == "True")
}

/// Gives a definition the names that are free, and says in its status which are not.
pub(crate) fn settle(definition: &mut Document, taken: &Taken, now: &str) {
    let Some(wanted) = definition.value().pointer("/spec/names").filter(|names| names.is_object()).cloned()
    else {
        return;
    };
    let mut accepted = definition
        .value()
        .pointer("/status/acceptedNames")
        .and_then(Value::as_object)
        .cloned()
        .unwrap_or_default();
    let conflict = accept(&wanted, &mut accepted, taken, definition.name());
    for field in ["kind", "plural"] {
        accepted.entry(field).or_insert_with(|| "".into());
    }
    let status = definition.object_mut().entry("status").or_insert_with(|| json!({}));
    if !status.is_object() {
        *status = json!({});
    }
    status["acceptedNames"] = Value::Object(accepted);
    let mut conditions = status["conditions"].as_array().cloned().unwrap_or_default();
    let accepted = conflict.is_none();
    match conflict {
        None => set(&mut conditions, "NamesAccepted", true, ("NoConflicts", "no conflicts found"), now),
        Some((reason, message)) => set(&mut conditions, "NamesAccepted", false, (reason, &message), now),
    }
    let established = |condition: &Value| condition["type"] == "Established" && condition["status"] == "True";
    // Once it is served it stays so, under the names that it has.
    if !conditions.iter().any(established) {
        let why = match accepted {
            true => ("InitialNamesAccepted", "the initial names have been accepted"),
            false => ("NotAccepted", "not all names are accepted"),
        };
        set(&mut conditions, "Established", accepted, why, now);
    }
    status["conditions"] = conditions.into();
}

/// Takes over what is free; the last thing that is not.
fn accept(
    wanted: &Value,
    accepted: &mut Map<String, Value>,
    taken: &Taken,
    owner: &str,
) -> Option<(&'static str, String)> {
    let mut conflict = None;
    for (field, among, reason) in [
        ("plural", &taken.resources, "PluralConflict"),
        ("singular", &taken.resources, "SingularConflict"),
        ("shortNames", &taken.resources, "ShortNamesConflict"),
        ("kind", &taken.kinds, "KindConflict"),
        ("listKind", &taken.kinds, "ListKindConflict"),
    ] {
        let names = match wanted.get(field) {
            Some(Value::String(name)) => vec![name.clone()],
            _ => strings(wanted, field),
        };
        let used = names.iter().filter(|name| others(among, name, owner));
        let used: Vec<String> = used.map(|name| format!("{name:?} is already in use")).collect();
        match used.as_slice() {
            [] => match wanted.get(field).filter(|value| !value.is_null()) {
                Some(value) => drop(accepted.insert(field.to_owned(), value.clone())),
                None => drop(accepted.remove(field)),
            },
            [only] => conflict = Some((reason, only.clone())),
            several => conflict = Some((reason, format!("[{}]", several.join(", ")))),
        }
    }
    match wanted.get("categories").filter(|value| !value.is_null()) {
        Some(value) => drop(accepted.insert("categories".into(), value.clone())),
        None => drop(accepted.remove("categories")),
    }
    conflict
}

/// Sets a condition; its time only if it changes.
fn set(conditions: &mut Vec<Value>, kind: &str, holds: bool, (reason, message): (&str, &str), now: &str) {
    let status = if holds { "True" } else { "False" };
    let mut condition = json!({
        "type": kind, "status": status, "lastTransitionTime": now, "reason": reason, "message": message,
    });
    match conditions.iter_mut().find(|condition| condition["type"] == kind) {
        Some(old) if old["status"] == status => {
            condition["lastTransitionTime"] = match &old["lastTransitionTime"] {
                Value::String(time) => time.as_str().into(),
                _ => now.into(),
            };
            *old = condition;
        }
        Some(old) => *old = condition,
        None => conditions.push(condition),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn definition(plural: &str, names: Value) -> Document {
        let mut all = json!({"plural": plural});
        all.as_object_mut().unwrap().extend(names.as_object().unwrap().clone());
        let value =
            json!({"metadata": {"name": format!("{plural}.x.io")}, "spec": {"group": "x.io", "names": all}});
        Document::from_value(value).unwrap()
    }

    fn settled(plural: &str, names: Value, taken: &mut Taken) -> (Document, String, String) {
        let mut document = definition(plural, names);
        settle(&mut document, taken, "t1");
        taken.add(&document);
        let (reason, message) = {
            let condition = &document.value()["status"]["conditions"][0];
            (
                condition["reason"].as_str().unwrap().to_owned(),
                condition["message"].as_str().unwrap().to_owned(),
            )
        };
        (document, reason, message)
    }

    #[test]
    fn the_first_has_the_name() {
        let mut taken = Taken::default();
        let names = json!({"singular": "a", "kind": "A", "listKind": "AList", "shortNames": ["x", "y"]});
        let (first, reason, _) = settled("as", names, &mut taken);
        assert_eq!(reason, "NoConflicts");
        assert!(is_established(&first) && has_its_names(&first));
        for (plural, names, expected, message) in [
            ("x", json!({"kind": "B"}), "PluralConflict", "\"x\" is already in use"),
            ("bs", json!({"singular": "a", "kind": "B"}), "SingularConflict", "\"a\" is already in use"),
            ("bs", json!({"kind": "A"}), "KindConflict", "\"A\" is already in use"),
            ("bs", json!({"kind": "B", "listKind": "A"}), "ListKindConflict", "\"A\" is already in use"),
            (
                "bs",
                json!({"kind": "B", "shortNames": ["y", "z", "as"]}),
                "ShortNamesConflict",
                "[\"y\" is already in use, \"as\" is already in use]",
            ),
        ] {
            let (second, reason, told) = settled(plural, names, &mut taken.clone());
            assert_eq!((reason.as_str(), told.as_str()), (expected, message));
            assert!(!is_established(&second) && !has_its_names(&second));
            assert_eq!(second.value()["status"]["conditions"][1]["reason"], "NotAccepted");
        }
    }

    #[test]
    fn who_is_served_stays_served() {
        let mut taken = Taken::default();
        let (mut first, ..) = settled("as", json!({"kind": "A", "shortNames": ["x"]}), &mut taken);
        settled("bs", json!({"kind": "B", "shortNames": ["y"]}), &mut taken);
        first.value_mut()["spec"]["names"]["shortNames"] = json!(["y"]);
        settle(&mut first, &taken, "t2");
        assert!(is_established(&first) && !has_its_names(&first));
        assert_eq!(first.value()["status"]["acceptedNames"]["shortNames"], json!(["x"]));
        assert_eq!(first.value()["status"]["conditions"][0]["lastTransitionTime"], "t2");
        assert_eq!(first.value()["status"]["conditions"][1]["lastTransitionTime"], "t1");
        let again = first.clone();
        settle(&mut first, &taken, "t3");
        assert_eq!(first.value(), again.value());
    }
}
