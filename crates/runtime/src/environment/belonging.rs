//! Which resources of a namespace are objects of its environment: those that a run made, and what these refer to. A
//! resource of the same kind that others made there is not the environment's: it is never destroyed by a run.

use std::collections::{HashMap, HashSet};

use serde_json::Value;
use sexton_client::resources::text;
use sexton_model::environment::{EnvironmentStatus, OBJECT_ID, OBJECT_UID, references};

use crate::stored::annotation;

/// The resources of a namespace, told apart.
#[derive(Debug, Default)]
pub(super) struct Belonging {
    /// Objects of the environment.
    pub(super) own: Vec<Value>,
    /// Resources that others made.
    pub(super) foreign: Vec<Value>,
}

/// Tells resources apart. The root of the environment and what a run had begun to destroy are its own in any case. What
/// an own object refers to is own as well: its author gave it to the environment.
pub(super) fn tell_apart(resources: Vec<Value>, status: &EnvironmentStatus) -> Belonging {
    let places: HashMap<&str, usize> =
        resources.iter().enumerate().map(|(at, one)| (text(one, "/metadata/uid"), at)).collect();
    let begun: HashSet<&str> = status.destroying.iter().map(String::as_str).collect();
    let made = |resource: &Value| {
        let uid = text(resource, "/metadata/uid");
        let id = annotation(resource, OBJECT_ID).unwrap_or(uid);
        annotation(resource, OBJECT_UID) == Some(uid) || id == status.root || begun.contains(uid)
    };
    let mut own: Vec<bool> = resources.iter().map(made).collect();
    let mut open: Vec<usize> = own.iter().enumerate().filter(|(_, own)| **own).map(|(at, _)| at).collect();
    while let Some(at) = open.pop() {
        for reference in references(&resources[at]["spec"]) {
            if let Some(next) = places.get(reference.uid.as_str()).filter(|next| !own[**next]) {
                own[*next] = true;
                open.push(*next);
            }
        }
    }
    drop(places);
    let mut belonging = Belonging::default();
    for (resource, own) in resources.into_iter().zip(own) {
        if own { belonging.own.push(resource) } else { belonging.foreign.push(resource) }
    }
    belonging
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn resource(name: &str, made: bool, refers: Option<&str>) -> Value {
        let uid = format!("u-{name}");
        let mut resource = json!({"kind": "Vm", "metadata": {"name": name, "uid": uid}, "spec": {}});
        if made {
            resource["metadata"]["annotations"][OBJECT_UID] = json!(uid);
        }
        if let Some(to) = refers {
            resource["spec"]["to"] = json!({"$ref": {"kind": "Vm", "name": to, "uid": format!("u-{to}")}});
        }
        resource
    }

    /// A copy says under which uid its original was made, and a stranger says nothing; what an own object refers to is
    /// own, what refers to one is not.
    #[test]
    fn copies_and_strangers_are_foreign() {
        let mut copy = resource("copy", false, None);
        copy["metadata"]["annotations"][OBJECT_UID] = json!("u-made");
        let all = vec![
            resource("root", false, Some("given")),
            resource("made", true, None),
            copy,
            resource("given", false, Some("deep")),
            resource("deep", false, None),
            resource("stranger", false, Some("made")),
            resource("begun", false, None),
        ];
        let status = EnvironmentStatus {
            root: "u-root".into(),
            destroying: vec!["u-begun".into()],
            ..EnvironmentStatus::default()
        };
        let told = tell_apart(all, &status);
        let names = |some: &[Value]| -> Vec<String> {
            some.iter().map(|one| text(one, "/metadata/name").to_owned()).collect()
        };
        assert_eq!(names(&told.own), ["root", "made", "given", "deep", "begun"]);
        assert_eq!(names(&told.foreign), ["copy", "stranger"]);
    }
}
