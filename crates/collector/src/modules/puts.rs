//! Puts one document together with its marks, so that no object is ever put without them.
//!
//! It must not know the order of documents, nor what happens to objects that are not put any more.

use std::time::Duration;

use serde_json::Value;
use sexton_client::resources::{Put, PutAsk, PutError, PutOutcome, text};
use sexton_client::{CallError, Resources};
use sexton_model::module::PREFIX;

use super::conflicts::TakeOver;
use super::deployment_mark;
use super::plan::PutAction;
use super::prepare::Prepared;

/// A kind that was defined just now is served a moment later: this many attempts are made, with this pause.
const PATIENCE: usize = 50;
const PAUSE: Duration = Duration::from_millis(100);

/// The field manager under which a module applies.
pub(super) fn field_manager(manager: &str) -> String {
    format!("{PREFIX}{manager}")
}

pub(super) const MANAGER_POINTER: &str = "/metadata/labels/sexton.dev~1manager";

/// Applies a document with its marks. Conflicts with fields of our own bookkeeping or of a former module are forced;
/// those with fields of other managers as far as `take` allows.
pub(super) async fn put_marked(
    resources: &Resources,
    document: &Prepared,
    marked: &Value,
    ask: &PutAsk,
    take: &TakeOver,
) -> Result<Put, PutError> {
    let name = &document.entry.name;
    // The marks change whatever exists; only the answer says whether the object is new.
    let known = Some(&Value::Null);
    match resources.put_over(known, &document.place, name, marked, ask).await {
        Err(PutError::Conflict(status)) if take.allows(&status) => {
            let ask = PutAsk { force: true, ..ask.clone() };
            resources.put_over(known, &document.place, name, marked, &ask).await
        }
        result => result,
    }
}

/// What the plan knows of a put.
#[derive(Debug, Clone)]
pub(super) struct Foreseen {
    pub(super) action: PutAction,
    /// The fields that it may take over from other managers.
    pub(super) take: TakeOver,
    /// Whether its definition or class was put just now, and may not be in effect yet.
    pub(super) awaits_kind: bool,
}

/// Puts a document for good, and checks that the object carries its marks afterwards.
pub(super) async fn put(
    resources: &Resources,
    document: &Prepared,
    marked: &Value,
    ask: &PutAsk,
    foreseen: Foreseen,
) -> Result<(PutAction, Vec<String>), String> {
    let is_early = |error: &PutError| match error {
        PutError::Call(CallError::Refused(status)) => status.code == 404 && document.awaits,
        PutError::Invalid(_) => foreseen.awaits_kind,
        _ => false,
    };
    let mut tries = 0;
    let put = loop {
        match put_marked(resources, document, marked, ask, &foreseen.take).await {
            Err(error) if tries < PATIENCE && is_early(&error) => {
                tries += 1;
                tokio::time::sleep(PAUSE).await;
            }
            result => break result.map_err(|error| error.to_string())?,
        }
    };
    if put.object.pointer("/metadata/deletionTimestamp").is_some() {
        return Err("it was put, but it is being deleted, and cannot be brought back".to_owned());
    }
    let mark = |pointer: &str| text(&put.object, pointer) == text(marked, pointer);
    let is_marked = mark(MANAGER_POINTER)
        && deployment_mark::read(&put.object) == deployment_mark::read(marked)
        && mark("/metadata/annotations/sexton.dev~1dependency-order");
    if !is_marked {
        return Err(
            "it was put, but does not carry its marks afterwards: something takes them off".to_owned()
        );
    }
    let action = if put.outcome == PutOutcome::Created { PutAction::Create } else { foreseen.action };
    Ok((action, put.warnings))
}
