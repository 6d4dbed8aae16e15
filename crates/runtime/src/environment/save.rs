//! A new model, into the store: written down as a whole first, so that whoever finds half of it stored can finish it.
//!
//! ```text
//! parts ─► record: pending ─► resources, by the thousand ─► record: done ─► parts are removed
//! ```

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use sexton_client::resources::{BulkError, DeleteAsk, DeleteError, ListAsk, ListError, PutError, text};
use sexton_client::{CallError, Place, ServedKind};
use sexton_collector::hooks::place_of;
use sexton_collector::modules::Tools;
use sexton_model::bulk::{Action, Bulk, Epoch, Item};
use sexton_model::environment::{OBJECT_ID, OBJECT_NAME, PendingModel};
use sexton_model::raw::Raw;
use sexton_model::{Policy, marks};
use tokio::task::JoinSet;

use super::burial::item;
use super::record::{Record, RecordError};
use crate::stored::Change;

/// The label of the parts.
const LABEL: &str = "sexton.dev/model-of";
/// A part is a resource, and these may not be larger than about a mebibyte.
const PART_BYTES: usize = 700 << 10;
/// Resources in one request, and bytes of them.
const AT_ONCE: usize = 1_000;
const BYTES_AT_ONCE: usize = 2 << 20;
/// Requests at the same time.
const REQUESTS: usize = 3;
/// How often others may be faster.
const RACES: usize = 5;

/// Why a model is not stored. It is written down, or nothing of it is.
#[derive(Debug, thiserror::Error)]
pub enum SaveError {
    /// The record could not be written.
    #[error(transparent)]
    Record(#[from] RecordError),
    /// A part could not be written.
    #[error("the model was not written down")]
    Part(#[from] PutError),
    /// The server could not be asked.
    #[error("the server cannot be asked")]
    Call(#[from] CallError),
    /// The parts could not be read again.
    #[error("the model that was written down cannot be read")]
    List(#[from] ListError),
    /// The parts could not be removed.
    #[error("the parts of a model that is stored could not be removed")]
    Delete(#[from] DeleteError),
    /// Many resources at once could not be written.
    #[error("the objects were not stored")]
    Bulk(#[from] BulkError),
    /// One resource could not be written.
    #[error("{object} was not stored: {why}")]
    Refused {
        /// Which.
        object: String,
        /// What the server says.
        why: String,
    },
    /// What was written down is not there.
    #[error("the model that was being stored is incomplete: {found} of {wanted} parts")]
    Incomplete {
        /// How many are there.
        found: usize,
        /// How many there should be.
        wanted: usize,
    },
}

/// One resource to be written, as it is written down.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Written {
    uid: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    version: Option<String>,
    resource: Value,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    destroyed: bool,
}

/// Stores what changed, and says so in the record.
pub(super) async fn save(
    tools: &Tools,
    epoch: &Epoch,
    record: &mut Record,
    changes: Vec<Change>,
) -> Result<(), SaveError> {
    let generation = record.status.generation + 1;
    if !changes.is_empty() {
        let written: Vec<Written> = changes
            .into_iter()
            .map(|change| Written {
                uid: change.uid,
                version: change.version,
                resource: change.resource,
                destroyed: change.mark_destroyed,
            })
            .collect();
        let parts = write_parts(tools, &record.name, generation, &written).await?;
        record.status.pending = Some(PendingModel { generation, parts });
        record.write(&tools.resources).await?;
        store(tools, epoch, written).await?;
    }
    record.status.generation = generation;
    finish(tools, record).await
}

/// Finishes what somebody else began to store. Whether there was anything.
pub(super) async fn recover(tools: &Tools, epoch: &Epoch, record: &mut Record) -> Result<bool, SaveError> {
    let Some(pending) = record.status.pending.clone() else {
        // Somebody may have died before the record said so, or after it said that all is done.
        remove_parts(tools, &record.name).await?;
        return Ok(false);
    };
    let ask = ListAsk { labels: format!("{LABEL}={}", record.name), ..ListAsk::default() };
    let listed = tools.resources.list(&parts_place(), &ask).await?;
    let named = format!("{}-", part_prefix(&record.name, pending.generation));
    let parts: Vec<&Value> =
        listed.found.iter().filter(|part| text(part, "/metadata/name").starts_with(&named)).collect();
    if parts.len() != pending.parts {
        return Err(SaveError::Incomplete { found: parts.len(), wanted: pending.parts });
    }
    let mut written: Vec<Written> = Vec::new();
    for part in parts {
        let strange = |error: serde_json::Error| {
            let (object, why) = (text(part, "/metadata/name").to_owned(), error.to_string());
            SaveError::Refused { object, why }
        };
        written.extend(serde_json::from_str::<Vec<Written>>(text(part, "/data/model")).map_err(strange)?);
    }
    store(tools, epoch, written).await?;
    record.status.generation = pending.generation;
    finish(tools, record).await?;
    Ok(true)
}

/// The record says that all is stored; then nobody needs the parts any more.
async fn finish(tools: &Tools, record: &mut Record) -> Result<(), SaveError> {
    let had_parts = record.status.pending.take().is_some();
    record.write(&tools.resources).await?;
    if had_parts { remove_parts(tools, &record.name).await } else { Ok(()) }
}

async fn remove_parts(tools: &Tools, environment: &str) -> Result<(), SaveError> {
    let place = parts_place();
    let ask = ListAsk { labels: format!("{LABEL}={environment}"), ..ListAsk::default() };
    for part in tools.resources.list(&place, &ask).await?.found {
        let delete = DeleteAsk { policy: Some(Policy::Background), ..DeleteAsk::default() };
        match tools.resources.delete(&place, text(&part, "/metadata/name"), &delete).await {
            Ok(_) | Err(DeleteError::NotFound(_)) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

async fn write_parts(
    tools: &Tools,
    environment: &str,
    generation: i64,
    written: &[Written],
) -> Result<usize, SaveError> {
    let mut parts: Vec<String> = Vec::new();
    for one in written {
        let text = json!(one).to_string();
        match parts.last_mut().filter(|part| part.len() + text.len() < PART_BYTES) {
            Some(part) => {
                part.push(',');
                part.push_str(&text);
            }
            None => parts.push(text),
        }
    }
    let place = parts_place();
    for (number, part) in parts.iter().enumerate() {
        let name = format!("{}-{number}", part_prefix(environment, generation));
        let document = json!({
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {"name": name, "labels": {LABEL: environment}},
            "data": {"model": format!("[{part}]")},
        });
        // Somebody who was killed before the record said so may have left one of this name.
        match tools.resources.create(&place, &document).await {
            Ok(_) => {}
            Err(PutError::Conflict(_)) => _ = tools.resources.replace(&place, &name, &document).await?,
            Err(error) => return Err(error.into()),
        }
    }
    Ok(parts.len())
}

fn part_prefix(environment: &str, generation: i64) -> String {
    format!("sexton-model-{environment}-{generation}")
}

/// Where the parts are: not among the objects, so that they do not go with these.
fn parts_place() -> Place {
    Place::new(&ServedKind::well_known("", "configmaps", "ConfigMap", true), Some("default"))
}

/// Writes the resources. What is as it is to be stays so; what others changed meanwhile is changed on top of that.
async fn store(tools: &Tools, epoch: &Epoch, written: Vec<Written>) -> Result<(), SaveError> {
    let destroyed: Vec<Item> = written.iter().filter(|one| one.destroyed).map(mark).collect();
    let mut refused = put_all(tools, epoch, written).await?;
    for _ in 0..RACES {
        if refused.is_empty() {
            break;
        }
        let mut again = Vec::new();
        for (one, why) in refused {
            again.extend(look_again(tools, one, &why).await?);
        }
        refused = put_all(tools, epoch, again).await?;
    }
    if let Some((one, why)) = refused.into_iter().next() {
        return Err(SaveError::Refused { object: label(&one.resource), why });
    }
    for part in destroyed.chunks(AT_ONCE) {
        tools.gateway.bulk(&Bulk { epoch: Some(epoch.clone()), items: part.to_vec() }).await?;
    }
    Ok(())
}

fn mark(one: &Written) -> Item {
    let destroyed = BTreeMap::from([(marks::DESTROYED.to_owned(), Some("true".to_owned()))]);
    item(&one.resource, Action::annotate(destroyed))
}

/// Puts all of them, many at a time. Gives back those that were refused, and why.
async fn put_all(
    tools: &Tools,
    epoch: &Epoch,
    written: Vec<Written>,
) -> Result<Vec<(Written, String)>, SaveError> {
    let mut waiting = parts(written).into_iter();
    let mut tasks: JoinSet<Result<Vec<(Written, String)>, BulkError>> = JoinSet::new();
    let mut refused = Vec::new();
    loop {
        while tasks.len() < REQUESTS
            && let Some(part) = waiting.next()
        {
            let (gateway, epoch) = (tools.gateway.clone(), epoch.clone());
            tasks.spawn(async move {
                let items = part.iter().filter_map(put).collect();
                let done = gateway.bulk(&Bulk { epoch: Some(epoch), items }).await?;
                let results = part.into_iter().zip(done.items).filter(|(_, result)| result.code >= 300);
                let why = |status: Option<Box<sexton_model::Status>>| status.map(|status| status.message);
                Ok(results.map(|(one, result)| (one, why(result.status).unwrap_or_default())).collect())
            });
        }
        match tasks.join_next().await {
            None => return Ok(refused),
            Some(Ok(result)) => refused.extend(result?),
            Some(Err(error)) => {
                if let Ok(panic) = error.try_into_panic() {
                    std::panic::resume_unwind(panic);
                }
            }
        }
    }
}

fn parts(written: Vec<Written>) -> Vec<Vec<Written>> {
    let mut parts: Vec<Vec<Written>> = Vec::new();
    let mut bytes = 0;
    for one in written {
        let size = one.resource.to_string().len();
        if parts.last().is_none_or(|part| part.len() >= AT_ONCE || bytes + size > BYTES_AT_ONCE) {
            parts.push(Vec::new());
            bytes = 0;
        }
        bytes += size;
        if let Some(part) = parts.last_mut() {
            part.push(one);
        }
    }
    parts
}

fn put(one: &Written) -> Option<Item> {
    let object = Raw::of(&one.resource).ok()?;
    let mut item = item(&one.resource, Action::Put { object, field_manager: "sexton-run".to_owned() });
    item.resource_version = one.version.clone();
    Some(item)
}

/// What is to be written over what is there now; nothing if that is as it is to be, or gone.
async fn look_again(tools: &Tools, one: Written, why: &str) -> Result<Option<Written>, SaveError> {
    let place = place_of(text(&one.resource, "/kind"), text(&one.resource, "/metadata/namespace"));
    let found = tools.resources.find(&place, text(&one.resource, "/metadata/name")).await?;
    match found {
        Some(now) if text(&now, "/metadata/uid") == one.uid => {
            let merged = onto(now.clone(), &one.resource);
            if merged == now {
                return Ok(None);
            }
            let version = Some(text(&now, "/metadata/resourceVersion").to_owned());
            Ok(Some(Written { version, resource: merged, ..one }))
        }
        // It was deleted meanwhile: a put does not bring it back.
        None if one.version.is_some() => Ok(None),
        None => Ok(Some(one)),
        Some(_) => Err(SaveError::Refused { object: label(&one.resource), why: why.to_owned() }),
    }
}

/// What we know of an object, on top of what others wrote on its resource.
fn onto(mut now: Value, ours: &Value) -> Value {
    now["spec"] = ours["spec"].clone();
    match ours.pointer("/metadata/ownerReferences") {
        Some(owners) => now["metadata"]["ownerReferences"] = owners.clone(),
        None => _ = now["metadata"].as_object_mut().and_then(|all| all.remove("ownerReferences")),
    }
    for name in [OBJECT_ID, OBJECT_NAME, marks::DEPENDENCIES] {
        match ours.get("metadata").and_then(|all| all.get("annotations")).and_then(|all| all.get(name)) {
            Some(value) => now["metadata"]["annotations"][name] = value.clone(),
            None => {
                let all = now.pointer_mut("/metadata/annotations").and_then(Value::as_object_mut);
                all.map(|all| all.remove(name));
            }
        }
    }
    now
}

fn label(resource: &Value) -> String {
    format!("{}/{}", text(resource, "/kind"), text(resource, "/metadata/name"))
}
