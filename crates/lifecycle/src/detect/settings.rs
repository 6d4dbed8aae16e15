//! What a detector is asked: where it starts, which objects it may doom, and which are protected.

use std::collections::HashSet;
use std::sync::Arc;

use sexton_model::Uid;

use crate::protect::Protection;
use crate::snapshot::NodeId;

/// Where [`super::follow_deletions`] starts.
#[derive(Debug, Clone, Copy)]
pub enum Roots<'a> {
    /// At every terminating object, and at every removal that was seen and has dependents left.
    All,
    /// Only at these. A terminating dependent that is reached is listed, but not followed further: it is a root of its
    /// own, and was processed when it changed.
    Only {
        /// Terminating objects, whose dependents are examined; and other objects, which are examined themselves.
        nodes: &'a [NodeId],
        /// Uids of removed objects, whose dependents are examined.
        removed: &'a [Uid],
    },
    /// Only at the hypothetical deletions, as if no other deletion were under way.
    None,
}

/// What the user configured about deletions.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DetectionSettings {
    /// Which objects are protected.
    pub protection: Protection,
    /// Which objects may be doomed at all.
    pub scope: DeletionScope,
    /// Whether Kubernetes' own collector removes owners. In a foreground deletion it does not wait at all for dependents
    /// without `blockOwnerDeletion`; ours waits until they are terminating.
    pub kubernetes: bool,
}

/// Which objects may be doomed.
///
/// A standing collector works for every deletion on its server. A command works on the plan that was shown: terminating
/// objects outside of it belong to the deletions of others, and are neither destroyed nor stripped of references.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum DeletionScope {
    /// All objects.
    #[default]
    All,
    /// Only the objects with these uids, and the events in a namespace among them, which no plan lists.
    Only(Arc<HashSet<Uid>>),
}

impl DeletionScope {
    /// The scope of these objects.
    pub fn only(uids: impl IntoIterator<Item = Uid>) -> DeletionScope {
        DeletionScope::Only(Arc::new(uids.into_iter().collect()))
    }

    /// Whether the object with this uid may be doomed.
    pub fn contains(&self, uid: &Uid) -> bool {
        match self {
            DeletionScope::All => true,
            DeletionScope::Only(uids) => uids.contains(uid),
        }
    }
}
