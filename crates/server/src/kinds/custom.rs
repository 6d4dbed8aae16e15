//! Kinds that a CustomResourceDefinition defines: what a definition must say, what is filled in, what is served.
//!
//! Whether a schema can be used is checked here; comparing objects with it is not done here.

use std::sync::Arc;

use serde_json::{Map, Value, json};
use sexton_model::feed::FeedKind;
use sexton_model::fields::Schema;
use sexton_model::names;
use sexton_model::schema::{self, Structural};
use sexton_model::{Document, FieldError, GroupResource};
use sexton_store::Guard;

use super::registry::Registry;
use super::{Kind, NameRule, Special, builtin, naming, offer, offered};

/// More versions of one kind, or more names for it, are refused: no API needs them.
const MOST_VERSIONS: usize = 32;

/// What is wrong with a definition.
pub type DefinitionError = FieldError;

fn text<'a>(value: &'a Value, path: &str) -> &'a str {
    value.pointer(path).and_then(Value::as_str).unwrap_or("")
}

/// Complains about a definition that cannot be served. A group of built-in kinds is one that has some here.
///
/// A schema that stands there already is not looked at again.
pub fn check_definition(
    document: &Document,
    old: Option<&Document>,
    registry: &Registry,
) -> Vec<DefinitionError> {
    let Some(spec) = document.object().get("spec").filter(|spec| spec.is_object()) else {
        return vec![FieldError::required("spec", "a definition needs a spec")];
    };
    let mut errors = Vec::new();
    let (group, plural) = (text(spec, "/group"), text(spec, "/names/plural"));
    check_names(spec, group, plural, &mut errors);
    if builtin::kinds().any(|kind| kind.resource.group == group && registry.has_builtin(&kind)) {
        // Its objects would lie among the built-in kind's own.
        errors.push(FieldError::invalid("spec.group", group, "is the group of built-in kinds"));
    }
    let expected = format!("{plural}.{group}");
    if document.name() != expected {
        let detail = format!("must be spec.names.plural+\".\"+spec.group, here {expected:?}");
        errors.push(FieldError::invalid("metadata.name", document.name(), detail));
    }
    if !matches!(text(spec, "/scope"), "Namespaced" | "Cluster") {
        let scope = spec.get("scope").cloned().unwrap_or_default();
        errors.push(FieldError::not_supported("spec.scope", scope, &["Cluster", "Namespaced"]));
    }
    check_versions(spec, &mut errors);
    offered::check(spec, &mut errors);
    check_stored_versions(document, &mut errors);
    check_schemas(spec, old.and_then(|old| old.object().get("spec")), &mut errors);
    errors
}

/// A version in which objects may be kept cannot go, or they could not be read any more; where new ones are kept is
/// among them.
fn check_stored_versions(document: &Document, errors: &mut Vec<DefinitionError>) {
    const PLACE: &str = "status.storedVersions";
    let stored = document.value().pointer("/status/storedVersions").and_then(Value::as_array);
    let stored = stored.map_or(&[][..], Vec::as_slice);
    if stored.is_empty() {
        errors.push(FieldError::invalid(PLACE, json!([]), "must have at least one stored version"));
        return;
    }
    let versions = document.value().pointer("/spec/versions").and_then(Value::as_array);
    let versions: Vec<&Value> = versions.into_iter().flatten().collect();
    let kept = versions.iter().filter(|version| version["storage"] == true).map(|version| &version["name"]);
    for name in kept.filter(|name| !stored.contains(name)) {
        let detail = format!("must have the storage version {}", name.as_str().unwrap_or_default());
        errors.push(FieldError::invalid(PLACE, name.clone(), detail));
    }
    for (at, name) in stored.iter().enumerate() {
        if !versions.iter().any(|version| version["name"] == *name) {
            let place = format!("{PLACE}[{at}]");
            errors.push(FieldError::invalid(place, name.clone(), "must appear in spec.versions"));
        }
    }
}

/// Every version says what its objects are like.
fn check_schemas(spec: &Value, old: Option<&Value>, errors: &mut Vec<DefinitionError>) {
    if spec["preserveUnknownFields"] == true && old.is_none_or(|old| old["preserveUnknownFields"] != true) {
        let detail =
            "cannot set to true, set x-preserve-unknown-fields to true in spec.versions[*].schema instead";
        errors.push(FieldError::invalid("spec.preserveUnknownFields", true, detail));
    }
    let versions = |spec: &Value| spec.get("versions").and_then(Value::as_array).cloned().unwrap_or_default();
    let before = old.map(versions).unwrap_or_default();
    for (at, version) in versions(spec).iter().enumerate().take(MOST_VERSIONS) {
        let same = |other: &&Value| other["name"] == version["name"] && other["schema"] == version["schema"];
        if before.iter().find(same).is_some() {
            continue;
        }
        let path = format!("spec.versions[{at}].schema.openAPIV3Schema");
        match version.pointer("/schema/openAPIV3Schema").filter(|schema| !schema.is_null()) {
            None => errors.push(FieldError::required(path, "schemas are required")),
            Some(schema) => errors.extend(schema::check(schema, &path)),
        }
    }
}

/// Complains about a change that would pull the ground from under stored objects.
pub fn check_redefinition(old: &Document, new: &Document) -> Vec<DefinitionError> {
    let mut errors = Vec::new();
    for (field, path) in [("spec.scope", "/spec/scope"), ("spec.names.kind", "/spec/names/kind")] {
        let (was, is) = (text(old.value(), path), text(new.value(), path));
        if was != is {
            errors.push(FieldError::invalid(field, is, "field is immutable"));
        }
    }
    errors
}

fn check_names(spec: &Value, group: &str, plural: &str, errors: &mut Vec<DefinitionError>) {
    if group.is_empty() {
        errors.push(FieldError::required("spec.group", ""));
    } else if let Err(why) = names::dns_subdomain(group) {
        errors.push(FieldError::invalid("spec.group", group, why));
    } else if !group.contains('.') {
        errors.push(FieldError::invalid("spec.group", group, "should be a domain with at least one dot"));
    }
    check_other_names(spec, errors);
    let kind = text(spec, "/names/kind");
    for (field, value) in [("spec.names.plural", plural), ("spec.names.kind", kind)] {
        if value.is_empty() {
            errors.push(FieldError::required(field, ""));
        } else if let Err(why) = names::dns1035_label(&value.to_lowercase()) {
            errors.push(FieldError::invalid(field, value, why));
        } else if field.ends_with("plural") && value != value.to_lowercase() {
            errors.push(FieldError::invalid(field, value, "must be lower case"));
        }
    }
}

/// The names that may be left out. They become part of documents and of what people type.
fn check_other_names(spec: &Value, errors: &mut Vec<DefinitionError>) {
    let (kind, list) = (text(spec, "/names/kind"), text(spec, "/names/listKind"));
    if !list.is_empty() && list == kind {
        let detail = "kind and listKind may not be the same";
        errors.push(FieldError::invalid("spec.names.listKind", list, detail));
    }
    let lists = ["shortNames", "categories"]
        .iter()
        .filter_map(|field| Some((*field, spec["names"][field].as_array()?)));
    for field in ["shortNames", "categories"] {
        let given = spec["names"].get(field).filter(|names| !names.is_null() && !names.is_array());
        if let Some(other) = given {
            errors.push(FieldError::invalid(format!("spec.names.{field}"), other.clone(), "must be a list"));
        }
    }
    let single =
        ["singular", "listKind"].iter().filter_map(|field| Some((*field, spec["names"].get(field)?)));
    let mut names: Vec<(&str, &Value)> = single.collect();
    for (field, list) in lists {
        if list.len() > MOST_VERSIONS {
            errors.push(FieldError::too_many(format!("spec.names.{field}"), list.len(), MOST_VERSIONS));
        }
        names.extend(list.iter().take(MOST_VERSIONS).map(|name| (field, name)));
    }
    for (field, name) in names {
        let fits = name.as_str().is_some_and(|name| names::dns1035_label(&name.to_lowercase()).is_ok());
        if !fits {
            let detail = "must be letters, digits and '-', beginning with a letter";
            errors.push(FieldError::invalid(format!("spec.names.{field}"), name.clone(), detail));
        }
    }
}

fn check_versions(spec: &Value, errors: &mut Vec<DefinitionError>) {
    let versions = spec.get("versions").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    if versions.len() > MOST_VERSIONS {
        errors.push(FieldError::too_many("spec.versions", versions.len(), MOST_VERSIONS));
        return;
    }
    if versions.is_empty() {
        errors.push(FieldError::required("spec.versions", "at least one version is needed"));
    }
    for (at, version) in versions.iter().enumerate() {
        let name = text(version, "/name");
        if let Err(why) = names::dns1035_label(name) {
            errors.push(FieldError::invalid(format!("spec.versions[{at}].name"), name, why));
        }
        if versions[..at].iter().any(|other| text(other, "/name") == name) {
            errors.push(FieldError::duplicate(format!("spec.versions[{at}].name"), name));
        }
    }
    let storage = versions.iter().filter(|version| version["storage"] == true).count();
    if !versions.is_empty() && storage != 1 {
        let detail = "must have exactly one version marked as storage version";
        errors.push(FieldError::invalid("spec.versions", json!(storage), detail));
    }
}

/// Fills in what a definition may leave out, and in which versions its objects may be kept. Which of its names it gets is
/// decided when everything else is.
pub fn complete_definition(document: &mut Document, before: Option<&Document>) {
    let old = document.object().get("status").cloned();
    let Some(spec) = document.object_mut().get_mut("spec").and_then(Value::as_object_mut) else { return };
    spec.entry("conversion").or_insert_with(|| json!({"strategy": "None"}));
    complete_versions(spec, before);
    let Some(names) = spec.get_mut("names").and_then(Value::as_object_mut) else { return };
    let kind = names.get("kind").and_then(Value::as_str).unwrap_or_default().to_owned();
    names.entry("singular").or_insert_with(|| kind.to_lowercase().into());
    names.entry("listKind").or_insert_with(|| format!("{kind}List").into());
    let versions = spec.get("versions").and_then(Value::as_array);
    let storage = versions.into_iter().flatten().find(|version| version["storage"] == true);
    let mut stored: Vec<Value> =
        old.as_ref().and_then(|status| status["storedVersions"].as_array().cloned()).unwrap_or_default();
    if let Some(name) = storage.and_then(|version| version.get("name"))
        && !stored.contains(name)
    {
        stored.push(name.clone());
    }
    let status = document.object_mut().entry("status").or_insert_with(|| json!({}));
    if !status.is_object() {
        *status = json!({});
    }
    status["storedVersions"] = stored.into();
}

/// What a version does not say of being served and of keeping objects is no, as in Kubernetes. A version that is stored
/// without a word has been served so far, and goes on being served until an update says a word.
fn complete_versions(spec: &mut Map<String, Value>, before: Option<&Document>) {
    let unsaid = |version: &Value, field: &str| version.get(field).is_none_or(Value::is_null);
    let before = before.and_then(|before| before.value().pointer("/spec/versions")).and_then(Value::as_array);
    let versions = spec.get_mut("versions").and_then(Value::as_array_mut);
    for version in versions.into_iter().flatten().filter(|version| version.is_object()) {
        let stands = |field: &str| {
            let before = before.into_iter().flatten().find(|other| other["name"] == version["name"]);
            before.is_some_and(|before| unsaid(before, field))
        };
        let absent =
            ["served", "storage"].into_iter().filter(|field| unsaid(version, field) && !stands(field));
        for field in absent.collect::<Vec<_>>() {
            version[field] = false.into();
        }
    }
}

/// What a stored definition defines, in each of its versions, whether that is served or not.
pub(crate) fn stores(document: &Document) -> Vec<FeedKind> {
    let spec = document.object().get("spec").cloned().unwrap_or_default();
    let versions = spec.get("versions").and_then(Value::as_array);
    let established = naming::is_established(document);
    let version = |version: &Value| FeedKind {
        group: text(&spec, "/group").into(),
        version: text(version, "/name").into(),
        resource: text(&spec, "/names/plural").into(),
        kind: text(&spec, "/names/kind").into(),
        namespaced: text(&spec, "/scope") == "Namespaced",
        served: version["served"] != false && established,
        broken: None,
    };
    versions.into_iter().flatten().map(version).collect()
}

/// The kinds that a stored definition serves, one per served version. Without its names it serves nothing.
pub(super) fn kinds(document: &Document, definition: &Guard) -> Vec<Kind> {
    if !naming::is_established(document) {
        return Vec::new();
    }
    let spec = spec_as_accepted(document);
    let versions = spec.get("versions").and_then(Value::as_array).cloned().unwrap_or_default();
    let served = versions.iter().filter(|version| version["served"] != false);
    served.map(|version| kind(document, &spec, version, definition)).collect()
}

/// The kind in which a definition's objects are kept, if that version is not served.
pub(super) fn unserved(document: &Document, definition: &Guard) -> Option<Kind> {
    let spec = spec_as_accepted(document);
    let kept = spec.get("versions")?.as_array()?.iter().find(|version| version["storage"] == true)?;
    let hidden = kept["served"] == false || !naming::is_established(document);
    hidden.then(|| kind(document, &spec, kept, definition))
}

/// A definition's spec, under the names that it has instead of those that it asks for.
fn spec_as_accepted(document: &Document) -> Value {
    let mut spec = document.object().get("spec").cloned().unwrap_or_default();
    let accepted = document.value().pointer("/status/acceptedNames").and_then(Value::as_object);
    let (Some(accepted), Some(names)) = (accepted, spec.get_mut("names").and_then(Value::as_object_mut))
    else {
        return spec;
    };
    for field in ["singular", "kind", "listKind"] {
        if let Some(name) =
            accepted.get(field).filter(|name| name.as_str().is_some_and(|name| !name.is_empty()))
        {
            names.insert(field.into(), name.clone());
        }
    }
    names.insert("shortNames".into(), accepted.get("shortNames").cloned().unwrap_or_default());
    spec
}

fn kind(document: &Document, spec: &Value, version: &Value, definition: &Guard) -> Kind {
    let strings = |path: &str| -> Vec<String> {
        let list = spec.pointer(path).and_then(Value::as_array);
        list.into_iter().flatten().filter_map(Value::as_str).map(Into::into).collect()
    };
    let kind = text(spec, "/names/kind");
    let or = |path: &str, default: String| match text(spec, path) {
        "" => default,
        given => given.to_owned(),
    };
    let subresources = version.get("subresources").and_then(Value::as_object);
    let status = subresources.is_some_and(|list: &Map<String, Value>| list.contains_key("status"));
    let versions = spec.get("versions").and_then(Value::as_array);
    let kept = versions.into_iter().flatten().find(|version| version["storage"] == true).unwrap_or(version);
    let schema = version.pointer("/schema/openAPIV3Schema");
    let schema = schema.and_then(|schema| Schema::from_openapi(schema, status).ok());
    Kind {
        resource: GroupResource::new(text(spec, "/group"), text(spec, "/names/plural")),
        version: text(version, "/name").into(),
        stored_version: text(kept, "/name").into(),
        kind: kind.into(),
        list_kind: or("/names/listKind", format!("{kind}List")),
        singular: or("/names/singular", kind.to_lowercase()),
        short_names: strings("/names/shortNames"),
        categories: strings("/names/categories"),
        namespaced: text(spec, "/scope") == "Namespaced",
        status,
        generation: true,
        unconditional_update: false,
        returns_deleted: false,
        names: NameRule::Subdomain,
        fields: &[],
        special: Special::None,
        definition: Some(definition.clone()),
        terminating: document.is_terminating(),
        schema: Arc::new(schema.unwrap_or_else(|| Schema::custom(status))),
        offer: Arc::new(offer::defined(spec, version, stamp(document, definition))),
        structural: structural(version),
    }
}

/// The uid of a definition and its version: no two contents have the same.
fn stamp(document: &Document, definition: &Guard) -> String {
    match definition {
        Guard::At { revision, .. } => format!("{}@{revision}", document.uid()),
        _ => document.uid().to_owned(),
    }
}

/// The schema of a version, ready for use.
fn structural(version: &Value) -> Option<Arc<Structural>> {
    let schema = version.pointer("/schema/openAPIV3Schema").filter(|schema| schema.is_object())?;
    Some(Structural::compile(schema)).filter(|schema| !schema.is_trivial()).map(Arc::new)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test ends with the first thing that goes wrong")]
mod tests {
    use super::*;

    /// A definition that is stored without a word about being served is served, and stays so when it is written again;
    /// what is new in it is not.
    #[test]
    fn what_is_served_stays_served() {
        let definition = |versions: Value| {
            let spec = json!({"group": "example.com", "names": {"kind": "A"}, "versions": versions});
            Document::from_value(json!({"metadata": {"name": "a"}, "spec": spec})).unwrap()
        };
        let before = definition(json!([{"name": "v1", "storage": true}, {"name": "v2", "served": true}]));
        let mut after = definition(json!([{"name": "v1", "storage": true}, {"name": "v2"}, {"name": "v3"}]));
        complete_definition(&mut after, Some(&before));
        let expected = json!([
            {"name": "v1", "storage": true},
            {"name": "v2", "served": false},
            {"name": "v3", "served": false, "storage": false},
        ]);
        assert_eq!(after.value().pointer("/spec/versions"), Some(&expected));
    }
}
