//! The metadata of one object, as far as the snapshot keeps it, and how it is read from a line of the feed.

use std::sync::Arc;

use sexton_model::accusation::Accusation;
use sexton_model::feed::{FeedObject, Metadata, OwnerReference};
use sexton_model::subscription::{self, Declared, Subscription};
use sexton_model::{GroupResource, Key, Revision, Uid, marks, time};

use super::node::CandidateRecord;

/// One object as it was seen at one revision.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Observation {
    /// Its key.
    pub key: Key,
    /// The kind's name.
    pub kind: String,
    /// The API version in which it was seen.
    pub version: String,
    /// Its uid.
    pub uid: Uid,
    /// The revision of its last change.
    pub revision: Revision,
    /// `metadata.generation`: how often its desired state changed.
    pub generation: i64,
    /// Its creation, in seconds since 1970.
    pub created: i64,
    /// Since when it is terminating: `deletionTimestamp`, in seconds since 1970.
    pub terminating_since: Option<i64>,
    /// Its finalizers: it exists until the last of them is removed.
    pub finalizers: Vec<String>,
    /// Its owner references.
    pub owners: Vec<OwnerRef>,
    /// Its subscriptions: the objects that are destroyed before it, with the handlers to be called.
    pub subscriptions: Vec<Subscription>,
    /// Set if it is protected: "true", or the reason.
    pub protect: Option<String>,
    /// The journal of its destruction, undecoded.
    pub journal: Option<String>,
    /// The requester of the deletion from which its own follows.
    pub requester: Option<String>,
    /// The digest of the plan with which its deletion was approved.
    pub approved: Option<String>,
    /// The collection that destroys it.
    pub collection: Option<String>,
    /// Whether it is destroyed, and kept only to be read.
    pub is_destroyed: bool,
    /// Its place in the order of its module.
    pub order: Option<i64>,
    /// The module that manages it.
    pub manager: Option<String>,
    /// What could not be parsed and is ignored.
    pub note: Option<String>,
    /// A request to the collector about it (retry, force), undecoded.
    pub request: Option<String>,
    /// The record that makes it a candidate, if that is about the object as it is now.
    pub candidate_record: Option<Arc<CandidateRecord>>,
}

/// A reference to an owner, as it is written.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct OwnerRef {
    /// Empty for the core group.
    pub group: String,
    /// The API version; does not matter for resolving the reference.
    pub version: String,
    /// The kind's name.
    pub kind: String,
    /// The owner's name.
    pub name: String,
    /// The owner's uid.
    pub uid: Uid,
    /// Whether the owner is the managing controller.
    pub is_controller: bool,
    /// `blockOwnerDeletion`: whether a foreground deletion of the owner waits for the object.
    pub is_blocking: bool,
}

/// Why an object of the feed cannot be kept in a snapshot.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotObservable {
    /// It has no uid.
    #[error("{0} has no uid")]
    NoUid(Key),
    /// It has no name.
    #[error("an object of {0} has no name")]
    NoName(GroupResource),
    /// Its resource version is not a number, so its events could not be ordered.
    #[error("{0} has the resource version {1:?}")]
    Revision(Key, String),
}

impl Observation {
    /// An observation with identity only, all other fields empty.
    pub fn new(key: Key, kind: &str, version: &str, uid: Uid, revision: Revision) -> Observation {
        Observation {
            key,
            kind: kind.to_owned(),
            version: version.to_owned(),
            uid,
            revision,
            generation: 0,
            created: 0,
            terminating_since: None,
            finalizers: Vec::new(),
            owners: Vec::new(),
            subscriptions: Vec::new(),
            protect: None,
            journal: None,
            requester: None,
            approved: None,
            collection: None,
            is_destroyed: false,
            order: None,
            manager: None,
            note: None,
            request: None,
            candidate_record: None,
        }
    }

    /// Reads a line of the feed. Subscriptions that cannot be parsed are ignored, and noted.
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
            terminating_since: seconds(&metadata.deletion_timestamp),
            finalizers: metadata.finalizers.clone(),
            owners: metadata.owner_references.iter().map(OwnerRef::from).collect(),
            subscriptions,
            protect: annotation(marks::PROTECT).filter(|value| !value.is_empty() && value != "false"),
            journal: annotation(marks::JOURNAL),
            requester: annotation(marks::DELETED_BY),
            approved: annotation(marks::APPROVED),
            collection: annotation(marks::COLLECTION),
            is_destroyed: annotation(marks::DESTROYED).is_some_and(|value| value == "true"),
            order: annotation(marks::DEPENDENCY_ORDER).and_then(|value| value.parse().ok()),
            manager: metadata.labels.get(marks::MANAGER).cloned(),
            note,
            request: annotation(marks::REQUEST),
            candidate_record: candidate_record(metadata),
            ..Observation::new(key, &partial.kind, version, Uid(metadata.uid.clone()), revision)
        })
    }
}

impl From<&OwnerReference> for OwnerRef {
    fn from(owner_ref: &OwnerReference) -> OwnerRef {
        let (group, version) = group_version(&owner_ref.api_version);
        OwnerRef {
            group: group.to_owned(),
            version: version.to_owned(),
            kind: owner_ref.kind.clone(),
            name: owner_ref.name.clone(),
            uid: Uid(owner_ref.uid.clone()),
            is_controller: owner_ref.controller,
            is_blocking: owner_ref.block_owner_deletion,
        }
    }
}

/// The candidate record of an object, unless the object has changed in a way that makes the record void. That of a
/// terminating object stays: it says why its deletion began.
fn candidate_record(metadata: &Metadata) -> Option<Arc<CandidateRecord>> {
    let text = metadata.annotations.get(marks::ACCUSED)?;
    let accusation = Accusation::decode(text).ok()?;
    let deployment =
        marks::deployment_id(|name| metadata.labels.get(name), |name| metadata.annotations.get(name));
    let owners = metadata.owner_references.iter().map(|owner| owner.uid.as_str());
    let exclusions = metadata.deletion_timestamp.is_some()
        || accusation.holds_for(&metadata.uid, deployment.map(String::as_str), owners);
    exclusions.then(|| Arc::new(CandidateRecord { text: text.clone(), accusation }))
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
        assert_eq!((seen.created, seen.terminating_since, seen.revision.get()), (9, Some(60), 7));
        assert_eq!((seen.order, seen.manager.as_deref(), seen.is_destroyed), (Some(3), Some("shop"), true));
        assert_eq!((seen.protect.as_deref(), seen.subscriptions.len()), (Some("billing"), 1));
        assert_eq!((seen.owners[0].group.as_str(), seen.owners[0].is_blocking), ("", true));
        assert_eq!(seen.note, None);
    }

    #[test]
    fn what_cannot_be_read_is_noted_or_refused() {
        let partial = |metadata: serde_json::Value| {
            let object_ref = serde_json::json!({"apiVersion": "v1", "kind": "Vm", "metadata": metadata});
            Observation::from_partial(&line(serde_json::json!({"resource": "vms", "object": object_ref})))
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
