//! `sexton collect`: a collector on its own, beside the server that it works for.

use std::time::Duration;

use sexton_client::Kinds;
use sexton_collector::rights::missing_rights;
use sexton_collector::{LeaseSettings, Stop};
use sexton_lifecycle::DeletionLimit;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::watch;

use crate::allowing::Allowing;
use crate::collecting::{self, Choices};
use crate::failure::{Exit, Failure};
use crate::input::durations;
use crate::output::Output;
use crate::settings::Settings;
use crate::world::{Purpose, World, is_ours};

/// Missing rights that are named; the rest is counted.
const REFUSED_SHOWN: usize = 8;

/// Collect what deletions on a server leave, until stopped
///
/// Of several collectors one acts, the others wait for its lease. On a Kubernetes of another make the proofs are weaker:
/// docs/collector.md says how.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// How long an object is left alone whose owners are all gone, if nobody saw them go
    #[arg(long, default_value = "5s", value_parser = durations::read, value_name = "DURATION")]
    orphan_grace: Duration,
    /// How many objects without owners may be destroyed at once, such as 20 or 30%; more are held. Without it: 10, or half
    /// of all if that is more
    #[arg(long, value_name = "COUNT|PERCENT")]
    max_delete: Option<DeletionLimit>,
    /// Write no events about what is destroyed, and what is in the way of that
    #[arg(long)]
    no_events: bool,
    /// How long a call of a hook may take at most, whatever its class says
    #[arg(long, default_value = "1h", value_parser = durations::read, value_name = "DURATION")]
    max_hook_time: Duration,
    #[command(flatten)]
    allowing: Allowing,
}

pub(crate) async fn run(args: Args, settings: &Settings, output: &Output) -> Result<Exit, Failure> {
    if settings.server.is_none() && settings.context.is_none() {
        return Err(Failure::new("which server is to be collected for?")
            .next("a server of ours", "sexton collect --server http://127.0.0.1:8180")
            .next("a cluster", "sexton collect --context NAME"));
    }
    let world = World::open(settings, Purpose::Look).await?;
    let fuse = args.max_delete.unwrap_or_default();
    let (orphan_grace, max_hook_time) = (args.orphan_grace, args.max_hook_time);
    let (events, allowance) = (!args.no_events, args.allowing.allowance()?);
    let choices = Choices { orphan_grace, fuse, events, allowance, max_hook_time };
    let (resources, kinds) = (world.resources.clone(), world.kinds().await?);
    let collector = match is_ours(&kinds) {
        true => {
            // A collector waits for a server that is away; the user of a command wants to know.
            let feed = resources.changes(None).await;
            drop(feed.map_err(|error| Failure::new("the server cannot be asked").because(&error))?);
            collecting::of_a_server(resources, choices)
        }
        false => {
            check_rights(&world, &kinds, output).await?;
            output.talk("this server is not ours: absence is looked up, not proved; orphans are left alone");
            collecting::of_a_cluster(resources, choices)
        }
    };
    output.line(&format!("collecting for {}", world.target))?;
    let (stop, stopped) = watch::channel(Stop::No);
    let mut terminate = signal(SignalKind::terminate()).map_err(unheard)?;
    let mut work = tokio::spawn(collector.run(stopped));
    let mut told = Stop::No;
    loop {
        tokio::select! {
            _ = &mut work => return Ok(Exit::Done),
            _ = terminate.recv() => told = Stop::Now,
            _ = tokio::signal::ctrl_c() => {
                told = if told == Stop::No { Stop::Drain } else { Stop::Now };
                output.talk("finishing what is under way; once more to stop at once");
            }
        }
        stop.send_replace(told);
    }
}

/// Fails if rights are missing without which nothing can be collected, and names kinds that will be left alone.
async fn check_rights(world: &World, kinds: &Kinds, output: &Output) -> Result<(), Failure> {
    let lease = LeaseSettings::new("");
    // A server that does not answer such questions refuses what it refuses later.
    let Ok(missing) = missing_rights(&world.resources, kinds, &lease).await else { return Ok(()) };
    let named = |(kind, verbs): &(String, Vec<String>)| format!("{} {kind}", verbs.join(", "));
    let refused = missing.lease.iter().cloned().chain(missing.kinds.iter().map(named));
    if missing.lets_collect() {
        for refused in refused.take(REFUSED_SHOWN) {
            output.talk(&format!("left alone, because it is forbidden: {refused}"));
        }
        return Ok(());
    }
    let more = (missing.lease.len() + missing.kinds.len()).saturating_sub(REFUSED_SHOWN);
    let what = format!("collecting is forbidden on {}: rights are missing", world.target);
    let failure = refused.take(REFUSED_SHOWN).fold(Failure::new(what), Failure::detail);
    Err(if more > 0 { failure.detail(format!("and {more} more")) } else { failure }
        .next("see your rights", "kubectl auth can-i --list"))
}

fn unheard(error: std::io::Error) -> Failure {
    Failure::new("cannot listen for signals").because(&error)
}
