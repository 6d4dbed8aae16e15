//! Checks before there is a plan: the deployment is valid, and destroys nothing that it puts.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use serde_json::Value;
use sexton_client::resources::text;
use sexton_lifecycle::DeletionLimit;
use sexton_lifecycle::module::Member;
use sexton_model::module::{check_scope, manager_name};
use sexton_model::names;

use super::documents::{Deployment, Refusal};
use super::look::{Looked, Slot};
use super::plan::{PlanError, PlannedPut, Sweep};
use super::prepare::Prepared;
use super::records::ModuleRecord;
use super::victims::Destruction;

/// Checks that need nothing from the server.
pub(super) fn check(deployment: &Deployment) -> Result<DeletionLimit, PlanError> {
    let spec = &deployment.spec;
    manager_name(&spec.manager).map_err(|why| PlanError::Name { name: spec.manager.clone(), why })?;
    check_scope(&spec.scope, &spec.manager).map_err(PlanError::Scope)?;
    if deployment.deployment_id.is_empty() || names::label_value(&deployment.deployment_id).is_err() {
        return Err(PlanError::BadId(deployment.deployment_id.clone()));
    }
    if deployment.documents.is_empty() && !deployment.allow_empty {
        return Err(PlanError::Empty(spec.manager.clone()));
    }
    let limits = spec.max_delete.as_deref().map(str::parse::<DeletionLimit>).transpose();
    Ok(limits.map_err(|error| PlanError::Limit(error.to_string()))?.unwrap_or_default())
}

/// Refuses a deployment id that was used before: objects that the earlier deployment put would count as put by this
/// one.
pub(super) fn check_id(
    deployment: &Deployment,
    record: Option<&ModuleRecord>,
    looked: &Looked,
) -> Result<(), PlanError> {
    let id = &deployment.deployment_id;
    let used = record.is_some_and(|record| record.status.knows(id))
        || looked.members.iter().any(|member| member.deployment.as_ref() == Some(id));
    if used { Err(PlanError::UsedId(id.clone())) } else { Ok(()) }
}

pub(super) fn what_to_sweep(deployment: &Deployment, looked: &Looked) -> Sweep {
    let none = |why: String| Sweep::None { why };
    if deployment.only.is_some() {
        return none("only a part of the documents is put: nothing is sealed, swept or renumbered".into());
    }
    if let Some(first) = looked.unlistable.first() {
        let more = match looked.unlistable.len() {
            1 => String::new(),
            count => format!(" and {} more", count - 1),
        };
        let hint = match first.forbidden && !deployment.spec.scope.contains_key("namespace") {
            true => "; with namespace=NAME in the scope of the module only that namespace must be listed",
            false => "",
        };
        return none(format!("{}{more} cannot be listed: {}{hint}", first.kind, first.why));
    }
    match (deployment.spec.support_gc, deployment.dry_gc) {
        (_, true) => Sweep::Renumber,
        (true, false) => Sweep::Accuse,
        (false, false) => none("the module does not support garbage collection (supportGc is false)".into()),
    }
}

/// Refuses documents with objects that would follow a swept object: they would be put and destroyed in one go.
pub(super) fn refuse_doomed(documents: &[Arc<Prepared>], doom: &Destruction) -> Result<(), PlanError> {
    let slots: HashMap<Slot, &Arc<Prepared>> =
        documents.iter().map(|document| (document.own_slot(), document)).collect();
    let snapshot = doom.world.snapshot();
    let label = |life| format!("{}/{}", snapshot.kind(life), snapshot.name(life));
    // By the place of the document: the object that it would follow.
    let mut found: BTreeMap<(i64, Slot), (&Prepared, String)> = BTreeMap::new();
    let mut doomed: HashMap<&str, String> = HashMap::new();
    for step in doom.plan.steps().filter(|step| !step.finding.is_terminating) {
        let key = &step.key;
        let at = (key.kind.group.clone(), key.kind.resource.clone(), key.namespace.clone(), key.name.clone());
        if let Some(document) = slots.get(&at) {
            let with = step.finding.cause.node().map_or_else(|| "its owner".to_owned(), label);
            found.insert((document.order, at), (document, with));
        }
        doomed.insert(&step.uid.0, label(step.node));
    }
    for document in documents {
        if let Some(with) = taken_along(document, &doomed) {
            found.entry((document.order, document.own_slot())).or_insert((document, with));
        }
    }
    let refuse = |(document, with): (&Prepared, String)| {
        let why = format!("it would be destroyed together with {with}, which no document names any more");
        let remedy = match taken_along(document, &doomed) {
            Some(_) => format!("keep {with} in the module, or make this independent of it"),
            // The live object refers to it, and the document does not.
            None => format!("apply once with --dry-gc, which lets go of {with}, then once more without"),
        };
        document.refuse(why, Some(remedy))
    };
    let refusals: Vec<Refusal> = found.into_values().map(refuse).collect();
    if refusals.is_empty() { Ok(()) } else { Err(PlanError::Refused(refusals)) }
}

/// The doomed object that an object which does not exist yet would follow: one of its owners if all of them are
/// doomed, its namespace, or the definition of its kind.
fn taken_along(document: &Prepared, doomed: &HashMap<&str, String>) -> Option<String> {
    let owners = document.value.pointer("/metadata/ownerReferences").and_then(Value::as_array);
    let owner = |reference: &Value| doomed.get(text(reference, "/uid")).cloned();
    let owners: Option<Vec<String>> = owners.into_iter().flatten().map(owner).collect();
    let kind = &document.place.kind.resource;
    let above = [
        format!("Namespace/{}", document.entry.namespace),
        format!("CustomResourceDefinition/{}.{}", kind.resource, kind.group),
    ];
    let above = || above.into_iter().find(|above| doomed.values().any(|doomed| doomed == above));
    owners.and_then(|owners| owners.into_iter().next()).or_else(above)
}

/// Warnings for users, besides the objects that are not swept and the kinds that cannot be listed.
pub(super) fn warnings(puts: &[PlannedPut], looked: &Looked, outside: &[Member]) -> Vec<String> {
    let mut warnings: Vec<String> = Vec::new();
    for put in puts {
        warnings.extend(put.warnings.iter().map(|warning| format!("{}: {warning}", put.object)));
    }
    match outside.len() {
        0 => {}
        1 => warnings.push("one resource of the module is not in its scope, and never swept".to_owned()),
        count => {
            warnings.push(format!("{count} resources of the module are not in its scope, and never swept"));
        }
    }
    warnings.extend(of_copies(&looked.copies));
    warnings.extend(looked.unanswered.iter().map(|group| {
        format!("the group {} does not answer; the module has nothing of it, as far as is known", group.kind)
    }));
    warnings
}

/// How many objects that only carry the label are named.
const NAMED: usize = 3;

/// A warning about objects that only carry the module's label: a user may have meant them as members.
fn of_copies(copies: &[Member]) -> Option<String> {
    let names: Vec<String> = copies.iter().take(NAMED).map(ToString::to_string).collect();
    let more = match copies.len().checked_sub(NAMED) {
        None | Some(0) => String::new(),
        Some(more) => format!(" and {more} more"),
    };
    (!copies.is_empty()).then(|| {
        format!(
            "{}{more} only carry the label of the module: they were never put by it, and are not swept",
            names.join(", ")
        )
    })
}
