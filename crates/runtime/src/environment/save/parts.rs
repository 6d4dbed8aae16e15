//! A whole model, written down in parts before any of it is stored, and removed when all of it is.

use std::collections::VecDeque;

use serde_json::json;
use sexton_client::resources::{DeleteAsk, DeleteError, ListAsk, PutError, text};
use sexton_client::{Place, Resources, ServedKind};
use sexton_collector::modules::Tools;
use sexton_model::Policy;
use tokio::task::JoinSet;

use super::written::{Loose, Written};
use super::{AT_ONCE, REQUESTS, SaveError};
use crate::stored::Change;

/// The label of the parts.
pub(super) const LABEL: &str = "sexton.dev/model-of";
/// A part is a resource, and these may not be larger than about a mebibyte.
const PART_BYTES: usize = 700 << 10;

pub(super) async fn remove_parts(tools: &Tools, environment: &str) -> Result<(), SaveError> {
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

/// Writes the model down, a thousand objects at a time, several of these at once. Gives back how many parts it has.
pub(super) async fn write_parts(
    tools: &Tools,
    environment: &str,
    generation: i64,
    changes: Vec<Change>,
) -> Result<(Vec<Written>, usize), SaveError> {
    let mut waiting: VecDeque<Vec<Loose>> = VecDeque::new();
    for change in changes {
        if waiting.back().is_none_or(|chunk| chunk.len() >= AT_ONCE) {
            waiting.push_back(Vec::with_capacity(AT_ONCE));
        }
        let loose = Loose {
            uid: change.uid,
            version: change.version,
            resource: change.resource,
            destroyed: change.mark_destroyed,
        };
        if let Some(chunk) = waiting.back_mut() {
            chunk.push(loose);
        }
    }
    let (mut written, mut parts) = (Vec::new(), 0);
    let mut tasks: JoinSet<Result<(Vec<Written>, usize), SaveError>> = JoinSet::new();
    let mut number = 0;
    loop {
        while tasks.len() < REQUESTS
            && let Some(chunk) = waiting.pop_front()
        {
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
    chunk: Vec<Loose>,
) -> Result<(Vec<Written>, usize), SaveError> {
    let mut written = Vec::with_capacity(chunk.len());
    let mut parts: Vec<String> = Vec::new();
    for loose in &chunk {
        let one = Written::new(loose)?;
        let text = serde_json::to_string(&one).map_err(|error| one.refused(error.to_string()))?;
        match parts.last_mut().filter(|part| part.len() + text.len() < PART_BYTES) {
            Some(part) => {
                part.push(',');
                part.push_str(&text);
            }
            None => parts.push(text),
        }
        written.push(one);
    }
    for (number, part) in parts.iter().enumerate() {
        let name = format!("{name}-{number}");
        let document = json!({
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {"name": name, "labels": {LABEL: environment}},
            "data": {"model": format!("[{part}]")},
        });
        // Somebody who was killed before the record said so may have left one of this name.
        match resources.create(&parts_place(), &document).await {
            Ok(_) => {}
            Err(PutError::Conflict(_)) => _ = resources.replace(&parts_place(), &name, &document).await?,
            Err(error) => return Err(error.into()),
        }
    }
    Ok((written, parts.len()))
}

pub(super) fn part_prefix(environment: &str, generation: i64) -> String {
    format!("sexton-model-{environment}-{generation}")
}

/// Where the parts are: not among the objects, so that they do not go with these.
pub(super) fn parts_place() -> Place {
    Place::new(&ServedKind::well_known("", "configmaps", "ConfigMap", true), Some("default"))
}
