//! Which objects detectors may doom: all of them, or only those of one plan.

use std::collections::HashSet;
use std::sync::Arc;

use sexton_model::Uid;

/// Which objects may be doomed.
///
/// A standing collector works for every deletion on its server. A command works on the plan that was shown: terminating
/// objects outside of it belong to the deletions of others, and are neither destroyed nor stripped of references.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum DeletionScope {
    /// All objects.
    #[default]
    All,
    /// Only the objects with these uids. Events that go with a namespace among them are never named in a plan, and go.
    Only(Arc<HashSet<Uid>>),
}

impl DeletionScope {
    /// Only these.
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
