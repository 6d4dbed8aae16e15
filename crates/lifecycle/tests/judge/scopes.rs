//! Judging only what changed.

use crate::common::{expect, life, render, uid, world};
use sexton_lifecycle::{Roots, Settings, judge};

const WORLD: &str = "app/shop deleted cascade by ada
    vm/web <- app/shop deleted cascade
    disk/root <- vm/web
    net/inner <- disk/root
    disk/other <- app/shop
    app/second deleted foreground
    vm/x <- app/second";

#[track_caller]
fn these(text: &str, lives: &[&str], gone: &[&str], expected: &str) {
    let snapshot = world(text);
    let lives: Vec<_> = lives.iter().map(|word| life(&snapshot, word)).collect();
    let gone: Vec<_> = gone.iter().map(|word| uid(word)).collect();
    let roots = Roots::These { lives: &lives, gone: &gone };
    expect(&render(&snapshot, &judge(&snapshot, roots, &[], &Settings::default())), expected);
}

/// From a marked life on, and no further than the next marked one.
#[test]
fn from_marked_lives() {
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

/// A life that is not marked is looked at by itself.
#[test]
fn from_other_lives() {
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
