//! Puts one document with its marks, so that putting and marking are one write; or asks what that would come to.
//!
//! It must not know in which order documents are put, nor what happens to those that are not put any more.

use std::time::Duration;

use serde_json::Value;
use sexton_client::resources::{Put, PutAsk, PutError, PutOutcome, text};
use sexton_client::{CallError, Kinds, Place, Resources};
use sexton_model::module::PREFIX;
use sexton_model::{Status, marks};

use super::diff::changes;
use super::documents::Refusal;
use super::plan::{PlannedPut, PutAction, Seen};
use super::prepare::{APPLY_SET, Prepared};
use super::unchanged::is_unchanged;

/// A kind that was defined just now is served after a moment: so often is it tried again, with this pause.
const PATIENCE: usize = 50;
const PAUSE: Duration = Duration::from_millis(100);

/// Under which name a module writes fields.
pub(super) fn field_manager(manager: &str) -> String {
    format!("{PREFIX}{manager}")
}

/// What a document comes to: a put, or a refusal.
pub(super) type Judged = Result<PlannedPut, Refusal>;

/// What is the same for all documents of a deployment.
#[derive(Debug)]
pub(super) struct Context {
    pub(super) resources: Resources,
    pub(super) kinds: Kinds,
    pub(super) manager: String,
    pub(super) deployment: String,
    pub(super) force: bool,
}

/// What putting a document would come to, by a dry run.
pub(super) async fn judge(
    context: &Context,
    document: &Prepared,
    live: Option<&Value>,
) -> Result<Judged, CallError> {
    let Context { resources, kinds, manager, .. } = context;
    if let Some(refusal) = check_owners(resources, kinds, document).await? {
        return Ok(Err(refusal));
    }
    if let Some(refusal) = live.and_then(|live| belongs_to_others(manager, document, live)) {
        return Ok(Err(refusal));
    }
    let marked = document.marked(manager, &context.deployment);
    let is_ours = live.is_some_and(|live| text(live, MANAGER_POINTER) == manager);
    if let Some(live) = live.filter(|_| is_ours)
        && is_unchanged(&document.value, &marked, live, &field_manager(manager))
    {
        let own = |pointer: &str| text(live, pointer).to_owned();
        let seen = Seen { uid: own("/metadata/uid"), version: own("/metadata/resourceVersion") };
        let put = planned(document, PutAction::Unchanged, Vec::new(), Vec::new());
        return Ok(Ok(PlannedPut { seen: Some(seen), ..put }));
    }
    let ask = PutAsk { manager: field_manager(manager), force: context.force, dry_run: true };
    let put = match put_marked(resources, document, &marked, &ask).await {
        Ok(put) => put,
        // Its kind or its namespace comes with the module.
        Err(PutError::Call(CallError::Refused(status)))
            if status.code == 404 && document.awaits && live.is_none() =>
        {
            return Ok(Ok(planned(document, PutAction::Create, Vec::new(), Vec::new())));
        }
        Err(error) => return refused(document, error).map(Err),
    };
    let changes = live.map(|live| changes(live, &put.object)).unwrap_or_default();
    let action = match live {
        None => PutAction::Create,
        Some(_) if !is_ours => PutAction::Adopt,
        Some(_) if changes.is_empty() => PutAction::Unchanged,
        Some(_) => PutAction::Change,
    };
    Ok(Ok(planned(document, action, changes, put.warnings)))
}

const MANAGER_POINTER: &str = "/metadata/labels/sexton.dev~1manager";

fn planned(
    document: &Prepared,
    action: PutAction,
    changes: Vec<super::FieldChange>,
    warnings: Vec<String>,
) -> PlannedPut {
    PlannedPut {
        origin: document.origin.clone(),
        object: document.object(),
        api_version: document.place.kind.api_version(),
        kind: document.place.kind.kind.clone(),
        namespace: document.entry.namespace.clone(),
        name: document.entry.name.clone(),
        order: document.order,
        action,
        changes,
        warnings,
        seen: None,
    }
}

/// Why an object that exists must be left to others.
fn belongs_to_others(own: &str, document: &Prepared, live: &Value) -> Option<Refusal> {
    let labels = live.pointer("/metadata/labels");
    let label = |name: &str| labels.and_then(|labels| labels.get(name)).and_then(Value::as_str);
    if live.pointer("/metadata/deletionTimestamp").is_some() {
        let remedy = "wait until it is gone, then apply again".to_owned();
        return Some(document.refuse("it is being deleted, and cannot be brought back", Some(remedy)));
    }
    if let Some(other) = label(marks::MANAGER).filter(|other| *other != own) {
        let why = format!("it belongs to the module {other}, not to {own}");
        let namespace = match document.entry.namespace.as_str() {
            "" => String::new(),
            namespace => format!(" --namespace {namespace}"),
        };
        let kind = document.place.kind.label(&document.entry.name);
        return Some(document.refuse(why, Some(format!("sexton transfer {kind}{namespace} --to {own}"))));
    }
    label(APPLY_SET).map(|set| {
        let remedy = "leave it to the other tool, or take that label off".to_owned();
        document.refuse(format!("it is part of the ApplySet {set} of another tool"), Some(remedy))
    })
}

fn refused(document: &Prepared, error: PutError) -> Result<Refusal, CallError> {
    match error {
        // Also a uid or a version that the document names can be another one.
        PutError::Conflict(status) => {
            let about_fields = status.details.iter().any(|details| !details.causes.is_empty());
            let remedy = match about_fields {
                true => "leave those fields out of the document, or take them over with --force-conflicts",
                false => "leave metadata.uid and metadata.resourceVersion out of the document",
            };
            Ok(document.refuse(status.message.clone(), Some(remedy.to_owned())))
        }
        PutError::Invalid(status) => Ok(document.refuse(status.message.clone(), None)),
        PutError::Call(CallError::Refused(status)) if status.code < 500 && status.code != 429 => {
            Ok(document.refuse(status.message.clone(), None))
        }
        PutError::Call(error) => Err(error),
    }
}

/// Puts a document with its marks. What our own bookkeeping wrote, or a former module, is no reason to refuse it.
async fn put_marked(
    resources: &Resources,
    document: &Prepared,
    marked: &Value,
    ask: &PutAsk,
) -> Result<Put, PutError> {
    let name = &document.entry.name;
    // Whatever is there, the marks change: only the answer says whether it is new.
    let known = Some(&Value::Null);
    match resources.put_over(known, &document.place, name, marked, ask).await {
        Err(PutError::Conflict(status)) if !ask.force && is_harmless(&status) => {
            let ask = PutAsk { force: true, ..ask.clone() };
            resources.put_over(known, &document.place, name, marked, &ask).await
        }
        result => result,
    }
}

/// Whether all conflicts are about our own marks, or with the fields of a module that had the object before. The label
/// that says whose it is does not count: if that is another one, it was given away meanwhile.
fn is_harmless(status: &Status) -> bool {
    let mut causes = status.details.iter().flat_map(|details| &details.causes).peekable();
    let harmless = |field: &str, message: &str| {
        let about = |mark: &str| field.contains(mark);
        let ours = about(marks::DEPLOYMENT_ID) || about(marks::DEPENDENCY_ORDER);
        ours || (message.contains(&format!("\"{PREFIX}")) && !about(marks::MANAGER))
    };
    causes.peek().is_some() && causes.all(|cause| harmless(&cause.field, &cause.message))
}

/// Puts a document for good, and makes sure that it carries its marks.
pub(super) async fn put(
    resources: &Resources,
    document: &Prepared,
    marked: &Value,
    ask: &PutAsk,
    planned: PutAction,
) -> Result<(PutAction, Vec<String>), String> {
    let mut tries = 0;
    let put = loop {
        match put_marked(resources, document, marked, ask).await {
            Err(PutError::Call(CallError::Refused(status)))
                if status.code == 404 && document.awaits && tries < PATIENCE =>
            {
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
        && mark("/metadata/annotations/sexton.dev~1deployment-id")
        && mark("/metadata/annotations/sexton.dev~1dependency-order");
    if !is_marked {
        return Err(
            "it was put, but does not carry its marks afterwards: something takes them off".to_owned()
        );
    }
    let action = if put.outcome == PutOutcome::Created { PutAction::Create } else { planned };
    Ok((action, put.warnings))
}

/// Why the owners that a document names make no sense, if they do not: a uid that does not exist would make it garbage.
async fn check_owners(
    resources: &Resources,
    kinds: &Kinds,
    document: &Prepared,
) -> Result<Option<Refusal>, CallError> {
    let owners = document.value.pointer("/metadata/ownerReferences").and_then(Value::as_array);
    for owner in owners.into_iter().flatten() {
        let (kind, name, uid) = (text(owner, "/kind"), text(owner, "/name"), text(owner, "/uid"));
        let refuse = |why: String| {
            let remedy = "name the uid of an owner that exists, or leave the owner out".to_owned();
            Ok(Some(document.refuse(why, Some(remedy))))
        };
        if uid.is_empty() {
            return refuse(format!("its owner {kind}/{name} is named without a uid"));
        }
        let Some(served) = kinds.of_document(text(owner, "/apiVersion"), kind) else {
            return refuse(format!("its owner {kind}/{name} is of a kind that the server does not have"));
        };
        let place = Place::new(served, Some(&document.entry.namespace));
        match resources.find(&place, name).await? {
            None => return refuse(format!("its owner {kind}/{name} does not exist")),
            Some(found) if text(&found, "/metadata/uid") != uid => {
                let now = text(&found, "/metadata/uid");
                return refuse(format!("its owner {kind}/{name} is named with the uid {uid}, but has {now}"));
            }
            Some(_) => {}
        }
    }
    Ok(None)
}
