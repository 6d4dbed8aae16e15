//! The input of a deployment, and refusals of documents.
//!
//! It must not know how it is deployed.

use std::collections::BTreeSet;

use serde_json::Value;
use sexton_model::module::{Dependency, ModuleSpec, OnFailure};

/// A document, and where it is.
#[derive(Debug, Clone, PartialEq)]
pub struct Source {
    /// Where it is, for users: `shop/vm.yaml:12`.
    pub origin: String,
    /// The file that it is in: the documents of one file may be equal in order.
    pub file: String,
    /// The document.
    pub value: Value,
}

/// The input of a deployment.
#[derive(Debug, Clone)]
pub struct Deployment {
    /// The module: manager, scope, limits.
    pub spec: ModuleSpec,
    /// The id of this deployment; no other one of the module may have had it.
    pub deployment_id: String,
    /// All documents of the module, in order.
    pub documents: Vec<Source>,
    /// The namespace of documents that name none.
    pub namespace: String,
    /// Explicit edges.
    pub dependencies: Vec<Dependency>,
    /// Whether an empty module is intended.
    pub allow_empty: bool,
    /// Sweep nothing; give unmarked objects new places instead.
    pub dry_gc: bool,
    /// Put only these documents, by index; then nothing is sealed, swept or renumbered.
    pub only: Option<BTreeSet<usize>>,
    /// Whether other documents are put after a failure.
    pub on_failure: OnFailure,
    /// Take fields over from other managers.
    pub force: bool,
}

impl Deployment {
    /// A deployment with default options.
    pub fn new(spec: ModuleSpec, deployment_id: impl Into<String>, documents: Vec<Source>) -> Deployment {
        Deployment {
            spec,
            deployment_id: deployment_id.into(),
            documents,
            namespace: "default".into(),
            dependencies: Vec::new(),
            allow_empty: false,
            dry_gc: false,
            only: None,
            on_failure: OnFailure::Stop,
            force: false,
        }
    }
}

/// A document that is refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// Where it is.
    pub origin: String,
    /// As users type it, as far as it can be read.
    pub object: String,
    /// Why, in words.
    pub why: String,
    /// What to type or to change, if that is known.
    pub remedy: Option<String>,
}

impl std::fmt::Display for Refusal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}: {}", self.origin, self.object, self.why)
    }
}
