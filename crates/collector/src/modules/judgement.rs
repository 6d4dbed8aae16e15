//! The planned action for one document, from the live object or else from a dry run.
//!
//! 1. Refuse a document with owners that do not exist, and an object that is terminating or belongs to another module
//!    or tool.
//! 2. If the module's managed fields show that a put changes only the marks: `Unchanged`, without a request.
//! 3. Otherwise a dry run. Fields of other managers that it conflicts with are listed, and a forced dry run shows the
//!    rest.
//! 4. If the dry run fails because the document's kind, namespace or class comes with the same deployment, the action
//!    is
//!    foreseen without the server.
//!
//! It must not know the other documents, and writes nothing.

use serde_json::Value;
use sexton_client::resources::{PutAsk, PutError, text};
use sexton_client::{CallError, Kinds, Place, Resources};
use sexton_model::{marks, secrets};

use super::conflicts::{self, TakeOver};
use super::diff::{changes, overlaid};
use super::documents::Refusal;
use super::plan::{PlannedPut, PutAction, Seen};
use super::prepare::{APPLY_SET, Prepared};
use super::puts::{MANAGER_POINTER, field_manager, put_marked};
use super::unchanged::is_unchanged;

/// The planned put of a document, or its refusal.
pub(super) type Judged = Result<PlannedPut, Refused>;

/// A document that the server refuses in its present state.
#[derive(Debug)]
pub(super) struct Refused {
    pub(super) refusal: Refusal,
    /// The planned put if its definition or its class changes before it is put.
    pub(super) otherwise: Option<Box<PlannedPut>>,
}

impl From<Refusal> for Refused {
    fn from(refusal: Refusal) -> Self {
        Refused { refusal, otherwise: None }
    }
}

/// Inputs that all documents of a deployment share.
#[derive(Debug)]
pub(super) struct Context {
    pub(super) resources: Resources,
    pub(super) kinds: Kinds,
    pub(super) manager: String,
    pub(super) deployment: String,
}

/// Decides what to do with one document.
pub(super) async fn judge(
    context: &Context,
    document: &Prepared,
    live: Option<&Value>,
) -> Result<Judged, CallError> {
    let Context { resources, kinds, manager, .. } = context;
    if let Some(refusal) = check_owners(resources, kinds, document).await? {
        return Ok(Err(refusal.into()));
    }
    if let Some(refusal) = live.and_then(|live| belongs_to_others(manager, document, live)) {
        return Ok(Err(refusal.into()));
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
    let ask = PutAsk { manager: field_manager(manager), force: false, dry_run: true };
    let (mut put, mut conflicts) =
        (put_marked(resources, document, &marked, &ask, &TakeOver::Nothing).await, Vec::new());
    if let (Err(PutError::Conflict(status)), Some(live)) = (&put, live) {
        conflicts = conflicts::conflicts(status, &marked, live);
        if !conflicts.is_empty() {
            put = put_marked(resources, document, &marked, &ask, &TakeOver::Everything).await;
        }
    }
    let put = match put {
        Ok(put) => put,
        // Its kind, its version or its namespace comes with the module.
        Err(PutError::Call(CallError::Refused(status))) if status.code == 404 && document.awaits => {
            let put = match live {
                None => planned(document, PutAction::Create, Vec::new(), Vec::new()),
                Some(_) => foreseen(document, &marked, live, is_ours),
            };
            return Ok(Ok(PlannedPut { unforeseen: true, ..put }));
        }
        Err(error) => {
            let depends = document.redefined && matches!(error, PutError::Invalid(_));
            let otherwise = depends.then(|| Box::new(foreseen(document, &marked, live, is_ours)));
            return Ok(Err(Refused { refusal: refused(document, error)?, otherwise }));
        }
    };
    let changes = live.map(|live| changes(live, &put.object)).unwrap_or_default();
    let action = match live {
        None => PutAction::Create,
        Some(_) if !is_ours => PutAction::Adopt,
        Some(_) if changes.is_empty() => PutAction::Unchanged,
        Some(_) => PutAction::Change,
    };
    let secret_version = live
        .filter(|live| action != PutAction::Unchanged && secrets::is_secret(live))
        .map(|live| text(live, "/metadata/resourceVersion").to_owned());
    Ok(Ok(PlannedPut { conflicts, secret_version, ..planned(document, action, changes, put.warnings) }))
}

/// The planned put of a document that only its new definition or class allows, as far as it can be known before.
fn foreseen(document: &Prepared, marked: &Value, live: Option<&Value>, is_ours: bool) -> PlannedPut {
    let action = match live {
        None => PutAction::Create,
        Some(_) if !is_ours => PutAction::Adopt,
        Some(_) => PutAction::Change,
    };
    let changes = live.map(|live| changes(live, &overlaid(live, marked))).unwrap_or_default();
    let warning =
        "its definition or class changes as well: what the server makes of it is known when it is put";
    let put = planned(document, action, changes, vec![warning.to_owned()]);
    PlannedPut { awaits_kind: true, unforeseen: true, ..put }
}

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
        conflicts: Vec::new(),
        warnings,
        unforeseen: false,
        awaits_kind: false,
        secret_version: None,
        seen: None,
    }
}

/// Why an existing object may not be taken over.
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
        // The uid or version in the document may be an old one.
        PutError::Conflict(status) => {
            let remedy = "leave metadata.uid and metadata.resourceVersion out of the document";
            Ok(document.refuse(status.message.clone(), Some(remedy.to_owned())))
        }
        PutError::Invalid(status) => Ok(document.refuse(status.message.clone(), None)),
        PutError::Call(CallError::Refused(status)) if status.code < 500 && status.code != 429 => {
            Ok(document.refuse(status.message.clone(), None))
        }
        PutError::Call(error) => Err(error),
    }
}

/// Why the owners that a document names are invalid: an owner reference with an unknown uid would make the object
/// garbage.
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
