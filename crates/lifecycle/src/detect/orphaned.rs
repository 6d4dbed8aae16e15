//! Lives whose owners do not exist. Asks only those that name a missing owner, never all lives.

use std::collections::BTreeMap;

use sexton_model::{Policy, Uid};

use super::cascade::judge_from;
use super::spread::Start;
use super::{Cause, Detector, Invalid, Judgement, Roots, Settings, Unknown};
use crate::snapshot::{LifeId, Ownership, Snapshot};

/// How long somebody has to be seen without owners before that counts. The caller keeps the time.
#[derive(Debug, Clone, Copy)]
pub struct Grace<'a> {
    /// Now.
    pub now: i64,
    /// How long, in the unit of `now`.
    pub period: i64,
    /// Since when each was seen so.
    pub since: &'a BTreeMap<Uid, i64>,
}

/// Lives without owners.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Orphans {
    /// Those whose time has come, with everything that follows them; also every doubtful reference that was met.
    pub judgement: Judgement,
    /// Those whose time has not come. The caller remembers since when; who is not here any more is forgotten.
    pub waiting: Vec<LifeId>,
    /// Those of whom an owner was seen to go: they follow it, see [`super::judge`], and wait for nothing.
    pub followed: Vec<LifeId>,
}

/// Finds the lives that name owners of whom none exists.
///
/// Nobody without references is one of them, and neither is anybody with a reference that cannot be resolved or that
/// is not what it says.
pub fn orphaned(snapshot: &Snapshot, grace: Grace<'_>, settings: &Settings) -> Orphans {
    let mut found = Orphans::default();
    let (mut starts, mut unknown, mut invalid) = (Vec::new(), Vec::new(), Vec::new());
    for life in snapshot.suspects() {
        if snapshot.is_marked(life) || !settings.scope.contains(&snapshot.uid(life)) {
            continue;
        }
        let (mut seen_going, mut certain, mut uids) = (false, true, Vec::new());
        for (reference, owner) in snapshot.ownerships(life) {
            match owner {
                Ownership::Absent { seen } => seen_going |= seen,
                Ownership::Valid(_) => certain = false,
                Ownership::Unknown(why) => {
                    certain = false;
                    unknown.push(Unknown { life, reference: snapshot.written(reference), why });
                }
                Ownership::Invalid(why) => {
                    certain = false;
                    invalid.push(Invalid { life, reference: snapshot.written(reference), why });
                }
            }
            uids.push(snapshot.uid_of(reference.uid));
        }
        if !certain {
            continue;
        }
        if seen_going {
            found.followed.push(life);
        } else if !over(&grace, &snapshot.uid(life)) {
            found.waiting.push(life);
        } else {
            let policy = match snapshot.policy(life) {
                Some(recorded @ (Policy::Orphan | Policy::Foreground)) => recorded,
                _ => Policy::Background,
            };
            let cause = Cause::OwnersGone { uids };
            starts.push(Start { life, policy, detector: Detector::Orphaned, cause });
        }
    }
    found.judgement = judge_from(snapshot, Roots::None, starts, settings);
    merge(snapshot, &mut found.judgement, unknown, invalid);
    found
}

fn over(grace: &Grace<'_>, uid: &Uid) -> bool {
    let since = grace.since.get(uid).copied().unwrap_or(grace.now);
    grace.now.saturating_sub(since) >= grace.period
}

fn merge(snapshot: &Snapshot, judgement: &mut Judgement, unknown: Vec<Unknown>, invalid: Vec<Invalid>) {
    judgement.unknown.extend(unknown);
    judgement
        .unknown
        .sort_by(|a, b| snapshot.compare(a.life, b.life).then_with(|| a.reference.cmp(&b.reference)));
    judgement.unknown.dedup();
    judgement.invalid.extend(invalid);
    judgement
        .invalid
        .sort_by(|a, b| snapshot.compare(a.life, b.life).then_with(|| a.reference.cmp(&b.reference)));
    judgement.invalid.dedup();
}
