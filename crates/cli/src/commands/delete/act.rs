//! Carries an approved plan out: marks what is in it, and follows it to the end.

use sexton_collector::approve::{self, Approval, Marked};
use sexton_lifecycle::LifeId;
use sexton_model::Status;

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
use crate::world::World;

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
    let place = Where { gateway: world.gateway(&kinds), resources: world.resources.clone() };
    let mut follow = Follow::begin(place.clone(), Until::Gone, &preview.names, output).await?;
    let wait = !args.no_wait;
    // Who follows somebody that goes at once is found by having seen it go: so it is watched before.
    let mut work = match world.embedded && wait {
        true => Work::start(collecting::of_a_command(world.resources.clone())).await?,
        false => Work::Elsewhere,
    };
    let marking = mark(args, settings, &world, &kinds, &place, &preview);
    let refused = match follow.finish_first(marking, &mut work, &mut interrupts).await {
        Ok(refused) => refused,
        Err(failure) => {
            work.end().await;
            return Err(failure);
        }
    };
    refused.iter().for_each(|failure| output.explain(failure));
    if !wait {
        let on = format!("marked on {}; nobody waits for it", world.target);
        output.talk(&on);
        if world.embedded {
            output.talk(&format!("  go on   sexton resume{}", settings.flags()));
        }
        return Ok(Exit::of_several(missing + refused.len(), missing + preview.roots.len()));
    }
    follow.expect(preview.doomed());
    let says = |label: &str, uid: &_| tell::gone(args.output, label, uid);
    let end = follow.run(&mut work, &says, &mut interrupts).await?;
    let unheard = tell::end(args.output, &preview, &end, output);
    let flags = settings.flags();
    if end.interrupted && !end.left.is_empty() {
        let how = match world.embedded {
            true => format!("  go on   sexton resume{flags}"),
            false => format!("  the server goes on; see how far it is   sexton collections{flags}"),
        };
        output.talk(&end.interrupted_text());
        output.talk(&how);
    } else if !end.left.is_empty() {
        report(&end, &preview.root_uids(), &world.namespace, settings, output);
    }
    match end.exit() {
        Exit::Done if missing + refused.len() > 0 => Ok(Exit::Partial),
        Exit::Done => end.unheard.and(unheard).map(|()| Exit::Done),
        exit => Ok(exit),
    }
}

/// Marks what was approved. If the world changed meanwhile it is looked at again: whoever is new was not approved.
async fn mark(
    args: &Args,
    settings: &Settings,
    world: &World,
    kinds: &sexton_client::Kinds,
    place: &Where,
    approved: &Preview,
) -> Result<Vec<Failure>, Failure> {
    let approval = Approval { digest: approved.plan.digest.clone(), by: who(world) };
    let mut again: Option<Preview> = None;
    let mut taken = 0;
    for _ in 0..LOOKS {
        let now = again.as_ref().unwrap_or(approved);
        let writes = approve::items(&now.seen, &now.judgement, &now.plan, &approval);
        let marked = approve::send(place.gateway.clone(), writes).await?;
        taken += marked.taken;
        if !marked.refused.iter().any(|(_, status)| is_race(status)) {
            return Ok(failures(now, &marked));
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
    let named = |life: &LifeId| {
        let key = snapshot.key(*life);
        let kind = kinds.all.iter().find(|kind| kind.resource == key.kind)?;
        let place = sexton_client::Place::new(kind, Some(&key.namespace));
        Some(Named { place, name: key.name, uid: snapshot.uid(*life) })
    };
    approved.roots.iter().filter_map(named).collect()
}

fn failures(now: &Preview, marked: &Marked) -> Vec<Failure> {
    let failure = |(life, status): &(LifeId, Box<Status>)| {
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
