//! Puts one document with its marks, so that putting and marking are one write.
//!
//! It must not know in which order documents are put, nor what happens to those that are not put any more.

use std::time::Duration;

use serde_json::Value;
use sexton_client::resources::{Put, PutAsk, PutError, PutOutcome, text};
use sexton_client::{CallError, Resources};
use sexton_model::module::PREFIX;

use super::conflicts::TakeOver;
use super::deployment_mark;
use super::plan::PutAction;
use super::prepare::Prepared;

/// A kind that was defined just now is served after a moment: so often is it tried again, with this pause.
const PATIENCE: usize = 50;
const PAUSE: Duration = Duration::from_millis(100);

/// Under which name a module writes fields.
pub(super) fn field_manager(manager: &str) -> String {
    format!("{PREFIX}{manager}")
}

pub(super) const MANAGER_POINTER: &str = "/metadata/labels/sexton.dev~1manager";

/// Puts a document with its marks. What our own bookkeeping wrote, or a former module, is no reason to refuse it; fields of
/// other managers are taken over as far as `take` says.
pub(super) async fn put_marked(
    resources: &Resources,
    document: &Prepared,
    marked: &Value,
    ask: &PutAsk,
    take: &TakeOver,
) -> Result<Put, PutError> {
    let name = &document.entry.name;
    // Whatever is there, the marks change: only the answer says whether it is new.
    let known = Some(&Value::Null);
    match resources.put_over(known, &document.place, name, marked, ask).await {
        Err(PutError::Conflict(status)) if take.allows(&status) => {
            let ask = PutAsk { force: true, ..ask.clone() };
            resources.put_over(known, &document.place, name, marked, &ask).await
        }
        result => result,
    }
}

/// What is known of a put before it is made.
#[derive(Debug, Clone)]
pub(super) struct Foreseen {
    pub(super) action: PutAction,
    /// What it takes over from others.
    pub(super) take: TakeOver,
    /// Whether the definition or the class that allows it was put just now.
    pub(super) awaits_kind: bool,
}

/// Puts a document for good, and makes sure that it carries its marks.
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
