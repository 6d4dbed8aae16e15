//! Moves an object from one module to another in one write, so that a sweep of neither can take it in between.
//!
//! The write changes the module's label and the deployment id together. A sweep of the former module that has the
//! object in its plan finds another id, and leaves it alone; one of the new module finds the id of its own last
//! deployment. Only then the former module gives up the fields that it had put.

use serde_json::{Value, json};
use sexton_client::resources::{PutAsk, PutError, Slim, text};
use sexton_client::{CallError, Place};
use sexton_model::marks;
use sexton_model::module::manager_name;

use super::Modules;
use super::copied::is_put_by;
use super::deployment_mark::DeploymentMark;
use super::handover::applied_by;
use super::look::member;
use super::prepare::APPLY_SET;
use super::puts::field_manager;
use super::records::RecordsError;

/// The input of a transfer.
#[derive(Debug, Clone)]
pub struct Transfer {
    /// Kind and namespace.
    pub place: Place,
    /// The name.
    pub name: String,
    /// The module that must have it now; `None` for any.
    pub from: Option<String>,
    /// The module that gets it.
    pub to: String,
    /// Only a dry run.
    pub dry_run: bool,
}

/// The outcome.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Transferred {
    /// The module that had it, if one did.
    pub from: Option<String>,
    /// The module that has it.
    pub to: String,
    /// Whether it had it already.
    pub unchanged: bool,
    /// What to do next, in words.
    pub next: String,
}

/// Why it was not transferred.
#[derive(Debug, thiserror::Error)]
pub enum TransferError {
    /// There is no such object.
    #[error("there is no such object")]
    Missing,
    /// It belongs to another module than expected.
    #[error("it belongs to {}, not to {expected}", .found.as_deref().unwrap_or("no module"))]
    NotTheirs {
        /// Its module.
        found: Option<String>,
        /// The expected module.
        expected: String,
    },
    /// It is terminating.
    #[error("it is being deleted already")]
    Terminating,
    /// Another tool manages it.
    #[error("it is part of the ApplySet {0} of another tool")]
    ApplySet(String),
    /// The name of the module is not valid.
    #[error("{name:?} cannot be the name of a module: {why}")]
    Name {
        /// The name.
        name: String,
        /// Why not.
        why: String,
    },
    /// The record of a module cannot be read.
    #[error(transparent)]
    Record(#[from] RecordsError),
    /// It was not written.
    #[error("it was not written")]
    Put(#[from] PutError),
    /// It could not be read.
    #[error("it could not be read")]
    Call(#[from] CallError),
}

impl Modules {
    /// Moves an object to another module.
    ///
    /// # Errors
    /// See [`TransferError`].
    pub async fn transfer(&self, ask: &Transfer) -> Result<Transferred, TransferError> {
        manager_name(&ask.to).map_err(|why| TransferError::Name { name: ask.to.clone(), why })?;
        let live = self.tools.resources.find(&ask.place, &ask.name).await?.ok_or(TransferError::Missing)?;
        let now = member(&ask.place.kind, Slim::of(&live)?);
        let from = now.labels.get(marks::MANAGER).cloned();
        if now.is_terminating {
            return Err(TransferError::Terminating);
        }
        if let Some(set) = now.labels.get(APPLY_SET) {
            return Err(TransferError::ApplySet(set.clone()));
        }
        // An object with a copied label is not the module's yet.
        let unchanged = from.as_deref() == Some(&ask.to) && is_put_by(&live, &ask.to);
        let other = from.as_deref().filter(|from| *from != ask.to);
        if let Some(expected) =
            ask.from.as_ref().filter(|expected| !unchanged && from.as_ref() != Some(*expected))
        {
            return Err(TransferError::NotTheirs { found: from, expected: expected.clone() });
        }
        if !unchanged {
            let former = other.map(field_manager).unwrap_or_default();
            let document = self.adoption(ask, &live, &former).await?;
            let put = PutAsk { manager: field_manager(&ask.to), force: true, dry_run: ask.dry_run };
            let resources = &self.tools.resources;
            resources.put_over(Some(&live), &ask.place, &ask.name, &document, &put).await?;
            if !former.is_empty() && !ask.dry_run {
                // The new module manages all of its fields now, so none is removed.
                let put = PutAsk { manager: former, force: false, dry_run: false };
                resources.put_over(Some(&live), &ask.place, &ask.name, &bare(ask), &put).await?;
            }
        }
        let next = match other {
            Some(from) => format!(
                "move its document from the module {from} to the module {}: otherwise the next deployment of {} sweeps it",
                ask.to, ask.to
            ),
            _ => {
                format!("add its document to the module {}: otherwise its next deployment sweeps it", ask.to)
            }
        };
        Ok(Transferred { from, to: ask.to.clone(), unchanged, next })
    }

    /// The document of the write: what the former module had put, with the new label and marks, for the version that
    /// was read. As if the last deployment of the new module had put it.
    async fn adoption(&self, ask: &Transfer, live: &Value, former: &str) -> Result<Value, TransferError> {
        let record = self.find_record(&ask.to).await?;
        let sealed = record.and_then(|record| record.status.sealed);
        let uid = text(live, "/metadata/uid");
        let deployment = sealed.map_or_else(|| format!("transfer-{uid}"), |sealed| sealed.deployment_id);
        let mut document = applied_by(live, former);
        let own = bare(ask);
        for field in ["apiVersion", "kind"] {
            document[field] = own[field].clone();
        }
        let version = text(live, "/metadata/resourceVersion");
        let order = text(live, "/metadata/annotations/sexton.dev~1dependency-order");
        let metadata = &mut document["metadata"];
        for (field, value) in own["metadata"].as_object().into_iter().flatten() {
            metadata[field] = value.clone();
        }
        metadata["resourceVersion"] = json!(version);
        metadata["labels"][marks::MANAGER] = json!(ask.to);
        if !order.is_empty() {
            metadata["annotations"][marks::DEPENDENCY_ORDER] = json!(order);
        }
        DeploymentMark::of(&self.kinds, &ask.place.kind).set(&mut document, &deployment);
        Ok(document)
    }
}

/// The identity of the object, and nothing else.
fn bare(ask: &Transfer) -> Value {
    let kind = &ask.place.kind;
    let mut metadata = json!({"name": ask.name});
    if let Some(namespace) = &ask.place.namespace {
        metadata["namespace"] = json!(namespace);
    }
    json!({"apiVersion": kind.api_version(), "kind": kind.kind, "metadata": metadata})
}
