//! One operation: what it is called, what it takes and what it answers.

use serde_json::{Map, Value, json};

use super::{components, parameters};
use crate::kinds::Kind;

/// What is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Action {
    List,
    ListEverywhere,
    Create,
    DeleteMany,
    Read,
    Replace,
    Patch,
    Delete,
}

/// To which part of an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Subject {
    Object,
    Status,
    Scale,
    Finalize,
}

impl Action {
    pub(super) fn method(self) -> &'static str {
        match self {
            Action::List | Action::ListEverywhere | Action::Read => "get",
            Action::Create => "post",
            Action::Replace => "put",
            Action::Patch => "patch",
            Action::Delete | Action::DeleteMany => "delete",
        }
    }

    /// The word that Kubernetes has for it, by which tools find operations.
    fn word(self) -> &'static str {
        match self {
            Action::List | Action::ListEverywhere => "list",
            Action::Create => "post",
            Action::Replace => "put",
            Action::Read => "get",
            Action::Patch => "patch",
            Action::Delete => "delete",
            Action::DeleteMany => "deletecollection",
        }
    }

    /// How names of operations begin.
    fn verb(self) -> &'static str {
        match self {
            Action::List | Action::ListEverywhere => "list",
            Action::Create => "create",
            Action::Replace => "replace",
            Action::Read => "read",
            Action::Patch => "patch",
            Action::Delete => "delete",
            Action::DeleteMany => "deleteCollection",
        }
    }
}

const META: &str = "io.k8s.apimachinery.pkg.apis.meta.v1";

/// An operation on a kind.
pub(super) fn operation(kind: &Kind, action: Action, subject: Subject) -> Value {
    let mut operation = json!({
        "tags": [format!("{}_{}", lower_first(&group_word(kind)), kind.version)],
        "description": description(kind, action, subject),
        "operationId": operation_id(kind, action, subject),
        "parameters": parameters::of(action.word()),
        "responses": responses(kind, action, subject),
        "x-kubernetes-action": action.word(),
        "x-kubernetes-group-version-kind": match subject {
            Subject::Scale => json!({"group": "autoscaling", "version": "v1", "kind": "Scale"}),
            _ => components::identity(kind),
        },
    });
    if let Some(body) = body(kind, action, subject) {
        operation["requestBody"] = body;
    }
    operation
}

fn description(kind: &Kind, action: Action, subject: Subject) -> String {
    let part = match subject {
        Subject::Object => "",
        Subject::Status => "the status of ",
        Subject::Scale => "the scale of ",
        Subject::Finalize => "the finalizers of ",
    };
    let what = &kind.kind;
    match action {
        Action::List | Action::ListEverywhere => format!("list or watch objects of kind {what}"),
        Action::Create => format!("create a {what}"),
        Action::DeleteMany => format!("delete a collection of {what}"),
        Action::Read => format!("read {part}the specified {what}"),
        Action::Replace => format!("replace {part}the specified {what}"),
        Action::Patch => format!("partially update {part}the specified {what}"),
        Action::Delete => format!("delete a {what}"),
    }
}

/// Unique in a document: generators make function names of it.
fn operation_id(kind: &Kind, action: Action, subject: Subject) -> String {
    let group = group_word(kind);
    let version = upper_first(&kind.version);
    let collection = if action == Action::DeleteMany { "Collection" } else { "" };
    let verb = action.verb().trim_end_matches("Collection");
    let inside = if kind.namespaced && action != Action::ListEverywhere { "Namespaced" } else { "" };
    let end = match (action, subject) {
        (Action::ListEverywhere, _) => "ForAllNamespaces",
        (_, Subject::Object) => "",
        (_, Subject::Status) => "Status",
        (_, Subject::Scale) => "Scale",
        (_, Subject::Finalize) => "Finalize",
    };
    format!("{verb}{group}{version}{collection}{inside}{}{end}", kind.kind)
}

/// A group as one word: `Core`, `Apps`, `ExampleCom`.
fn group_word(kind: &Kind) -> String {
    match kind.resource.group.as_str() {
        "" => "Core".to_owned(),
        group => {
            let short = group.strip_suffix(".k8s.io").unwrap_or(group);
            short.split(['.', '-']).map(upper_first).collect()
        }
    }
}

fn upper_first(word: &str) -> String {
    let mut letters = word.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}

fn lower_first(word: &str) -> String {
    let mut letters = word.chars();
    letters.next().map_or(String::new(), |first| first.to_lowercase().chain(letters).collect())
}

fn in_media(types: &[&str], component: &str) -> Value {
    let media =
        types.iter().map(|kind| ((*kind).to_owned(), json!({"schema": components::reference(component)})));
    Value::Object(media.collect::<Map<String, Value>>())
}

fn subject_component(kind: &Kind, subject: Subject) -> String {
    match subject {
        Subject::Scale => components::SCALE.to_owned(),
        _ => components::name(kind),
    }
}

fn body(kind: &Kind, action: Action, subject: Subject) -> Option<Value> {
    const JSON: &[&str] = &["application/json", "application/yaml"];
    let content = match action {
        Action::Create | Action::Replace => in_media(JSON, &subject_component(kind, subject)),
        Action::Patch => in_media(patches(kind, subject), &format!("{META}.Patch")),
        Action::Delete | Action::DeleteMany => {
            return Some(json!({"content": in_media(JSON, &format!("{META}.DeleteOptions"))}));
        }
        Action::List | Action::ListEverywhere | Action::Read => return None,
    };
    Some(json!({"content": content, "required": true}))
}

/// kubectl computes strategic merge patches from the schema of kinds that take them.
fn patches(kind: &Kind, subject: Subject) -> &'static [&'static str] {
    const PLAIN: [&str; 4] = [
        "application/json-patch+json",
        "application/merge-patch+json",
        "application/apply-patch+yaml",
        "application/strategic-merge-patch+json",
    ];
    match (subject, components::is_of_kubernetes(kind)) {
        (Subject::Scale, _) => &PLAIN[..2],
        (_, false) => &PLAIN[..3],
        (_, true) => &PLAIN,
    }
}

fn responses(kind: &Kind, action: Action, subject: Subject) -> Value {
    let object = subject_component(kind, subject);
    let status = format!("{META}.Status");
    let answer = |description: &str, component: &str| json!({"description": description, "content": in_media(&["application/json"], component)});
    match action {
        Action::List | Action::ListEverywhere => json!({"200": answer("OK", &components::list_name(kind))}),
        Action::Read => json!({"200": answer("OK", &object)}),
        Action::Replace => json!({"200": answer("OK", &object)}),
        Action::Patch => json!({"200": answer("OK", &object), "201": answer("Created", &object)}),
        Action::Create => json!({"201": answer("Created", &object)}),
        Action::Delete => json!({"200": answer("OK", &status), "202": answer("Accepted", &status)}),
        Action::DeleteMany => json!({"200": answer("OK", &components::list_name(kind))}),
    }
}
