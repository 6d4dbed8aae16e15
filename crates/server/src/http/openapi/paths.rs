//! Under which paths a kind is found, and what can be done there.

use serde_json::{Map, Value, json};

use super::operations::{Action, Subject, operation};
use super::parameters;
use crate::kinds::{Kind, Special};

/// Adds all paths of a kind.
pub(super) fn add(kind: &Kind, paths: &mut Map<String, Value>) {
    let root = match kind.resource.group.as_str() {
        "" => format!("/api/{}", kind.version),
        group => format!("/apis/{group}/{}", kind.version),
    };
    let plural = &kind.resource.resource;
    if kind.namespaced {
        let everywhere = one(kind, &[Action::ListEverywhere], Subject::Object, (false, None));
        paths.insert(format!("{root}/{plural}"), everywhere);
    }
    let place = match kind.namespaced {
        true => format!("{root}/namespaces/{{namespace}}/{plural}"),
        false => format!("{root}/{plural}"),
    };
    let inside = kind.namespaced;
    let many: &[Action] = match kind.special {
        Special::Namespace => &[Action::List, Action::Create],
        _ => &[Action::List, Action::Create, Action::DeleteMany],
    };
    paths.insert(place.clone(), one(kind, many, Subject::Object, (inside, None)));
    let single = [Action::Read, Action::Replace, Action::Patch, Action::Delete];
    let name = Some(kind.kind.as_str());
    paths.insert(format!("{place}/{{name}}"), one(kind, &single, Subject::Object, (inside, name)));
    let part = [Action::Read, Action::Replace, Action::Patch];
    if kind.status {
        paths.insert(format!("{place}/{{name}}/status"), one(kind, &part, Subject::Status, (inside, name)));
    }
    if kind.offer.scale.is_some() {
        paths.insert(format!("{place}/{{name}}/scale"), one(kind, &part, Subject::Scale, (inside, name)));
    }
    if kind.special == Special::Namespace {
        let finalize = one(kind, &[Action::Replace], Subject::Finalize, (inside, name));
        paths.insert(format!("{place}/{{name}}/finalize"), finalize);
    }
}

fn one(kind: &Kind, actions: &[Action], subject: Subject, (inside, name): (bool, Option<&str>)) -> Value {
    let mut path = Map::new();
    for action in actions {
        path.insert(action.method().to_owned(), operation(kind, *action, subject));
    }
    path.insert("parameters".into(), json!(parameters::of_path(inside, name)));
    path.into()
}
