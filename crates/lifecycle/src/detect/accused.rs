//! Lives of whom somebody who looked for garbage says that they are some. Asks only those.
//!
//! Whoever accuses has looked at what follows from it, but others go on meanwhile: what they put where somebody is swept is
//! not the sweep's.

use std::collections::BTreeSet;

use sexton_model::Uid;
use sexton_model::accusation::{Accusation, Accuser};
use sexton_model::names::PERMANENT_NAMESPACES;

use super::cascade::judge_from;
use super::spread::Start;
use super::{Cause, Detector, Judgement, Roots, Settings};
use crate::snapshot::{LifeId, Snapshot};

/// What follows from the accusations that hold. Owners that were said not to exist must not exist; and whoever is swept and
/// would take along what another module has put meanwhile is let alone as long as that is there.
pub fn accused(snapshot: &Snapshot, settings: &Settings) -> Judgement {
    let mut lives: Vec<LifeId> =
        snapshot.accused().filter(|life| settings.scope.contains(&snapshot.uid(*life))).collect();
    loop {
        let starts: Vec<Start> = lives.iter().filter_map(|life| start(snapshot, *life)).collect();
        if starts.is_empty() {
            return Judgement::default();
        }
        let judgement = judge_from(snapshot, Roots::None, starts, settings);
        let takers = takers(snapshot, &judgement);
        let before = lives.len();
        lives.retain(|life| takers.is_empty() || !takers.contains(&snapshot.uid(*life)));
        // Each round spares somebody.
        if lives.len() == before {
            return judgement;
        }
    }
}

fn start(snapshot: &Snapshot, life: LifeId) -> Option<Start> {
    let accused = snapshot.accusation(life).filter(|_| !snapshot.is_marked(life))?;
    let back = accused.said.absent.iter().any(|uid| snapshot.get(&Uid(uid.clone())).is_some());
    let cause = Cause::Accused { accused: accused.clone() };
    let policy = accused.said.policy();
    let permanent = snapshot.is_namespace(life) && PERMANENT_NAMESPACES.contains(&snapshot.name(life));
    (!back && !permanent).then_some(Start { life, policy, detector: Detector::Accused, cause })
}

/// Who is swept by a module and would take along what another one manages.
fn takers(snapshot: &Snapshot, judgement: &Judgement) -> BTreeSet<Uid> {
    let mut takers = BTreeSet::new();
    for finding in judgement.doomed.values().filter(|finding| !finding.marked) {
        let Some(manager) = snapshot.manager(finding.life) else { continue };
        let root = snapshot.get(&finding.root).and_then(|root| snapshot.accusation(root));
        if root.and_then(|accused| module(&accused.said)).is_some_and(|module| module != manager) {
            takers.insert(finding.root.clone());
        }
    }
    takers
}

/// The module whose sweep accuses, if it is one.
fn module(said: &Accusation) -> Option<&str> {
    said.by.strip_prefix("Module/").filter(|_| said.accuser == Accuser::Unmarked)
}
