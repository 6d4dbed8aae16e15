//! Shapes of graphs: diamonds, circles, owners of themselves, references that lead nowhere or elsewhere.

use crate::common::{detect_all, expect, judged, render, world};

/// EXT-10: a diamond is no cycle.
#[test]
fn diamonds() {
    for policy in ["cascade", "foreground"] {
        let snapshot = world(&format!(
            "app/top deleted {policy}
             vm/left <- app/top
             vm/right <- app/top
             disk/bottom <- vm/left, vm/right"
        ));
        let (top, bottom) =
            if policy == "cascade" { ("Cascade", "Cascade") } else { ("Foreground", "Background") };
        expect(
            &render(&snapshot, &detect_all(&snapshot)),
            &format!(
                "app/top dies {top}: asked, marked
                 disk/bottom dies {bottom}: owner vm/left, root app/top
                 vm/left dies {top}: owner app/top, root app/top
                 vm/right dies {top}: owner app/top, root app/top"
            ),
        );
    }
}

/// EXT-11, REQ-KRK-47: a circle of owners is legal data, is followed all around, and ends.
#[test]
fn circles() {
    judged(
        "app/a <- app/c deleted cascade
         app/b <- app/a
         app/c <- app/b
         vm/tail <- app/c",
        "app/a dies Cascade: asked, marked
         app/b dies Cascade: owner app/a, root app/a
         app/c dies Cascade: owner app/b, root app/a
         vm/tail dies Cascade: owner app/c, root app/a",
    );
}

/// In a cycle of terminating objects the one deleted first is the root; what hangs on the cycle is not.
#[test]
fn circles_of_terminating_objects() {
    judged(
        "app/c <- app/b deleted cascade
         app/a <- app/c deleted cascade
         app/b <- app/a deleted cascade
         vm/tail <- app/b deleted cascade",
        "app/a dies Cascade: owner app/c, root app/c, marked
         app/b dies Cascade: owner app/a, root app/c, marked
         app/c dies Cascade: asked, marked
         vm/tail dies Cascade: owner app/b, root app/c, marked",
    );
}

/// Objects that own each other keep each other: each has a solid owner.
#[test]
fn circles_that_keep_themselves() {
    judged(
        "app/root deleted foreground
         vm/a <- app/root, vm/b
         vm/b <- vm/a",
        "app/root dies Foreground: asked, marked
         vm/a loses app/root",
    );
}

#[test]
fn owners_of_themselves() {
    judged(
        "app/a <- app/a deleted cascade
         app/b <- app/b
         vm/x <- app/a, vm/x",
        "app/a dies Cascade: asked, marked
         vm/x dies Cascade: owner app/a, root app/a",
    );
    judged(
        "app/a <- app/a deleted foreground
         vm/x <- app/a, vm/x",
        "app/a dies Foreground: asked, marked
         vm/x loses app/a",
    );
}

/// The shortest chain explains; of equal ones the first by key.
#[test]
fn the_shortest_chain_explains() {
    judged(
        "app/z deleted cascade
         app/y deleted cascade
         vm/long <- app/y
         vm/deep <- vm/long, app/z
         vm/even <- app/z, app/y",
        "app/y dies Cascade: asked, marked
         app/z dies Cascade: asked, marked
         vm/deep dies Cascade: owner app/z, root app/z
         vm/even dies Cascade: owner app/y, root app/y
         vm/long dies Cascade: owner app/y, root app/y",
    );
}

/// An owner of an unknown kind may exist: its dependent is left alone, and that is said.
#[test]
fn owners_of_unknown_kinds() {
    judged(
        "app/shop deleted foreground
         vm/web <- app/shop, mystery/x",
        "app/shop dies Foreground: asked, marked
         vm/web unknown mystery/x: KindUnknown",
    );
}

/// A reference to another namespace, kind or name than the uid has neither keeps nor condemns.
#[test]
fn references_that_are_not_what_they_say() {
    judged(
        "app/b/shop deleted cascade
         app/good deleted foreground
         app/keeper
         vm/elsewhere <- app/b/shop
         vm/kind <- disk/shop=app/good
         vm/name <- app/other=app/good
         vm/follows <- app/good, disk/x=app/keeper
         node/n <- app/good",
        "app/good dies Foreground: asked, marked
         app/b/shop dies Cascade: asked, marked
         vm/follows dies Background: owner app/good, root app/good
         node/n invalid app/good: NotInNamespace
         vm/elsewhere invalid app/b/shop: Namespace
         vm/follows invalid app/keeper: Kind
         vm/kind invalid app/good: Kind
         vm/name invalid app/good: Name",
    );
}

/// An owner without a namespace may own what is in one.
#[test]
fn owners_without_a_namespace() {
    judged(
        "node/n deleted cascade
         vm/b/web <- node/n",
        "node/n dies Cascade: asked, marked
         vm/b/web dies Cascade: owner node/n, root node/n",
    );
}

/// EXT-13: a successor in the slot of an owner inherits nothing and keeps no object.
#[test]
fn successors_inherit_nothing() {
    judged(
        "app/shop
         vm/web <- app/shop
         app/shop#2
         vm/new <- app/shop#2",
        "vm/web dies Background: gone app/shop, root app/shop",
    );
    judged(
        "app/shop#2 deleted cascade
         vm/old <- app/shop
         vm/new <- app/shop#2",
        "app/shop#2 dies Cascade: asked, marked
         vm/new dies Cascade: owner app/shop#2, root app/shop#2",
    );
}

/// REQ-KRK-58: an object with another owner now follows that one.
#[test]
fn new_parents() {
    judged(
        "app/a
         app/b
         vm/web <- app/a
         vm/web <- app/b
         app/a deleted cascade",
        "app/a dies Cascade: asked, marked",
    );
    judged(
        "app/a
         app/b deleted cascade
         vm/web <- app/a
         vm/web <- app/b",
        "app/b dies Cascade: asked, marked
         vm/web dies Cascade: owner app/b, root app/b",
    );
}
