//! Objects that were found to be unreachable or removed: their reasons, and plans for them.

use super::world::{node, snapshot, text, verified};
use crate::detect::{
    Cause, Detection, DetectionSettings, Detector, References, WhyExcluded, doom_removed, doom_unreachable,
    missing_ids, reachable,
};
use crate::graph::Vertex;
use crate::plan::{Flaw, make, verify};
use crate::snapshot::{NodeId, Snapshot};

const WORLD: [&str; 5] = [
    "App/shop",
    "Vm/web <- App/shop",
    "Disk/root <- Vm/web ; watches App/shop",
    "Net/n ; watches Vm/web",
    "Net/kept ; protected",
];

fn nodes(snapshot: &Snapshot, words: &[&str]) -> Vec<NodeId> {
    words.iter().map(|word| node(snapshot, word)).collect()
}

fn reason(snapshot: &Snapshot, detection: &Detection, word: &str) -> (Detector, Cause, String) {
    let finding = &detection.doomed[&node(snapshot, word)];
    (finding.detector, finding.cause.clone(), finding.root.0.clone())
}

/// REQ-MUR-20, REQ-MUR-21, REQ-MUR-22, REQ-MUR-69: given objects are destroyed in the usual order; those that others of
/// them own are explained by these; protected ones are excluded.
#[test]
fn given_objects_are_planned_like_others() {
    let snapshot = snapshot(WORLD);
    let found = nodes(&snapshot, &["Net/n", "Net/kept", "Disk/root", "Vm/web", "App/shop", "Vm/web"]);
    let detection = doom_unreachable(&snapshot, &found, &DetectionSettings::default());
    assert_eq!(
        reason(&snapshot, &detection, "Net/n"),
        (Detector::Unreachable, Cause::Unreachable, "Net/n".into())
    );
    let owner = node(&snapshot, "Vm/web");
    let cause = Cause::OwnerDoomed { owner };
    assert_eq!(reason(&snapshot, &detection, "Disk/root"), (Detector::Cascade, cause, "App/shop".into()));
    assert_eq!(detection.exclusions[0].why, WhyExcluded::Protected("true".into()));
    let plan = verified(&snapshot, &detection);
    let expected = "Vm/web\nApp/shop Net/n\nDisk/root\nnot Disk/root before Vm/web: Owner\n";
    assert_eq!(text(&snapshot, &plan), expected);
    assert!(Detector::Unreachable.is_automatic() && Detector::Removed.is_automatic());
}

/// REQ-MUR-3, REQ-MUR-4, REQ-MUR-5: only what was removed is doomed, whatever it owns; ids decide.
#[test]
fn removed_objects_doom_no_others() {
    let snapshot = snapshot(WORLD);
    let gone = missing_ids(["App/shop", "Vm/web", "Disk/root"], ["Disk/root", "Net/new"]);
    assert_eq!(gone, ["App/shop", "Vm/web"]);
    let detection = doom_removed(&snapshot, &nodes(&snapshot, &gone), &DetectionSettings::default());
    assert_eq!(detection.doomed.len(), 2);
    assert_eq!(
        reason(&snapshot, &detection, "App/shop"),
        (Detector::Removed, Cause::Removed, "App/shop".into())
    );
    assert_eq!(text(&snapshot, &verified(&snapshot, &detection)), "Vm/web\nApp/shop\n");
}

/// REQ-MUR-38: what is destroyed already is not found again, and no plan may contain it.
#[test]
fn destroyed_objects_are_ignored() {
    let mut snapshot = snapshot(["App/shop"]);
    let found = nodes(&snapshot, &["App/shop"]);
    let detection = doom_unreachable(&snapshot, &found, &DetectionSettings::default());
    let plan = make(&snapshot, &detection);
    let mut seen = super::world::observation("App/shop");
    (seen.is_destroyed, seen.revision) = (true, sexton_model::Revision::new(2));
    snapshot.put(seen);
    assert_eq!(doom_unreachable(&snapshot, &found, &DetectionSettings::default()), Detection::default());
    let flaws = verify(&snapshot, &detection, &plan).unwrap_err();
    assert!(matches!(flaws[0], Flaw::Evidence(_, "it is destroyed already")), "{flaws:?}");
}

/// A chain, and a node that refers to one that does not exist.
struct Chain(usize);

impl References for Chain {
    fn count(&self) -> usize {
        self.0
    }

    fn visit(&self, from: Vertex, found: &mut impl FnMut(Vertex)) {
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
