//! The plan of a deployment: a value with everything that it would do.

use std::sync::Arc;

use sexton_client::CallError;
use sexton_lifecycle::module::{Member, OrderError};
use sexton_lifecycle::{DeletionLimit, DeletionLimitExceeded};
use sexton_model::module::{Intent, ModuleOrder, ModuleSpec, OnFailure, Scope, Sealed};
use tokio::time::Instant;

use super::FieldChange;
use super::conflicts::FieldConflict;
use super::documents::Refusal;
use super::look::Unlistable;
use super::prepare::Prepared;
use super::records::{ModuleRecord, RecordsError};
use super::victims::{Destruction, Kept, Victim};
use crate::preview::PreviewError;

/// The action for a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PutAction {
    /// There is no such object yet.
    Create,
    /// The module has it, and the put would change it.
    Change,
    /// It exists and belongs to no module yet.
    Adopt,
    /// Nothing but its marks changes.
    Unchanged,
}

/// One document that will be put.
#[derive(Debug, Clone, PartialEq)]
pub struct PlannedPut {
    /// Where the document is.
    pub origin: String,
    /// As users type it.
    pub object: String,
    /// Group and version.
    pub api_version: String,
    /// The kind's name.
    pub kind: String,
    /// Empty for cluster-scoped kinds.
    pub namespace: String,
    /// The name.
    pub name: String,
    /// Its place in the module, from 1.
    pub order: i64,
    /// The action.
    pub action: PutAction,
    /// The changes, field by field.
    pub changes: Vec<FieldChange>,
    /// Fields that other managers own with other values.
    pub conflicts: Vec<FieldConflict>,
    /// Warnings of the server.
    pub warnings: Vec<String>,
    /// Whether no dry run could show the result.
    pub(super) unforeseen: bool,
    /// Whether it can only be put after its definition or its class.
    pub(super) awaits_kind: bool,
    /// The version of a Secret that would change: its values are neither shown nor compared.
    pub(super) secret_version: Option<String>,
    /// The object as it was seen, if the put would only change its marks.
    pub(super) seen: Option<Seen>,
}

/// The uid and version of an object for which an action was decided.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Seen {
    pub(super) uid: String,
    pub(super) version: String,
}

/// What happens to the unmarked objects.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Sweep {
    /// They are accused.
    Accuse,
    /// They get new places: nothing is destroyed by this deployment.
    Renumber,
    /// Nothing, and why.
    None {
        /// In words.
        why: String,
    },
}

/// A change of the scope since the last deployment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScopeShift {
    /// The one of the last deployment.
    pub old: Scope,
    /// Objects that come into scope.
    pub enter: Vec<Member>,
    /// Objects that leave it, and are never swept.
    pub leave: Vec<Member>,
}

/// The plan of a deployment. Carrying it out does this, or less.
#[derive(Debug)]
pub struct ModulePlan {
    /// The module.
    pub spec: ModuleSpec,
    /// The id of the deployment.
    pub deployment_id: String,
    /// The documents, in the order in which they are put.
    pub puts: Vec<PlannedPut>,
    /// What happens to the unmarked objects.
    pub sweep: Sweep,
    /// The objects that would be accused, in the order of their destruction. With `Sweep::Renumber` or `Sweep::None`,
    /// the unmarked objects.
    pub victims: Vec<Victim>,
    /// Unmarked objects that are not swept.
    pub kept: Vec<Kept>,
    /// The destruction that the accusations lead to, if there are any.
    pub destruction: Option<Destruction>,
    /// Kinds that could not be listed: then nothing is swept.
    pub unlistable: Vec<Unlistable>,
    /// Why the sweep exceeds the deletion limit, if it does: then nothing may be deployed.
    pub held: Option<DeletionLimitExceeded>,
    /// The deletion limit.
    pub limits: DeletionLimit,
    /// How many objects are in scope.
    pub in_scope: usize,
    /// Sweeping is turned on for a module that has unmarked resources from before.
    pub first_gc: bool,
    /// The change of the scope, if it changed.
    pub scope_shift: Option<ScopeShift>,
    /// The former order of the documents, if the module's order has changed: all places are given anew.
    pub order_before: Option<ModuleOrder>,
    /// The deployment before, if one was sealed.
    pub previous: Option<Sealed>,
    /// A deployment that was begun and not sealed.
    pub interrupted: Option<Intent>,
    /// Warnings for users.
    pub warnings: Vec<String>,
    /// The digest of all that is put and destroyed; equal for equal plans.
    pub digest: String,
    /// Whether other documents are put after a failure.
    pub on_failure: OnFailure,
    /// Whether only a part of the documents is put.
    pub partial: bool,
    /// Take fields over from other managers, as far as the plan shows them.
    pub force: bool,
    pub(super) record: Option<ModuleRecord>,
    /// What is put, in the order of `puts`.
    pub(super) documents: Vec<Arc<Prepared>>,
    /// When the objects were listed.
    pub(super) looked_at: Instant,
}

impl ModulePlan {
    /// The documents that cannot be put unless fields are taken over from other managers.
    pub fn conflicting(&self) -> impl Iterator<Item = &PlannedPut> {
        self.puts.iter().filter(|put| !self.force && !put.conflicts.is_empty())
    }

    /// All unmarked objects that are not terminating.
    pub(super) fn unmarked(&self) -> impl Iterator<Item = &Member> {
        let kept = self.kept.iter().map(|kept| &kept.member).filter(|member| !member.is_terminating);
        self.victims.iter().map(|victim| &victim.member).chain(kept)
    }
}

/// Why there is no plan.
#[derive(Debug, thiserror::Error)]
pub enum PlanError {
    /// The scope is not one that the module may have.
    #[error("the scope is refused: {0}")]
    Scope(String),
    /// The module has no documents.
    #[error("the module {0} has no documents: all that it manages would be swept")]
    Empty(String),
    /// The name of the module cannot be used.
    #[error("{name:?} cannot be the name of a module: {why}")]
    Name {
        /// The name.
        name: String,
        /// Why not.
        why: String,
    },
    /// The deployment id was used before.
    #[error("the deployment id {0:?} was used before: resources that it put then would pass for put now")]
    UsedId(String),
    /// The deployment id is not a valid one.
    #[error(
        "{0:?} cannot be a deployment id: it must be made of at most 63 letters, digits, '-', '_' and '.'"
    )]
    BadId(String),
    /// The deletion limit cannot be parsed.
    #[error("{0}")]
    Limit(String),
    /// Documents are refused.
    #[error("{} of the documents cannot be put", .0.len())]
    Refused(Vec<Refusal>),
    /// A part of the documents would get places in another order than the rest has.
    #[error(
        "the order of the module was {before} and is {now}: a part of it cannot be applied before the whole is"
    )]
    OrderChanged {
        /// Of the deployment before.
        before: &'static str,
        /// Of this one.
        now: &'static str,
    },
    /// The documents cannot be ordered.
    #[error(transparent)]
    Order(#[from] OrderError),
    /// The record of the module cannot be read.
    #[error(transparent)]
    Record(#[from] RecordsError),
    /// A request failed.
    #[error("the server cannot be asked")]
    Call(#[from] CallError),
    /// The consequences cannot be determined.
    #[error("what would follow cannot be seen")]
    Preview(#[from] PreviewError),
}
