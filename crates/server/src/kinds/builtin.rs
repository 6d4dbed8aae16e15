//! The kinds that are always there: plain data, no controllers.

use std::sync::Arc;

use sexton_model::GroupResource;
use sexton_model::feed::FeedKind;
use sexton_model::fields::Schema;

use super::{Kind, NameRule, Special, offer};

/// One line of the table below.
struct Row {
    group: &'static str,
    plural: &'static str,
    kind: &'static str,
    short: &'static str,
    traits: &'static str,
    fields: &'static [&'static str],
}

const fn row(
    group: &'static str,
    plural: &'static str,
    kind: &'static str,
    short: &'static str,
    traits: &'static str,
    fields: &'static [&'static str],
) -> Row {
    Row { group, plural, kind, short, traits, fields }
}

const EVENT_FIELDS: &[&str] = &[
    "involvedObject.kind",
    "involvedObject.namespace",
    "involvedObject.name",
    "involvedObject.uid",
    "involvedObject.apiVersion",
    "involvedObject.resourceVersion",
    "involvedObject.fieldPath",
    "reason",
    "reportingComponent",
    "source",
    "type",
];
const POD_FIELDS: &[&str] = &[
    "spec.nodeName",
    "spec.restartPolicy",
    "spec.schedulerName",
    "spec.serviceAccountName",
    "status.phase",
    "status.podIP",
    "status.nominatedNodeName",
];

/// Traits: c cluster-scoped, s status subresource, g generation counted, d answers a DELETE with the object,
/// a part of `kubectl get all`.
const TABLE: &[Row] = &[
    row("", "namespaces", "Namespace", "ns", "csd", &["status.phase"]),
    row("", "configmaps", "ConfigMap", "cm", "", &[]),
    row("", "secrets", "Secret", "", "", &["type"]),
    row("", "serviceaccounts", "ServiceAccount", "sa", "d", &[]),
    row("", "events", "Event", "ev", "", EVENT_FIELDS),
    row("", "pods", "Pod", "po", "sgda", POD_FIELDS),
    row("", "services", "Service", "svc", "sda", &["spec.clusterIP", "spec.type"]),
    row("", "replicationcontrollers", "ReplicationController", "rc", "sga", &["status.replicas"]),
    row("apps", "deployments", "Deployment", "deploy", "sga", &[]),
    row("apps", "replicasets", "ReplicaSet", "rs", "sga", &["status.replicas"]),
    row("apps", "statefulsets", "StatefulSet", "sts", "sga", &[]),
    row("apps", "daemonsets", "DaemonSet", "ds", "sga", &[]),
    row("batch", "jobs", "Job", "", "sga", &["status.successful"]),
    row("batch", "cronjobs", "CronJob", "cj", "sga", &[]),
    row("coordination.k8s.io", "leases", "Lease", "", "", &[]),
    row(
        "apiextensions.k8s.io",
        "customresourcedefinitions",
        "CustomResourceDefinition",
        "crd,crds",
        "csg",
        &[],
    ),
    row("sexton.dev", "classes", "Class", "cls", "cg", &[]),
    row("sexton.dev", "collections", "Collection", "gc", "cs", &[]),
    row("sexton.dev", "environments", "Environment", "env", "cg", &[]),
    row("sexton.dev", "modules", "Module", "mod", "csg", &[]),
    row("sexton.dev", "rules", "Rule", "", "csg", &[]),
    row("sexton.dev", "tombstones", "Tombstone", "ts", "c", &[]),
];

/// All kinds that are always there.
pub(crate) fn kinds() -> impl Iterator<Item = Kind> {
    TABLE.iter().map(kind)
}

/// All of them, as a feed over all kinds tells them.
pub(crate) fn listed() -> Vec<FeedKind> {
    let listed = |row: &Row| FeedKind {
        group: row.group.into(),
        version: "v1".into(),
        resource: row.plural.into(),
        kind: row.kind.into(),
        namespaced: !row.traits.contains('c'),
        served: true,
        broken: None,
    };
    TABLE.iter().map(listed).collect()
}

fn kind(row: &Row) -> Kind {
    let has = |mark: char| row.traits.contains(mark);
    Kind {
        resource: GroupResource::new(row.group, row.plural),
        version: "v1".into(),
        stored_version: "v1".into(),
        kind: row.kind.into(),
        list_kind: format!("{}List", row.kind),
        singular: row.kind.to_lowercase(),
        short_names: row.short.split(',').filter(|name| !name.is_empty()).map(Into::into).collect(),
        categories: if has('a') { vec!["all".into()] } else { Vec::new() },
        namespaced: !has('c'),
        status: has('s'),
        generation: has('g'),
        unconditional_update: !matches!(row.kind, "CustomResourceDefinition" | "Lease"),
        returns_deleted: has('d'),
        names: name_rule(row.kind),
        fields: row.fields,
        special: special(row.kind),
        definition: None,
        terminating: false,
        schema: Arc::new(
            Schema::builtin(row.group, row.kind).cloned().unwrap_or_else(|| Schema::custom(has('s'))),
        ),
        offer: Arc::new(offer::built_in(row.group, row.kind)),
        structural: None,
    }
}

fn name_rule(kind: &str) -> NameRule {
    match kind {
        "Namespace" => NameRule::Label,
        "Service" => NameRule::Dns1035,
        _ => NameRule::Subdomain,
    }
}

fn special(kind: &str) -> Special {
    match kind {
        "Namespace" => Special::Namespace,
        "CustomResourceDefinition" => Special::Definition,
        "Class" => Special::Class,
        "Module" => Special::Module,
        "Rule" => Special::Rule,
        "Environment" => Special::Environment,
        "Secret" => Special::Secret,
        "Event" => Special::Event,
        "Lease" => Special::Lease,
        "Collection" | "Tombstone" => Special::Record,
        _ => Special::None,
    }
}
