//! What a judgement says besides who dies: references that are lost, unknown or invalid, and lives that are held.

use std::collections::{BTreeMap, BTreeSet};

use sexton_model::Policy;

use super::spread::{Pull, Spread, Tally};
use super::{Finding, Hold, Invalid, Judgement, Strip, Unknown, WhyHeld};
use crate::snapshot::{LifeId, Ownership};

/// Completes a judgement by what is said of the lives that were looked at.
pub(super) fn complete(spread: &Spread<'_>, doomed: BTreeMap<LifeId, Finding>) -> Judgement {
    let mut judgement = Judgement { doomed, ..Judgement::default() };
    // Most of what was looked at is doomed and has nothing else to be said of it.
    let worth = |(life, tally): &(&LifeId, &Tally)| tally.misled || !spread.doomed.contains_key(*life);
    let looked_at = spread.tallies.iter().filter(worth).map(|(life, _)| life);
    let looked_at: BTreeSet<LifeId> =
        looked_at.chain(&spread.misled).chain(spread.held.keys()).copied().collect();
    for life in looked_at {
        let survives = !judgement.doomed.contains_key(&life);
        let tally = spread.tallies.get(&life).copied();
        let concerned = tally.is_some_and(|tally| tally.concerned());
        references(spread, life, survives && concerned, &mut judgement);
        if survives {
            let tally = tally.unwrap_or_default();
            holds(spread, life, tally, &mut judgement.holds);
            judgement.strips.extend(strip(spread, life));
        }
    }
    let snapshot = spread.snapshot;
    judgement.strips.sort_by(|a, b| snapshot.compare(a.life, b.life));
    judgement.unknown.sort_by(|a, b| snapshot.compare(a.life, b.life));
    judgement.invalid.sort_by(|a, b| snapshot.compare(a.life, b.life));
    judgement.holds.sort_by(|a, b| snapshot.compare(a.life, b.life));
    judgement
}

fn references(spread: &Spread<'_>, life: LifeId, survives: bool, judgement: &mut Judgement) {
    for (reference, owner) in spread.snapshot.ownerships(life) {
        let reference = || spread.snapshot.written(reference);
        match owner {
            Ownership::Invalid(why) => {
                judgement.invalid.push(Invalid { life, reference: reference(), why });
            }
            Ownership::Unknown(why) if survives => {
                judgement.unknown.push(Unknown { life, reference: reference(), why });
            }
            _ => {}
        }
    }
}

/// The references that a surviving life loses: those to owners who leave it behind, and, if another owner keeps it,
/// those to owners who die or do not exist.
fn strip(spread: &Spread<'_>, life: LifeId) -> Option<Strip> {
    let (snapshot, seen) = (spread.snapshot, spread.snapshot.life(life));
    let (mut released, mut dying) = (Vec::new(), Vec::new());
    let (mut kept, mut ready, mut pulled, mut cascade) = (false, true, false, false);
    for reference in &seen.owners {
        let uid = || snapshot.uid_of(reference.uid);
        match snapshot.ownership(seen, reference) {
            Ownership::Valid(owner) => match spread.pull(owner) {
                Pull::None => kept = true,
                pull => {
                    ready &= snapshot.is_marked(owner);
                    kept |= pull == Pull::Orphan;
                    pulled |= pull.goes();
                    cascade |= pull == Pull::Cascade;
                    if pull == Pull::Orphan { released.push(uid()) } else { dying.push(uid()) }
                }
            },
            Ownership::Absent { seen: gone } => match snapshot.seen_going(seen, reference) {
                Some(gone) if gone.policy == Policy::Orphan => {
                    kept = true;
                    released.push(uid());
                }
                _ => {
                    pulled |= gone;
                    dying.push(uid());
                }
            },
            Ownership::Invalid(_) | Ownership::Unknown(_) => {}
        }
    }
    // If no owner goes, a missing one is not our business; and whom a cascade takes is not kept by anybody.
    if kept && pulled && !cascade {
        released.append(&mut dying);
    }
    released.retain(|uid| spread.may_strip(uid));
    released.sort_unstable();
    released.dedup();
    (!released.is_empty()).then_some(Strip { life, owners: released, ready })
}

/// Who has to wait for a life that would die but must not.
fn holds(spread: &Spread<'_>, life: LifeId, tally: Tally, holds: &mut Vec<Hold>) {
    let protected = spread.held.get(&life);
    if protected.is_none() && !tally.unapproved {
        return;
    }
    let mut waiting: Vec<LifeId> = Vec::new();
    for owner in spread.snapshot.owner_lives(life) {
        let pull = spread.pull(owner);
        if pull == Pull::Cascade || (pull.goes() && tally.keepers == 0) {
            waiting.push(owner);
        }
    }
    let around = [spread.snapshot.namespace_life(life), spread.snapshot.definition_life(life)];
    let doomed = |one: &LifeId| spread.doomed.contains_key(one);
    waiting.extend(around.into_iter().flatten().filter(doomed));
    waiting.extend(spread.snapshot.marked_around(life).into_iter().flatten().filter(|one| !doomed(one)));
    waiting.sort_by(|a, b| spread.snapshot.compare(*a, *b));
    waiting.dedup();
    // Somebody who was not approved and is protected besides has the stronger reason.
    let stronger = || spread.protection.of(spread.snapshot, life).map(WhyHeld::Protected);
    let why = |keeps: LifeId| match protected {
        Some(why) => Some(why.clone()),
        None => {
            let digest = spread.approvals.of(spread.snapshot, keeps)?;
            Some(stronger().unwrap_or_else(|| WhyHeld::NotApproved(digest.to_owned())))
        }
    };
    let before = holds.len();
    for keeps in waiting {
        holds.extend(why(keeps).map(|why| Hold { life, keeps: Some(keeps), why }));
    }
    if let (Some(why @ WhyHeld::Protected(_)), true) = (protected, holds.len() == before) {
        holds.push(Hold { life, keeps: None, why: why.clone() });
    }
}
