//! Executes an approved plan: sets its objects terminating, and follows them until they are gone.

use std::collections::BTreeSet;

use sexton_collector::approve::{self, Approval, Marked, Order};
use sexton_lifecycle::{DeletionScope, NodeId};
use sexton_model::{Status, Uid};

use super::preview::{Preview, command};
use super::tell;
use super::wanted::Named;
use super::{Agreed, Args};
use crate::collecting;
use crate::failure::{Exit, Failure};
use crate::following::{Follow, Until, Where, Work, report};
use crate::interrupt::Interrupts;
use crate::output::Output;
use crate::settings::Settings;
use crate::world::{World, is_ours};

/// Attempts to set the plan's objects terminating while the target changes meanwhile.
const LOOKS: usize = 5;
/// New objects named in a failure; the rest is counted.
const NEW_SHOWN: usize = 10;

/// Executes the plan that was approved.
pub(super) async fn act(
    args: &Args,
    settings: &Settings,
    agreed: Agreed,
    output: &Output,
) -> Result<Exit, Failure> {
    let Agreed { world, kinds, preview, missing } = agreed;
    let mut interrupts = Interrupts::listen();
    let place = Where::of(&world, &kinds);
    let mut follow = Follow::begin(place.clone(), Until::Gone, &preview.names, output).await?;
    // The collector starts before the deletions: it finds dependents of an object that is gone at once only if it has
    // seen that object.
    let (mut work, order) = start(args, &world, &kinds, &preview, output).await?;
    let marking = mark(args, settings, &world, &kinds, &place, &preview, order);
    let outcome = match follow.finish_first(marking, &mut work, &mut interrupts).await {
        Ok(outcome) => outcome,
        Err(failure) => {
            work.end().await;
            return Err(failure);
        }
    };
    outcome.failures.iter().for_each(|failure| output.explain(failure));
    let refused = outcome.failures.len();
    if refused > 0 && outcome.taken == 0 {
        work.end().await;
        return Ok(Exit::of_several(1, if missing > 0 { 2 } else { 1 }));
    }
    if args.no_wait {
        tell::not_waited(&world, &place, output);
        return Ok(Exit::of_several(missing + refused, missing + preview.roots.len()));
    }
    follow.expect(preview.doomed().filter(|(uid, _, _)| !outcome.left_alone.contains(uid)));
    follow.wait_at_most(args.timeout);
    let says = |label: &str, uid: &_| tell::gone(args.output, label, uid);
    let end = follow.run(&mut work, &says, &mut interrupts).await?;
    let unheard = tell::end(args.output, &preview, &end, &outcome.left_alone, output);
    if end.interrupted && !end.left.is_empty() {
        tell::interrupted(&end, &world, &place, output);
    } else if !end.left.is_empty() {
        report(&end, &preview.root_uids(), &world.namespace, settings, output);
    }
    match end.exit() {
        Exit::Done if missing + refused > 0 => Ok(Exit::Partial),
        Exit::Done => end.unheard.and(unheard).map(|()| Exit::Done),
        exit => Ok(exit),
    }
}

/// Starts the collector that executes the plan, if that is one in this process, and returns which mechanism keeps the
/// order of destruction.
async fn start(
    args: &Args,
    world: &World,
    kinds: &sexton_client::Kinds,
    preview: &Preview,
    output: &Output,
) -> Result<(Work, Order), Failure> {
    let ours = world.embedded || is_ours(kinds);
    let order = match (ours, args.no_wait) {
        (true, _) => Order::OurServer,
        (false, true) => Order::Kubernetes,
        (false, false) => Order::Command,
    };
    if args.no_wait || (!ours && !approve::takes_a_collector(&preview.seen, &preview.plan)) {
        return Ok((Work::Elsewhere, order));
    }
    let roots = preview.plan.steps().map(|step| step.finding.root.clone());
    let scope = DeletionScope::only(preview.plan.steps().map(|step| step.uid.clone()).chain(roots));
    let Some(collector) = collecting::of_a_plan(world, kinds, scope) else {
        return Ok((Work::Elsewhere, order));
    };
    match Work::start(collector).await {
        Ok(work) => Ok((work, order)),
        // The garbage collector of Kubernetes can do it, as long as no object has steps that only our collector takes.
        Err(failure) if !ours && !approve::takes_steps(&preview.seen, &preview.plan) => {
            output.talk("the collector of Kubernetes carries it out, in its own order:");
            failure.details.iter().for_each(|why| output.talk(&format!("  {why}")));
            Ok((Work::Elsewhere, Order::Kubernetes))
        }
        Err(failure) => Err(failure),
    }
}

/// The result of setting objects terminating.
struct Outcome {
    taken: usize,
    failures: Vec<Failure>,
    /// Objects that the server refused to delete, and those that are doomed only because of them.
    left_alone: BTreeSet<Uid>,
}

/// Sets the approved objects terminating. After a conflict the plan is made anew, and must contain only approved
/// objects: otherwise the command fails.
async fn mark(
    args: &Args,
    settings: &Settings,
    world: &World,
    kinds: &sexton_client::Kinds,
    place: &Where,
    approved: &Preview,
    order: Order,
) -> Result<Outcome, Failure> {
    let approval = Approval { digest: approved.plan.digest.clone(), by: who(world) };
    let mut again: Option<Preview> = None;
    let mut taken = 0;
    for _ in 0..LOOKS {
        let now = again.as_ref().unwrap_or(approved);
        let writes = approve::items(&now.seen, &now.judgement, &now.plan, &approval, order);
        let marked = approve::send(place.gateway.clone(), writes).await?;
        taken += marked.taken;
        if !marked.refused.iter().any(|(_, status)| is_race(status)) {
            let refused = marked.refused.iter().map(|(life, _)| life);
            let left_alone = refused.chain(&marked.untouched);
            let left_alone = left_alone.map(|life| now.seen.snapshot().uid(*life)).collect();
            return Ok(Outcome { taken, failures: failures(now, &marked), left_alone });
        }
        let named: Vec<Named> = named(approved, kinds);
        let next = Preview::make(args, world, kinds, &named).await?;
        if !next.plan.contains_only(&approved.plan) {
            return Err(changed(args, settings, approved, &next, taken));
        }
        again = Some(next);
    }
    Err(Failure::new("the world changes faster than it can be looked at")
        .detail(format!("{taken} are marked"))
        .exit(if taken == 0 { Exit::Held } else { Exit::Partial }))
}

/// Whether a write was refused because the object had changed since the snapshot.
fn is_race(status: &Status) -> bool {
    status.code == 409
}

/// The approved roots, as arguments for a new preview, which finds out which of them still exist.
fn named(approved: &Preview, kinds: &sexton_client::Kinds) -> Vec<Named> {
    let snapshot = approved.seen.snapshot();
    let named = |life: &NodeId| {
        let key = snapshot.key(*life);
        let kind = kinds.all.iter().find(|kind| kind.resource == key.kind)?;
        let place = sexton_client::Place::new(kind, Some(&key.namespace));
        Some(Named { place, name: key.name, uid: snapshot.uid(*life) })
    };
    approved.roots.iter().filter_map(named).collect()
}

fn failures(now: &Preview, marked: &Marked) -> Vec<Failure> {
    let failure = |(life, status): &(NodeId, Box<Status>)| {
        let label = now.names.of(now.seen.snapshot(), *life);
        Failure::new(format!("{label}: {}", status.message)).causes(status)
    };
    marked.refused.iter().map(failure).collect()
}

/// The failure that names the objects of the new plan which were not approved, and the command that approves them.
fn changed(args: &Args, settings: &Settings, approved: &Preview, now: &Preview, taken: usize) -> Failure {
    let new: Vec<String> =
        now.doomed().filter(|(uid, _, _)| !approved.plan.is_doomed(uid)).map(|(_, label, _)| label).collect();
    let mut failure = Failure::new("the world changed after the plan was approved");
    for label in new.iter().take(NEW_SHOWN) {
        failure = failure.detail(format!("{label} would die as well"));
    }
    if new.len() > NEW_SHOWN {
        failure = failure.detail(format!("and {} more", new.len() - NEW_SHOWN));
    }
    let digest: String = now.plan.digest.chars().take(8).collect();
    let (told, exit) = match taken {
        0 => ("Nothing was deleted.".to_owned(), Exit::Held),
        taken => (format!("{taken} of the approved ones are marked and will go."), Exit::Partial),
    };
    let command = command(args, settings);
    failure.detail(told).exit(exit).next("do it with them", format!("{command} --approve {digest}"))
}

/// The requester for the record, on the embedded store: servers know their users themselves.
fn who(world: &World) -> Option<String> {
    let user = std::env::var("USER").ok().filter(|user| !user.is_empty());
    user.filter(|_| world.embedded)
}
