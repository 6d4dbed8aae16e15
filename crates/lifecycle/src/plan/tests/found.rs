//! Lives that were found to be unreachable or removed: their reasons, and plans for them.

use super::world::{life, proved, snapshot, text};
use crate::detect::{
    Cause, Detector, Judgement, References, Settings, WhyHeld, missing, reachable, removed, unreachable,
};
use crate::graph::Node;
use crate::plan::{Flaw, check, make};
use crate::snapshot::{LifeId, Snapshot};

const WORLD: [&str; 5] = [
    "App/shop",
    "Vm/web <- App/shop",
    "Disk/root <- Vm/web ; watches App/shop",
    "Net/n ; watches Vm/web",
    "Net/kept ; protected",
];

fn lives(snapshot: &Snapshot, words: &[&str]) -> Vec<LifeId> {
    words.iter().map(|word| life(snapshot, word)).collect()
}

fn reason(snapshot: &Snapshot, judgement: &Judgement, word: &str) -> (Detector, Cause, String) {
    let finding = &judgement.doomed[&life(snapshot, word)];
    (finding.detector, finding.cause.clone(), finding.root.0.clone())
}

/// REQ-MUR-20, REQ-MUR-21, REQ-MUR-22, REQ-MUR-69: what was found dies in the usual order; what others of it own follows
/// them; what is protected is held.
#[test]
fn found_lives_are_planned_like_others() {
    let snapshot = snapshot(WORLD);
    let found = lives(&snapshot, &["Net/n", "Net/kept", "Disk/root", "Vm/web", "App/shop", "Vm/web"]);
    let judgement = unreachable(&snapshot, &found, &Settings::default());
    assert_eq!(
        reason(&snapshot, &judgement, "Net/n"),
        (Detector::Unreachable, Cause::Unreachable, "Net/n".into())
    );
    let owner = life(&snapshot, "Vm/web");
    let cause = Cause::OwnerDoomed { owner };
    assert_eq!(reason(&snapshot, &judgement, "Disk/root"), (Detector::Cascade, cause, "App/shop".into()));
    assert_eq!(judgement.holds[0].why, WhyHeld::Protected("true".into()));
    let plan = proved(&snapshot, &judgement);
    let expected = "Vm/web\nApp/shop Net/n\nDisk/root\nnot Disk/root before Vm/web: Owner\n";
    assert_eq!(text(&snapshot, &plan), expected);
    assert!(Detector::Unreachable.accuses() && Detector::Removed.accuses());
}

/// REQ-MUR-3, REQ-MUR-4, REQ-MUR-5: only what was removed dies, whatever it owns; ids decide.
#[test]
fn removed_lives_take_nobody_along() {
    let snapshot = snapshot(WORLD);
    let gone = missing(["App/shop", "Vm/web", "Disk/root"], ["Disk/root", "Net/new"]);
    assert_eq!(gone, ["App/shop", "Vm/web"]);
    let judgement = removed(&snapshot, &lives(&snapshot, &gone), &Settings::default());
    assert_eq!(judgement.doomed.len(), 2);
    assert_eq!(
        reason(&snapshot, &judgement, "App/shop"),
        (Detector::Removed, Cause::Removed, "App/shop".into())
    );
    assert_eq!(text(&snapshot, &proved(&snapshot, &judgement)), "Vm/web\nApp/shop\n");
}

/// REQ-MUR-38: what is destroyed already is not found again, and no plan may contain it.
#[test]
fn destroyed_lives_are_ignored() {
    let mut snapshot = snapshot(["App/shop"]);
    let found = lives(&snapshot, &["App/shop"]);
    let judgement = unreachable(&snapshot, &found, &Settings::default());
    let plan = make(&snapshot, &judgement);
    let mut seen = super::world::observation("App/shop");
    (seen.destroyed, seen.revision) = (true, sexton_model::Revision::new(2));
    snapshot.put(seen);
    assert_eq!(unreachable(&snapshot, &found, &Settings::default()), Judgement::default());
    let flaws = check(&snapshot, &judgement, &plan).unwrap_err();
    assert!(matches!(flaws[0], Flaw::Evidence(_, "it is destroyed already")), "{flaws:?}");
}

/// A chain, and a node that refers to one that does not exist.
struct Chain(usize);

impl References for Chain {
    fn count(&self) -> usize {
        self.0
    }

    fn visit(&self, from: Node, found: &mut impl FnMut(Node)) {
        if from as usize != self.0 / 2 {
            found(from + 1);
        }
    }
}

/// REQ-MUR-44, REQ-MUR-45: as far as references lead, over chains of any length, and no further.
#[test]
fn reaching_follows_references() {
    let reached = reachable(&Chain(1_000_000), [10, 2_000_000].into_iter());
    assert!(!reached.contains(9) && reached.contains(10) && reached.contains(500_000));
    assert!(!reached.contains(500_001) && !reached.contains(u32::MAX));
    let reached = reachable(&Chain(70), [69].into_iter());
    assert!(reached.contains(69) && !reached.contains(68));
}
