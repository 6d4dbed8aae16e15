//! Which fields of a document a write may own at all.
//!
//! Identity and bookkeeping fields are never owned; `status` belongs to writes of its subresource.
//! It must not know sets or diffs.

use super::schema::Schema;

/// Fields at the root that no manager owns.
const ROOT: [&str; 2] = ["apiVersion", "kind"];

/// Fields of `metadata` that no manager owns.
const METADATA: [&str; 11] = [
    "clusterName",
    "creationTimestamp",
    "deletionGracePeriodSeconds",
    "deletionTimestamp",
    "generation",
    "managedFields",
    "name",
    "namespace",
    "resourceVersion",
    "selfLink",
    "uid",
];

/// What one write may own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scope {
    /// Everything that can be owned.
    All,
    /// Everything but `status`.
    NoStatus,
    /// Only `status`.
    StatusOnly,
}

impl Scope {
    /// The scope of a write through `subresource` (empty: the object itself).
    pub(super) fn of(subresource: &str, schema: &Schema) -> Self {
        match subresource {
            "status" => Self::StatusOnly,
            _ if schema.has_status() => Self::NoStatus,
            _ => Self::All,
        }
    }

    /// Whether a root field (other than `metadata`, which is looked into) may be owned.
    pub(super) fn owns_root(self, name: &str) -> bool {
        match self {
            Self::StatusOnly => name == "status",
            Self::NoStatus => name != "status" && !ROOT.contains(&name),
            Self::All => !ROOT.contains(&name),
        }
    }

    /// Whether a field of `metadata` may be owned.
    pub(super) fn owns_metadata(self, name: &str) -> bool {
        self != Self::StatusOnly && !METADATA.contains(&name)
    }
}
