//! Objects that are recorded as candidates for deletion, by the annotation `sexton.dev/accused`. Costs as much as there
//! are candidates, with what they own.
//!
//! The writer of a record (a rule, a sweep, a program) has checked what follows from it. But writes go on meanwhile, so
//! the record is checked again, and objects that another module has put below a candidate since then keep it.

use std::collections::BTreeSet;

use sexton_model::Uid;
use sexton_model::accusation::{Accusation, Accuser};
use sexton_model::names::PERMANENT_NAMESPACES;

use super::deletions::follow_assumed;
use super::propagation::AssumedDeletion;
use super::{Cause, Detection, DetectionSettings, Detector, Roots};
use crate::snapshot::{NodeId, Snapshot};

/// Returns what follows from the candidates whose records still hold.
///
/// A record holds as long as the owners that it calls absent are absent. The sweep of a module leaves a candidate alone
/// as long as the candidate's deletion would doom an object of another module.
pub fn follow_candidates(snapshot: &Snapshot, settings: &DetectionSettings) -> Detection {
    let mut nodes: Vec<NodeId> =
        snapshot.candidates().filter(|node| settings.scope.contains(&snapshot.uid(*node))).collect();
    loop {
        let assumed: Vec<AssumedDeletion> =
            nodes.iter().filter_map(|node| assumed_deletion(snapshot, *node)).collect();
        if assumed.is_empty() {
            return Detection::default();
        }
        let detection = follow_assumed(snapshot, Roots::None, assumed, settings);
        let overreaching = roots_dooming_other_modules(snapshot, &detection);
        let before = nodes.len();
        nodes.retain(|node| overreaching.is_empty() || !overreaching.contains(&snapshot.uid(*node)));
        // Each further round drops at least one candidate, so this ends.
        if nodes.len() == before {
            return detection;
        }
    }
}

fn assumed_deletion(snapshot: &Snapshot, node: NodeId) -> Option<AssumedDeletion> {
    let record = snapshot.candidate_record(node).filter(|_| !snapshot.is_terminating(node))?;
    let is_owner_back = record.accusation.absent.iter().any(|uid| snapshot.get(&Uid(uid.clone())).is_some());
    let cause = Cause::Candidate { record: record.clone() };
    let policy = record.accusation.policy();
    let is_permanent = snapshot.is_namespace(node) && PERMANENT_NAMESPACES.contains(&snapshot.name(node));
    (!is_owner_back && !is_permanent).then_some(AssumedDeletion {
        node,
        policy,
        detector: Detector::Candidate,
        cause,
    })
}

/// The uids of swept candidates whose deletion would doom an object that another module manages.
fn roots_dooming_other_modules(snapshot: &Snapshot, detection: &Detection) -> BTreeSet<Uid> {
    let mut roots = BTreeSet::new();
    for finding in detection.doomed.values().filter(|finding| !finding.is_terminating) {
        let Some(manager) = snapshot.manager(finding.node) else { continue };
        let root = snapshot.get(&finding.root).and_then(|root| snapshot.candidate_record(root));
        let module = root.and_then(|record| sweeping_module(&record.accusation));
        if module.is_some_and(|module| module != manager) {
            roots.insert(finding.root.clone());
        }
    }
    roots
}

/// The module whose sweep wrote the record, if one did.
fn sweeping_module(accusation: &Accusation) -> Option<&str> {
    accusation.by.strip_prefix("Module/").filter(|_| accusation.accuser == Accuser::Unmarked)
}
