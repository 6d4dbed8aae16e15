//! A judgement as text: one line per fact, ordered by keys.

use sexton_lifecycle::{Cause, Detection, Detector, Finding, NodeId, Snapshot};

/// One line per fact. The objects are named by their uids, which in test worlds can be read.
pub fn render(snapshot: &Snapshot, detection: &Detection) -> String {
    let uid = |node: NodeId| snapshot.uid(node).0;
    let mut lines: Vec<String> = Vec::new();
    for found in detection.findings(snapshot) {
        lines.push(finding(snapshot, found));
    }
    for strip in &detection.strips {
        let owners: Vec<&str> = strip.owners.iter().map(|owner| owner.0.as_str()).collect();
        let later = if strip.is_ready { "" } else { ", later" };
        lines.push(format!("{} loses {}{later}", uid(strip.node), owners.join(", ")));
    }
    for unknown in &detection.unresolved {
        let why = &unknown.why;
        lines.push(format!("{} unknown {}: {why:?}", uid(unknown.node), unknown.reference.uid));
    }
    for invalid in &detection.invalid {
        let why = &invalid.why;
        lines.push(format!("{} invalid {}: {why:?}", uid(invalid.node), invalid.reference.uid));
    }
    for exclusion in &detection.exclusions {
        let blocks = exclusion.blocks.map_or("nothing".to_owned(), uid);
        lines.push(format!("{} keeps {blocks}: {:?}", uid(exclusion.node), exclusion.why));
    }
    lines.join("\n")
}

fn finding(snapshot: &Snapshot, found: &Finding) -> String {
    let uid = |node: NodeId| snapshot.uid(node).0;
    let cause = match &found.cause {
        Cause::Requested => "asked".to_owned(),
        Cause::OwnerDoomed { owner } => format!("owner {}", uid(*owner)),
        Cause::Candidate { record } => format!("accused by {}", record.accusation.by),
        Cause::OwnersGone { uids } => {
            let uids: Vec<&str> = uids.iter().map(|uid| uid.0.as_str()).collect();
            format!("gone {}", uids.join(", "))
        }
        Cause::Unreachable => "unreachable".to_owned(),
        Cause::Removed => "removed".to_owned(),
        Cause::InNamespace { namespace } => format!("in {}", uid(*namespace)),
        Cause::OfDefinition { definition } => format!("of {}", uid(*definition)),
    };
    let mut line = format!("{} dies {:?}: {cause}", uid(found.node), found.policy);
    if found.detector == Detector::Orphaned {
        line.push_str(", orphaned");
    }
    if found.root != snapshot.uid(found.node) {
        line.push_str(&format!(", root {}", found.root));
    }
    if found.is_terminating {
        line.push_str(", marked");
    }
    if let Some(initiator) = &found.requester {
        line.push_str(&format!(", by {initiator}"));
    }
    line
}
