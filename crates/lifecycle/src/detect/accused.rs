//! Lives of whom somebody who looked for garbage says that they are some. Asks only those.

use sexton_model::Uid;

use super::cascade::judge_from;
use super::spread::Start;
use super::{Cause, Detector, Judgement, Roots, Settings};
use crate::snapshot::{LifeId, Snapshot};

/// What follows from the accusations that hold. Owners that were said not to exist must not exist.
pub fn accused(snapshot: &Snapshot, settings: &Settings) -> Judgement {
    let start = |life: LifeId| {
        let accused = snapshot.accusation(life).filter(|_| !snapshot.is_marked(life))?;
        let back = accused.said.absent.iter().any(|uid| snapshot.get(&Uid(uid.clone())).is_some());
        let cause = Cause::Accused { accused: accused.clone() };
        let policy = accused.said.policy();
        (!back).then_some(Start { life, policy, detector: Detector::Accused, cause })
    };
    let starts: Vec<Start> = snapshot.accused().filter_map(start).collect();
    match starts.is_empty() {
        true => Judgement::default(),
        false => judge_from(snapshot, Roots::None, starts, settings),
    }
}
