//! What is seen of one object: its metadata as far as lives, references and marks are concerned.

use std::sync::Arc;

use sexton_model::accusation::Accusation;
use sexton_model::feed::{FeedObject, Metadata, OwnerReference};
use sexton_model::subscription::{self, Declared, Subscription};
use sexton_model::{GroupResource, Key, Revision, Uid, marks, time};

use super::life::Accused;

/// One object as it was seen at one revision.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Observation {
    /// The slot.
    pub key: Key,
    /// The kind's name.
    pub kind: String,
    /// The version in which it was seen.
    pub version: String,
    /// The life.
    pub uid: Uid,
    /// The revision of its last change.
    pub revision: Revision,
    /// How often its desired state changed.
    pub generation: i64,
    /// Since when it exists, in seconds since 1970.
    pub created: i64,
    /// Since when it is marked.
    pub deleted: Option<i64>,
    /// What holds it once it is marked.
    pub finalizers: Vec<String>,
    /// Whom it names as its owners.
    pub owners: Vec<OwnerRef>,
    /// What it wants to be told of, and to outlive.
    pub subscriptions: Vec<Subscription>,
    /// "true" or the reason why it must not be destroyed.
    pub protect: Option<String>,
    /// The journal of its destruction, as it is written.
    pub journal: Option<String>,
    /// Who asked for the deletion from which its own follows.
    pub deleted_by: Option<String>,
    /// The digest of the plan in which it was approved.
    pub approved: Option<String>,
    /// The collection in which it ends.
    pub collection: Option<String>,
    /// Whether it was destroyed and is only there to be read.
    pub destroyed: bool,
    /// Where it stands in its module.
    pub order: Option<i64>,
    /// Whose it is.
    pub manager: Option<String>,
    /// What could not be understood of it.
    pub note: Option<String>,
    /// What somebody wants of the collector about it, as it is written.
    pub request: Option<String>,
    /// That somebody who looked for garbage says that it is some, if that holds for it as it is.
    pub accusation: Option<Arc<Accused>>,
}

/// A reference to an owner, as it is written.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct OwnerRef {
    /// Empty for the core group.
    pub group: String,
    /// The version; it does not matter to whom the reference leads.
    pub version: String,
    /// The kind's name.
    pub kind: String,
    /// The owner's name.
    pub name: String,
    /// The owner's life.
    pub uid: Uid,
    /// Whether it manages the object.
    pub controller: bool,
    /// Whether the object holds a foreground deletion of the owner.
    pub blocks: bool,
}

/// Why something is no observation.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotObservable {
    /// Nothing can be said about something without identity.
    #[error("{0} has no uid")]
    NoUid(Key),
    /// Without a name there is no slot.
    #[error("an object of {0} has no name")]
    NoName(GroupResource),
    /// Events could not be ordered.
    #[error("{0} has the resource version {1:?}")]
    Revision(Key, String),
}

impl Observation {
    /// An object that nothing is said about but which one it is.
    pub fn new(key: Key, kind: &str, version: &str, uid: Uid, revision: Revision) -> Observation {
        Observation {
            key,
            kind: kind.to_owned(),
            version: version.to_owned(),
            uid,
            revision,
            generation: 0,
            created: 0,
            deleted: None,
            finalizers: Vec::new(),
            owners: Vec::new(),
            subscriptions: Vec::new(),
            protect: None,
            journal: None,
            deleted_by: None,
            approved: None,
            collection: None,
            destroyed: false,
            order: None,
            manager: None,
            note: None,
            request: None,
            accusation: None,
        }
    }

    /// From a line of the feed. Subscriptions that cannot be read are none, and noted.
    ///
    /// # Errors
    /// If the object has no name, no uid, or no revision.
    pub fn from_partial(line: &FeedObject) -> Result<Observation, NotObservable> {
        let (metadata, partial) = (&line.object.metadata, &line.object);
        let (group, version) = group_version(&partial.api_version);
        let kind = GroupResource::new(group, line.resource.as_str());
        if metadata.name.is_empty() {
            return Err(NotObservable::NoName(kind));
        }
        let key = Key { kind, namespace: metadata.namespace.clone(), name: metadata.name.clone() };
        if metadata.uid.is_empty() {
            return Err(NotObservable::NoUid(key));
        }
        let Ok(revision) = metadata.resource_version.parse() else {
            return Err(NotObservable::Revision(key, metadata.resource_version.clone()));
        };
        let seconds =
            |text: &Option<String>| text.as_deref().map(|text| time::parse(text).unwrap_or_default());
        let annotation = |name: &str| metadata.annotations.get(name).cloned();
        let Declared { subscriptions, unreadable } =
            subscription::declared(|name| metadata.annotations.get(name).map(String::as_str));
        let note = unreadable.first().map(|(name, error)| format!("{name} is ignored: {error}"));
        Ok(Observation {
            generation: metadata.generation,
            created: seconds(&metadata.creation_timestamp).unwrap_or_default(),
            deleted: seconds(&metadata.deletion_timestamp),
            finalizers: metadata.finalizers.clone(),
            owners: metadata.owner_references.iter().map(OwnerRef::from).collect(),
            subscriptions,
            protect: annotation(marks::PROTECT).filter(|value| !value.is_empty() && value != "false"),
            journal: annotation(marks::JOURNAL),
            deleted_by: annotation(marks::DELETED_BY),
            approved: annotation(marks::APPROVED),
            collection: annotation(marks::COLLECTION),
            destroyed: annotation(marks::DESTROYED).is_some_and(|value| value == "true"),
            order: annotation(marks::DEPENDENCY_ORDER).and_then(|value| value.parse().ok()),
            manager: metadata.labels.get(marks::MANAGER).cloned(),
            note,
            request: annotation(marks::REQUEST),
            accusation: accusation(metadata),
            ..Observation::new(key, &partial.kind, version, Uid(metadata.uid.clone()), revision)
        })
    }
}

impl From<&OwnerReference> for OwnerRef {
    fn from(written: &OwnerReference) -> OwnerRef {
        let (group, version) = group_version(&written.api_version);
        OwnerRef {
            group: group.to_owned(),
            version: version.to_owned(),
            kind: written.kind.clone(),
            name: written.name.clone(),
            uid: Uid(written.uid.clone()),
            controller: written.controller,
            blocks: written.block_owner_deletion,
        }
    }
}

/// The accusation on an object, unless it is about something else than the object is now. What is marked is beyond that.
fn accusation(metadata: &Metadata) -> Option<Arc<Accused>> {
    let text = metadata.annotations.get(marks::ACCUSED)?;
    let said = Accusation::decode(text).ok()?;
    let deployment =
        marks::deployment_id(|name| metadata.labels.get(name), |name| metadata.annotations.get(name));
    let owners = metadata.owner_references.iter().map(|owner| owner.uid.as_str());
    let holds = metadata.deletion_timestamp.is_some()
        || said.holds_for(&metadata.uid, deployment.map(String::as_str), owners);
    holds.then(|| Arc::new(Accused { text: text.clone(), said }))
}

fn group_version(api_version: &str) -> (&str, &str) {
    api_version.split_once('/').unwrap_or(("", api_version))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(json: serde_json::Value) -> FeedObject {
        serde_json::from_value(json).unwrap()
    }

    /// REQ-KRK-4, REQ-KRK-61: the owners are those that the metadata of the object itself names.
    #[test]
    fn lines_of_the_feed_become_observations() {
        let seen = Observation::from_partial(&line(serde_json::json!({
            "resource": "vms",
            "object": {"apiVersion": "example.com/v1", "kind": "Vm", "metadata": {
                "name": "web", "namespace": "a", "uid": "u1", "resourceVersion": "7",
                "creationTimestamp": "1970-01-01T00:00:09Z", "deletionTimestamp": "1970-01-01T00:01:00Z",
                "finalizers": ["cascade_deletion"], "labels": {"sexton.dev/manager": "shop"},
                "annotations": {"sexton.dev/protect": "billing", "sexton.dev/dependency-order": "3",
                    "sexton.dev/destruction-dependencies": "- Disk/root", "sexton.dev/destroyed": "true"},
                "ownerReferences": [{"apiVersion": "v1", "kind": "App", "name": "shop", "uid": "u2",
                    "blockOwnerDeletion": true}]}}})))
        .unwrap();
        assert_eq!(seen.key.to_string(), "vms.example.com/a/web");
        assert_eq!((seen.created, seen.deleted, seen.revision.get()), (9, Some(60), 7));
        assert_eq!((seen.order, seen.manager.as_deref(), seen.destroyed), (Some(3), Some("shop"), true));
        assert_eq!((seen.protect.as_deref(), seen.subscriptions.len()), (Some("billing"), 1));
        assert_eq!((seen.owners[0].group.as_str(), seen.owners[0].blocks), ("", true));
        assert_eq!(seen.note, None);
    }

    #[test]
    fn what_cannot_be_read_is_noted_or_refused() {
        let partial = |metadata: serde_json::Value| {
            let object = serde_json::json!({"apiVersion": "v1", "kind": "Vm", "metadata": metadata});
            Observation::from_partial(&line(serde_json::json!({"resource": "vms", "object": object})))
        };
        let noted = partial(serde_json::json!({"name": "a", "uid": "u", "resourceVersion": "1",
            "annotations": {"sexton.dev/destruction-dependencies": "[", "sexton.dev/protect": "false"}}));
        let noted = noted.unwrap();
        assert!(noted.note.unwrap().starts_with("sexton.dev/destruction-dependencies is ignored"));
        assert_eq!((noted.subscriptions.len(), noted.protect), (0, None));
        assert!(partial(serde_json::json!({"name": "a", "uid": "u", "resourceVersion": "x"})).is_err());
        assert!(partial(serde_json::json!({"name": "a", "resourceVersion": "1"})).is_err());
        assert!(partial(serde_json::json!({"uid": "u", "resourceVersion": "1"})).is_err());
    }
}
