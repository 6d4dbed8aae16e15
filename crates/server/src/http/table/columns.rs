//! Which columns a kind has, and how a cell is found. What is cheap, and nothing that would need another object.

use serde_json::{Value, json};
use sexton_model::{Document, time};

use crate::kinds::Kind;

/// How a cell is found.
#[derive(Debug, Clone, Copy)]
enum Cell {
    Name,
    Age,
    /// When it was made, as a time.
    Created,
    /// A text at a path, or this instead.
    Text(&'static str, &'static str),
    /// Like `Text`, but something that is going away says so.
    Phase(&'static str, &'static str),
    /// A number at a path, or 0.
    Number(&'static str),
    /// How many are wanted, or 1: what Kubernetes fills in where nothing is said.
    Wanted(&'static str),
    /// How many entries some maps or lists have together.
    Count(&'static [&'static str]),
    /// Two numbers as `ready/wanted`, where the second is like `Wanted`.
    Ratio(&'static str, &'static str),
    /// How long ago a time at a path was.
    Since(&'static str),
    /// The same where it may never have been.
    SinceIfAny(&'static str),
    /// What an event speaks of.
    Involved,
    /// The ports of a service.
    Ports,
    /// A kind at a path, with its group.
    Kind(&'static str),
    /// How a method at a path is run.
    Method(&'static str),
}

/// A column of a table.
#[derive(Debug, Clone, Copy)]
pub(super) struct Column {
    name: &'static str,
    cell: Cell,
    /// Zero is always shown, more only on `-o wide`.
    priority: u8,
}

const fn shown(name: &'static str, cell: Cell) -> Column {
    Column { name, cell, priority: 0 }
}

const fn wide(name: &'static str, cell: Cell) -> Column {
    Column { name, cell, priority: 1 }
}

const NAME: Column = shown("Name", Cell::Name);
const AGE: Column = shown("Age", Cell::Age);

const GENERIC: &[Column] = &[NAME, AGE];
const NAMESPACE: &[Column] = &[NAME, shown("Status", Cell::Phase("status.phase", "Active")), AGE];
const CONFIG_MAP: &[Column] = &[NAME, shown("Data", Cell::Count(&["data", "binaryData"])), AGE];
const SECRET: &[Column] =
    &[NAME, shown("Type", Cell::Text("type", "Opaque")), shown("Data", Cell::Count(&["data"])), AGE];
const SERVICE_ACCOUNT: &[Column] = &[NAME, shown("Secrets", Cell::Count(&["secrets"])), AGE];
const EVENT: &[Column] = &[
    shown("Last Seen", Cell::Since("lastTimestamp")),
    shown("Type", Cell::Text("type", "")),
    shown("Reason", Cell::Text("reason", "")),
    shown("Object", Cell::Involved),
    wide("Source", Cell::Text("source.component", "")),
    shown("Message", Cell::Text("message", "")),
    wide("Count", Cell::Number("count")),
    wide("Name", Cell::Name),
];
const POD: &[Column] = &[
    NAME,
    shown("Status", Cell::Phase("status.phase", "Pending")),
    AGE,
    wide("IP", Cell::Text("status.podIP", "<none>")),
    wide("Node", Cell::Text("spec.nodeName", "<none>")),
];
const SERVICE: &[Column] = &[
    NAME,
    shown("Type", Cell::Text("spec.type", "ClusterIP")),
    shown("Cluster-IP", Cell::Text("spec.clusterIP", "<none>")),
    shown("Port(s)", Cell::Ports),
    AGE,
];
const REPLICAS: &[Column] = &[
    NAME,
    shown("Desired", Cell::Wanted("spec.replicas")),
    shown("Current", Cell::Number("status.replicas")),
    shown("Ready", Cell::Number("status.readyReplicas")),
    AGE,
];
const DEPLOYMENT: &[Column] = &[
    NAME,
    shown("Ready", Cell::Ratio("status.readyReplicas", "spec.replicas")),
    shown("Up-to-date", Cell::Number("status.updatedReplicas")),
    shown("Available", Cell::Number("status.availableReplicas")),
    AGE,
];
const STATEFUL_SET: &[Column] =
    &[NAME, shown("Ready", Cell::Ratio("status.readyReplicas", "spec.replicas")), AGE];
const DAEMON_SET: &[Column] = &[
    NAME,
    shown("Desired", Cell::Number("status.desiredNumberScheduled")),
    shown("Current", Cell::Number("status.currentNumberScheduled")),
    shown("Ready", Cell::Number("status.numberReady")),
    AGE,
];
const JOB: &[Column] =
    &[NAME, shown("Completions", Cell::Ratio("status.succeeded", "spec.completions")), AGE];
const CRON_JOB: &[Column] = &[
    NAME,
    shown("Schedule", Cell::Text("spec.schedule", "<none>")),
    shown("Suspend", Cell::Text("spec.suspend", "False")),
    AGE,
];
const LEASE: &[Column] = &[NAME, shown("Holder", Cell::Text("spec.holderIdentity", "")), AGE];
const DEFINITION: &[Column] = &[NAME, shown("Created At", Cell::Created)];

const CLASS: &[Column] = &[
    NAME,
    shown("Kind", Cell::Kind("spec.for")),
    shown("Destroy", Cell::Method("spec.destroy")),
    shown("Handlers", Cell::Count(&["spec.handlers"])),
    AGE,
];
const COLLECTION: &[Column] = &[
    NAME,
    shown("Trigger", Cell::Text("spec.trigger", "")),
    shown("By", Cell::Text("spec.by", "")),
    shown("Phase", Cell::Text("status.phase", "")),
    shown("Doomed", Cell::Number("status.doomed")),
    shown("Gone", Cell::Number("status.gone")),
    shown("Blocked", Cell::Number("status.blocked")),
    AGE,
];
const ENVIRONMENT: &[Column] = &[
    NAME,
    shown("Phase", Cell::Text("status.phase", "")),
    shown("Program", Cell::Text("spec.program.name", "")),
    shown("Objects", Cell::Number("status.objects")),
    shown("Last Run", Cell::SinceIfAny("status.run.at")),
    wide("Outcome", Cell::Text("status.run.outcome", "")),
    AGE,
];
const MODULE: &[Column] = &[
    NAME,
    shown("Phase", Cell::Text("status.phase", "")),
    shown("Deployment", Cell::Text("status.sealed.deploymentId", "")),
    shown("Resources", Cell::Number("status.sealed.count")),
    shown("Swept", Cell::Number("status.sealed.swept")),
    shown("Sealed", Cell::SinceIfAny("status.sealed.at")),
    wide("By", Cell::Text("status.sealed.by", "")),
    wide("Intent", Cell::Text("status.intent.deploymentId", "")),
    AGE,
];
const RULE: &[Column] = &[
    NAME,
    shown("Detector", Cell::Text("spec.detector", "")),
    shown("Mode", Cell::Text("spec.mode", "report")),
    shown("Interval", Cell::Text("spec.interval", "10m")),
    shown("Scope", Cell::Number("status.scope")),
    shown("Orphan", Cell::Number("status.counts.orphan")),
    shown("Unknown", Cell::Number("status.counts.unknown")),
    shown("Last Scan", Cell::Since("status.lastScan")),
    AGE,
];
const TOMBSTONE: &[Column] = &[
    NAME,
    shown("Kind", Cell::Kind("spec.object")),
    shown("Namespace", Cell::Text("spec.object.namespace", "")),
    shown("Object", Cell::Text("spec.object.name", "")),
    shown("Reason", Cell::Text("spec.reason", "")),
    shown("By", Cell::Text("spec.by", "")),
    shown("Outcome", Cell::Text("spec.outcome", "")),
    AGE,
];

/// The columns of a kind.
pub(super) fn of(kind: &Kind) -> &'static [Column] {
    match (kind.resource.group.as_str(), kind.kind.as_str()) {
        ("", "Namespace") => NAMESPACE,
        ("", "ConfigMap") => CONFIG_MAP,
        ("", "Secret") => SECRET,
        ("", "ServiceAccount") => SERVICE_ACCOUNT,
        ("", "Event") => EVENT,
        ("", "Pod") => POD,
        ("", "Service") => SERVICE,
        ("", "ReplicationController") | ("apps", "ReplicaSet") => REPLICAS,
        ("apps", "Deployment") => DEPLOYMENT,
        ("apps", "StatefulSet") => STATEFUL_SET,
        ("apps", "DaemonSet") => DAEMON_SET,
        ("batch", "Job") => JOB,
        ("batch", "CronJob") => CRON_JOB,
        ("coordination.k8s.io", "Lease") => LEASE,
        ("apiextensions.k8s.io", "CustomResourceDefinition") => DEFINITION,
        ("sexton.dev", "Class") => CLASS,
        ("sexton.dev", "Collection") => COLLECTION,
        ("sexton.dev", "Environment") => ENVIRONMENT,
        ("sexton.dev", "Module") => MODULE,
        ("sexton.dev", "Rule") => RULE,
        ("sexton.dev", "Tombstone") => TOMBSTONE,
        _ => GENERIC,
    }
}

impl Column {
    pub(super) fn definition(&self) -> Value {
        let kind = match self.cell {
            Cell::Number(_) | Cell::Wanted(_) | Cell::Count(_) => "integer",
            _ => "string",
        };
        let format = if matches!(self.cell, Cell::Name) { "name" } else { "" };
        json!({"name": self.name, "type": kind, "format": format, "description": "", "priority": self.priority})
    }

    pub(super) fn cell(&self, document: &Document, now: i64) -> Value {
        let since =
            |text: &str| time::parse(text).map_or("<unknown>".to_owned(), |then| time::age(now - then));
        let created = || document.field_text("metadata.creationTimestamp").unwrap_or_default();
        match self.cell {
            Cell::Name => document.name().into(),
            Cell::Age => since(&created()).into(),
            Cell::Created => created().into(),
            Cell::Phase(..) if document.is_terminating() => "Terminating".into(),
            Cell::Text(path, default) | Cell::Phase(path, default) => {
                document.field_text(path).unwrap_or_else(|| default.to_owned()).into()
            }
            Cell::Number(path) => number(document, path, 0).into(),
            Cell::Wanted(path) => number(document, path, 1).into(),
            Cell::Count(paths) => paths.iter().map(|path| entries(document, path)).sum::<usize>().into(),
            Cell::Ratio(ready, wanted) => {
                format!("{}/{}", number(document, ready, 0), number(document, wanted, 1)).into()
            }
            Cell::Since(path) => {
                document.field_text(path).map_or_else(|| since(&created()), |at| since(&at)).into()
            }
            Cell::SinceIfAny(path) => document.field_text(path).map_or(String::new(), |at| since(&at)).into(),
            Cell::Involved => involved(document).into(),
            Cell::Ports => ports(document).into(),
            Cell::Kind(path) => kind_at(document, path).into(),
            Cell::Method(path) => method(document, path).into(),
        }
    }
}

fn number(document: &Document, path: &str, unsaid: i64) -> i64 {
    document.field_text(path).and_then(|text| text.parse().ok()).unwrap_or(unsaid)
}

fn value<'a>(document: &'a Document, path: &str) -> Option<&'a Value> {
    document.value().pointer(&format!("/{}", path.replace('.', "/")))
}

fn entries(document: &Document, path: &str) -> usize {
    match value(document, path) {
        Some(Value::Object(map)) => map.len(),
        Some(Value::Array(list)) => list.len(),
        _ => 0,
    }
}

fn kind_at(document: &Document, path: &str) -> String {
    let part = |field: &str| document.field_text(&format!("{path}.{field}")).unwrap_or_default();
    let (kind, group) = (part("kind"), part("group"));
    if group.is_empty() { kind } else { format!("{kind}.{group}") }
}

fn method(document: &Document, path: &str) -> &'static str {
    let known = |word: &str| value(document, path).is_some_and(|method| method.get(word).is_some());
    ["exec", "http", "lua"].into_iter().find(|word| known(word)).unwrap_or("-")
}

fn involved(document: &Document) -> String {
    let part = |field: &str| document.field_text(&format!("involvedObject.{field}")).unwrap_or_default();
    format!("{}/{}", part("kind").to_lowercase(), part("name"))
}

fn ports(document: &Document) -> String {
    let ports = document.value().pointer("/spec/ports").and_then(Value::as_array);
    let shown = ports.into_iter().flatten().map(|port| {
        let number = port["port"].as_i64().unwrap_or(0);
        format!("{number}/{}", port["protocol"].as_str().unwrap_or("TCP"))
    });
    let shown: Vec<String> = shown.collect();
    if shown.is_empty() { "<none>".to_owned() } else { shown.join(",") }
}
