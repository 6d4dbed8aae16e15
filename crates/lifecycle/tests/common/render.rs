//! A judgement as text: one line per fact, ordered by keys.

use sexton_lifecycle::{Cause, Detector, Finding, Judgement, LifeId, Snapshot};

/// One line per fact. The lives are named by their uids, which in test worlds can be read.
pub fn render(snapshot: &Snapshot, judgement: &Judgement) -> String {
    let uid = |life: LifeId| snapshot.uid(life).0;
    let mut lines: Vec<String> = Vec::new();
    for found in judgement.findings(snapshot) {
        lines.push(finding(snapshot, found));
    }
    for strip in &judgement.strips {
        let owners: Vec<&str> = strip.owners.iter().map(|owner| owner.0.as_str()).collect();
        let later = if strip.ready { "" } else { ", later" };
        lines.push(format!("{} loses {}{later}", uid(strip.life), owners.join(", ")));
    }
    for unknown in &judgement.unknown {
        let why = &unknown.why;
        lines.push(format!("{} unknown {}: {why:?}", uid(unknown.life), unknown.reference.uid));
    }
    for invalid in &judgement.invalid {
        let why = &invalid.why;
        lines.push(format!("{} invalid {}: {why:?}", uid(invalid.life), invalid.reference.uid));
    }
    for hold in &judgement.holds {
        let keeps = hold.keeps.map_or("nobody".to_owned(), uid);
        lines.push(format!("{} keeps {keeps}: {:?}", uid(hold.life), hold.why));
    }
    lines.join("\n")
}

fn finding(snapshot: &Snapshot, found: &Finding) -> String {
    let uid = |life: LifeId| snapshot.uid(life).0;
    let cause = match &found.cause {
        Cause::Asked => "asked".to_owned(),
        Cause::OwnerDoomed { owner } => format!("owner {}", uid(*owner)),
        Cause::Accused { accused } => format!("accused by {}", accused.said.by),
        Cause::OwnersGone { uids } => {
            let uids: Vec<&str> = uids.iter().map(|uid| uid.0.as_str()).collect();
            format!("gone {}", uids.join(", "))
        }
        Cause::Unreachable => "unreachable".to_owned(),
        Cause::Removed => "removed".to_owned(),
        Cause::InNamespace { namespace } => format!("in {}", uid(*namespace)),
        Cause::OfDefinition { definition } => format!("of {}", uid(*definition)),
    };
    let mut line = format!("{} dies {:?}: {cause}", uid(found.life), found.policy);
    if found.detector == Detector::Orphaned {
        line.push_str(", orphaned");
    }
    if found.root != snapshot.uid(found.life) {
        line.push_str(&format!(", root {}", found.root));
    }
    if found.marked {
        line.push_str(", marked");
    }
    if let Some(initiator) = &found.initiator {
        line.push_str(&format!(", by {initiator}"));
    }
    line
}
