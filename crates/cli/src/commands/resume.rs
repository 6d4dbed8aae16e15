//! `sexton resume`: finishes what an interrupted command left.

use std::time::Duration;

use sexton_client::resources::ListAsk;
use sexton_client::{Kinds, Place, ServedKind};
use sexton_collector::Collector;
use sexton_lifecycle::FuseLimits;
use sexton_lifecycle::Settings as Rules;
use sexton_model::Uid;
use sexton_model::collection::{Collection, KIND, RESOURCE};

use super::delete::tell::{left, summary};
use crate::collecting::{self, Choices};
use crate::failure::{Exit, Failure};
use crate::following::{Follow, Obituary, Until, Where, Work, report, silence};
use crate::input::durations;
use crate::interrupt::Interrupts;
use crate::naming::Names;
use crate::output::ndjson;
use crate::output::style::count;
use crate::output::tree::{Death, DeathPlan, json};
use crate::output::{FormFlag, Output};
use crate::settings::Settings;
use crate::world::{Purpose, World, is_ours};

/// Finish what an interrupted command left
///
/// On the embedded store it collects until nothing is left to do: what is marked goes, and so do objects whose owners do
/// not exist any more. On a Kubernetes of others what is marked or swept goes. A server of ours does that by itself: then
/// it is shown what is under way.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// How long an object is left alone whose owners are all gone, if nobody saw them go
    #[arg(long, default_value = "5s", value_parser = durations::read, value_name = "DURATION")]
    orphan_grace: Duration,
    #[command(flatten)]
    form: FormFlag,
}

pub(crate) async fn run(args: Args, settings: &Settings, output: &Output) -> Result<Exit, Failure> {
    let world = World::open(settings, Purpose::Look).await?;
    let kinds = world.kinds().await?;
    if !world.embedded && is_ours(&kinds) {
        return open_ones(&world, output).await;
    }
    if !world.embedded {
        // Perhaps nobody else does it there. Whoever does has the lease, and goes on.
        let collector = collecting::of_a_command_elsewhere(world.resources.clone());
        return finish(&world, &kinds, collector, None, settings, output).await;
    }
    let choices = Choices { orphan_grace: args.orphan_grace, fuse: FuseLimits::default(), events: false };
    let collector = collecting::of_the_store(world.resources.clone(), choices, |runner| runner);
    finish(&world, &kinds, collector, None, settings, output).await
}

/// Collects in this process until nothing is left to do. With a uid, what belongs to the same deletion is followed.
pub(super) async fn finish(
    world: &World,
    kinds: &Kinds,
    collector: Collector,
    of: Option<&Uid>,
    settings: &Settings,
    output: &Output,
) -> Result<Exit, Failure> {
    let names = Names::new(kinds, &world.namespace);
    let mut interrupts = Interrupts::listen();
    let place = Where { gateway: world.gateway(kinds), resources: world.resources.clone() };
    let until = if world.embedded { Until::Idle } else { Until::Gone };
    let mut follow = Follow::begin(place, until, &names, output).await?;
    let (_, plan) = follow.seen().under_way(&Rules::default())?;
    let root = of.and_then(|uid| plan.step_of(uid)).map(|step| &step.finding.root);
    let steps = || plan.steps().filter(|step| root.is_none_or(|root| step.finding.root == *root));
    let roots: Vec<Uid> =
        steps().filter(|step| step.finding.root == step.uid).map(|step| step.uid.clone()).collect();
    let lives: Vec<(Uid, String, usize)> = steps()
        .map(|step| {
            let wave = plan.wave_of(&step.uid).unwrap_or(0) + 1;
            (step.uid.clone(), names.of(follow.seen().snapshot(), step.life), wave)
        })
        .collect();
    if of.is_none() {
        let told = match lives.len() {
            0 => "nothing is being destroyed".to_owned(),
            1 => "1 is being destroyed".to_owned(),
            many => format!("{} are being destroyed", count(many)),
        };
        output.talk(&format!("resume on {}: {told}", world.target));
    }
    output.data(&lines(&lives, &plan.digest, world, output))?;
    follow.expect(lives.into_iter());
    let mut work = Work::start(collector).await?;
    let says: &Obituary<'_> = if output.is_stream() { &ndjson::gone } else { &silence };
    let end = follow.run(&mut work, says, &mut interrupts).await?;
    left(&end, output)?;
    output.summarize(summary(&end));
    if !end.left.is_empty() && end.interrupted {
        output.talk(&end.interrupted_text());
        output.talk(&format!("  go on   sexton resume{}", settings.flags()));
    }
    if !end.left.is_empty() && !end.interrupted {
        report(&end, &roots, &world.namespace, settings, output);
    }
    let held = work.summary().and_then(|summary| summary.held).filter(|_| of.is_none());
    match (end.exit(), held) {
        (Exit::Done, Some(held)) => {
            output.talk(&held);
            output.talk(&format!("  see what can be done   sexton collections{}", settings.flags()));
            Ok(Exit::Held)
        }
        (exit, _) => Ok(exit),
    }
}

/// What is on its way out, for programs.
fn lines(lives: &[(Uid, String, usize)], digest: &str, world: &World, output: &Output) -> String {
    if !output.is_stream() {
        return String::new();
    }
    let death = |(uid, label, order): &(Uid, String, usize)| Death {
        label: label.clone(),
        uid: uid.0.clone(),
        order: *order,
        reason: "is being destroyed already".to_owned(),
        ..Death::default()
    };
    json::ndjson(&DeathPlan {
        target: world.target.clone(),
        title: "resume".to_owned(),
        entries: lives.iter().map(death).collect(),
        digest: digest.to_owned(),
        ..DeathPlan::default()
    })
}

/// What a server has under way.
async fn open_ones(world: &World, output: &Output) -> Result<Exit, Failure> {
    let place = Place::new(&ServedKind::of_ours(RESOURCE, KIND), None);
    let listed = world.resources.list(&place, &ListAsk::default()).await?;
    let open = listed.found.iter().filter_map(|document| Collection::read(document).ok());
    let open: Vec<Collection> = open.filter(|collection| !collection.status.phase.is_over()).collect();
    output.talk(&format!("{} goes on by itself; {} under way", world.target, number(open.len())));
    if output.is_stream() {
        return super::collections::events(listed.found, output, |record| {
            Collection::read(record).is_ok_and(|collection| !collection.status.phase.is_over())
        });
    }
    if !open.is_empty() {
        super::collections::table(world, output, |name| {
            open.iter().any(|collection| collection.name == name)
        })
        .await?;
    }
    Ok(Exit::Done)
}

fn number(open: usize) -> String {
    match open {
        0 => "nothing is".to_owned(),
        1 => "1 collection is".to_owned(),
        many => format!("{many} collections are"),
    }
}
