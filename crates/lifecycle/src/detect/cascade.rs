//! What follows from deletions: who dies with whom, who only loses a reference, who must not die.
//!
//! The cost grows with what the given roots reach, never with the size of the snapshot, and nothing here recurses.

use sexton_model::Uid;

use super::chains::Chains;
use super::spread::{Spread, Start};
use super::{Cause, DeletionScope, Detector, Hypothetical, Judgement, report};
use crate::protect::Protection;
use crate::snapshot::{LifeId, Snapshot};

/// From where to look.
#[derive(Debug, Clone, Copy)]
pub enum Roots<'a> {
    /// From every marked life, and from every removal that was seen and has dependents left.
    All,
    /// Only from these. Marked lives that are reached are named but not followed: they have been looked at before.
    These {
        /// Marked lives whose dependents are looked at, and other lives that are looked at themselves.
        lives: &'a [LifeId],
        /// Removed lives whose dependents are looked at.
        gone: &'a [Uid],
    },
    /// Only from what is asked for besides, as if nothing else were going on.
    None,
}

/// What the user has settled about deletions.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Settings {
    /// What must not be destroyed.
    pub protection: Protection,
    /// Which objects may be doomed at all.
    pub scope: DeletionScope,
    /// Whether Kubernetes removes owners, whose foreground deletion does not wait at all for dependents that do not block.
    /// Ours waits until they are terminating.
    pub kubernetes: bool,
}

/// What follows from the deletions in a snapshot, and from those that are only considered.
///
/// - `cascade_deletion`: every dependent dies, whatever other owners it has.
/// - `foregroundDeletion`: dependents die unless another owner keeps them; then they lose the dying references.
/// - no policy: dependents follow once the owner is gone, and in a preview, unless another owner keeps them.
/// - `orphan`: dependents live on and lose the reference.
/// - a namespace takes its contents along, a definition its objects.
///
/// It is the least set of lives that is closed under these rules, so the order in which they are applied does not
/// matter, and neither do diamonds and cycles.
pub fn judge(
    snapshot: &Snapshot,
    roots: Roots<'_>,
    considered: &[Hypothetical],
    settings: &Settings,
) -> Judgement {
    let starts = considered.iter().map(|one| Start {
        life: one.life,
        policy: one.policy,
        detector: Detector::Deleted,
        cause: Cause::Asked,
    });
    judge_from(snapshot, roots, starts.collect(), settings)
}

pub(super) fn judge_from(
    snapshot: &Snapshot,
    roots: Roots<'_>,
    starts: Vec<Start>,
    settings: &Settings,
) -> Judgement {
    let mut spread = Spread::new(snapshot, roots, settings);
    starts.iter().for_each(|start| spread.start(start));
    spread.run();
    let doomed = Chains::new(&spread, roots, &starts).findings();
    Judgement { kubernetes: settings.kubernetes, ..report::complete(&spread, doomed) }
}
