//! Verification notices every change of a plan, even if index, text and digest are made consistent again.

use proptest::prelude::*;
use sexton_model::Policy::Cascade;
use sexton_model::{GroupResource, Policy, Uid};

use super::super::{DroppedEdge, Flaw, Group, Plan, Relation, Step, Wave, make, verify};
use super::naive::worlds;
use super::world::{detection, node, snapshot, verified};
use crate::detect::{Cause, Detection};
use crate::snapshot::Snapshot;

/// How a plan is changed.
#[derive(Debug, Clone, Copy)]
enum Tampering {
    Swap,
    Drop,
    Duplicate,
    Foreign,
    Later,
    Together,
    Forget,
    Policy,
    Digest,
}

fn tampering() -> impl Strategy<Value = Tampering> {
    use Tampering::{Digest, Drop, Duplicate, Foreign, Forget, Later, Policy, Swap, Together};
    prop::sample::select(vec![Swap, Drop, Duplicate, Foreign, Later, Together, Forget, Policy, Digest])
}

/// The nth step.
fn at(plan: &mut Plan, number: usize) -> &mut Step {
    let steps = plan.waves.iter_mut().flat_map(|wave| &mut wave.groups).flat_map(|group| &mut group.members);
    steps.into_iter().nth(number).unwrap()
}

fn take(plan: &mut Plan, number: usize) -> Step {
    let step = at(plan, number).clone();
    for group in plan.waves.iter_mut().flat_map(|wave| &mut wave.groups) {
        group.members.retain(|other| other.node != step.node);
    }
    plan.waves.iter_mut().for_each(|wave| wave.groups.retain(|group| !group.members.is_empty()));
    plan.waves.retain(|wave| !wave.groups.is_empty());
    step
}

/// Changes a plan; `None` if it has nothing to change in this way.
fn tamper(snapshot: &Snapshot, plan: &Plan, how: Tampering, one: usize, other: usize) -> Option<Plan> {
    let mut plan = plan.clone();
    let many = plan.len();
    let (one, other) = (one % many.max(1), other % many.max(1));
    match how {
        _ if many == 0 => return None,
        Tampering::Swap => {
            let (a, b) = (at(&mut plan, one).clone(), at(&mut plan, other).clone());
            (a.node != b.node).then_some(())?;
            *at(&mut plan, one) = b;
            *at(&mut plan, other) = a;
        }
        Tampering::Drop => drop(take(&mut plan, one)),
        Tampering::Duplicate => {
            let step = at(&mut plan, one).clone();
            plan.waves.last_mut()?.groups.push(Group { members: vec![step] });
        }
        Tampering::Foreign => {
            let alive = snapshot.nodes().find(|node| !plan.is_doomed(&snapshot.uid(*node)))?;
            let step = at(&mut plan, one).clone();
            let (key, uid) = (snapshot.key(alive), snapshot.uid(alive));
            plan.waves[0].groups.push(Group { members: vec![Step { node: alive, key, uid, ..step }] });
        }
        Tampering::Later => {
            let step = take(&mut plan, one);
            plan.waves.push(Wave { groups: vec![Group { members: vec![step] }] });
            (many > 1).then_some(())?;
        }
        Tampering::Together => {
            let step = take(&mut plan, one);
            let group = plan.waves.first_mut()?.groups.first_mut()?;
            group.members.push(step);
            group.members.sort_by(|a, b| a.key.cmp(&b.key));
        }
        Tampering::Forget => {
            let edge = plan.dropped.pop()?;
            (snapshot.contains(edge.first)).then_some(())?;
        }
        Tampering::Policy => {
            let finding = &mut at(&mut plan, one).finding;
            finding.policy = if finding.policy == Cascade { Policy::Orphan } else { Cascade };
        }
        Tampering::Digest => {
            plan.digest = "0123456789abcdef".into();
            return Some(plan);
        }
    }
    Some(plan.indexed().written(snapshot))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, ..ProptestConfig::default() })]

    #[test]
    fn nothing_passes_that_was_tampered_with(
        world in worlds(true),
        how in tampering(),
        one in any::<usize>(),
        other in any::<usize>(),
    ) {
        let (snapshot, detection) = world.judged(&world.lines);
        let plan = make(&snapshot, &detection);
        if let Some(tampered) = tamper(&snapshot, &plan, how, one, other).filter(|tampered| *tampered != plan) {
            prop_assert!(verify(&snapshot, &detection, &tampered).is_err(), "{:?}", how);
        }
    }
}

/// The evidence is looked at again, not remembered.
#[test]
fn a_finding_that_is_not_true_any_more_is_a_flaw() {
    let world = snapshot(["App/p", "Vm/c <- App/p"]);
    let judged = detection(&world, &[("App/p", Cascade)]);
    let plan = verified(&world, &judged);
    let changed = snapshot(["App/p", "Vm/c"]);
    let flaws = verify(&changed, &judged, &plan).unwrap_err();
    assert!(flaws.iter().any(|flaw| matches!(flaw, Flaw::Evidence(..))), "{flaws:?}");

    let protected = snapshot(["App/p", "Vm/c <- App/p ; protected"]);
    let flaws = verify(&protected, &judged, &plan).unwrap_err();
    assert!(flaws.iter().any(|flaw| matches!(flaw, Flaw::Protected(..))), "{flaws:?}");
}

#[test]
fn an_owner_that_is_back_is_a_flaw() {
    let world = snapshot(["App/p", "Vm/c <- App/p"]);
    let child = node(&world, "Vm/c");
    let mut judged = Detection::default();
    let mut finding = detection(&world, &[("Vm/c", Cascade)]).doomed[&child].clone();
    finding.cause = Cause::OwnersGone { uids: vec![world.uid(node(&world, "App/p"))] };
    judged.doomed.insert(child, finding);
    let plan = make(&world, &judged);
    assert!(matches!(verify(&world, &judged, &plan).unwrap_err()[..], [Flaw::Evidence(..)]));
}

/// A wrong detection: the machine is doomed for this cause.
fn wrongly(world: &Snapshot, cause: Cause) -> Detection {
    let machine = node(world, "Vm/c");
    let mut judged = detection(world, &[("Vm/c", Cascade)]);
    judged.doomed.get_mut(&machine).unwrap().cause = cause;
    judged
}

fn evidence(world: &Snapshot, judged: &Detection) -> Vec<&'static str> {
    let flaws = verify(world, judged, &make(world, judged)).err().unwrap_or_default();
    flaws
        .into_iter()
        .filter_map(|flaw| if let Flaw::Evidence(_, why) = flaw { Some(why) } else { None })
        .collect()
}

/// Networks may exist that are not seen.
fn unlistable(world: &mut Snapshot) {
    world.set_incomplete(GroupResource::new("example.com", "nets"), Some("the list fails".into()));
}

/// EXT-20: one owner is gone, and another is of a kind that cannot be listed: it may exist, so nothing is proved.
#[test]
fn an_uncertain_owner_is_a_flaw() {
    let gone = Cause::OwnersGone { uids: vec![Uid("App/gone".into())] };
    let mut world = snapshot(["Vm/c <- App/gone, Net/n"]);
    assert_eq!(evidence(&world, &wrongly(&world, gone.clone())), Vec::<&str>::new());
    unlistable(&mut world);
    let uncertain = ["it cannot be said whether an owner exists"];
    assert_eq!(evidence(&world, &wrongly(&world, gone)), uncertain);
    world.set_synced(false);
    let all_gone = Cause::OwnersGone { uids: vec![Uid("App/gone".into()), Uid("Net/n".into())] };
    assert_eq!(evidence(&world, &wrongly(&world, all_gone)), uncertain);
}

/// EXT-20: the same for what follows a deleted owner, unless that takes all its dependents along.
#[test]
fn an_uncertain_owner_of_a_follower_is_a_flaw() {
    for (policy, flaws) in [
        (Policy::Foreground, vec!["it cannot be said whether an owner exists"]),
        (Policy::Background, vec!["it cannot be said whether an owner exists"]),
        (Cascade, vec![]),
    ] {
        let mut world = snapshot(["App/p", "Vm/c <- App/p, Net/n"]);
        unlistable(&mut world);
        let mut judged = detection(&world, &[("App/p", policy), ("Vm/c", Cascade)]);
        let cause = Cause::OwnerDoomed { owner: node(&world, "App/p") };
        judged.doomed.get_mut(&node(&world, "Vm/c")).unwrap().cause = cause;
        assert_eq!(evidence(&world, &judged), flaws, "{policy:?}");
    }
}

/// An owner is gone, and another one survives: it is solid.
#[test]
fn an_owner_that_survives_is_a_flaw() {
    let world = snapshot(["App/p", "Vm/c <- App/gone, App/p"]);
    let gone = Cause::OwnersGone { uids: vec![Uid("App/gone".into())] };
    assert_eq!(evidence(&world, &wrongly(&world, gone)), ["it has an owner that survives"]);
}

/// Ownership gives way to a destruction dependency, and to nothing else.
#[test]
fn an_edge_that_was_dropped_without_need_is_a_flaw() {
    let world = snapshot(["App/p", "Vm/c <- App/p"]);
    let judged = detection(&world, &[("App/p", Cascade)]);
    let mut plan = verified(&world, &judged);
    let (first, second) = (node(&world, "Vm/c"), node(&world, "App/p"));
    plan.dropped.push(DroppedEdge { first, second, relation: Relation::Owner });
    let flaws = verify(&world, &judged, &plan.indexed().written(&world)).unwrap_err();
    assert!(flaws.iter().any(|flaw| matches!(flaw, Flaw::Dropped { .. })), "{flaws:?}");
}

/// A step that does not name an object it has to wait for would begin too early.
#[test]
fn a_step_that_forgets_what_it_waits_for_is_a_flaw() {
    let world = snapshot(["App/p", "Vm/c <- App/p"]);
    let judged = detection(&world, &[("App/p", Cascade)]);
    let mut plan = verified(&world, &judged);
    at(&mut plan, 1).after.clear();
    let flaws = verify(&world, &judged, &plan.indexed().written(&world)).unwrap_err();
    assert!(flaws.iter().any(|flaw| matches!(flaw, Flaw::Untrue(..))), "{flaws:?}");
}
