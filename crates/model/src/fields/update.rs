//! Ownership after a create, update or patch: the writer gets what it changed, others lose it.
//!
//! It must not know how the new document came about.

use serde_json::{Map, Value};

use super::Writer;
use super::diff;
use super::extract::{Reading, of_document};
use super::managed::{ManagedEntry, ManagedFields, Operation};
use super::schema::Schema;
use super::scope::Scope;

/// Where the entries to start from come from.
enum Base {
    /// The stored list, as it is.
    Old,
    /// The list the client sent.
    Sent(Value),
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
    let added = of_document(new, schema, scope, Reading::Added);
    let mut managed = match sent {
        Some(sent) => ManagedFields::decode(&sent).unwrap_or_default(),
        None => ManagedFields::default(),
    };
    for entry in &mut managed.entries {
        entry.fields.subtract(&added);
    }
    take(&mut managed, added, writer);
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
    let (base, list) = match base(sent, before, writer) {
        Base::Reset => return None,
        Base::Old => (before?.clone(), true),
        Base::Sent(list) => (list, false),
    };
    let diff = diff::documents(old, new, schema, Scope::of(writer.subresource, schema));
    if list && diff.is_empty() {
        return Some(base);
    }
    // What was stored and cannot be read is dropped: it says nothing about anybody.
    let mut managed = ManagedFields::decode(&base).unwrap_or_default();
    if managed.entries.is_empty() {
        return None;
    }
    for entry in &mut managed.entries {
        entry.fields.subtract(&diff.changed);
        entry.fields.subtract(&diff.removed);
    }
    take(&mut managed, diff.changed, writer);
    finish(managed)
}

fn base(sent: Option<Value>, before: Option<&Value>, writer: &Writer<'_>) -> Base {
    match sent {
        Some(sent) if writer.subresource.is_empty() && Some(&sent) != before => {
            if is_reset(&sent) {
                return Base::Reset;
            }
            match ManagedFields::decode(&sent) {
                Ok(managed) if !managed.entries.is_empty() => Base::Sent(sent),
                _ => Base::Old,
            }
        }
        _ => Base::Old,
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
fn take(managed: &mut ManagedFields, changed: super::FieldSet, writer: &Writer<'_>) {
    if changed.is_empty() {
        return;
    }
    let mine = |entry: &&mut ManagedEntry| entry.is(writer, Operation::Update);
    match managed.entries.iter_mut().find(mine) {
        Some(entry) => {
            entry.fields.add(changed);
            entry.time = Some(writer.time.to_owned());
        }
        None => managed.entries.push(ManagedEntry::new(writer, Operation::Update, changed)),
    }
}

/// The list to store: entries without fields vanish, and so does a list without entries.
pub(super) fn finish(mut managed: ManagedFields) -> Option<Value> {
    managed.entries.retain(|entry| !entry.fields.is_empty());
    managed.cap();
    (!managed.entries.is_empty()).then(|| managed.encode())
}
