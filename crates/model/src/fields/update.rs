//! Ownership after a create, update or patch: the writer gets what it changed, others lose it.
//!
//! It must not know how the new document came about.

use serde_json::{Map, Value};

use super::Writer;
use super::diff;
use super::edit;
use super::extract::{Reading, of_document};
use super::managed::{MAX_UPDATERS, ManagedEntry, ManagedFields, Operation, encode_entry, encode_parts};
use super::schema::Schema;
use super::scope::Scope;
use super::set::FieldSet;

/// Where the entries to start from come from.
enum Base {
    /// The stored list as it is, here if the client sent the same.
    Old(Option<Value>),
    /// The list the client sent.
    Sent(ManagedFields),
    /// The client asked for the list to be emptied.
    Reset,
}

/// Brings `metadata.managedFields` of `new` up to date for a write other than server-side apply.
///
/// `old` is the stored object, `None` for a create. A list sent by the client is honoured if it can be
/// read, `[]` and `[{}]` empty it, and none at all keeps the stored one; through a subresource the stored
/// one always counts. A write that changes no field keeps the list as it was, byte for byte. An object
/// whose list is empty stays untracked until the first apply.
pub fn track_update(old: Option<&Value>, new: &mut Value, writer: &Writer<'_>, schema: &Schema) {
    let Some(metadata) = metadata_mut(new) else {
        return;
    };
    let sent = metadata.remove("managedFields");
    let list = match old {
        Some(old) => updated(old, new, sent, writer, schema),
        None => created(new, sent, writer, schema),
    };
    if let (Some(list), Some(metadata)) = (list, metadata_mut(new)) {
        metadata.insert("managedFields".to_owned(), list);
    }
}

/// The metadata map of a document, made where the document is a map without one.
pub(super) fn metadata_mut(document: &mut Value) -> Option<&mut Map<String, Value>> {
    document.as_object_mut()?.entry("metadata").or_insert_with(|| Value::Object(Map::new())).as_object_mut()
}

/// The stored list of a document, if there is one with entries.
pub(super) fn stored(document: &Value) -> Option<&Value> {
    let list = document.get("metadata")?.get("managedFields")?;
    list.as_array().is_some_and(|list| !list.is_empty()).then_some(list)
}

fn created(new: &Value, sent: Option<Value>, writer: &Writer<'_>, schema: &Schema) -> Option<Value> {
    let scope = Scope::of(writer.subresource, schema);
    let Some(mut managed) = sent.and_then(|sent| ManagedFields::decode(&sent).ok()) else {
        // The usual way: the creator owns everything, spelled without a detour.
        let added: Map<String, Value> = of_document(new, schema, scope, Reading::Added);
        if added.is_empty() {
            return None;
        }
        return Some(Value::Array(vec![encode_parts(writer, Operation::Update, added)]));
    };
    let added: FieldSet = of_document(new, schema, scope, Reading::Added);
    for entry in &mut managed.entries {
        entry.fields.subtract(&added);
    }
    managed.put(ManagedEntry::new(writer, Operation::Update, added));
    finish(managed)
}

fn updated(
    old: &Value,
    new: &Value,
    sent: Option<Value>,
    writer: &Writer<'_>,
    schema: &Schema,
) -> Option<Value> {
    let before = stored(old);
    let mut list = match base(sent, before, writer) {
        Base::Reset => return None,
        Base::Old(list) => list.or_else(|| before.cloned())?,
        Base::Sent(managed) => finish(managed)?,
    };
    let diff = diff::documents(old, new, schema, Scope::of(writer.subresource, schema));
    if diff.is_empty() {
        return Some(list);
    }
    let entries = list.as_array_mut()?;
    for entry in entries.iter_mut() {
        if let Some(Value::Object(fields)) = entry.get_mut("fieldsV1") {
            edit::subtract(fields, &diff.changed);
            edit::subtract(fields, &diff.removed);
        }
    }
    take(entries, diff.changed, writer);
    entries.retain(has_fields);
    tidy(list)
}

fn base(sent: Option<Value>, before: Option<&Value>, writer: &Writer<'_>) -> Base {
    let Some(sent) = sent else {
        return Base::Old(None);
    };
    if Some(&sent) == before {
        return Base::Old(Some(sent));
    }
    if !writer.subresource.is_empty() {
        return Base::Old(None);
    }
    if is_reset(&sent) {
        return Base::Reset;
    }
    match ManagedFields::decode(&sent) {
        Ok(managed) if !managed.entries.is_empty() => Base::Sent(managed),
        _ => Base::Old(None),
    }
}

/// `[]` and `[{}]` ask for an empty list; a missing or null list does not.
fn is_reset(sent: &Value) -> bool {
    match sent.as_array().map(Vec::as_slice) {
        Some([]) => true,
        Some([Value::Object(entry)]) => entry.is_empty(),
        _ => false,
    }
}

/// Gives the changed fields to the writer.
fn take(entries: &mut Vec<Value>, changed: FieldSet, writer: &Writer<'_>) {
    if changed.is_empty() {
        return;
    }
    let mine = |entry: &&mut Value| {
        text(entry, "operation") == Operation::Update.as_str()
            && text(entry, "manager") == writer.name()
            && text(entry, "apiVersion") == writer.api_version
            && text(entry, "subresource") == writer.subresource
    };
    let place = entries.iter_mut().find(mine);
    if let Some(Value::Object(entry)) = place
        && let Some(Value::Object(fields)) = entry.get_mut("fieldsV1")
    {
        edit::add(fields, changed);
        entry.insert("time".to_owned(), writer.time.into());
    } else {
        let entry = ManagedEntry::new(writer, Operation::Update, changed);
        entries.push(encode_entry(entry));
    }
}

fn text<'a>(entry: &'a Value, name: &str) -> &'a str {
    entry.get(name).and_then(Value::as_str).unwrap_or("")
}

fn has_fields(entry: &Value) -> bool {
    let fields = entry.get("fieldsV1").and_then(Value::as_object);
    fields.is_some_and(|fields| !fields.is_empty())
}

/// The list in its order and within its bounds; a list without entries vanishes.
fn tidy(mut list: Value) -> Option<Value> {
    let entries = list.as_array_mut()?;
    let updaters = |entry: &&Value| text(entry, "operation") == Operation::Update.as_str();
    if entries.iter().filter(updaters).count() > MAX_UPDATERS {
        return finish(ManagedFields::decode(&list).ok()?);
    }
    let order = ["operation", "time", "manager", "apiVersion", "subresource"];
    entries.sort_by(|a, b| order.map(|name| text(a, name)).cmp(&order.map(|name| text(b, name))));
    (!entries.is_empty()).then_some(list)
}

/// The list to store: entries without fields vanish, and so does a list without entries.
pub(super) fn finish(mut managed: ManagedFields) -> Option<Value> {
    managed.entries.retain(|entry| !entry.fields.is_empty());
    managed.cap();
    (!managed.entries.is_empty()).then(|| managed.encode())
}
