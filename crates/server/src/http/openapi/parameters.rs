//! What can be said in the query of a request. Only what is understood here is offered.

use serde_json::{Value, json};

/// Name, type, what it is for.
type Row = (&'static str, &'static str, &'static str);

const DRY_RUN: Row = ("dryRun", "string", "`All`: everything is checked and nothing is stored.");
const MANAGER: Row =
    ("fieldManager", "string", "Who is recorded as the manager of the fields that are written.");
const VALIDATION: Row = (
    "fieldValidation",
    "string",
    "What is done about fields that are not known or come twice: `Ignore`, `Warn` or `Strict`.",
);
const FORCE: Row = ("force", "boolean", "For apply patches: take over fields that somebody else manages.");
const VERSION: Row = ("resourceVersion", "string", "The version that is meant at least, or exactly.");
const PRETTY: Row = ("pretty", "string", "Accepted and passed over.");

const READ: &[Row] = &[VERSION];
const LIST: &[Row] = &[
    ("allowWatchBookmarks", "boolean", "Whether a watch may tell how far it is although nothing happened."),
    ("continue", "string", "Where the page before this one ended."),
    ("fieldSelector", "string", "Only objects with these values of fields."),
    ("labelSelector", "string", "Only objects with these labels."),
    ("limit", "integer", "At most as many at once."),
    VERSION,
    ("resourceVersionMatch", "string", "`NotOlderThan` or `Exact`."),
    ("sendInitialEvents", "boolean", "Whether a watch begins with everything that is there."),
    ("timeoutSeconds", "integer", "How long a watch lasts."),
    ("watch", "boolean", "Tell what happens from now on instead of what is there."),
];
const WRITE: &[Row] = &[DRY_RUN, MANAGER, VALIDATION];
const PATCH: &[Row] = &[DRY_RUN, MANAGER, VALIDATION, FORCE];
const DELETE: &[Row] = &[
    DRY_RUN,
    ("gracePeriodSeconds", "integer", "Accepted and passed over: nothing runs that would need time."),
    ("orphanDependents", "boolean", "An old word for a policy."),
    (
        "propagationPolicy",
        "string",
        "`Orphan`, `Background`, `Foreground` or `Cascade`: what becomes of dependents.",
    ),
];

/// The parameters of an action.
pub(super) fn of(action: &str) -> Vec<Value> {
    let rows: Vec<Row> = match action {
        "get" => READ.to_vec(),
        "list" => LIST.to_vec(),
        "post" | "put" => WRITE.to_vec(),
        "patch" => PATCH.to_vec(),
        "delete" => DELETE.to_vec(),
        _ => [LIST, DELETE].concat(),
    };
    rows.iter().map(parameter).collect()
}

fn parameter((name, kind, description): &Row) -> Value {
    json!({
        "name": name, "in": "query", "description": description,
        "schema": {"type": kind, "uniqueItems": true},
    })
}

/// What stands in every path: the namespace, the name, and a wish for how it looks.
pub(super) fn of_path(namespaced: bool, named: Option<&str>) -> Value {
    let place = |name: &str, description: String| {
        json!({
            "name": name, "in": "path", "required": true, "description": description,
            "schema": {"type": "string", "uniqueItems": true},
        })
    };
    let mut all = Vec::new();
    all.extend(named.map(|kind| place("name", format!("The name of the {kind}."))));
    all.extend(namespaced.then(|| place("namespace", "The namespace in which it lives.".to_owned())));
    all.push(parameter(&PRETTY));
    all.into()
}
