//! Carries an approved plan out: marks what is in it, and follows it to the end.

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

/// A world that changes so often while it is looked at does not want to be looked at.
const LOOKS: usize = 5;
/// New lives that are named; the rest is counted.
const NEW_SHOWN: usize = 10;

/// Does it.
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
    // Who follows somebody that goes at once is found by having seen it go: so it is watched before.
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

/// Starts what carries the plan out, if that is done in this process, and says what holds objects until their turn.
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
        // Kubernetes' own collector does it as well, as long as nothing takes steps that only ours knows.
        Err(failure) if !ours && !approve::takes_steps(&preview.seen, &preview.plan) => {
            output.talk("the collector of Kubernetes carries it out, in its own order:");
            failure.details.iter().for_each(|why| output.talk(&format!("  {why}")));
            Ok((Work::Elsewhere, Order::Kubernetes))
        }
        Err(failure) => Err(failure),
    }
}

/// What became of the marks.
struct Outcome {
    taken: usize,
    failures: Vec<Failure>,
    /// Who was refused, and who would have followed them.
    left_alone: BTreeSet<Uid>,
}

/// Marks what was approved. If the world changed meanwhile it is looked at again: whoever is new was not approved.
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

/// Whether something was different from how it was seen.
fn is_race(status: &Status) -> bool {
    status.code == 409
}

/// The roots that were approved; which of them are still there is looked up.
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

/// What is new in the plan, and what to type about it.
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

/// Who asks, where no server knows it.
fn who(world: &World) -> Option<String> {
    let user = std::env::var("USER").ok().filter(|user| !user.is_empty());
    user.filter(|_| world.embedded)
}
