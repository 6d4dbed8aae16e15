//! Where an object carries the id of the deployment that put it last.
//!
//! An unchanged apply writes the id of the new deployment and must have no other effect. Usually that is an
//! annotation. Kubernetes counts a changed annotation of a Deployment as a change of the Deployment: its `generation`
//! rises, and its annotations are copied to the ReplicaSet, from where `kubectl rollout undo` copies old ones back.
//! There it is a label, which does neither. Everything else keeps the annotation, because labels are copied as well:
//! those of a Service to its Endpoints. It must not know what the id is for.

use serde_json::{Value, json};
use sexton_client::{Kinds, ServedKind};
use sexton_model::marks;

/// Kinds of Kubernetes, as group and plural, with a `generation` that rises with each changed annotation.
const COUNTS_ANNOTATIONS: [(&str, &str); 1] = [("apps", "deployments")];

/// Where the id is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum DeploymentMark {
    Annotation,
    Label,
}

impl DeploymentMark {
    /// For objects of a kind on a server with these kinds.
    pub(super) fn of(kinds: &Kinds, kind: &ServedKind) -> DeploymentMark {
        let name = (kind.resource.group.as_str(), kind.resource.resource.as_str());
        match !kinds.bulk && COUNTS_ANNOTATIONS.contains(&name) {
            true => DeploymentMark::Label,
            false => DeploymentMark::Annotation,
        }
    }

    /// Writes the id, and takes off one that is written elsewhere.
    pub(super) fn set(self, object: &mut Value, deployment: &str) {
        let (here, elsewhere) = match self {
            DeploymentMark::Annotation => ("annotations", "labels"),
            DeploymentMark::Label => ("labels", "annotations"),
        };
        if let Some(map) = object["metadata"].get_mut(elsewhere).and_then(Value::as_object_mut) {
            map.remove(marks::DEPLOYMENT_ID);
        }
        set_mark(object, here, marks::DEPLOYMENT_ID, deployment);
    }
}

/// The id that an object carries, wherever it is written.
pub(super) fn read(object: &Value) -> Option<&str> {
    let mark = |map: &str, name: &str| object["metadata"].get(map)?.get(name)?.as_str();
    marks::deployment_id(|name| mark("labels", name), |name| mark("annotations", name))
}

/// Writes one mark into the labels or the annotations of an object.
pub(super) fn set_mark(object: &mut Value, map: &str, name: &str, mark: &str) {
    let marks = &mut object["metadata"][map];
    if !marks.is_object() {
        *marks = json!({});
    }
    marks[name] = mark.into();
}
