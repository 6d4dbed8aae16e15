//! The kinds of lines in a stream for programs. docs/output.md has a row for each; a test compares.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::{Map, Value};
use sexton_lifecycle::rules::Verdict;

use crate::output::graph::{Edge, Node};
use crate::output::why::Command;

/// A line. Names of objects stand in `label`, as they can be typed again.
#[derive(Serialize)]
#[serde(tag = "kind", rename_all_fields = "camelCase")]
pub(crate) enum Event<'a> {
    Header {
        version: u32,
        sexton: &'a str,
        #[serde(skip_serializing_if = "str::is_empty")]
        command: &'a str,
        #[serde(skip_serializing_if = "str::is_empty")]
        target: &'a str,
    },
    Error {
        result: &'a str,
        message: &'a str,
        details: &'a [String],
        next: Vec<Next<'a>>,
    },
    Warning {
        about: &'a str,
        message: &'a str,
    },
    Result {
        exit: u8,
        result: &'a str,
        /// From the command to its end.
        seconds: f64,
        #[serde(flatten)]
        summary: Map<String, Value>,
    },
    Next(Next<'a>),
    Plan {
        target: &'a str,
        title: &'a str,
        preview: bool,
        digest: &'a str,
        destroy: usize,
        waves: usize,
        kept: usize,
        loses: usize,
        held: usize,
        unknown: usize,
        dropped: usize,
    },
    DeploymentPlan {
        target: &'a str,
        manager: &'a str,
        scope: &'a BTreeMap<String, String>,
        deployment_id: &'a str,
        preview: bool,
        digest: &'a str,
        puts: usize,
        destroy: usize,
        in_scope: usize,
        sweep: &'a str,
        #[serde(skip_serializing_if = "Option::is_none")]
        held: Option<String>,
    },
    Death {
        label: &'a str,
        #[serde(skip_serializing_if = "str::is_empty")]
        uid: &'a str,
        order: usize,
        reason: &'a str,
        #[serde(skip_serializing_if = "Option::is_none")]
        because: Option<&'a str>,
        #[serde(skip_serializing_if = "Option::is_none")]
        group: Option<usize>,
        marks: &'a [String],
    },
    Kept {
        label: &'a str,
        #[serde(skip_serializing_if = "str::is_empty")]
        uid: &'a str,
        why: &'a str,
    },
    Loses {
        label: &'a str,
        what: &'a str,
    },
    Held {
        label: &'a str,
        why: &'a str,
    },
    Unknown {
        label: &'a str,
        why: &'a str,
    },
    Dropped {
        what: &'a str,
    },
    Put {
        object: &'a str,
        origin: &'a str,
        order: i64,
        action: &'a str,
        changes: Vec<Change<'a>>,
        #[serde(skip_serializing_if = "Vec::is_empty")]
        conflicts: Vec<Conflict<'a>>,
    },
    Done {
        object: &'a str,
        action: &'a str,
        done: usize,
        of: usize,
    },
    Failed {
        object: &'a str,
        #[serde(skip_serializing_if = "str::is_empty")]
        origin: &'a str,
        why: &'a str,
    },
    Sealed {
        deployment_id: &'a str,
    },
    Renumbered {
        count: usize,
    },
    NotSwept {
        why: &'a str,
    },
    Gone {
        label: &'a str,
        uid: &'a str,
    },
    Left {
        label: &'a str,
        uid: &'a str,
    },
    Log {
        message: &'a str,
    },
    Verdict {
        verdict: Verdict,
        label: &'a str,
        namespace: &'a str,
        uid: &'a str,
        evidence: &'a str,
    },
    Trouble {
        message: &'a str,
    },
    Why {
        subject: &'a str,
        headline: &'a str,
        footer: &'a [String],
        #[serde(skip_serializing_if = "<[Command]>::is_empty")]
        commands: &'a [Command],
    },
    Line {
        depth: usize,
        text: &'a str,
        aside: &'a str,
        commands: &'a [Command],
    },
    Picture {
        title: &'a str,
        nodes: usize,
        edges: usize,
        more: usize,
    },
    Node {
        node: &'a Node,
    },
    Edge {
        edge: &'a Edge,
    },
    /// An object that was put, or a record that was asked for.
    Object {
        label: &'a str,
        #[serde(skip_serializing_if = "Option::is_none")]
        action: Option<&'a str>,
        object: &'a Value,
    },
    Change {
        #[serde(rename = "type")]
        change: &'a str,
        object: &'a Value,
    },
    Kind {
        name: &'a str,
        singular: &'a str,
        short_names: &'a [String],
        api_version: &'a str,
        namespaced: bool,
        #[serde(rename = "objectKind")]
        object_kind: &'a str,
        categories: &'a [String],
        verbs: &'a [String],
    },
    Module {
        spec: &'a Value,
        status: &'a Value,
        lease: Option<Value>,
    },
    Environment {
        name: &'a str,
        program: &'a str,
        status: &'a Value,
        /// What a model writes that is not completely stored.
        #[serde(skip_serializing_if = "Option::is_none")]
        pending: Option<Value>,
    },
    Unlocked {
        module: &'a str,
        holder: Option<&'a str>,
        since: Option<&'a str>,
    },
    Transferred {
        label: &'a str,
        from: Option<&'a str>,
        to: &'a str,
        changed: bool,
        preview: bool,
    },
    Protected {
        label: &'a str,
        /// `None`: it is protected no longer.
        reason: Option<&'a str>,
        changed: bool,
    },
    Subscribed {
        label: &'a str,
        target: &'a str,
        handler: Option<&'a str>,
        /// How many subscriptions there are now.
        count: u32,
        changed: bool,
    },
    Requested {
        label: &'a str,
        want: &'a str,
        blocker: Option<&'a str>,
        reason: Option<&'a str>,
    },
    Copied {
        file: &'a str,
        objects: usize,
        revision: u64,
        bytes: u64,
    },
    Version {
        sexton: &'a str,
    },
}

/// Something to type.
#[derive(Serialize)]
pub(crate) struct Next<'a> {
    /// For what.
    pub(crate) what: &'a str,
    pub(crate) command: String,
}

/// A field that a put changes.
#[derive(Serialize)]
pub(crate) struct Change<'a> {
    pub(crate) path: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) old: Option<&'a Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) new: Option<&'a Value>,
}

/// A field that another manager owns with another value.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Conflict<'a> {
    pub(crate) path: &'a str,
    pub(crate) manager: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) ours: Option<&'a Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) theirs: Option<&'a Value>,
    pub(crate) taken_over: bool,
}
