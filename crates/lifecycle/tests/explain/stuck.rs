//! Objects that are stuck: what is in the way, and what to type about it.

use insta::assert_snapshot;
use sexton_lifecycle::destruction::{Callee, Event, Origin, Outcome, Phase, Retry, State, Subscriber, step};
use sexton_lifecycle::explain::{CollectionProgress, Status};
use sexton_model::GroupResource;

use crate::{explained, told, why, world_with};

fn answered(state: &State, phase: Phase, callee: Callee, outcome: Outcome, now: i64) -> State {
    let retry = Retry { limit: 10, backoff: 10, max_backoff: 300 };
    let event = Event::Answered { phase, callee, outcome, retry, now };
    step(state, &event).unwrap().0
}

fn begun(uid: &str, subscribers: &[&str], has_destroy: bool) -> State {
    let subscribers = subscribers.iter().map(|uid| Subscriber { uid: (*uid).into(), has_handler: true });
    let event = Event::Begin { origin: Origin::Requested, subscribers: subscribers.collect(), has_destroy };
    step(&State::new(uid), &event).unwrap().0
}

/// An object whose destroy method failed three times.
fn failing(uid: &str) -> String {
    let turn = Event::PredecessorsGone { subscribers: Vec::new(), together: false };
    let mut state = step(&begun(uid, &[], true), &turn).unwrap().0;
    for (attempt, now) in [(1, 200), (2, 212), (3, 250)] {
        let reason = format!("./hooks/volume-rm exited {attempt}: \"volume is attached to vm-9\"");
        state = answered(&state, Phase::Destroying, Callee::Destroy, Outcome::Failed { reason }, now);
        state = if attempt < 3 { step(&state, &Event::Tick { now: now + 30 }).unwrap().0 } else { state };
    }
    state.encode().unwrap()
}

/// A deletion that is stuck deep below says where, why, and what to type.
#[test]
fn a_stuck_deletion_explains_itself() {
    let world = "
        app/prod deleted cascade by ada
        vm/shop <- app/prod deleted cascade by ada
        disk/data <- vm/shop deleted cascade by ada
        disk/other <- vm/shop deleted cascade by ada";
    let snapshot = world_with(world, |uid, seen| {
        seen.collection = Some("c-18".into());
        if uid == "disk/data" {
            seen.finalizers.push("sexton.dev/destroy".into());
            seen.journal = Some(failing(uid));
        }
    });
    let explanation =
        explained(&snapshot, "app/prod").with_progress(CollectionProgress { gone: 3, doomed: 7 });
    assert_snapshot!(told(&explanation), @r#"
    App/prod is being destroyed (deleted by ada, 4m9s ago, policy cascade, collection c-18)
      waits for Vm/shop | owned by App/prod
        waits for Disk/data | destroy failed 3 times: ./hooks/volume-rm exited 3: "volume is attached to vm-9", for 50s
          try again now $ sexton retry Disk/data
          give it up $ sexton force Disk/data --blocker destroy --reason "…" (leaves a tombstone: may still exist)
    3 of 7 are gone; 3 have to go before it; the next attempt is in 40s.
    "#);
    assert_snapshot!(told(&explained(&snapshot, "disk/data")), @r#"
    Disk/data is being destroyed: owned by Vm/shop, owned by App/prod (deleted by ada, 4m9s ago, policy cascade, collection c-18, in its destroy step)
      destroy failed 3 times: ./hooks/volume-rm exited 3: "volume is attached to vm-9" | for 50s
        try again now $ sexton retry Disk/data
        give it up $ sexton force Disk/data --blocker destroy --reason "…" (leaves a tombstone: may still exist)
    the next attempt is in 40s.
    "#);
}

#[test]
fn handlers_say_no_and_are_named() {
    let world = "
        disk/data deleted cascade
        vm/web watches disk/data";
    let snapshot = world_with(world, |uid, seen| {
        if uid == "disk/data" {
            let (state, callee) = (begun(uid, &["vm/web", "gone"], false), Callee::from("vm/web".to_owned()));
            let veto = Outcome::Veto { reason: "backup is running".into(), until: Some(300) };
            let state = answered(&state, Phase::Warning, callee, veto, 240);
            let what = "the class of Vm has no handler diskGone".into();
            let missing = Outcome::Missing { what };
            let state = answered(&state, Phase::Warning, Callee::from("gone".to_owned()), missing, 240);
            seen.journal = Some(state.encode().unwrap());
        }
    });
    assert_snapshot!(told(&explained(&snapshot, "disk/data")), @r#"
    Disk/data is being destroyed (deleted, 4m9s ago, policy cascade, warning its subscribers)
      warning gone cannot be called: the class of Vm has no handler diskGone | for 10s
        try again now $ sexton retry Disk/data
        give it up $ sexton force Disk/data --blocker gone --reason "…" (leaves a tombstone: may still exist)
      warning Vm/web says no: backup is running | for 10s
        try again now $ sexton retry Disk/data
        give it up $ sexton force Disk/data --blocker vm/web --reason "…" (leaves a tombstone: may still exist)
    the next attempt is in 0s.
    "#);
}

#[test]
fn excluded_objects_are_named_with_their_remedies() {
    let world = "
        app/shop deleted cascade approved
        vm/web <- app/shop deleted cascade
        disk/late <- vm/web
        ns/b deleted background
        vm/b/db protected";
    assert_snapshot!(why(world, "app/shop"), @"
    App/shop is being destroyed (deleted, 4m9s ago, policy cascade, approved plan digest)
      waits for Vm/web | Disk/late was not in the plan digest that was approved
        let it go, too $ sexton delete Disk/late
    1 has to go before it.
    ");
    assert_snapshot!(why(world, "ns/b"), @r#"
    Namespace/b is being destroyed (deleted, 4m6s ago, policy background)
      held by the finalizer example.com/hold | for 4m6s
        give it up $ sexton force Namespace/b --blocker finalizer:example.com/hold --reason "…" (leaves a tombstone: may still exist)
      Vm/b/db is protected
        protect it no longer $ sexton unprotect vms.example.com/db -n b
    "#);
    assert_snapshot!(why(world, "disk/late"), @"
    Disk/late lives: owned by Vm/web (uid vm/web, marked 4m8s ago), protected: no.
      spared: it was not in the plan digest that was approved | Vm/web waits for it
        let it go, too $ sexton delete Disk/late
    ");
}

#[test]
fn foreign_finalizers_and_broken_journals() {
    let snapshot =
        world_with("app/shop deleted cascade held\n vm/web <- app/shop deleted cascade", |uid, seen| {
            if uid == "vm/web" {
                seen.journal = Some("{\"v\":9}".into());
            }
        });
    assert_snapshot!(told(&explained(&snapshot, "app/shop")), @r#"
    App/shop is being destroyed (deleted, 4m9s ago, policy cascade)
      held by the finalizer example.com/hold | for 4m9s
        give it up $ sexton force App/shop --blocker finalizer:example.com/hold --reason "…" (leaves a tombstone: may still exist)
      waits for Vm/web | the journal has version 9, and this program knows version 1
        begin anew $ sexton force Vm/web --blocker journal --reason "…" (subscribers are notified again)
    1 has to go before it.
    "#);
}

#[test]
fn a_namespace_whose_contents_cannot_all_be_seen() {
    let mut snapshot = crate::common::world("ns/b deleted background");
    snapshot.set_incomplete(GroupResource::new("example.com", "vms"), Some("the server answers 503".into()));
    assert_snapshot!(told(&explained(&snapshot, "ns/b")), @r#"
    Namespace/b is being destroyed (deleted, 4m9s ago, policy background)
      held by the finalizer example.com/hold | for 4m9s
        give it up $ sexton force Namespace/b --blocker finalizer:example.com/hold --reason "…" (leaves a tombstone: may still exist)
      not all vms.example.com can be seen: the server answers 503
    "#);
}

/// However much is stuck, what is told stays readable, and it is the same each time.
#[test]
fn many_that_are_stuck_are_counted() {
    let mut world = "app/shop deleted cascade\n".to_owned();
    (0..25).for_each(|number| world.push_str(&format!("vm/n{number:02} <- app/shop deleted cascade held\n")));
    (0..25).for_each(|number| world.push_str(&format!("disk/n{number:02} <- vm/n{number:02}\n")));
    let snapshot = crate::common::world(&world);
    let explanation = explained(&snapshot, "app/shop");
    let Status::Doomed(details) = &explanation.status else { panic!("{explanation:?}") };
    assert_eq!((details.waits.len(), details.omitted, details.predecessor_count), (10, 15, 50));
    assert_eq!(explanation, explained(&snapshot, "app/shop"));
}

/// A class waits for the objects of its kind that survive.
#[test]
fn a_class_in_use_names_its_objects() {
    let mut snapshot = crate::common::world("app/class deleted cascade\n vm/a\n vm/b");
    let class = snapshot.uid(crate::common::node(&snapshot, "app/class"));
    snapshot.set_classes(&[(("example.com".to_owned(), "Vm".to_owned()), class)].into());
    assert_snapshot!(told(&explained(&snapshot, "app/class")), @"
    App/class is being destroyed (deleted, 4m9s ago, policy cascade)
      in use by Vm/a and 1 more | for 4m9s
        let it go, too $ sexton delete Vm/a
    ");
}
