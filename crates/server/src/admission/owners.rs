//! Do owner references point at objects that exist? Kubernetes never asks; we say so, or refuse.

use serde_json::Value;
use sexton_model::{Document, FieldError, Key};
use sexton_store::At;

use super::{Change, Limits};
use crate::api::{Api, OwnerChecks, Result, Target};

/// Exact duplicates say nothing twice: they are dropped, and the writer is told.
pub(super) fn remove_duplicates(document: &mut Document) -> Vec<String> {
    let references = document.owner_references();
    // One needs no comparing, and too many are refused anyway: comparing all with all of them would take for ever.
    if references.len() < 2 || references.len() > Limits::DEFAULT.owners {
        return Vec::new();
    }
    let mut unique: Vec<Value> = Vec::with_capacity(references.len());
    for reference in references {
        if !unique.contains(reference) {
            unique.push(reference.clone());
        }
    }
    if unique.len() == references.len() {
        return Vec::new();
    }
    document.set_or_remove("ownerReferences", Some(unique.into()));
    vec![".metadata.ownerReferences contains duplicate entries, which were removed".to_owned()]
}

impl Api {
    /// Looks at the references that this write adds. What cannot be asked (an unknown kind) is only warned about.
    pub(super) async fn check_owners(
        &self,
        target: &Target,
        change: &Change<'_>,
        errors: &mut Vec<FieldError>,
    ) -> Result<Vec<String>> {
        let known = change.old.map_or(&[][..], Document::owner_references);
        let mut warnings = Vec::new();
        for (at, reference) in change.new.owner_references().iter().enumerate() {
            if known.iter().any(|old| old["uid"] == reference["uid"]) {
                continue;
            }
            if let Some(problem) = self.owner_problem(target, reference).await? {
                let field = format!("metadata.ownerReferences[{at}]");
                match self.owner_checks() {
                    OwnerChecks::Warn => warnings.push(format!("{field}: {problem}")),
                    OwnerChecks::Strict => {
                        errors.push(FieldError::invalid(field, reference.clone(), problem))
                    }
                }
            }
        }
        Ok(warnings)
    }

    async fn owner_problem(&self, target: &Target, reference: &Value) -> Result<Option<String>> {
        let text = |part: &str| reference[part].as_str().unwrap_or("");
        let (api_version, kind, name, uid) = (text("apiVersion"), text("kind"), text("name"), text("uid"));
        let registry = self.kinds().current();
        let Some(owner) = registry.named(api_version, kind) else {
            return Ok(Some(format!(
                "kind {kind} of {api_version} is not served here, nobody can tell whether it lives"
            )));
        };
        if owner.namespaced && !target.kind.namespaced {
            let problem =
                format!("a cluster-scoped object cannot be owned by {kind} {name:?}, which is namespaced");
            return Ok(Some(problem));
        }
        let namespace = if owner.namespaced { target.namespace.clone() } else { String::new() };
        let key = Key { kind: owner.resource.clone(), namespace, name: name.to_owned() };
        let living = self.store().get(&key, At::Latest).await?;
        let problem = match living {
            Some(object) if object.facts()?.uid == uid => return Ok(None),
            Some(_) => format!("{kind} {name:?} exists, but with another uid than {uid}"),
            None => format!("{kind} {name:?} with uid {uid} does not exist in this namespace"),
        };
        Ok(Some(problem))
    }
}
