//! Races and hazards of garbage collection, as far as they can be decided from what was seen.

use std::collections::{BTreeMap, HashSet};

use crate::common::{apply, detect_all, event, expect, judged, kinds, no_grace, node, render, uid, world};
use sexton_lifecycle::{DetectionSettings, Ownership, Snapshot, WhyUnknown, find_orphans};
use sexton_model::{GroupResource, Revision};

#[track_caller]
fn orphans(snapshot: &Snapshot, expected: &str) {
    let orphans = find_orphans(snapshot, no_grace(&BTreeMap::new()), &DetectionSettings::default());
    expect(&render(snapshot, &orphans.detection), expected);
}

/// 1: a dependent is seen before its owner.
#[test]
fn dependents_before_owners() {
    let mut snapshot = world("vm/web <- app/shop");
    assert_eq!(snapshot.nodes_with_absent_owners().len(), 1);
    apply(&mut snapshot, event("app/shop", 9));
    assert!(snapshot.nodes_with_absent_owners().is_empty());
    apply(&mut snapshot, event("app/shop deleted cascade", 10));
    assert!(detect_all(&snapshot).is_doomed(node(&snapshot, "vm/web")));
}

/// 2: an owner came and went unseen. It is an orphan's owner, not a removal that was seen.
#[test]
fn owners_that_were_never_seen() {
    let snapshot = world("vm/web <- app/shop");
    assert!(!snapshot.is_removal_known(&uid("app/shop")));
    expect(&render(&snapshot, &detect_all(&snapshot)), "");
    orphans(&snapshot, "vm/web dies Background: gone app/shop, orphaned");
}

/// 3: an id that was kept while its object went is known to be stale, also when the place is used again.
#[test]
fn stale_ids_are_known() {
    let mut snapshot = world("app/shop");
    let before = node(&snapshot, "app/shop");
    apply(&mut snapshot, event("gone app/shop", 8));
    assert!(!snapshot.contains(before));
    apply(&mut snapshot, event("app/next", 9));
    assert!(!snapshot.contains(before) && snapshot.contains(node(&snapshot, "app/next")));
}

/// 4: an owner is made again under the same name.
#[test]
fn owners_made_again() {
    judged(
        "app/shop\n vm/web <- app/shop\n gone app/shop by ada\n app/shop#2",
        "vm/web dies Background: gone app/shop, root app/shop, by ada",
    );
}

/// 5 and 7: children that name one uid with different kinds or from different namespaces cannot harm each other.
#[test]
fn one_uid_under_many_names() {
    let text = "vm/good <- app/shop\n vm/b/bad <- app/shop\n vm/odd <- disk/shop=app/shop\n app/shop";
    expect(&render(&world(text), &detect_all(&world(text))), "");
    orphans(&world(text), "");
    let going = format!("{text}\n app/shop deleted cascade");
    judged(
        &going,
        "app/shop dies Cascade: asked, marked
         vm/good dies Cascade: owner app/shop, root app/shop
         vm/odd invalid app/shop: Kind
         vm/b/bad invalid app/shop: Namespace",
    );
    // The removal was seen, but only objects that meant it follow.
    let gone = world(&format!("{text}\n gone app/shop"));
    expect(&render(&gone, &detect_all(&gone)), "vm/good dies Background: gone app/shop, root app/shop");
}

/// 6: whether the bad child or the good parent comes first makes no difference.
#[test]
fn bad_children_first_or_last() {
    for text in [
        "vm/b/bad <- app/shop\n app/shop\n vm/good <- app/shop\n app/shop deleted cascade",
        "app/shop\n vm/good <- app/shop\n app/shop deleted cascade\n vm/b/bad <- app/shop",
    ] {
        judged(
            text,
            "app/shop dies Cascade: asked, marked
             vm/good dies Cascade: owner app/shop, root app/shop
             vm/b/bad invalid app/shop: Namespace",
        );
    }
}

/// 8: what is in no namespace cannot be owned by something in one, and is never deleted for it.
#[test]
fn cluster_objects_with_namespaced_owners() {
    let text = "app/shop\n node/n <- app/shop\n app/shop deleted foreground";
    judged(text, "app/shop dies Foreground: asked, marked\n node/n invalid app/shop: NotInNamespace");
    judged(&format!("{text}\n gone app/shop"), "");
}

/// 9: created and deleted before the first observation.
#[test]
fn first_seen_when_terminating() {
    judged(
        "vm/web <- app/shop\n app/shop deleted foreground",
        "app/shop dies Foreground: asked, marked\n vm/web dies Background: owner app/shop, root app/shop",
    );
}

/// 10: an object that is held by a finalizer is deleted again, now with a policy.
#[test]
fn deleted_again_with_a_policy() {
    judged(
        "app/shop deleted background
         vm/web <- app/shop
         app/shop deleted foreground held",
        "app/shop dies Foreground: asked, marked
         vm/web dies Background: owner app/shop, root app/shop",
    );
}

/// 11 and 12: a reference that changed in between counts as it is now; other changes do not matter.
#[test]
fn references_count_as_they_are_now() {
    judged("app/a\n app/b\n vm/web <- app/a\n gone app/a\n vm/web <- app/b", "");
    judged(
        "app/a\n vm/web <- app/a\n gone app/a\n vm/web <- app/a held",
        "vm/web dies Background: gone app/a, root app/a",
    );
}

/// 13: what is gone is gone, however late other news of it are.
#[test]
fn late_news_of_the_dead() {
    let mut snapshot = world("vm/web\n vm/web held\n gone vm/web");
    apply(&mut snapshot, event("vm/web", 1));
    apply(&mut snapshot, event("vm/web", 3));
    assert!(snapshot.is_empty());
    apply(&mut snapshot, event("vm/web#2", 4));
    apply(&mut snapshot, event("vm/web", 2));
    assert_eq!(snapshot.len(), 1);
}

/// 14: one owner waits and another is solid: the waiting one is let go, see also the policies.
#[test]
fn a_solid_and_a_waiting_owner() {
    judged(
        "app/shop deleted foreground\n app/solid\n vm/web <- app/shop, app/solid",
        "app/shop dies Foreground: asked, marked\n vm/web loses app/shop",
    );
}

/// 15: a circle in the foreground is followed around once.
#[test]
fn circles_in_the_foreground() {
    judged(
        "app/a <- app/b deleted foreground\n app/b <- app/a",
        "app/a dies Foreground: asked, marked
         app/b dies Foreground: owner app/a, root app/a",
    );
}

/// 16, REQ-KRK-43, EXT-17: terminating objects that waited for an object are returned when that goes or drops its
/// reference, and no others.
#[test]
fn owners_are_looked_at_again() {
    let text = "app/shop deleted foreground\n app/other\n vm/web <- app/shop, app/other\n vm/db <- app/shop";
    let mut snapshot = world(text);
    let shop = node(&snapshot, "app/shop");
    let edited = apply(&mut snapshot, event("vm/web <- app/other", 8));
    assert_eq!(edited, [shop, node(&snapshot, "vm/web")]);
    let removed = apply(&mut snapshot, event("gone vm/db", 9));
    assert_eq!(removed, [shop]);
    assert!(!snapshot.is_referenced(shop));
}

/// 18: the kind of an owner vanished. No dependent is doomed for it, unless the owner was seen to go.
#[test]
fn kinds_that_vanish() {
    let mut snapshot = world("app/gone\n vm/web <- app/gone\n vm/odd <- app/never\n gone app/gone");
    let left: Vec<_> = kinds().into_iter().filter(|kind| kind.kind != "App").collect();
    snapshot.set_kinds(&left);
    assert!(!snapshot.is_kind_known("example.com", "App") && snapshot.is_kind_known("example.com", "Vm"));
    orphans(&snapshot, "vm/odd unknown app/never: KindUnknown");
    expect(
        &render(&snapshot, &detect_all(&snapshot)),
        "vm/web dies Background: gone app/gone, root app/gone",
    );
}

/// 20, EXT-12: while a kind cannot be listed, no object of it counts as absent; a new listing drops what it does not
/// have.
#[test]
fn listings() {
    let mut snapshot = world("app/a\n app/b\n vm/web <- app/b\n vm/db <- app/never");
    let apps = GroupResource::new("example.com", "apps");
    snapshot.set_incomplete(apps.clone(), Some("503".into()));
    let db = node(&snapshot, "vm/db");
    assert_eq!(snapshot.owners(db)[0].1, Ownership::Unknown(WhyUnknown::Incomplete("503".into())));
    snapshot.set_incomplete(apps.clone(), None);
    let gone = snapshot.remove_unlisted(Some(&apps), &HashSet::from([uid("app/a")]), Revision::new(9));
    assert_eq!((gone, snapshot.len()), (vec![uid("app/b")], 3));
    expect(&render(&snapshot, &detect_all(&snapshot)), "vm/web dies Background: gone app/b, root app/b");
    let gone = snapshot.remove_unlisted(None, &HashSet::from([uid("vm/db")]), Revision::new(9));
    assert_eq!((gone.len(), snapshot.len()), (2, 1));
}

/// An owner that left its dependents behind is seen to go before they are seen: they still survive.
#[test]
fn orphans_that_are_seen_late() {
    judged("app/shop deleted orphan\n gone app/shop\n vm/web <- app/shop", "vm/web loses app/shop");
}
