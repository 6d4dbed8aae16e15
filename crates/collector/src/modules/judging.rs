//! The planned actions of all documents, computed concurrently; most need no request.
//!
//! A task takes a batch of documents, and makes up to [`IN_BATCH`] dry runs at a time. So at most [`AT_ONCE`] run,
//! and a batch without dry runs costs one task. The result is in the order of the documents; if any are refused, it
//! has all refusals.
//!
//! It must not know what happens to objects that no document names.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use futures::FutureExt;
use futures::future::BoxFuture;
use futures::stream::{self, StreamExt, TryStreamExt};
use serde_json::Value;
use sexton_client::resources::text;
use sexton_client::{CallError, Kinds, Place, ServedKind};
use tokio::task::JoinSet;

use super::Modules;
use super::documents::Deployment;
use super::judgement::{Context, Judged, Refused, judge};
use super::look::Looked;
use super::plan::{PlanError, PlannedPut, PutAction};
use super::prepare::Prepared;

/// The most dry runs at a time.
const AT_ONCE: usize = 64;

/// The most dry runs of one batch: most documents need none, and a task for each of those would cost more than its
/// judgement.
const IN_BATCH: usize = 8;

/// The most documents in one batch.
const BATCH: usize = 256;

/// A request under way. A list of boxed futures instead of a closure that makes them, because the compiler must see
/// that the caller's future is `Send`.
type Asked<'a, T> = BoxFuture<'a, Result<T, CallError>>;

impl Modules {
    /// The live object of each document, if there is one.
    pub(super) async fn live(
        &self,
        kinds: &Kinds,
        documents: &[Arc<Prepared>],
        looked: &mut Looked,
    ) -> Result<Vec<Option<Value>>, CallError> {
        let mut live: Vec<Option<Value>> = Vec::with_capacity(documents.len());
        let mut asked: Vec<Asked<'_, (usize, Option<Value>)>> = Vec::new();
        for (at, document) in documents.iter().enumerate() {
            // In another version than the document's it would differ in fields that do not differ.
            let is_same =
                |object: &Value| text(object, "/apiVersion") == text(&document.value, "/apiVersion");
            let seen = looked.objects.remove(&document.own_slot()).filter(is_same);
            if seen.is_none() && document.wanted {
                let place = place_now(kinds, document);
                let found = async move { self.tools.resources.find(&place, &document.entry.name).await };
                asked.push(async move { Ok((at, found.await?)) }.boxed());
            }
            live.push(seen);
        }
        let mut answers = stream::iter(asked).buffer_unordered(AT_ONCE);
        while let Some((at, found)) = answers.try_next().await? {
            live[at] = found;
        }
        Ok(live)
    }

    /// The planned put of each document, or all refusals.
    pub(super) async fn judge_all(
        &self,
        deployment: &Deployment,
        kinds: &Kinds,
        documents: &[Arc<Prepared>],
        live: Vec<Option<Value>>,
    ) -> Result<Vec<PlannedPut>, PlanError> {
        let context = Arc::new(Context {
            resources: self.tools.resources.clone(),
            kinds: kinds.clone(),
            manager: deployment.spec.manager.clone(),
            deployment: deployment.deployment_id.clone(),
        });
        let wanted = documents.iter().cloned().zip(live).filter(|(document, _)| document.wanted);
        let mut waiting = batches(wanted.collect()).enumerate();
        let mut tasks: JoinSet<(usize, Result<Vec<Judged>, CallError>)> = JoinSet::new();
        let mut judged: BTreeMap<usize, Vec<Judged>> = BTreeMap::new();
        loop {
            while tasks.len() < AT_ONCE / IN_BATCH
                && let Some((at, batch)) = waiting.next()
            {
                let context = context.clone();
                tasks.spawn(async move { (at, judge_batch(&context, batch).await) });
            }
            match tasks.join_next().await {
                None => break,
                Some(Ok((at, result))) => _ = judged.insert(at, result?),
                Some(Err(error)) => {
                    if let Ok(panic) = error.try_into_panic() {
                        std::panic::resume_unwind(panic);
                    }
                }
            }
        }
        let wanted: Vec<&Prepared> =
            documents.iter().map(Arc::as_ref).filter(|document| document.wanted).collect();
        settle(&wanted, judged.into_values().flatten().collect())
    }
}

/// The place of an object, in a version that the server serves already.
fn place_now(kinds: &Kinds, document: &Prepared) -> Place {
    let version = document.place.kind.api_version();
    let is_it = |kind: &&ServedKind| kind.resource == document.place.kind.resource;
    let is_served = |kind: &ServedKind| kind.api_version() == version;
    match kinds.all.iter().filter(is_it).any(is_served) {
        true => document.place.clone(),
        false => kinds.all.iter().find(is_it).map_or_else(
            || document.place.clone(),
            |kind| Place::new(kind, document.place.namespace.as_deref()),
        ),
    }
}

/// Puts in their order, or all refusals. A refusal is dropped if the document's kind is redefined by another document
/// before.
fn settle(documents: &[&Prepared], judged: Vec<Judged>) -> Result<Vec<PlannedPut>, PlanError> {
    let is_change = |judged: &Judged| judged.as_ref().is_ok_and(|put| put.action != PutAction::Unchanged);
    let changing: HashSet<(String, String)> = documents
        .iter()
        .zip(&judged)
        .filter(|(_, judged)| is_change(judged))
        .filter_map(|(document, _)| document.entry.provides.clone())
        .collect();
    let (mut puts, mut refusals) = (Vec::new(), Vec::new());
    for (document, judged) in documents.iter().zip(judged) {
        match judged {
            Ok(put) => puts.push(put),
            Err(Refused { otherwise: Some(put), .. }) if changing.contains(&document.own_kind()) => {
                puts.push(*put)
            }
            Err(refused) => refusals.push(refused.refusal),
        }
    }
    if refusals.is_empty() { Ok(puts) } else { Err(PlanError::Refused(refusals)) }
}

/// A document, and its live object.
type Found = (Arc<Prepared>, Option<Value>);

/// Splits the documents into as many batches as there are tasks, or more if these would be too large.
fn batches(found: Vec<Found>) -> impl Iterator<Item = Vec<Found>> {
    let size = found.len().div_ceil(AT_ONCE / IN_BATCH).clamp(1, BATCH);
    let mut found = found.into_iter();
    std::iter::from_fn(move || {
        Some(found.by_ref().take(size).collect()).filter(|batch: &Vec<_>| !batch.is_empty())
    })
}

/// The planned put of each document of a batch, in order.
async fn judge_batch(context: &Context, batch: Vec<Found>) -> Result<Vec<Judged>, CallError> {
    let mut judged: Vec<Asked<'_, Judged>> = Vec::new();
    for (document, live) in batch {
        judged.push(async move { judge(context, &document, live.as_ref()).await }.boxed());
    }
    stream::iter(judged).buffered(IN_BATCH).try_collect().await
}
