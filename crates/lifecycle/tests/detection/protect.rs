//! Excluded objects: protected ones, and those that an approved plan did not name.

use crate::common::{empty, expect, judged, node, render, world};
use sexton_lifecycle::{
    DetectionSettings, HypotheticalDeletion, Protection, Roots, find_orphans, follow_deletions,
};
use sexton_model::Policy;

/// A protected object is excluded with everything below it, and what it blocks is named.
#[test]
fn protected_objects_are_spared() {
    judged(
        "app/shop deleted cascade
         app/second deleted cascade
         vm/db <- app/shop, app/second protected
         disk/data <- vm/db
         vm/web <- app/shop",
        r#"app/second dies Cascade: asked, marked
           app/shop dies Cascade: asked, marked
           vm/web dies Cascade: owner app/shop, root app/shop
           vm/db keeps app/second: Protected("true")
           vm/db keeps app/shop: Protected("true")"#,
    );
}

#[test]
fn protected_objects_keep_namespaces_and_outlive_removals() {
    judged(
        "ns/b deleted background
         vm/b/db protected
         app/shop
         vm/web <- app/shop protected
         gone app/shop",
        r#"ns/b dies Background: asked, marked
           vm/web keeps nothing: Protected("true")
           vm/b/db keeps ns/b: Protected("true")"#,
    );
}

/// An object that would only lose a reference loses it, protected or not.
#[test]
fn protected_objects_lose_references() {
    judged(
        "app/shop deleted foreground
         app/other
         vm/db <- app/shop, app/other protected",
        "app/shop dies Foreground: asked, marked
         vm/db loses app/shop",
    );
}

/// The mark of a user cannot be taken back, not by a protection either; a preview still refuses.
#[test]
fn what_is_terminating_is_terminating() {
    judged(
        "app/shop protected deleted cascade\n vm/web <- app/shop",
        "app/shop dies Cascade: asked, marked
         vm/web dies Cascade: owner app/shop, root app/shop",
    );
    let snapshot = world("app/shop protected\n vm/web <- app/shop");
    let hypothetical = [HypotheticalDeletion { node: node(&snapshot, "app/shop"), policy: Policy::Cascade }];
    let detection = follow_deletions(&snapshot, Roots::None, &hypothetical, &DetectionSettings::default());
    expect(&render(&snapshot, &detection), r#"app/shop keeps nothing: Protected("true")"#);
}

#[test]
fn protected_kinds() {
    let snapshot = world("app/shop deleted cascade\n disk/root <- app/shop\n disk/lost <- app/never");
    let kinds = [("example.com".to_owned(), "Disk".to_owned())].into();
    let settings = DetectionSettings { protection: Protection { kinds }, ..DetectionSettings::default() };
    expect(
        &render(&snapshot, &follow_deletions(&snapshot, Roots::All, &[], &settings)),
        r#"app/shop dies Cascade: asked, marked
           disk/root keeps app/shop: Protected("the kind Disk.example.com is protected")"#,
    );
    let orphans = find_orphans(&snapshot, crate::common::no_grace(&Default::default()), &settings);
    expect(
        &render(&snapshot, &orphans.detection),
        r#"disk/lost keeps nothing: Protected("the kind Disk.example.com is protected")"#,
    );
}

/// What an approved plan did not name does not follow: it is named as what the owner waits for.
#[test]
fn what_was_not_approved_does_not_follow() {
    judged(
        "app/shop deleted cascade approved
         vm/web <- app/shop deleted cascade
         disk/late <- vm/web
         disk/below <- disk/late
         app/other deleted cascade
         disk/both <- vm/web, app/other
         ns/b deleted background approved
         event/b/told
         vm/b/late",
        r#"event/b/told dies Background: in ns/b, root ns/b
           ns/b dies Background: asked, marked
           app/other dies Cascade: asked, marked
           app/shop dies Cascade: asked, marked
           disk/both dies Cascade: owner app/other, root app/other
           vm/web dies Cascade: owner app/shop, root app/shop, marked
           disk/late keeps vm/web: NotApproved("digest")
           vm/b/late keeps ns/b: NotApproved("digest")"#,
    );
    judged(
        "app/shop deleted foreground approved
         app/other
         vm/kept <- app/shop, app/other
         vm/late <- app/shop",
        r#"app/shop dies Foreground: asked, marked
           vm/kept loses app/shop
           vm/late keeps app/shop: NotApproved("digest")"#,
    );
}

/// EXT-29: a subscription keeps neither side alive, and condemns neither.
#[test]
fn subscriptions_keep_no_object() {
    judged(
        "app/shop deleted foreground
         vm/web <- app/shop watches disk/free
         disk/root <- app/shop
         disk/free watches disk/root",
        "app/shop dies Foreground: asked, marked
         disk/root dies Background: owner app/shop, root app/shop
         vm/web dies Background: owner app/shop, root app/shop",
    );
    assert!(empty().is_empty());
}
