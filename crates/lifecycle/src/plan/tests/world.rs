//! Worlds as text: one object per line, and plans as text.
//!
//! ```text
//! App/shop
//! Vm/web <- App/shop, Net/n? ; watches Disk/x ; order 3 of m ; protected ; marked
//! ```
//!
//! A reference with a question mark does not block its owner.

use std::fmt::Write;

use sexton_model::feed::FeedKind;
use sexton_model::subscription::{Subscription, Target};
use sexton_model::{GroupResource, Key, Policy, Revision, Uid};

use super::super::{Plan, make, verify};
use crate::detect::{Detection, DetectionSettings, HypotheticalDeletion, Roots, follow_deletions};
use crate::snapshot::{NodeId, Observation, OwnerRef, Snapshot};

const KINDS: [(&str, &str, &str, bool); 7] = [
    ("", "Namespace", "namespaces", false),
    ("apiextensions.k8s.io", "CustomResourceDefinition", "customresourcedefinitions", false),
    ("sexton.dev", "Class", "classes", false),
    ("example.com", "App", "apps", true),
    ("example.com", "Vm", "vms", true),
    ("example.com", "Net", "nets", true),
    ("example.com", "Disk", "disks", true),
];

fn kind(word: &str) -> (&'static str, &'static str, &'static str, bool) {
    let name = word.split('/').next().unwrap();
    *KINDS.iter().find(|(_, kind, _, _)| *kind == name).unwrap()
}

fn name(word: &str) -> String {
    word.split('/').next_back().unwrap().to_owned()
}

fn owner(word: &str) -> OwnerRef {
    let (word, is_blocking) = word.strip_suffix('?').map_or((word, true), |word| (word, false));
    let (group, kind, _, _) = kind(word);
    OwnerRef {
        group: group.into(),
        version: "v1".into(),
        kind: kind.into(),
        name: name(word),
        uid: Uid(word.into()),
        is_controller: false,
        is_blocking,
    }
}

fn watches(word: &str) -> Subscription {
    let (group, kind, _, _) = kind(word);
    let target = match word {
        "self" => Target::Own,
        _ => Target::Named { group: group.into(), kind: kind.into(), namespace: None, name: name(word) },
    };
    Subscription { target, uid: None, handler: None, count: 1 }
}

/// One line.
pub(super) fn observation(line: &str) -> Observation {
    let mut parts = line.split(';').map(str::trim);
    let first = parts.next().unwrap();
    let (word, owners) = first.split_once("<-").unwrap_or((first, ""));
    let word = word.trim();
    let (group, kind, resource, namespaced) = kind(word);
    let namespace = if namespaced { "a".into() } else { String::new() };
    let key = Key { kind: GroupResource::new(group, resource), namespace, name: name(word) };
    let mut seen = Observation::new(key, kind, "v1", Uid(word.into()), Revision::new(1));
    seen.owners = owners.split(',').map(str::trim).filter(|word| !word.is_empty()).map(owner).collect();
    for part in parts {
        match part.split(' ').collect::<Vec<_>>()[..] {
            ["watches", target] => seen.subscriptions.push(watches(target)),
            ["order", order, "of", manager] => {
                (seen.order, seen.manager) = (order.parse().ok(), Some(manager.to_owned()));
            }
            ["marked"] => seen.terminating_since = Some(1),
            ["protected"] => seen.protect = Some("true".into()),
            _ => panic!("{part:?}"),
        }
    }
    seen
}

/// A snapshot of these lines, put in this order. `Class/vm` is the class of `Vm`.
pub(super) fn snapshot<'a>(lines: impl IntoIterator<Item = &'a str>) -> Snapshot {
    let mut snapshot = Snapshot::new();
    snapshot.set_kinds(&KINDS.map(|(group, kind, resource, namespaced)| FeedKind {
        group: group.into(),
        version: "v1".into(),
        resource: resource.into(),
        kind: kind.into(),
        namespaced,
        served: true,
        broken: None,
    }));
    snapshot.set_classes(&[(("example.com".into(), "Vm".into()), Uid("Class/vm".into()))].into());
    for line in lines {
        snapshot.put(observation(line));
    }
    snapshot.set_synced(true);
    snapshot
}

pub(super) fn node(snapshot: &Snapshot, word: &str) -> NodeId {
    snapshot.get(&Uid(word.into())).unwrap()
}

/// What follows from the deletion of these.
pub(super) fn detection(snapshot: &Snapshot, deleted: &[(&str, Policy)]) -> Detection {
    let hypothetical: Vec<HypotheticalDeletion> = deleted
        .iter()
        .map(|(word, policy)| HypotheticalDeletion { node: node(snapshot, word), policy: *policy })
        .collect();
    follow_deletions(snapshot, Roots::None, &hypothetical, &DetectionSettings::default())
}

/// A plan that has been proved.
#[track_caller]
pub(super) fn verified(snapshot: &Snapshot, detection: &Detection) -> Plan {
    let plan = make(snapshot, detection);
    assert_eq!(verify(snapshot, detection, &plan), Ok(()), "\n{}", text(snapshot, &plan));
    plan
}

/// One line per wave, circles in parentheses, then what was dropped.
pub(super) fn text(snapshot: &Snapshot, plan: &Plan) -> String {
    let mut text = String::new();
    for wave in &plan.waves {
        let groups: Vec<String> = wave
            .groups
            .iter()
            .map(|group| {
                let members: Vec<&str> = group.members.iter().map(|step| step.uid.0.as_str()).collect();
                if members.len() > 1 { format!("({})", members.join(" ")) } else { members.concat() }
            })
            .collect();
        let _ = writeln!(text, "{}", groups.join(" "));
    }
    for edge in &plan.dropped {
        let (first, second) = (snapshot.uid(edge.first), snapshot.uid(edge.second));
        let _ = writeln!(text, "not {first} before {second}: {:?}", edge.relation);
    }
    for out in &plan.out_of_order {
        let _ = writeln!(text, "out of order: {}", snapshot.uid(*out));
    }
    text
}

/// The plan for deletions in a world, compared line by line.
#[track_caller]
pub(super) fn expect(world: &str, deleted: &[(&str, Policy)], expected: &str) {
    let lines = |text: &str| -> Vec<String> {
        text.lines().map(|line| line.trim().to_owned()).filter(|line| !line.is_empty()).collect()
    };
    let world = lines(world);
    let snapshot = snapshot(world.iter().map(String::as_str));
    let plan = verified(&snapshot, &detection(&snapshot, deleted));
    assert_eq!(lines(&text(&snapshot, &plan)), lines(expected));
}
