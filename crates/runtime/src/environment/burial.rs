//! Removal of the resources of objects that were destroyed in this process. Their code is not called again.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};
use sexton_client::resources::{BulkError, text};
use sexton_collector::modules::Tools;
use sexton_lifecycle::destruction::{Ending, Origin, Stage, State};
use sexton_model::bulk::{Action, Bulk, Epoch, Item, ItemResult, Outcome};
use sexton_model::environment::{CLASSES_GROUP, plural_of};
use sexton_model::hook::ObjectRef;
use sexton_model::raw::Raw;
use sexton_model::tombstone::{self, Tombstone};
use sexton_model::{GroupResource, Key, marks};

use crate::stored::StoredObjects;
use crate::world::ObjectId;

/// The finalizers that are removed; others stay.
const HOLDS: [&str; 4] = [marks::DESTROY_FINALIZER, "cascade_deletion", "foregroundDeletion", "orphan"];
/// In one request.
const AT_ONCE: usize = 1_000;

/// Why objects were destroyed, one line each. Objects that are not in here get no tombstone.
pub(super) type Reasons = BTreeMap<ObjectId, String>;

/// A resource to remove, with its tombstone.
pub(super) struct Grave<'r> {
    pub(super) resource: &'r Value,
    pub(super) stone: Option<Raw>,
}

/// The tombstone of a resource.
fn tombstone(tools: &Tools, resource: &Value, reason: &str) -> Option<Raw> {
    let field = |pointer: &str| text(resource, pointer).to_owned();
    let stone = Tombstone {
        object: ObjectRef {
            group: CLASSES_GROUP.to_owned(),
            kind: field("/kind"),
            namespace: field("/metadata/namespace"),
            name: field("/metadata/name"),
            uid: field("/metadata/uid"),
        },
        reason: reason.to_owned(),
        by: Some(tools.by.clone()),
        outcome: tombstone::Outcome::Destroyed,
        ..Tombstone::default()
    };
    Raw::of(&stone).ok()
}

/// Removes the resources of destroyed objects. Live dependents lose their owner references to them. Resources with
/// foreign finalizers stay terminating until these are removed.
///
/// # Errors
/// If the server cannot be reached. Calling it again continues.
pub(super) async fn bury(
    tools: &Tools,
    epoch: &Epoch,
    shelf: &mut StoredObjects,
    ids: &[ObjectId],
    reasons: &Reasons,
) -> Result<(), BulkError> {
    let gone: Vec<(ObjectId, Value)> =
        ids.iter().filter_map(|id| Some((id.clone(), shelf.get(id)?.clone()))).collect();
    release_owned(tools, epoch, shelf, &gone).await?;
    for part in gone.chunks(AT_ONCE) {
        let graves = part.iter().map(|(id, resource)| {
            let stone = reasons.get(id).and_then(|reason| tombstone(tools, resource, reason));
            Grave { resource, stone }
        });
        let held = mark(tools, epoch, graves.collect()).await?;
        release(tools, epoch, held).await?;
        for (id, _) in part {
            shelf.remove(id);
        }
    }
    Ok(())
}

/// Removes owner references to `gone` objects from live dependents, so that these do not become orphans.
async fn release_owned(
    tools: &Tools,
    epoch: &Epoch,
    shelf: &mut StoredObjects,
    gone: &[(ObjectId, Value)],
) -> Result<(), BulkError> {
    let leaving: BTreeSet<&ObjectId> = gone.iter().map(|(id, _)| id).collect();
    let mut lost: BTreeMap<&ObjectId, Vec<String>> = BTreeMap::new();
    for (_, resource) in gone {
        let uid = text(resource, "/metadata/uid");
        for owned in shelf.owned_by(uid).filter(|owned| !leaving.contains(owned)) {
            lost.entry(owned).or_default().push(uid.to_owned());
        }
    }
    let mut items = Vec::new();
    for (id, owners) in lost {
        let action = Action::Patch {
            remove_finalizers: Vec::new(),
            add_finalizers: Vec::new(),
            remove_owners: owners,
            annotations: BTreeMap::new(),
        };
        items.extend(shelf.get(id).map(|resource| (id.clone(), item(resource, action))));
    }
    for part in items.chunks(AT_ONCE) {
        let done = send(tools, epoch, part.iter().map(|(_, item)| item.clone()).collect()).await?;
        for ((id, item), result) in part.iter().zip(done) {
            let (Some(version), Action::Patch { remove_owners, .. }) =
                (result.resource_version, &item.action)
            else {
                continue;
            };
            if let Some(resource) = shelf.get(id).cloned() {
                shelf.put(id, without(resource, remove_owners, &version));
            }
        }
    }
    Ok(())
}

fn without(mut resource: Value, owners: &[String], version: &str) -> Value {
    resource["metadata"]["resourceVersion"] = json!(version);
    let goes = |owner: &Value| owners.iter().any(|uid| owner["uid"] == uid.as_str());
    if let Some(list) = resource.pointer_mut("/metadata/ownerReferences").and_then(Value::as_array_mut) {
        list.retain(|owner| !goes(owner));
        if list.is_empty() {
            resource["metadata"].as_object_mut().map(|all| all.remove("ownerReferences"));
        }
    }
    resource
}

/// Deletes resources with a journal of which only the release is left. Returns those that have finalizers and so still
/// exist.
async fn mark<'p>(tools: &Tools, epoch: &Epoch, graves: Vec<Grave<'p>>) -> Result<Vec<Grave<'p>>, BulkError> {
    let mut items = Vec::new();
    for Grave { resource, stone } in &graves {
        let journal = journal(text(resource, "/metadata/uid"));
        let annotations = BTreeMap::from([
            (marks::JOURNAL.to_owned(), journal.encode().ok()),
            (marks::DESTROYED.to_owned(), Some("true".to_owned())),
        ]);
        let action = Action::Delete { policy: Some("Background".to_owned()), annotations, hold: false };
        items.push(Item { tombstone: stone.clone(), ..item(resource, action) });
    }
    let done = send(tools, epoch, items).await?;
    let held = |result: &ItemResult| matches!(result.outcome, Some(Outcome::Marked | Outcome::Unchanged));
    Ok(graves.into_iter().zip(done).filter(|(_, result)| held(result)).map(|(grave, _)| grave).collect())
}

/// Removes our finalizers from terminating resources. Those without foreign finalizers are gone then.
pub(super) async fn release(tools: &Tools, epoch: &Epoch, marked: Vec<Grave<'_>>) -> Result<(), BulkError> {
    let items = marked.into_iter().map(|Grave { resource, stone }| {
        let action = Action::Patch {
            remove_finalizers: HOLDS.map(str::to_owned).to_vec(),
            add_finalizers: Vec::new(),
            remove_owners: Vec::new(),
            annotations: BTreeMap::new(),
        };
        Item { tombstone: stone, ..item(resource, action) }
    });
    send(tools, epoch, items.collect()).await.map(drop)
}

fn journal(uid: &str) -> State {
    State {
        origin: Origin::Requested,
        is_terminating: true,
        stage: Stage::Releasing,
        has_destroy: true,
        outcome: Some(Ending::Done),
        ..State::new(uid)
    }
}

/// A write about the resource of an object.
pub(super) fn item(resource: &Value, action: Action) -> Item {
    let key = Key {
        kind: GroupResource::new(CLASSES_GROUP, plural_of(text(resource, "/kind"))),
        namespace: text(resource, "/metadata/namespace").to_owned(),
        name: text(resource, "/metadata/name").to_owned(),
    };
    Item::new(key, text(resource, "/metadata/uid"), action)
}

pub(super) async fn send(
    tools: &Tools,
    epoch: &Epoch,
    items: Vec<Item>,
) -> Result<Vec<ItemResult>, BulkError> {
    if items.is_empty() {
        return Ok(Vec::new());
    }
    Ok(tools.gateway.bulk(&Bulk { epoch: Some(epoch.clone()), items }).await?.items)
}
