//! Each policy, and namespaces and definitions.

use crate::common::{expect, judged, node, render, world};
use sexton_lifecycle::{DetectionSettings, HypotheticalDeletion, Roots, Snapshot, follow_deletions};
use sexton_model::Policy;

/// REQ-KRK-1, REQ-KRK-2, REQ-KRK-3, REQ-KRK-7: of whatever kind, with several owners, over several levels.
#[test]
fn a_cascade_takes_every_dependent() {
    judged(
        "app/shop deleted cascade by ada
         app/other
         vm/web <- app/shop, app/other
         disk/root <- vm/web
         disk/free",
        "app/shop dies Cascade: asked, marked, by ada
         disk/root dies Cascade: owner vm/web, root app/shop, by ada
         vm/web dies Cascade: owner app/shop, root app/shop, by ada",
    );
}

#[test]
fn in_the_foreground_another_owner_keeps() {
    judged(
        "app/shop deleted foreground
         app/other
         vm/web <- app/shop
         vm/db <- app/shop, app/other
         disk/root <- vm/web
         disk/data <- vm/db",
        "app/shop dies Foreground: asked, marked
         disk/root dies Background: owner vm/web, root app/shop
         vm/web dies Foreground: owner app/shop, root app/shop
         vm/db loses app/shop",
    );
}

/// A second owner that goes as well does not keep, and one that does not exist neither.
#[test]
fn in_the_foreground_several_owners_go_together() {
    judged(
        "app/a deleted foreground
         app/b deleted foreground
         vm/both <- app/a, app/b
         vm/never <- app/a, app/missing
         app/solid
         vm/kept <- app/a, app/missing, app/solid",
        "app/a dies Foreground: asked, marked
         app/b dies Foreground: asked, marked
         vm/both dies Background: owner app/a, root app/a
         vm/never dies Background: owner app/a, root app/a
         vm/kept loses app/a, app/missing",
    );
}

#[test]
fn in_the_background_dependents_follow_a_removal() {
    judged(
        "app/shop
         app/other
         vm/web <- app/shop
         vm/db <- app/shop, app/other
         disk/root <- vm/web
         gone app/shop by ada",
        "disk/root dies Background: owner vm/web, root app/shop, by ada
         vm/web dies Background: gone app/shop, root app/shop, by ada
         vm/db loses app/shop",
    );
}

/// An owner that is marked without a policy and held by another finalizer is there until it is gone.
#[test]
fn in_the_background_a_held_owner_keeps() {
    judged(
        "app/shop deleted background
         vm/web <- app/shop",
        "app/shop dies Background: asked, marked",
    );
}

#[test]
fn orphans_lose_the_reference() {
    judged(
        "app/shop deleted orphan
         app/other deleted foreground
         vm/web <- app/shop
         vm/db <- app/shop, app/other
         disk/root <- vm/web",
        "app/other dies Foreground: asked, marked
         app/shop dies Orphan: asked, marked
         vm/db loses app/other, app/shop
         vm/web loses app/shop",
    );
}

/// The cascade beats the others: the object is doomed, even if other owners would only orphan it.
#[test]
fn a_cascade_beats_the_others() {
    judged(
        "app/a deleted cascade
         app/b deleted orphan
         app/c deleted foreground
         app/d
         vm/web <- app/a, app/b, app/c, app/d, mystery/x",
        "app/a dies Cascade: asked, marked
         app/b dies Orphan: asked, marked
         app/c dies Foreground: asked, marked
         vm/web dies Cascade: owner app/a, root app/a",
    );
}

/// Of records that contradict each other the least destructive counts.
#[test]
fn contradicting_records() {
    judged(
        "app/a deleted cascade records orphan
         app/b deleted foreground records cascade_deletion
         vm/x <- app/a
         vm/y <- app/b",
        "app/a dies Orphan: asked, marked
         app/b dies Cascade: asked, marked
         vm/y dies Cascade: owner app/b, root app/b
         vm/x loses app/a",
    );
}

/// What is marked already keeps the policy that it recorded.
#[test]
fn terminating_dependents_keep_their_policy() {
    judged(
        "app/shop deleted cascade by ada
         vm/web <- app/shop deleted foreground by bob
         vm/db <- app/shop deleted background
         disk/root <- vm/web
         disk/data <- vm/db",
        "app/shop dies Cascade: asked, marked, by ada
         disk/root dies Background: owner vm/web, root app/shop, by bob
         vm/db dies Background: owner app/shop, root app/shop, marked, by ada
         vm/web dies Foreground: owner app/shop, root app/shop, marked, by bob",
    );
}

#[test]
fn a_namespace_takes_its_contents_along() {
    judged(
        "ns/b deleted background
         vm/b/web
         disk/b/root <- vm/b/web
         vm/elsewhere",
        "ns/b dies Background: asked, marked
         disk/b/root dies Background: in ns/b, root ns/b
         vm/b/web dies Background: in ns/b, root ns/b",
    );
}

#[test]
fn a_definition_takes_its_objects_along() {
    judged(
        "crd/vms.example.com deleted background
         vm/web
         vm/b/web
         disk/root <- vm/web",
        "crd/vms.example.com dies Background: asked, marked
         disk/root dies Background: owner vm/web, root crd/vms.example.com
         vm/web dies Background: of crd/vms.example.com, root crd/vms.example.com
         vm/b/web dies Background: of crd/vms.example.com, root crd/vms.example.com",
    );
}

/// An object with a solid owner is not doomed by another owner, but it may be by its namespace.
#[test]
fn who_is_kept_dies_of_what_it_lies_in() {
    let text = "crd/vms.example.com deleted background
         node/goes deleted foreground
         node/stays
         vm/web <- node/goes, node/stays
         vm/db <- node/was, node/stays
         node/was
         gone node/was";
    judged(
        text,
        "node/goes dies Foreground: asked, marked
         crd/vms.example.com dies Background: asked, marked
         vm/db dies Background: of crd/vms.example.com, root crd/vms.example.com
         vm/web dies Background: of crd/vms.example.com, root crd/vms.example.com",
    );
    let snapshot = world(text);
    let detection = follow_deletions(&snapshot, Roots::All, &[], &DetectionSettings::default());
    let plan = sexton_lifecycle::plan::make(&snapshot, &detection);
    assert_eq!(sexton_lifecycle::plan::verify(&snapshot, &detection, &plan), Ok(()));
}

fn preview(snapshot: &Snapshot, word: &str, policy: Policy) -> String {
    let hypothetical = [HypotheticalDeletion { node: node(snapshot, word), policy }];
    let detection = follow_deletions(snapshot, Roots::None, &hypothetical, &DetectionSettings::default());
    render(snapshot, &detection)
}

/// A preview says what each policy would do, and leaves out what goes on elsewhere.
#[test]
fn previews() {
    let snapshot = world(
        "app/shop
         app/other
         app/gone deleted cascade
         vm/web <- app/shop
         vm/db <- app/shop, app/other
         disk/root <- vm/web held",
    );
    expect(
        &preview(&snapshot, "app/shop", Policy::Cascade),
        "app/shop dies Cascade: asked
         disk/root dies Cascade: owner vm/web, root app/shop
         vm/db dies Cascade: owner app/shop, root app/shop
         vm/web dies Cascade: owner app/shop, root app/shop",
    );
    expect(
        &preview(&snapshot, "app/shop", Policy::Foreground),
        "app/shop dies Foreground: asked
         disk/root dies Background: owner vm/web, root app/shop
         vm/web dies Foreground: owner app/shop, root app/shop
         vm/db loses app/shop, later",
    );
    expect(
        &preview(&snapshot, "app/shop", Policy::Background),
        "app/shop dies Background: asked
         disk/root dies Background: owner vm/web, root app/shop
         vm/web dies Background: owner app/shop, root app/shop
         vm/db loses app/shop, later",
    );
    expect(
        &preview(&snapshot, "app/shop", Policy::Orphan),
        "app/shop dies Orphan: asked
         vm/db loses app/shop, later
         vm/web loses app/shop, later",
    );
    expect(&preview(&snapshot, "app/gone", Policy::Orphan), "app/gone dies Cascade: asked, marked");
}

/// A namespace that would be deleted would take its contents along, by whatever policy.
#[test]
fn previews_of_namespaces() {
    let snapshot = world("ns/b\n vm/b/web\n disk/b/root <- vm/b/web");
    for (policy, said) in [(Policy::Background, "Background"), (Policy::Orphan, "Orphan")] {
        expect(
            &preview(&snapshot, "ns/b", policy),
            &format!(
                "ns/b dies {said}: asked
                 disk/b/root dies Background: in ns/b, root ns/b
                 vm/b/web dies Background: in ns/b, root ns/b"
            ),
        );
    }
}
