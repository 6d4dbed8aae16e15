//! Objects that live: what keeps them, and what would end them.

use insta::assert_snapshot;
use sexton_lifecycle::Grace;
use sexton_model::Uid;

use crate::{NOW, explained, told, why, world_with};

#[test]
fn owners_keep_a_object_and_would_take_it_along() {
    assert_snapshot!(why("ns/a\n app/shop\n vm/web <- app/shop", "vm/web"), @"
    Vm/web lives: owned by App/shop (uid app/shop, alive), protected: no.
    It would die if: App/shop is deleted (cascade, foreground, background) · Namespace/a is deleted.
    ");
    assert_snapshot!(why("app/shop\n app/other\n vm/web <- app/shop, app/other", "vm/web"), @"
    Vm/web lives: 2 owners, protected: no.
      owned by App/shop (uid app/shop, alive)
      owned by App/other (uid app/other, alive)
    It would die if: App/shop is deleted (cascade) · App/other is deleted (cascade) · all its owners are deleted.
    ");
    assert_snapshot!(why("vm/web", "vm/web"), @"Vm/web lives: nothing owns it, protected: no.");
}

#[test]
fn owners_of_every_sort() {
    let world = "
        app/shop
        app/dying deleted orphan
        disk/x
        app/b/far
        app/gone
        vm/web <- app/shop, app/dying, app/disk=disk/x, app/far=app/b/far, mystery/m, app/gone
        gone app/gone by ada";
    assert_snapshot!(why(world, "vm/web"), @"
    Vm/web lives: 6 owners, protected: no.
      owned by App/shop (uid app/shop, alive)
      owned by App/dying (uid app/dying, marked 4m8s ago)
      owned by App/disk (uid disk/x, does not match: the object with that uid is of another kind)
      owned by App/b/far (uid app/b/far, does not match: the object with that uid is in another namespace)
      owned by Mystery/m (uid mystery/m, not known: there is no such kind now)
      owned by App/gone (uid app/gone, removed by ada)
      loses its reference to App/dying | that goes without it
      loses its reference to App/gone | that goes without it
    It would die if: App/shop is deleted (cascade).
    ");
}

/// A protected object says so, and what would end it otherwise.
#[test]
fn protection_is_told() {
    assert_snapshot!(why("app/shop\n vm/web <- app/shop protected", "vm/web"), @"
    Vm/web lives: owned by App/shop (uid app/shop, alive), protected: yes.
    Unprotected it would die if: App/shop is deleted (cascade, foreground, background).
    ");
    let world = "app/shop deleted cascade\n vm/web <- app/shop protected";
    assert_snapshot!(why(world, "vm/web"), @"
    Vm/web lives: owned by App/shop (uid app/shop, marked 4m9s ago), protected: yes.
      spared: it is protected | App/shop waits for it
        protect it no longer $ sexton unprotect vms.example.com/web
    ");
}

#[test]
fn an_orphan_in_waiting_says_until_when() {
    let snapshot = crate::common::world("vm/web <- app/never");
    let explanation = explained(&snapshot, "vm/web");
    assert_snapshot!(told(&explanation), @"
    Vm/web lives: none of its owners exists, protected: no.
      owned by App/never (uid app/never, does not exist)
    It is an orphan and is collected, unless an owner turns up.
    ");
    let since = [(Uid("vm/web".into()), NOW - 2)].into();
    let explanation = explanation.with_grace(Grace { now: NOW, period: 5, since: &since });
    assert_snapshot!(told(&explanation), @"
    Vm/web lives: none of its owners exists, protected: no.
      owned by App/never (uid app/never, does not exist)
    It is an orphan and is collected after a grace of 5s, in 3s, unless an owner turns up.
    ");
}

#[test]
fn modules_and_notes() {
    let snapshot = world_with("vm/web", |_, seen| {
        seen.manager = Some("shop".into());
        seen.note = Some("sexton.dev/destruction-dependencies is ignored: no list".into());
    });
    assert_snapshot!(told(&explained(&snapshot, "vm/web")), @"
    Vm/web lives: nothing owns it, belongs to the module shop, protected: no.
    It would die if: it leaves the module shop and shop is applied.
    sexton.dev/destruction-dependencies is ignored: no list
    ");
}

/// EXT-29: a subscription keeps neither side alive, so it is told apart from what does.
#[test]
fn subscriptions_are_told_both_ways() {
    let world = "disk/x\n vm/web watches disk/x watches disk/y\n app/shop watches vm/web";
    assert_snapshot!(why(world, "vm/web"), @"
    Vm/web lives: nothing owns it, protected: no.
      subscribed to Disk/x | goes first, if both are deleted
      subscribed to Disk/y | does not exist
      subscriber App/shop | goes last, if both are deleted
    ");
    let world = "disk/x\n vm/web watches disk/x deleted background";
    let told = why(world, "vm/web");
    assert!(told.contains("  subscribed to Disk/x | lives on, and is not waited for\n"), "{told}");
}

/// Only what can happen is said to end it: no server allows the deletion of the namespace `default`.
#[test]
fn a_permanent_namespace_ends_nothing() {
    assert_snapshot!(why("ns/default\n vm/default/web", "vm/default/web"), @"Vm/default/web lives: nothing owns it, protected: no.");
    let snapshot = world_with("vm/web", |_, seen| seen.manager = Some("shop".into()));
    let explanation = explained(&snapshot, "vm/web");
    assert_eq!(explanation.modules().collect::<Vec<_>>(), ["shop"]);
    assert_snapshot!(told(&explanation.without_sweep()), @"Vm/web lives: nothing owns it, belongs to the module shop, protected: no.");
}
