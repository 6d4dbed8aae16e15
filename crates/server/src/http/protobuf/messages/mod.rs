//! The messages that are understood: the field numbers of Kubernetes' own definitions (1.35), as tables.
//!
//! A row is a number, the name in JSON, and what it is. Whether something is kept is what Go's structures say: pointers
//! are, and what has no `omitempty`.

mod apps;
mod batch;
mod container;
mod core;
mod definition;
mod meta;
mod placement;
mod pod;
mod pod_status;
mod reviews;
mod volume;

use super::decode::Message;

/// Tables: `NAME { number "name" What, number "name" What(OTHER) }`.
macro_rules! messages {
    ($($message:ident { $($number:literal $name:literal $is:ident $(($of:ident))?),* $(,)? })*) => {
        $(
            pub(super) static $message: Message =
                Message(&[$(Field { number: $number, name: $name, is: Is::$is $((&$of))? }),*]);
        )*
    };
}
use messages;

/// The message of a kind, if it is understood. Options of a deletion belong to every group.
pub(super) fn of(api_version: &str, kind: &str) -> Option<&'static Message> {
    let message = match (api_version, kind) {
        ("v1", "Namespace") => &core::NAMESPACE,
        ("v1", "ConfigMap") => &core::CONFIG_MAP,
        ("v1", "Secret") => &core::SECRET,
        ("v1", "ServiceAccount") => &core::SERVICE_ACCOUNT,
        ("v1", "Event") => &core::EVENT,
        ("v1", "Service") => &core::SERVICE,
        ("v1", "ReplicationController") => &core::REPLICATION_CONTROLLER,
        ("v1", "Pod") => &pod::POD,
        ("apps/v1", "Deployment") => &apps::DEPLOYMENT,
        ("apps/v1", "ReplicaSet") => &apps::REPLICA_SET,
        ("apps/v1", "StatefulSet") => &apps::STATEFUL_SET,
        ("apps/v1", "DaemonSet") => &apps::DAEMON_SET,
        ("batch/v1", "Job") => &batch::JOB,
        ("batch/v1", "CronJob") => &batch::CRON_JOB,
        ("autoscaling/v1", "Scale") => &apps::SCALE,
        ("coordination.k8s.io/v1", "Lease") => &core::LEASE,
        ("apiextensions.k8s.io/v1", "CustomResourceDefinition") => &definition::CUSTOM_RESOURCE_DEFINITION,
        ("authorization.k8s.io/v1", "SelfSubjectAccessReview") => &reviews::SELF_SUBJECT_ACCESS_REVIEW,
        ("authorization.k8s.io/v1", "SubjectAccessReview" | "LocalSubjectAccessReview") => {
            &reviews::SUBJECT_ACCESS_REVIEW
        }
        ("authorization.k8s.io/v1", "SelfSubjectRulesReview") => &reviews::SELF_SUBJECT_RULES_REVIEW,
        ("authentication.k8s.io/v1", "SelfSubjectReview") => &reviews::SELF_SUBJECT_REVIEW,
        (_, "DeleteOptions") => &meta::DELETE_OPTIONS,
        _ => return None,
    };
    Some(message)
}
