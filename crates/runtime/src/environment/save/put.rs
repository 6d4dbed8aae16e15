//! Resources into the store, many at a time. What others changed meanwhile is not overwritten.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use sexton_client::Gateway;
use sexton_client::resources::{BulkError, text};
use sexton_collector::hooks::place_of;
use sexton_collector::modules::Tools;
use sexton_model::bulk::{Action, Bulk, Epoch, Item};
use sexton_model::environment::{OBJECT_ID, OBJECT_NAME, OBJECT_UID};
use sexton_model::{Status, marks};
use tokio::task::JoinSet;

use super::order::{Part, in_parts};
use super::written::{Written, raw};
use super::{AT_ONCE, REQUESTS, SaveError};

/// How often a write is tried again after a conflict.
const RACES: usize = 5;

/// Writes the resources. Resources that are up to date are left alone; resources that were changed by other clients are
/// changed on top of that. Returns new objects with names that are taken by now.
pub(super) async fn store(
    tools: &Tools,
    epoch: &Epoch,
    written: Vec<Written>,
) -> Result<Vec<Written>, SaveError> {
    let destroyed: Vec<Item> = written.iter().filter(|one| one.destroyed).map(mark).collect();
    let mut refused = put_all(tools, epoch, written).await?;
    let mut taken = Vec::new();
    for _ in 0..RACES {
        if refused.is_empty() {
            break;
        }
        let mut again = Vec::new();
        for (one, why) in refused {
            match look_again(tools, one, &why).await? {
                Next::Nothing => {}
                Next::Put(one) => again.push(one),
                Next::Rename(one) => taken.push(one),
            }
        }
        refused = put_all(tools, epoch, again).await?;
    }
    if let Some((one, why)) = refused.into_iter().next() {
        return Err(one.refused(why));
    }
    for part in destroyed.chunks(AT_ONCE) {
        tools.gateway.bulk(&Bulk { epoch: Some(epoch.clone()), items: part.to_vec() }).await?;
    }
    Ok(taken)
}

fn mark(one: &Written) -> Item {
    let destroyed = BTreeMap::from([(marks::DESTROYED.to_owned(), Some("true".to_owned()))]);
    one.item(Action::annotate(destroyed))
}

/// Puts all resources, many at a time, dependents after their owners. Returns those that were refused, and why.
async fn put_all(tools: &Tools, epoch: &Epoch, written: Vec<Written>) -> Put {
    let mut waiting = in_parts(written).into_iter().enumerate().peekable();
    let mut tasks: JoinSet<(usize, Put)> = JoinSet::new();
    let (mut refused, mut under_way) = (Vec::new(), BTreeSet::new());
    loop {
        // A part is sent once no part is under way that it has to wait for.
        let free = |part: &Part, under_way: &BTreeSet<usize>| {
            part.after.is_none_or(|after| under_way.first().is_none_or(|first| *first > after))
        };
        while tasks.len() < REQUESTS
            && let Some((number, part)) = waiting.next_if(|(_, part)| free(part, &under_way))
        {
            let (gateway, epoch) = (tools.gateway.clone(), epoch.clone());
            under_way.insert(number);
            tasks.spawn(async move { (number, put_part(&*gateway, epoch, part.members).await) });
        }
        match tasks.join_next().await {
            None => return Ok(refused),
            Some(Ok((number, result))) => {
                under_way.remove(&number);
                refused.extend(result?);
            }
            Some(Err(error)) => {
                if let Ok(panic) = error.try_into_panic() {
                    std::panic::resume_unwind(panic);
                }
            }
        }
    }
}

/// Those that were refused, and why.
type Put = Result<Vec<(Written, String)>, BulkError>;

async fn put_part(gateway: &dyn Gateway, epoch: Epoch, part: Vec<Written>) -> Put {
    let items = part.iter().map(put).collect();
    let done = gateway.bulk(&Bulk { epoch: Some(epoch), items }).await?;
    let results = part.into_iter().zip(done.items).filter(|(_, result)| result.code >= 300);
    let why = |status: Option<Box<Status>>| status.map(|status| status.message).unwrap_or_default();
    Ok(results.map(|(one, result)| (one, why(result.status))).collect())
}

fn put(one: &Written) -> Item {
    let object = one.resource.clone();
    let mut item = one.item(Action::Put { object, field_manager: "sexton-run".to_owned() });
    item.resource_version = one.version.clone();
    item
}

/// What to do about a resource that was refused.
enum Next {
    /// It is as it is to be, or gone.
    Nothing,
    /// This is to be written over what is there now.
    Put(Written),
    /// Its name is taken by a resource that is not this object.
    Rename(Written),
}

/// What to do about a resource that was refused, by what is there now.
async fn look_again(tools: &Tools, one: Written, why: &str) -> Result<Next, SaveError> {
    let place = place_of(&one.kind, &one.namespace);
    let found = tools.resources.find(&place, &one.name).await?;
    match found {
        Some(now) if text(&now, "/metadata/uid") == one.uid => {
            let merged = onto(now.clone(), &one.parsed()?);
            if merged == now {
                return Ok(Next::Nothing);
            }
            let version = Some(text(&now, "/metadata/resourceVersion").to_owned());
            Ok(Next::Put(Written { version, resource: raw(&merged)?, ..one }))
        }
        // It was deleted meanwhile, perhaps to make room for another one: a put does not bring it back.
        None | Some(_) if one.version.is_some() => Ok(Next::Nothing),
        None => Ok(Next::Put(one)),
        Some(_) if one.name == one.uid => Err(one.refused(why)),
        Some(_) => Ok(Next::Rename(one)),
    }
}

/// What we know of an object, on top of what others wrote on its resource.
pub(super) fn onto(mut now: Value, ours: &Value) -> Value {
    now["spec"] = ours["spec"].clone();
    match ours.pointer("/metadata/ownerReferences") {
        Some(owners) => now["metadata"]["ownerReferences"] = owners.clone(),
        None => _ = now["metadata"].as_object_mut().and_then(|all| all.remove("ownerReferences")),
    }
    for name in [OBJECT_ID, OBJECT_NAME, OBJECT_UID, marks::DEPENDENCIES] {
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
