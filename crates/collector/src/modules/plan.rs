//! What a deployment would do, worked out without writing anything.

use std::sync::Arc;

use sexton_client::CallError;
use sexton_lifecycle::module::{Member, OrderError};
use sexton_lifecycle::{FuseLimits, Held};
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

/// What becomes of a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PutAction {
    /// There is no such object yet.
    Create,
    /// It is ours, and would be different.
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
    /// As people type it.
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
    /// What becomes of it.
    pub action: PutAction,
    /// What would be different, field by field.
    pub changes: Vec<FieldChange>,
    /// Fields that other managers own with other values.
    pub conflicts: Vec<FieldConflict>,
    /// What the server wants people to know.
    pub warnings: Vec<String>,
    /// Whether no dry run could tell what the server makes of it.
    pub(super) unforeseen: bool,
    /// Whether it can be put only when its definition or its class has been.
    pub(super) awaits_kind: bool,
    /// The version of a Secret that would change: its values are shown and compared nowhere.
    pub(super) secret_version: Option<String>,
    /// What is there, if a put would surely change nothing but its marks.
    pub(super) seen: Option<Seen>,
}

/// A life, and the version of it on which a judgement rests.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Seen {
    pub(super) uid: String,
    pub(super) version: String,
}

/// What happens to the unmarked.
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

/// Another scope than that of the last deployment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScopeShift {
    /// The one of the last deployment.
    pub old: Scope,
    /// Who comes into scope.
    pub enter: Vec<Member>,
    /// Who leaves it, and is never swept.
    pub leave: Vec<Member>,
}

/// What a deployment would do. Deploying it does this, or less.
#[derive(Debug)]
pub struct ModulePlan {
    /// The module.
    pub spec: ModuleSpec,
    /// Which round of deployment.
    pub deployment_id: String,
    /// The documents, in the order in which they are put.
    pub puts: Vec<PlannedPut>,
    /// What happens to the unmarked.
    pub sweep: Sweep,
    /// Who would be accused, in the order in which they go. With `Sweep::Renumber` or `Sweep::None`, who is unmarked.
    pub victims: Vec<Victim>,
    /// Who is unmarked and spared.
    pub kept: Vec<Kept>,
    /// What the accusations come to, if there are any.
    pub destruction: Option<Destruction>,
    /// What could not be listed: then nothing is swept.
    pub unlistable: Vec<Unlistable>,
    /// Why the sweep is held, if it would destroy too much: then nothing may be deployed.
    pub held: Option<Held>,
    /// The limits it was held against.
    pub limits: FuseLimits,
    /// How many resources are in scope.
    pub in_scope: usize,
    /// Sweeping is turned on for a module that has unmarked resources from before.
    pub first_gc: bool,
    /// Another scope than before, if it is another one.
    pub scope_shift: Option<ScopeShift>,
    /// How the order of the documents was meant before, if it is meant otherwise now: all places are given anew.
    pub order_before: Option<ModuleOrder>,
    /// The deployment before, if one was sealed.
    pub previous: Option<Sealed>,
    /// A deployment that was begun and not sealed.
    pub interrupted: Option<Intent>,
    /// What people should know.
    pub warnings: Vec<String>,
    /// Stands for all of it: what is put, and what is destroyed. The same whenever the same would be done.
    pub digest: String,
    /// What is done after a resource could not be put.
    pub on_failure: OnFailure,
    /// Whether only a part of the documents is put.
    pub partial: bool,
    /// Take fields over from other managers, as far as the plan shows them.
    pub force: bool,
    pub(super) record: Option<ModuleRecord>,
    /// What is put, in the order of `puts`.
    pub(super) documents: Vec<Arc<Prepared>>,
    /// When everything was looked at.
    pub(super) looked_at: Instant,
}

impl ModulePlan {
    /// The documents that cannot be put unless fields are taken over from other managers.
    pub fn conflicting(&self) -> impl Iterator<Item = &PlannedPut> {
        self.puts.iter().filter(|put| !self.force && !put.conflicts.is_empty())
    }

    /// All who are unmarked and not on their way out already.
    pub(super) fn unmarked(&self) -> impl Iterator<Item = &Member> {
        let kept = self.kept.iter().map(|kept| &kept.member).filter(|member| !member.terminating);
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
    /// The deployment has been there before.
    #[error("the deployment id {0:?} was used before: resources that it put then would pass for put now")]
    UsedId(String),
    /// The deployment cannot be called so.
    #[error(
        "{0:?} cannot be a deployment id: it must be made of at most 63 letters, digits, '-', '_' and '.'"
    )]
    BadId(String),
    /// The limit makes no sense.
    #[error("{0}")]
    Limit(String),
    /// Documents are refused.
    #[error("{} of the documents cannot be put", .0.len())]
    Refused(Vec<Refusal>),
    /// Part of the documents would get places of another order than the rest has.
    #[error(
        "the order of the module was {before} and is {now}: a part of it cannot be applied before the whole is"
    )]
    OrderChanged {
        /// Of the deployment before.
        before: &'static str,
        /// Of this one.
        now: &'static str,
    },
    /// Documents have no order.
    #[error(transparent)]
    Order(#[from] OrderError),
    /// The record of the module cannot be read.
    #[error(transparent)]
    Record(#[from] RecordsError),
    /// The server cannot be asked.
    #[error("the server cannot be asked")]
    Call(#[from] CallError),
    /// The consequences cannot be seen.
    #[error("what would follow cannot be seen")]
    Preview(#[from] PreviewError),
}
