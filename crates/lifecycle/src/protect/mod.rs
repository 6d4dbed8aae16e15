//! Protection of single objects, and the limit on how much may be deleted at once without a request.

mod deletion_limit;

use std::collections::BTreeSet;

use crate::snapshot::{NodeId, Snapshot};

pub use deletion_limit::{
    DeletionLimit, DeletionLimitExceeded, InvalidDeletionLimit, TopCause, check_deletion_limit,
};

/// Which objects are protected: those with the annotation `sexton.dev/protect`, and those of configured kinds.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Protection {
    /// Group and name of protected kinds.
    pub kinds: BTreeSet<(String, String)>,
}

impl Protection {
    /// The reason why an object is protected, if it is: "true" if the annotation gives none.
    pub fn of(&self, snapshot: &Snapshot, node: NodeId) -> Option<String> {
        if let Some(reason) = snapshot.protection(node) {
            return Some(reason.to_owned());
        }
        if self.kinds.is_empty() {
            return None;
        }
        let kind = (snapshot.group(node).to_owned(), snapshot.kind(node).to_owned());
        let named = || if kind.0.is_empty() { kind.1.clone() } else { format!("{}.{}", kind.1, kind.0) };
        self.kinds.contains(&kind).then(|| format!("the kind {} is protected", named()))
    }
}
