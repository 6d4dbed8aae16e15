//! Judging only what changed.

use crate::common::{expect, node, render, uid, world};
use sexton_lifecycle::{DeletionScope, DetectionSettings, Roots, follow_deletions, plan};

const WORLD: &str = "app/shop deleted cascade by ada
    vm/web <- app/shop deleted cascade
    disk/root <- vm/web
    net/inner <- disk/root
    disk/other <- app/shop
    app/second deleted foreground
    vm/x <- app/second";

#[track_caller]
fn these(text: &str, nodes: &[&str], gone: &[&str], expected: &str) {
    let snapshot = world(text);
    let nodes: Vec<_> = nodes.iter().map(|word| node(&snapshot, word)).collect();
    let gone: Vec<_> = gone.iter().map(|word| uid(word)).collect();
    let roots = Roots::Only { nodes: &nodes, removed: &gone };
    expect(
        &render(&snapshot, &follow_deletions(&snapshot, roots, &[], &DetectionSettings::default())),
        expected,
    );
}

/// From a marked object on, and no further than the next marked one.
#[test]
fn from_terminating_objects() {
    these(
        WORLD,
        &["vm/web"],
        &[],
        "disk/root dies Cascade: owner vm/web, root app/shop, by ada
         net/inner dies Cascade: owner disk/root, root app/shop, by ada
         vm/web dies Cascade: owner app/shop, root app/shop, marked, by ada",
    );
    these(
        WORLD,
        &["app/shop"],
        &[],
        "app/shop dies Cascade: asked, marked, by ada
         disk/other dies Cascade: owner app/shop, root app/shop, by ada
         vm/web dies Cascade: owner app/shop, root app/shop, marked, by ada",
    );
}

/// An object that is not marked is looked at by itself.
#[test]
fn from_other_objects() {
    these(
        WORLD,
        &["disk/root"],
        &[],
        "disk/root dies Cascade: owner vm/web, root app/shop, by ada
         net/inner dies Cascade: owner disk/root, root app/shop, by ada",
    );
    these(WORLD, &["net/inner"], &[], "");
    these(
        "ns/b deleted background\n vm/b/late",
        &["vm/b/late"],
        &[],
        "vm/b/late dies Background: in ns/b, root ns/b",
    );
}

#[test]
fn from_removals() {
    let text = "app/a\n app/b\n vm/x <- app/a\n vm/y <- app/b\n gone app/a by ada\n gone app/b";
    these(text, &[], &["app/a"], "vm/x dies Background: gone app/a, root app/a, by ada");
    these(text, &[], &["app/never"], "");
}

/// An approval counts for those that follow directly, and on whatever else is named.
#[test]
fn with_approvals() {
    let text = "app/shop deleted cascade approved
        vm/web <- app/shop deleted cascade
        disk/late <- vm/web
        disk/direct <- app/shop";
    these(
        text,
        &["vm/web"],
        &[],
        r#"vm/web dies Cascade: owner app/shop, root app/shop, marked
           disk/late keeps vm/web: NotApproved("digest")"#,
    );
    these(text, &["disk/direct"], &[], r#"disk/direct keeps app/shop: NotApproved("digest")"#);
}

fn within(text: &str, uids: &[&str]) -> String {
    let snapshot = world(text);
    let scope = DeletionScope::only(uids.iter().map(|word| uid(word)));
    let settings = DetectionSettings { scope, ..DetectionSettings::default() };
    let detection = follow_deletions(&snapshot, Roots::All, &[], &settings);
    let plan = plan::make(&snapshot, &detection);
    plan::verify(&snapshot, &detection, &plan).expect("the plan passes its check");
    render(&snapshot, &detection)
}

/// What others deleted is not followed: neither marks, nor removals, nor namespaces.
#[test]
fn a_scope_leaves_the_deletions_of_others_alone() {
    let text = "app/mine deleted cascade
        vm/mine <- app/mine
        app/theirs deleted cascade
        vm/theirs <- app/theirs
        app/gone
        vm/after <- app/gone
        gone app/gone
        ns/b deleted background
        vm/b/inside";
    expect(
        &within(text, &["app/mine", "vm/mine"]),
        "app/mine dies Cascade: asked, marked
         vm/mine dies Cascade: owner app/mine, root app/mine",
    );
    expect(
        &within(text, &["app/gone", "vm/after"]),
        "vm/after dies Background: gone app/gone, root app/gone",
    );
    expect(
        &within(text, &["ns/b", "vm/b/inside"]),
        "ns/b dies Background: asked, marked
         vm/b/inside dies Background: in ns/b, root ns/b",
    );
    expect(&within(text, &[]), "");
}

/// A dependent that came after the plan is not in it: it stays, and its owner waits for it.
#[test]
fn a_scope_holds_what_came_later() {
    let text = "app/mine deleted cascade
        vm/mine <- app/mine
        vm/late <- app/mine";
    expect(
        &within(text, &["app/mine", "vm/mine"]),
        "app/mine dies Cascade: asked, marked
         vm/mine dies Cascade: owner app/mine, root app/mine
         vm/late keeps app/mine: NotInPlan",
    );
}

/// An owner that dies by the deletion of others does not keep its dependent, and loses no reference.
#[test]
fn owners_outside_a_scope_keep_what_they_would_keep() {
    let text = "app/mine deleted foreground
        app/theirs deleted foreground
        app/kept
        vm/both <- app/mine, app/theirs
        vm/three <- app/mine, app/theirs, app/kept";
    expect(
        &within(text, &["app/mine", "vm/both", "vm/three"]),
        "app/mine dies Foreground: asked, marked
         vm/both dies Background: owner app/mine, root app/mine
         vm/three loses app/mine",
    );
}
