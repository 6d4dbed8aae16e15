//! Objects that were there after the last deployment, and that the incoming model does not hold any more.

use std::collections::BTreeSet;

use super::condemned::{Found, condemned};
use super::{Judgement, Settings};
use crate::snapshot::{LifeId, Snapshot};

/// What is missing now of what was there before. Only ids are compared: whatever moved or changed is still there.
pub fn missing<'a>(
    before: impl IntoIterator<Item = &'a str>,
    now: impl IntoIterator<Item = &'a str>,
) -> Vec<&'a str> {
    let now: BTreeSet<&str> = now.into_iter().collect();
    let before: BTreeSet<&str> = before.into_iter().collect();
    before.difference(&now).copied().collect()
}

/// What follows from lives being removed: each dies, those that others of them own as their followers.
pub fn removed(snapshot: &Snapshot, lives: &[LifeId], settings: &Settings) -> Judgement {
    condemned(snapshot, lives, Found::Removed, settings)
}
