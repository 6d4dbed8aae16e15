//! One feed of metadata over all kinds, in the order of revisions. The wire form of its lines.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::Status;

/// One line.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "UPPERCASE", rename_all_fields = "camelCase")]
pub enum Line {
    /// All kinds that there are. The first line, and again whenever that changes.
    Kinds {
        /// Every version of each.
        kinds: Vec<FeedKind>,
    },
    /// An object that is there at the beginning, or came into being.
    Added(FeedObject),
    /// An object that changed.
    Modified(FeedObject),
    /// An object that is gone, as it was last.
    Deleted(FeedObject),
    /// Everything that was there at this revision has been told.
    Synced {
        /// The revision.
        resource_version: String,
    },
    /// Nothing else happened up to this revision.
    Bookmark {
        /// The revision.
        resource_version: String,
    },
    /// The end, and why.
    Error {
        /// What went wrong.
        object: Box<Status>,
    },
}

/// A kind in one version.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct FeedKind {
    /// Empty for the core group.
    pub group: String,
    /// The version.
    pub version: String,
    /// The plural.
    pub resource: String,
    /// The kind's name.
    pub kind: String,
    /// Whether objects live in namespaces.
    pub namespaced: bool,
    /// Whether requests for it are answered.
    #[serde(default = "yes")]
    pub served: bool,
    /// Why its objects are not all known at the moment. Nothing may be concluded from one that was not told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub broken: Option<String>,
}

fn yes() -> bool {
    true
}

/// An object's metadata, and what kind it is of.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct FeedObject {
    /// The plural.
    pub resource: String,
    /// Kind and metadata.
    pub object: Partial,
    /// Who asked for the removal, if that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
}

/// Kind and metadata of an object.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Partial {
    /// Group and version.
    pub api_version: String,
    /// The kind's name.
    pub kind: String,
    /// The metadata.
    pub metadata: Metadata,
}

/// Metadata as far as lives, references and marks are concerned.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Metadata {
    /// Unique in its kind and namespace.
    pub name: String,
    /// Empty for cluster-scoped kinds.
    pub namespace: String,
    /// The life.
    pub uid: String,
    /// The revision of the last change.
    pub resource_version: String,
    /// How often the desired state changed.
    pub generation: i64,
    /// RFC 3339.
    pub creation_timestamp: Option<String>,
    /// RFC 3339; set once marked.
    pub deletion_timestamp: Option<String>,
    /// What holds it once marked.
    pub finalizers: Vec<String>,
    /// Labels.
    pub labels: BTreeMap<String, String>,
    /// Annotations.
    pub annotations: BTreeMap<String, String>,
    /// The owners.
    pub owner_references: Vec<OwnerReference>,
}

/// A reference to an owner.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct OwnerReference {
    /// Group and version of the owner.
    pub api_version: String,
    /// Its kind.
    pub kind: String,
    /// Its name.
    pub name: String,
    /// Its life.
    pub uid: String,
    /// Whether it manages the object.
    pub controller: bool,
    /// Whether the object holds a foreground deletion of the owner.
    pub block_owner_deletion: bool,
}
