//! A whole model, written down in parts before any of it is stored, and removed when all of it is.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use futures::{StreamExt, TryStreamExt};
use serde_json::{Value, json};
use sexton_client::resources::{DeleteAsk, DeleteError, Identity, ListAsk, PutError, text};
use sexton_client::{Place, Resources, ServedKind};
use sexton_collector::modules::Tools;
use sexton_model::Policy;
use tokio::task::JoinSet;

use super::written::Written;
use super::{AT_ONCE, REQUESTS, SaveError};
use crate::stored::{Change, MAX_OBJECT_BYTES, Unwritable};

/// The label of the parts.
pub(super) const LABEL: &str = "sexton.dev/model-of";
/// A part is a resource, and these may not be larger than about a mebibyte, also if nothing in it can be packed.
const PART_BYTES: usize = 700 << 10;
/// No part says more than that: one object that is larger than a part has one for itself, and is no larger than a
/// resource may be.
const MOST_UNPACKED: usize = 16 << 20;

/// Removes all parts of an environment's models, several at once.
pub(super) async fn remove_parts(tools: &Tools, environment: &str) -> Result<(), SaveError> {
    let ask = ListAsk { labels: format!("{LABEL}={environment}"), ..ListAsk::default() };
    let mut names: Vec<String> = Vec::new();
    let each = |part: Option<Identity>| match part {
        Some(part) => names.push(part.name),
        None => names.clear(),
    };
    tools.resources.each_slim(&parts_place(), &ask, each).await?;
    let removals = names.iter().map(|name| remove_part(&tools.resources, name));
    futures::stream::iter(removals).buffer_unordered(REQUESTS).try_collect::<()>().await
}

async fn remove_part(resources: &Resources, name: &str) -> Result<(), SaveError> {
    let delete = DeleteAsk { policy: Some(Policy::Background), ..DeleteAsk::default() };
    match resources.delete(&parts_place(), name, &delete).await {
        Ok(_) | Err(DeleteError::NotFound(_)) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// Writes the model down, a thousand objects at a time, several of these at once. Gives back how many parts it has.
pub(super) async fn write_parts(
    tools: &Tools,
    environment: &str,
    generation: i64,
    changes: impl Iterator<Item = Result<Change, Unwritable>>,
) -> Result<(Vec<Written>, usize), SaveError> {
    let mut changes = changes.map(|change| Ok(Written::new(environment, change?)));
    let (mut written, mut parts) = (Vec::new(), 0);
    let mut tasks: JoinSet<Result<(Vec<Written>, usize), SaveError>> = JoinSet::new();
    let mut number = 0;
    loop {
        // What comes next is made out here while others write down what came before.
        while tasks.len() < REQUESTS {
            let chunk: Vec<Written> = changes.by_ref().take(AT_ONCE).collect::<Result<_, Unwritable>>()?;
            if chunk.is_empty() {
                break;
            }
            let (resources, environment) = (tools.resources.clone(), environment.to_owned());
            let name = format!("{}-{number}", part_prefix(&environment, generation));
            tasks.spawn(async move { write_chunk(&resources, &environment, &name, chunk).await });
            number += 1;
        }
        match tasks.join_next().await {
            None => return Ok((written, parts)),
            Some(Ok(done)) => {
                let (chunk, count) = done?;
                written.extend(chunk);
                parts += count;
            }
            Some(Err(error)) => {
                if let Ok(panic) = error.try_into_panic() {
                    std::panic::resume_unwind(panic);
                }
            }
        }
    }
}

/// Some objects in as many parts as they need.
async fn write_chunk(
    resources: &Resources,
    environment: &str,
    name: &str,
    written: Vec<Written>,
) -> Result<(Vec<Written>, usize), SaveError> {
    let mut parts: Vec<(String, &Written)> = Vec::new();
    for one in &written {
        let text = serde_json::to_string(one).map_err(|error| one.refused(error.to_string()))?;
        match parts.last_mut().filter(|(part, _)| part.len() + text.len() < PART_BYTES) {
            Some((part, _)) => {
                part.push(',');
                part.push_str(&text);
            }
            None => parts.push((text, one)),
        }
    }
    let count = parts.len();
    for (number, (part, first)) in parts.into_iter().enumerate() {
        let name = format!("{name}-{number}");
        let model = packed(&format!("[{part}]"));
        // Only an object that has a part for itself can be so large.
        if model.len() > MAX_OBJECT_BYTES {
            let (object, bytes) = (format!("{} {}", first.kind, first.name), model.len());
            return Err(Unwritable::TooLargePacked { object, bytes }.into());
        }
        let document = json!({
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {"name": name, "labels": {LABEL: environment}},
            "binaryData": {"model": model},
        });
        // A run that was killed before the record said so may have left one of this name.
        match resources.create(&parts_place(), &document).await {
            Ok(_) => {}
            Err(PutError::Conflict(_)) => _ = resources.replace(&parts_place(), &name, &document).await?,
            Err(error) => return Err(error.into()),
        }
    }
    Ok((written, count))
}

/// A text as it is kept in a part: a tenth as long, since it says much the same of all objects.
fn packed(text: &str) -> String {
    BASE64_STANDARD.encode(lz4_flex::compress_prepend_size(text.as_bytes()))
}

/// What is kept in a part.
///
/// # Errors
/// Why it is no part, in words.
pub(super) fn unpacked(part: &Value) -> Result<Vec<Written>, String> {
    let packed =
        BASE64_STANDARD.decode(text(part, "/binaryData/model")).map_err(|error| error.to_string())?;
    let size = packed.first_chunk::<4>().map_or(0, |size| u32::from_le_bytes(*size) as usize);
    if size > MOST_UNPACKED {
        return Err(format!("{size} bytes are more than any part has"));
    }
    let text = lz4_flex::decompress_size_prepended(&packed).map_err(|error| error.to_string())?;
    serde_json::from_slice(&text).map_err(|error| error.to_string())
}

pub(super) fn part_prefix(environment: &str, generation: i64) -> String {
    format!("sexton-model-{environment}-{generation}")
}

/// Where the parts are: not among the objects, so that they do not go with these.
pub(super) fn parts_place() -> Place {
    Place::new(&ServedKind::well_known("", "configmaps", "ConfigMap", true), Some("default"))
}
