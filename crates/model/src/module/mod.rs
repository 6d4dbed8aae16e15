//! The record of a module: what it manages, within which limits, and which deployments there were. Its size is bounded.
//!
//! It must not know how a deployment is carried out, nor read the clock.

mod read;
mod settings;
#[cfg(test)]
mod tests;

pub use read::check_scope;
pub use settings::{Dependency, ModuleOrder, ModuleSettings, OnFailure};

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::class::API_VERSION;
use crate::class::read::Errors;
use crate::invalid::FieldError;
use crate::names;
use crate::text::cut;

/// The kind's name.
pub const KIND: &str = "Module";
/// The plural.
pub const RESOURCE: &str = "modules";
/// The key of a scope that has to be there, and with it only what the module manages itself is ever in scope.
pub const MANAGER_KEY: &str = "manager";
/// Under this and its name a module writes fields, holds a lease, and is kept where there is no kind for it.
pub const PREFIX: &str = "sexton-module-";
/// Deployments that are remembered.
pub const MAX_HISTORY: usize = 20;
/// Kinds that are remembered; more are not refused, but forgotten.
pub const MAX_KINDS: usize = 1_000;
/// Attributes of a scope.
pub const MAX_SCOPE: usize = 50;
/// Bytes of a text for people, and of an attribute of a scope.
const MAX_TEXT: usize = 512;
/// Members of one module that are destroyed at the same time, at most: each may be a process.
pub const MAX_PARALLEL: u32 = 1_000;

/// The attributes that a resource must have to be in scope.
pub type Scope = BTreeMap<String, String>;

/// The scope of a module that says nothing about it.
pub fn default_scope(manager: &str) -> Scope {
    Scope::from([(MANAGER_KEY.to_owned(), manager.to_owned())])
}

/// What a module is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ModuleSpec {
    /// Its name, as the label of all that it manages.
    pub manager: String,
    /// What it may sweep.
    pub scope: Scope,
    /// Whether it sweeps at all.
    pub support_gc: bool,
    /// How much of it may be destroyed at once, as `20` or `30%`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_delete: Option<String>,
    /// How the order of its documents is meant.
    #[serde(default, skip_serializing_if = "ModuleOrder::is_usual")]
    pub order: ModuleOrder,
    /// How many of its members are destroyed at the same time, where the order leaves that open.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parallel: Option<u32>,
}

/// How it stands with a module.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ModuleStatus {
    /// What is going on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub phase: Option<ModulePhase>,
    /// The deployment that was begun last, if it has not been sealed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub intent: Option<Intent>,
    /// The deployment that was sealed last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sealed: Option<Sealed>,
    /// Former deployments, the newest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub history: Vec<Past>,
    /// Every `resource.group` that was ever put, or was about to be.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub kinds: Vec<String>,
}

/// What is going on with a module.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum ModulePhase {
    /// Resources are being put. If the lease has no holder, the process that put them has died.
    Deploying,
    /// All resources of the last deployment were put.
    Sealed,
    /// Some resource of the last deployment was not put.
    Failed,
    /// All of it is to go.
    Destroying,
}

/// A deployment that was begun.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Intent {
    /// Which one.
    pub deployment_id: String,
    /// When it began.
    pub started_at: String,
    /// The requester.
    pub by: String,
    /// How many resources it has.
    pub count: u64,
    /// The digest of its plan.
    pub digest: String,
}

/// A deployment whose resources were all put.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Sealed {
    /// Which one.
    pub deployment_id: String,
    /// When.
    pub at: String,
    /// The requester.
    pub by: String,
    /// How many resources it has.
    pub count: u64,
    /// How many became candidates in its sweep.
    #[serde(default)]
    pub swept: u64,
    /// What was its scope.
    pub scope: Scope,
}

/// A deployment that is over.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Past {
    /// Which one.
    pub deployment_id: String,
    /// When it was over.
    pub at: String,
    /// The requester.
    pub by: String,
    /// How it ended.
    pub phase: ModulePhase,
    /// How many resources it had.
    pub count: u64,
    /// How many became candidates in its sweep.
    #[serde(default)]
    pub swept: u64,
    /// What went wrong.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

impl ModuleSpec {
    /// A module that says nothing but its name.
    pub fn new(manager: &str) -> ModuleSpec {
        let scope = default_scope(manager);
        let order = ModuleOrder::default();
        ModuleSpec {
            manager: manager.to_owned(),
            scope,
            support_gc: true,
            max_delete: None,
            order,
            parallel: None,
        }
    }

    /// Reads the spec of a whole document of kind `Module`.
    ///
    /// # Errors
    /// All that is wrong with it, each with its place.
    pub fn parse(document: &Value) -> Result<ModuleSpec, Vec<FieldError>> {
        let mut errors = Errors::new();
        let name = document.pointer("/metadata/name").and_then(Value::as_str).unwrap_or_default();
        let spec = read::spec(document, name, &mut errors);
        match (spec, errors.is_empty()) {
            (Some(spec), true) => Ok(spec),
            (None, true) => Err(vec![FieldError::required("spec", "must be a map")]),
            (_, false) => Err(errors),
        }
    }

    /// As a document.
    pub fn document(&self) -> Value {
        json!({"apiVersion": API_VERSION, "kind": KIND, "metadata": {"name": self.manager}, "spec": self})
    }
}

impl ModuleStatus {
    /// Within bounds, so that the record never grows without end.
    #[must_use]
    pub fn bounded(mut self) -> ModuleStatus {
        self.history.truncate(MAX_HISTORY);
        self.kinds.sort_unstable();
        self.kinds.dedup();
        self.kinds.truncate(MAX_KINDS);
        for past in &mut self.history {
            past.error = past.error.as_ref().map(|text| cut(text, MAX_TEXT));
            past.by = cut(&past.by, MAX_TEXT);
        }
        self
    }

    /// Whether a deployment of this name has been begun before, as far as is remembered.
    pub fn knows(&self, deployment: &str) -> bool {
        self.intent.as_ref().is_some_and(|intent| intent.deployment_id == deployment)
            || self.sealed.as_ref().is_some_and(|sealed| sealed.deployment_id == deployment)
            || self.history.iter().any(|past| past.deployment_id == deployment)
    }
}

/// Whether a module can be called so: the name is a label's value, and part of other names.
///
/// # Errors
/// Why not, in words.
pub fn manager_name(name: &str) -> Result<(), names::Complaint> {
    names::dns_label(name)
}

/// Whether a text is a limit: `20` or `30%`.
///
/// # Errors
/// Why not, in words.
pub fn limit_text(text: &str) -> Result<(), names::Complaint> {
    let bad = || "must be a number of objects or a percentage, e.g. 20 or '30%'".to_owned();
    let (digits, most) = text.strip_suffix('%').map_or((text, u64::MAX), |digits| (digits, 100));
    let plain = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    match digits.parse::<u64>() {
        Ok(number) if plain && number <= most => Ok(()),
        _ => Err(bad()),
    }
}
