//! Whether the definition of a watched kind still stands: a watch shows objects as the definition has them that it began
//! with, so it does not outlive that.
//!
//! It must not know what is watched of the kind.

use std::sync::Arc;

use tokio::sync::watch as watch_flag;

use crate::kinds::{KindRef, Kinds};

/// The definition of a kind, and the channel that tells of changes.
#[derive(Debug)]
pub(super) struct Standing {
    kind: KindRef,
    kinds: Arc<Kinds>,
    changes: watch_flag::Receiver<()>,
}

impl Standing {
    /// Of a kind that has a definition; those that are always there have none.
    pub(super) fn of(kind: &KindRef, kinds: &Arc<Kinds>) -> Option<Standing> {
        let made = || Standing { kind: kind.clone(), kinds: kinds.clone(), changes: kinds.changes() };
        kind.is_custom().then(made)
    }

    /// Waits until the version is not served any more, or by another definition, or with another schema.
    pub(super) async fn gone(&mut self) {
        while self.stands() {
            if self.changes.changed().await.is_err() {
                // Nothing is left that could change anything.
                return std::future::pending().await;
            }
        }
    }

    fn stands(&self) -> bool {
        let kind = &self.kind;
        let now = self.kinds.current();
        let Some(now) = now.find(&kind.resource.group, &kind.version, &kind.resource.resource) else {
            return false;
        };
        if Arc::ptr_eq(now, kind) {
            return true;
        }
        // A definition may be written without a change of what it says of objects.
        let life = |kind: &KindRef| kind.offer.stamp.split('@').next().map(str::to_owned);
        now.is_custom() && life(now) == life(kind) && now.offer.openapi == kind.offer.openapi
    }
}
