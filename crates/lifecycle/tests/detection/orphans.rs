//! Objects whose owners do not exist.

use std::collections::BTreeMap;

use crate::common::{empty, event, expect, judged, no_grace, node, render, world};
use sexton_lifecycle::{DetectionSettings, Grace, Snapshot, check_deletion_limit, find_orphans};
use sexton_model::{GroupResource, Uid};

#[track_caller]
fn found(snapshot: &Snapshot, expected: &str) {
    let orphans = find_orphans(snapshot, no_grace(&BTreeMap::new()), &DetectionSettings::default());
    expect(&render(snapshot, &orphans.detection), expected);
}

/// REQ-KRK-6: an object without owner references is no orphan; one with several is an orphan when none of them exists.
#[test]
fn every_owner_has_to_be_missing() {
    let snapshot = world(
        "app/there
         vm/free
         vm/kept <- app/missing, app/there
         vm/lost <- app/missing, app/never
         disk/root <- vm/lost
         disk/shared <- vm/lost, vm/kept",
    );
    found(
        &snapshot,
        "disk/root dies Background: owner vm/lost, root vm/lost
         vm/lost dies Background: gone app/missing, app/never, orphaned
         disk/shared loses vm/lost, later",
    );
    assert_eq!(snapshot.nodes_with_absent_owners().len(), 2);
    judged("vm/lost <- app/missing", "");
}

/// A slot that another object has taken proves that the owner is gone, whatever else is not seen.
#[test]
fn a_taken_slot_is_proof() {
    let mut snapshot = world("app/shop#2\n vm/web <- app/shop");
    found(&snapshot, "vm/web dies Background: gone app/shop, orphaned");
    let apps = GroupResource::new("example.com", "apps");
    snapshot.set_incomplete(apps, Some("forbidden".into()));
    found(&snapshot, "vm/web dies Background: gone app/shop, orphaned");
}

/// EXT-12: nothing is held to be absent while kinds are unknown, not seen completely, or not listed yet.
#[test]
fn what_cannot_be_asked_is_left_alone() {
    let mut snapshot = world("vm/web <- app/shop\n vm/odd <- app/shop, mystery/x");
    let apps = GroupResource::new("example.com", "apps");
    found(
        &snapshot,
        "vm/web dies Background: gone app/shop, orphaned
         vm/odd unknown mystery/x: KindUnknown",
    );
    snapshot.set_incomplete(apps.clone(), Some("forbidden".into()));
    assert!(!snapshot.is_complete());
    found(
        &snapshot,
        r#"vm/odd unknown app/shop: Incomplete("forbidden")
           vm/odd unknown mystery/x: KindUnknown
           vm/web unknown app/shop: Incomplete("forbidden")"#,
    );
    snapshot.set_incomplete(apps, None);
    assert!(snapshot.is_complete());
    snapshot.set_synced(false);
    found(
        &snapshot,
        "vm/odd unknown app/shop: Starting
         vm/odd unknown mystery/x: KindUnknown
         vm/web unknown app/shop: Starting",
    );
}

/// A reference to something else than it says is no evidence.
#[test]
fn invalid_references_are_no_evidence() {
    let snapshot = world("app/b/shop\n vm/web <- app/b/shop, app/missing");
    found(&snapshot, "vm/web invalid app/b/shop: Namespace");
}

#[test]
fn a_grace_has_to_be_over() {
    let snapshot = world("vm/old <- app/missing\n vm/new <- app/missing");
    let since = BTreeMap::from([(Uid("vm/old".into()), 90)]);
    let orphans =
        find_orphans(&snapshot, Grace { now: 95, period: 5, since: &since }, &DetectionSettings::default());
    expect(&render(&snapshot, &orphans.detection), "vm/old dies Background: gone app/missing, orphaned");
    assert_eq!(orphans.in_grace, [node(&snapshot, "vm/new")]);
    let orphans =
        find_orphans(&snapshot, Grace { now: 94, period: 5, since: &since }, &DetectionSettings::default());
    assert_eq!((orphans.in_grace.len(), orphans.detection.doomed.len()), (2, 0));
}

/// A dependent of an owner with a seen removal is no orphan but part of a cascade.
#[test]
fn who_follows_waits_for_nothing() {
    let snapshot = world("app/shop\n vm/web <- app/shop, app/missing\n gone app/shop");
    let orphans = find_orphans(&snapshot, no_grace(&BTreeMap::new()), &DetectionSettings::default());
    assert_eq!(orphans.after_removal, [node(&snapshot, "vm/web")]);
    assert_eq!((orphans.in_grace.len(), orphans.detection.doomed.len()), (0, 0));
}

/// The refusal says the main causes; requested deletions are not limited.
#[test]
fn the_fuse_names_causes() {
    let mut snapshot = empty();
    let mut put = |line: &str, revision| drop(crate::common::apply(&mut snapshot, event(line, revision)));
    (0..8).for_each(|n| put(&format!("vm/x{n} <- app/lost"), n + 1));
    (0..4).for_each(|n| put(&format!("vm/y{n} <- node/away"), n + 11));
    put("disk/below <- vm/x0", 20);
    put("app/asked deleted cascade", 21);
    (0..30).for_each(|n| put(&format!("vm/z{n} <- app/asked"), n + 22));
    let orphans = find_orphans(&snapshot, no_grace(&BTreeMap::new()), &DetectionSettings::default());
    let limits = "12".parse().unwrap();
    let held = check_deletion_limit(&snapshot, &orphans.detection, 20, &limits).unwrap_err();
    assert_eq!(
        held.to_string(),
        "held: 13 of 20 would be destroyed, and nobody asked for it by name; 9 because App.example.com/lost \
         (app/lost) does not exist; 4 because Node/away (node/away) does not exist"
    );
    assert!(check_deletion_limit(&snapshot, &orphans.detection, 20, &"13".parse().unwrap()).is_ok());
    assert!(check_deletion_limit(&snapshot, &orphans.detection, 26, &Default::default()).is_ok());
    assert!(check_deletion_limit(&snapshot, &orphans.detection, 25, &Default::default()).is_err());
    let asked = crate::common::detect_all(&snapshot);
    assert!(
        asked.doomed.len() > 30 && check_deletion_limit(&snapshot, &asked, 31, &Default::default()).is_ok()
    );
}
