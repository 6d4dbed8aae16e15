//! A model that a run wrote down and did not store completely: the next run finishes it. If the server refuses that, it
//! can be looked at, tried again without some of its objects, or given up.

use std::collections::HashMap;

use serde_json::Value;
use sexton_client::resources::{ListAsk, text};
use sexton_collector::hooks::place_of;
use sexton_collector::modules::{Locked, Tools};

use super::OpenError;
use super::open::lock;
use super::record::Record;
use super::save::{give_up, read_pending, recover_without};

/// A model that is not completely stored.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Pending {
    /// Which of the environment's models it is.
    pub generation: i64,
    /// Why the server refused it, if it did.
    pub refused: String,
    /// Why what is written down cannot be read, if it cannot. Then it can only be given up.
    pub unreadable: Option<String>,
    /// What it writes.
    pub objects: Vec<PendingObject>,
}

/// A resource that a pending model writes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PendingObject {
    /// Its kind.
    pub kind: String,
    /// Its name.
    pub name: String,
    /// Whether the object is stored at all, as it was before or as it is to be.
    pub exists: bool,
}

/// The pending model of an environment, if there is one. Nothing is written.
///
/// # Errors
/// If the server cannot be asked.
pub async fn pending(tools: &Tools, environment: &str) -> Result<Option<Pending>, OpenError> {
    let record = Record::read(&tools.resources, environment).await?;
    look(tools, &record).await
}

async fn look(tools: &Tools, record: &Record) -> Result<Option<Pending>, OpenError> {
    let Some(known) = &record.status.pending else { return Ok(None) };
    let (generation, refused) = (known.generation, known.refused.clone());
    let mut pending = Pending { generation, refused, ..Pending::default() };
    let written = match read_pending(tools, record).await {
        Ok(written) => written,
        Err(error) => {
            pending.unreadable = Some(error.to_string());
            return Ok(Some(pending));
        }
    };
    let mut uids: HashMap<String, Vec<String>> = HashMap::new();
    for one in written {
        if !uids.contains_key(&one.kind) {
            let place = place_of(&one.kind, &record.name);
            // A kind that is not served has no objects.
            let listed = tools.resources.list(&place, &ListAsk::default()).await;
            let found = listed.map(|listed| listed.found).unwrap_or_default();
            let found = found.iter().map(|resource: &Value| text(resource, "/metadata/uid").to_owned());
            uids.insert(one.kind.clone(), found.collect());
        }
        let exists = uids.get(&one.kind).is_some_and(|uids| uids.contains(&one.uid));
        pending.objects.push(PendingObject { kind: one.kind, name: one.name, exists });
    }
    Ok(Some(pending))
}

/// Stores the rest of a pending model, without some of its objects, named as `kind/name`. Whether there was one.
///
/// # Errors
/// If another run is at work, or the server refuses it again.
pub async fn retry_pending(tools: &Tools, environment: &str, left_out: &[String]) -> Result<bool, OpenError> {
    let locked = lock(tools, environment, tools.alone).await?;
    let done = retry(tools, environment, left_out, &locked).await;
    locked.release().await;
    done
}

async fn retry(
    tools: &Tools,
    environment: &str,
    left_out: &[String],
    locked: &Locked,
) -> Result<bool, OpenError> {
    let mut record = Record::read(&tools.resources, environment).await?;
    Ok(recover_without(tools, locked.epoch(), &mut record, left_out).await?)
}

/// Forgets a pending model: what is stored of it stays, the rest is not known to the environment any more. Gives back
/// what it was.
///
/// # Errors
/// If another run is at work, or the server cannot be told.
pub async fn give_up_pending(tools: &Tools, environment: &str) -> Result<Option<Pending>, OpenError> {
    let locked = lock(tools, environment, tools.alone).await?;
    let done = forget(tools, environment).await;
    locked.release().await;
    done
}

async fn forget(tools: &Tools, environment: &str) -> Result<Option<Pending>, OpenError> {
    let mut record = Record::read(&tools.resources, environment).await?;
    let known = look(tools, &record).await?;
    if known.is_some() {
        give_up(tools, &mut record).await?;
    }
    Ok(known)
}
