//! What must not be destroyed, and how much may be destroyed at once. Knows no garbage, only what is spared.

mod fuse;

use std::collections::BTreeSet;

use crate::snapshot::{LifeId, Snapshot};

pub use fuse::{BadLimits, FuseLimits, Held, TopCause, fuse};

/// What must not be destroyed: what says so itself by `sexton.dev/protect`, and kinds that are settled to be spared.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Protection {
    /// Group and name of protected kinds.
    pub kinds: BTreeSet<(String, String)>,
}

impl Protection {
    /// Why a life must not be destroyed, if it must not.
    pub fn of(&self, snapshot: &Snapshot, life: LifeId) -> Option<String> {
        if let Some(reason) = snapshot.protect(life) {
            return Some(reason.to_owned());
        }
        if self.kinds.is_empty() {
            return None;
        }
        let kind = (snapshot.group(life).to_owned(), snapshot.kind(life).to_owned());
        let named = || if kind.0.is_empty() { kind.1.clone() } else { format!("{}.{}", kind.1, kind.0) };
        self.kinds.contains(&kind).then(|| format!("the kind {} is protected", named()))
    }
}
