//! Which rights a collector needs, and which of them the server refuses it: asked before it starts.

use serde_json::{Value, json};
use sexton_client::resources::PutError;
use sexton_client::{Kinds, Place, Resources, ServedKind};

use crate::lease::LeaseSettings;

/// The verbs that a collector needs for the objects of a kind.
const VERBS: [&str; 4] = ["list", "watch", "patch", "delete"];
/// The verbs that it needs for its lease.
const LEASE_VERBS: [&str; 3] = ["get", "create", "update"];

/// The missing rights.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MissingRights {
    /// Verbs on the lease of collectors. Without one of them it can do nothing.
    pub lease: Vec<String>,
    /// Kinds that may not be collected, with the missing verbs.
    pub kinds: Vec<(String, Vec<String>)>,
    /// How many kinds may be collected.
    pub allowed: usize,
}

impl MissingRights {
    /// Whether a collector can do anything at all.
    pub fn lets_collect(&self) -> bool {
        self.lease.is_empty() && self.allowed > 0
    }
}

/// Asks the server what a collector may do there.
///
/// # Errors
/// The server does not answer such questions.
pub async fn missing_rights(
    resources: &Resources,
    kinds: &Kinds,
    lease: &LeaseSettings,
) -> Result<MissingRights, PutError> {
    let mut missing = MissingRights::default();
    for verb in LEASE_VERBS {
        let group = "coordination.k8s.io";
        let mut asked =
            json!({"group": group, "resource": "leases", "namespace": lease.namespace, "verb": verb});
        if verb != "create" {
            asked["name"] = lease.name.as_str().into();
        }
        if !is_allowed(resources, asked).await? {
            missing.lease.push(format!("{verb} leases.{group} in the namespace {}", lease.namespace));
        }
    }
    let collected: Vec<&ServedKind> = kinds.preferred().filter(|kind| is_collected(kind)).collect();
    if refused(resources, "*", "*").await?.is_empty() {
        missing.allowed = collected.len();
        return Ok(missing);
    }
    for kind in collected {
        let verbs = refused(resources, &kind.resource.group, &kind.resource.resource).await?;
        match verbs.is_empty() {
            true => missing.allowed += 1,
            false => missing.kinds.push((kind.resource.to_string(), verbs)),
        }
    }
    Ok(missing)
}

/// Which of the verbs are refused for a kind.
async fn refused(resources: &Resources, group: &str, resource: &str) -> Result<Vec<String>, PutError> {
    let mut refused = Vec::new();
    for verb in VERBS {
        if !is_allowed(resources, json!({"group": group, "resource": resource, "verb": verb})).await? {
            refused.push(verb.to_owned());
        }
    }
    Ok(refused)
}

/// Whether objects of a kind can be listed and deleted at all; the others are requests rather than objects.
fn is_collected(kind: &ServedKind) -> bool {
    VERBS.iter().all(|verb| kind.verbs.iter().any(|known| known == verb))
}

/// Whether the server lets the user do something, named as the `resourceAttributes` of a SelfSubjectAccessReview.
///
/// # Errors
/// The server does not answer such questions.
pub(crate) async fn is_allowed(resources: &Resources, attributes: Value) -> Result<bool, PutError> {
    let kind = ServedKind::well_known(
        "authorization.k8s.io",
        "selfsubjectaccessreviews",
        "SelfSubjectAccessReview",
        false,
    );
    let review = json!({
        "apiVersion": "authorization.k8s.io/v1",
        "kind": "SelfSubjectAccessReview",
        "spec": {"resourceAttributes": attributes},
    });
    let answer = resources.create(&Place::new(&kind, None), &review).await?;
    Ok(answer.pointer("/status/allowed").and_then(Value::as_bool).unwrap_or(false))
}
