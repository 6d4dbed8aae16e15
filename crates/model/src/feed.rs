//! One feed of metadata over all kinds, in the order of revisions. The wire form of its lines.

use std::borrow::Cow;
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

/// A line about an object, as most are.
#[derive(Deserialize)]
struct About<'a> {
    #[serde(rename = "type", borrow)]
    what: Cow<'a, str>,
    resource: String,
    object: Partial,
    by: Option<String>,
}

impl Line {
    /// Reads a line. The same as deserializing it, without first taking it apart into generic pieces: there may be
    /// tens of thousands of them in a second.
    ///
    /// # Errors
    /// If it is not such a line.
    pub fn read(line: &[u8]) -> Result<Line, serde_json::Error> {
        let Ok(About { what, resource, object, by }) = serde_json::from_slice(line) else {
            return serde_json::from_slice(line);
        };
        let make = match &*what {
            "ADDED" => Line::Added,
            "MODIFIED" => Line::Modified,
            "DELETED" => Line::Deleted,
            _ => return serde_json::from_slice(line),
        };
        Ok(make(FeedObject { resource, object, by }))
    }
}

/// The plural and the kind that stand for all kinds of a group whose server does not answer.
pub const WHOLE_GROUP: &str = "*";

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
    /// Why not all of its objects are told, if so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub broken: Option<String>,
}

fn yes() -> bool {
    true
}

impl FeedKind {
    /// Whether a server that named these kinds may have this one: it is among them, or its group does not answer.
    pub fn may_be_among(kinds: &[FeedKind], group: &str, resource: &str) -> bool {
        let is_it = |kind: &FeedKind| {
            kind.group == group && (kind.resource == resource || kind.resource == WHOLE_GROUP)
        };
        kinds.iter().any(is_it)
    }
}

/// An object's metadata, and what kind it is of.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct FeedObject {
    /// The plural.
    pub resource: String,
    /// Kind and metadata.
    pub object: Partial,
    /// The requester of the removal, if that is known.
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

/// Metadata as far as identity, references and marks are concerned.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Metadata {
    /// Unique in its kind and namespace.
    pub name: String,
    /// Empty for cluster-scoped kinds.
    pub namespace: String,
    /// The uid.
    pub uid: String,
    /// The revision of the last change.
    pub resource_version: String,
    /// How often the desired state changed.
    pub generation: i64,
    /// RFC 3339.
    pub creation_timestamp: Option<String>,
    /// RFC 3339; set once terminating.
    pub deletion_timestamp: Option<String>,
    /// What holds it once terminating.
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
    /// Its uid.
    pub uid: String,
    /// Whether it manages the object.
    pub controller: bool,
    /// Whether the object holds a foreground deletion of the owner.
    pub block_owner_deletion: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_read_as_it_was_written() {
        let object = Partial {
            api_version: "v1".into(),
            kind: "ConfigMap".into(),
            metadata: Metadata { name: "a\"b".into(), uid: "u".into(), ..Metadata::default() },
        };
        let seen = FeedObject { resource: "configmaps".into(), object, by: Some("ada".into()) };
        let version = "7".to_owned();
        for line in [
            Line::Added(seen.clone()),
            Line::Modified(FeedObject { by: None, ..seen.clone() }),
            Line::Deleted(seen),
            Line::Synced { resource_version: version.clone() },
            Line::Bookmark { resource_version: version },
            Line::Kinds { kinds: Vec::new() },
        ] {
            let text = serde_json::to_vec(&line).unwrap();
            assert_eq!(Line::read(&text).unwrap(), line);
        }
        for bad in
            ["", "{}", "[]", r#"{"type":"ADDED"}"#, r#"{"type":"ADDED","object":7}"#, r#"{"type":"X"}"#]
        {
            assert!(Line::read(bad.as_bytes()).is_err(), "{bad}");
        }
    }
}
