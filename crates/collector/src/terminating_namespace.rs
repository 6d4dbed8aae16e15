//! What blocks a terminating namespace, as the cluster reports it: conditions, and API groups that do not answer.
//!
//! The cluster removes a namespace only after it has asked every group for its contents, so a single extension with a
//! server that is down blocks all of them.

use serde_json::Value;
use sexton_client::resources::text;
use sexton_client::{Kinds, Place, Resources, ServedKind};

/// A blocker of the namespace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamespaceHold {
    /// The blocker: `the group metrics.k8s.io/v1beta1 does not answer`.
    pub what: String,
    /// The cluster's message.
    pub says: String,
    /// How to clear it: when that is right, and the command.
    pub command: Option<(String, String)>,
}

/// The blockers of a namespace; empty if it is not terminating.
pub async fn namespace_holds(resources: &Resources, kinds: &Kinds, namespace: &Value) -> Vec<NamespaceHold> {
    if namespace.pointer("/metadata/deletionTimestamp").is_none_or(Value::is_null) {
        return Vec::new();
    }
    let mut holds = Vec::new();
    for (group, status) in &kinds.unread {
        holds.push(unanswered(resources, group, &status.message).await);
    }
    holds.extend(conditions(namespace));
    holds
}

/// A group that does not answer, with the message of its registration.
async fn unanswered(resources: &Resources, unread: &str, said: &str) -> NamespaceHold {
    let (group, version) = unread.rsplit_once('/').unwrap_or(("", unread));
    let name = format!("{version}.{group}");
    let kind = ServedKind::well_known("apiregistration.k8s.io", "apiservices", "APIService", false);
    // A user may lack the right to read it: then the discovery error is all there is.
    let registration = resources.find(&Place::new(&kind, None), &name).await.ok().flatten();
    let condition = registration.as_ref().and_then(|object| {
        let all = object.pointer("/status/conditions").and_then(Value::as_array)?;
        all.iter().find(|one| text(one, "/type") == "Available" && text(one, "/status") != "True")
    });
    let says = condition.map_or_else(
        || said.to_owned(),
        |condition| format!("APIService {name}: {}", text(condition, "/message")),
    );
    let command = registration
        .as_ref()
        .map(|_| ("if it is not needed any more".to_owned(), format!("kubectl delete apiservice {name}")));
    NamespaceHold { what: format!("the group {unread} does not answer"), says, command }
}

/// The blockers that its conditions name.
fn conditions(namespace: &Value) -> Vec<NamespaceHold> {
    let all = namespace.pointer("/status/conditions").and_then(Value::as_array);
    let hold = |condition: &Value| {
        let what = match text(condition, "/type") {
            "NamespaceDeletionDiscoveryFailure" => "not all kinds are known to the cluster",
            "NamespaceDeletionGroupVersionParsingFailure" => "a group has a name that makes no sense",
            "NamespaceDeletionContentFailure" => "something in it cannot be deleted",
            "NamespaceContentRemaining" => "something in it is still there",
            "NamespaceFinalizersRemaining" => "finalizers hold something in it",
            _ => return None,
        };
        let says = text(condition, "/message").to_owned();
        (text(condition, "/status") == "True").then(|| NamespaceHold {
            what: what.to_owned(),
            says,
            command: None,
        })
    };
    all.into_iter().flatten().filter_map(hold).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_conditions_that_are_true_hold_it() {
        let condition = |kind: &str, status: &str, message: &str| json!({"type": kind, "status": status, "message": message});
        let namespace = json!({"status": {"conditions": [
            condition("NamespaceDeletionDiscoveryFailure", "True", "Discovery failed for some groups"),
            condition("NamespaceDeletionContentFailure", "False", "All content successfully deleted"),
            condition("NamespaceFinalizersRemaining", "True", "x.io/f in 1 resource instances"),
            condition("Unheard", "True", "of"),
        ]}});
        let shown: Vec<String> =
            conditions(&namespace).into_iter().map(|hold| format!("{}: {}", hold.what, hold.says)).collect();
        assert_eq!(
            shown,
            [
                "not all kinds are known to the cluster: Discovery failed for some groups",
                "finalizers hold something in it: x.io/f in 1 resource instances",
            ]
        );
    }
}
