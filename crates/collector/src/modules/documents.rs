//! What somebody wants to deploy, and what is refused of it.
//!
//! It must not know how it is deployed.

use std::collections::BTreeSet;

use serde_json::Value;
use sexton_model::module::{Dependency, ModuleSpec, OnFailure};

/// A document, and where it is.
#[derive(Debug, Clone, PartialEq)]
pub struct Source {
    /// Where, as people find it: `shop/vm.yaml:12`.
    pub origin: String,
    /// The file that it is in: the documents of one file may be equal.
    pub file: String,
    /// The document.
    pub value: Value,
}

/// A deployment that somebody wants.
#[derive(Debug, Clone)]
pub struct Deployment {
    /// The module: manager, scope, limits.
    pub spec: ModuleSpec,
    /// Which round of deployment this is; no other one of the module may have had it.
    pub deployment_id: String,
    /// All documents of the module, in order.
    pub documents: Vec<Source>,
    /// The namespace of documents that name none.
    pub namespace: String,
    /// Explicit edges.
    pub dependencies: Vec<Dependency>,
    /// Whether a module without documents is meant.
    pub allow_empty: bool,
    /// Nothing is swept; the unmarked get new places instead.
    pub dry_gc: bool,
    /// Only these documents, by their place in the list; then nothing is sealed, swept or renumbered.
    pub only: Option<BTreeSet<usize>>,
    /// What is done after a resource could not be put.
    pub on_failure: OnFailure,
    /// Take fields over from other managers.
    pub force: bool,
}

impl Deployment {
    /// A deployment with nothing unusual about it.
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
    /// As people type it, as far as it can be read.
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
