//! Doomed objects: the request, the chain of causes, what they wait for.

use insta::assert_snapshot;
use sexton_lifecycle::explain::{CollectionProgress, Explanation, Naming, Status, WaitReason, sentence};
use sexton_model::Policy;

use crate::{common, explained, judged, told, why, world_with};

#[test]
fn the_chain_leads_to_who_asked() {
    let world = "
        app/shop deleted cascade by ada
        vm/web <- app/shop deleted cascade by ada
        disk/root <- vm/web";
    assert_snapshot!(why(world, "disk/root"), @"Disk/root is going to be destroyed: owned by Vm/web, owned by App/shop (deleted by ada, 4m9s ago, policy cascade)");
    assert_snapshot!(why(world, "app/shop"), @"
    App/shop is being destroyed (deleted by ada, 4m9s ago, policy cascade)
      waits for Vm/web | owned by App/shop
        waits for Disk/root | owned by Vm/web
    2 have to go before it.
    ");
}

#[test]
fn namespaces_definitions_and_removals_are_named() {
    assert_snapshot!(why("ns/b deleted background by ada\n vm/b/web", "vm/b/web"), @"Vm/b/web is going to be destroyed: in Namespace/b (deleted by ada, 4m9s ago, policy background)");
    assert_snapshot!(why("ns/b deleted background by ada\n vm/b/web", "ns/b"), @r#"
    Namespace/b is being destroyed (deleted by ada, 4m9s ago, policy background)
      held by the finalizer example.com/hold | for 4m9s
        give it up $ sexton force Namespace/b --blocker finalizer:example.com/hold --reason "…" (leaves a tombstone: may still exist)
      waits for Vm/b/web | in Namespace/b
    1 has to go before it.
    "#);
    let world = "crd/vms.example.com deleted background\n vm/web";
    assert_snapshot!(why(world, "vm/web"), @"Vm/web is going to be destroyed: defined by CustomResourceDefinition/vms.example.com (deleted, 4m9s ago, policy background)");
    let world = "app/shop\n vm/web <- app/shop\n gone app/shop by ada";
    assert_snapshot!(why(world, "vm/web"), @"Vm/web is going to be destroyed: was owned by App/shop (deleted by ada, policy background)");
}

/// The sentence alone does not change by time passing, nor with the step that an object takes.
#[test]
fn one_sentence_says_why() {
    let snapshot = common::world("app/shop deleted cascade by ada\n vm/web <- app/shop");
    let (detection, _) = judged(&snapshot);
    let naming = Naming { namespace: "a".into(), groups: false };
    let said = |word: &str| {
        sentence(&snapshot, &detection, &detection.doomed[&common::node(&snapshot, word)], &naming)
    };
    assert_eq!(said("app/shop"), "is being destroyed (deleted by ada, policy cascade)");
    assert_eq!(
        said("vm/web"),
        "is going to be destroyed: owned by App/shop (deleted by ada, policy cascade)"
    );
}

/// A long chain is told by its ends.
#[test]
fn long_chains_are_cut() {
    let mut world = "vm/n0 deleted cascade by ada\n".to_owned();
    for number in 1..40 {
        let held = if number == 39 { "deleted cascade held" } else { "" };
        world.push_str(&format!("vm/n{number} <- vm/n{} {held}\n", number - 1));
    }
    let story = why(&world, "vm/n38");
    assert!(story.contains("owned by Vm/n28, … 18 more, owned by Vm/n9"), "{story}");
    assert_snapshot!(why(&world, "vm/n0"), @r#"
    Vm/n0 is being destroyed (deleted by ada, 4m9s ago, policy cascade)
      waits for Vm/n1 | owned by Vm/n0
        … and 37 more, the last for Vm/n39 | held by the finalizer example.com/hold, for 3m30s
          give it up $ sexton force Vm/n39 --blocker finalizer:example.com/hold --reason "…" (leaves a tombstone: may still exist)
    39 have to go before it.
    "#);
}

/// No object is stuck: those that are being destroyed are shown, and the rest is counted.
#[test]
fn many_that_only_take_their_time_are_folded() {
    let mut world = "app/shop deleted cascade\n".to_owned();
    (0..30).for_each(|number| world.push_str(&format!("vm/n{number:02} <- app/shop\n")));
    let story = why(&world, "app/shop");
    assert_eq!(story.lines().filter(|line| line.contains("waits for")).count(), 10, "{story}");
    assert!(story.ends_with("30 have to go before it; 20 more of them are not shown.\n"), "{story}");
}

/// A circle waits for the rest of itself.
#[test]
fn circles_wait_for_themselves() {
    let world = "
        vm/a <- vm/b deleted cascade
        vm/b <- vm/a deleted cascade held";
    assert_snapshot!(why(world, "vm/a"), @r#"
    Vm/a is being destroyed (deleted, 4m9s ago, policy cascade)
      waits for Vm/b | held by the finalizer example.com/hold, for 4m8s
        give it up $ sexton force Vm/b --blocker finalizer:example.com/hold --reason "…" (leaves a tombstone: may still exist)
    1 has to go before it.
    "#);
}

/// Higher places of a module go first.
#[test]
fn the_order_of_a_module_is_a_reason() {
    let world = "vm/low deleted cascade\n vm/high deleted cascade held";
    let snapshot = world_with(world, |uid, seen| {
        seen.manager = Some("shop".into());
        seen.order = Some(if uid == "vm/high" { 2 } else { 1 });
    });
    let explanation = explained(&snapshot, "vm/low");
    let Status::Doomed(details) = &explanation.status else { panic!("{explanation:?}") };
    assert_eq!(details.waits[0].reason, WaitReason::Order);
    assert_snapshot!(told(&explanation), @r#"
    Vm/low is being destroyed (deleted, 4m9s ago, policy cascade)
      waits for Vm/high | held by the finalizer example.com/hold, for 4m8s
        give it up $ sexton force Vm/high --blocker finalizer:example.com/hold --reason "…" (leaves a tombstone: may still exist)
    1 has to go before it.
    "#);
}

#[test]
fn a_collection_says_how_far_it_is() {
    let snapshot = world_with("app/shop deleted cascade by ada\n vm/web <- app/shop", |_, seen| {
        seen.collection = Some("c-18".into());
        seen.approved = Some("7c1f".into());
    });
    let progress = CollectionProgress { gone: 3, doomed: 5 };
    let explanation = explained(&snapshot, "app/shop").with_progress(progress);
    let Status::Doomed(details) = &explanation.status else { panic!("{explanation:?}") };
    assert_eq!((details.terminating_since, details.collection.as_deref()), (Some(1), Some("c-18")));
    assert_snapshot!(told(&explanation), @"
    App/shop is being destroyed (deleted by ada, 4m9s ago, policy cascade, approved plan 7c1f, collection c-18)
      Vm/web was not in the plan 7c1f that was approved
        let it go, too $ sexton delete Vm/web
    3 of 5 are gone.
    ");
}

/// What a finalizer does not say any more is not made up; a record may know it.
#[test]
fn a_policy_that_is_carried_out_is_not_guessed() {
    let snapshot = crate::common::world("app/shop deleted background by ada");
    let shop = explained(&snapshot, "app/shop");
    assert_eq!(shop.lacks_policy(), Some(shop.subject.uid.as_str()));
    let headline = |told_of: &Explanation| told(told_of).lines().next().unwrap().to_owned();
    assert_eq!(
        headline(&shop),
        "App/shop is being destroyed (deleted by ada, 4m9s ago, policy background, or one that is carried out already)"
    );
    assert_eq!(
        headline(&shop.with_policy(Policy::Cascade)),
        "App/shop is being destroyed (deleted by ada, 4m9s ago, policy cascade)"
    );
}
