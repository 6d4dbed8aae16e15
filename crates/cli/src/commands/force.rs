//! `sexton force` and `sexton retry`: requests to the collector about an object whose destruction does not progress.
//!
//! Both only write an annotation to the object. The collector decides what it means.

use sexton_client::Kinds;
use sexton_collector::preview::World as Seen;
use sexton_collector::{Request, Want};
use sexton_lifecycle::DetectionSettings;
use sexton_lifecycle::explain::{self, Remedy, Status};
use sexton_model::collection::{self, Collection, Phase};
use sexton_model::{Uid, marks};

use super::resume::{Resumed, finish};
use crate::allowing::AllowingHere;
use crate::failure::{Exit, Failure};
use crate::following::now;
use crate::one::One;
use crate::output::ndjson::Event;
use crate::output::{FormFlag, Output, Paint};
use crate::settings::{Settings, quoted};
use crate::showing::why as shown;
use crate::suggest::is_placeholder;
use crate::targets;
use crate::world::{Purpose, World, is_ours, keeps_tombstones};

/// Give up one thing that an object waits for on its way out
///
/// A destroy method, a handler of a subscriber, or the finalizer of somebody else is not waited for any more. What the
/// object stood for may still exist then: a tombstone says so, with the reason, where the kinds of Sexton are known. On the record of a collection that is
/// held because it would destroy too much, it lets that go on.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// KIND/NAME, KIND/NAMESPACE/NAME, or KIND NAME
    #[arg(value_name = "KIND/NAME", required = true, num_args = 1..=2)]
    object: Vec<String>,
    /// What is given up: destroy, a subscriber's uid, finalizer:NAME, journal, or fuse:COUNT; needed if there is more
    /// than one
    #[arg(long, value_name = "WHAT")]
    blocker: Option<String>,
    /// Why; it stands in the tombstone
    #[arg(long, value_name = "TEXT")]
    reason: String,
    #[command(flatten)]
    pub(crate) allowing: AllowingHere,
    #[command(flatten)]
    form: FormFlag,
}

/// Try again now what failed on an object's way out
#[derive(Debug, clap::Args)]
pub(crate) struct RetryArgs {
    /// KIND/NAME, KIND/NAMESPACE/NAME, or KIND NAME
    #[arg(value_name = "KIND/NAME", required = true, num_args = 1..=2)]
    object: Vec<String>,
    #[command(flatten)]
    pub(crate) allowing: AllowingHere,
    #[command(flatten)]
    form: FormFlag,
}

/// A blocker that can be forced: its name for `--blocker`, and its description.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Blocker {
    what: String,
    words: String,
}

pub(crate) async fn run(args: Args, settings: &Settings, output: &Output) -> Result<Exit, Failure> {
    let reason = args.reason.trim();
    if reason.is_empty() || is_placeholder(reason) {
        return Err(Failure::new("why is it given up? Whoever reads the tombstone wants to know")
            .next("say why", "--reason \"the volume was deleted by hand\""));
    }
    let world = World::open(settings, Purpose::Look).await?;
    let kinds = world.kinds().await?;
    let object = targets::one(&args.object)?;
    let one = One::find(&world, &kinds, &object).await?;
    let blockers = blockers(&world, &kinds, &one).await?;
    let chosen = choose(args.blocker.as_deref(), &blockers).ok_or_else(|| {
        let object = quoted(&object);
        let what = match (&args.blocker, blockers.as_slice()) {
            (Some(typed), _) => format!("{object} does not wait for {typed:?}"),
            (None, _) => format!("{object} waits for more than one thing"),
        };
        blockers.iter().fold(Failure::new(what).exit(Exit::Held), |failure, blocker| {
            let command = format!(
                "sexton force {object} --blocker {} --reason {}",
                quoted(&blocker.what),
                quoted(reason)
            );
            failure.next(blocker.words.clone(), command)
        })
    })?;
    let words = format!("gives up: {}", chosen.words);
    ask(&world, &kinds, one, Some((chosen.what, reason.to_owned())), &words, settings, output).await
}

pub(crate) async fn retry(args: RetryArgs, settings: &Settings, output: &Output) -> Result<Exit, Failure> {
    let world = World::open(settings, Purpose::Look).await?;
    let kinds = world.kinds().await?;
    let one = One::find(&world, &kinds, &targets::one(&args.object)?).await?;
    let blockers = blockers(&world, &kinds, &one).await?;
    if !is_a_record(&one) && blockers.iter().all(|blocker| blocker.what.starts_with(OF_OTHERS)) {
        return Err(nothing_to_retry(&one, &blockers));
    }
    ask(&world, &kinds, one, None, "is tried again", settings, output).await
}

/// The prefix of blockers that are finalizers of other controllers.
const OF_OTHERS: &str = "finalizer:";

/// The failure for a retry of an object with only blockers that are finalizers of other controllers.
fn nothing_to_retry(one: &One, blockers: &[Blocker]) -> Failure {
    let label = &one.label;
    let failure = Failure::new(format!("nothing of {label} can be tried again: others have to let go of it"));
    let object = quoted(&one.label);
    let failure = blockers.iter().fold(failure, |failure, blocker| failure.detail(blocker.words.clone()));
    let failure = blockers.iter().fold(failure, |failure, blocker| {
        let what = quoted(&blocker.what);
        failure.next("give it up", format!("sexton force {object} --blocker {what} --reason …"))
    });
    failure.next("see what it waits for", format!("sexton why {object}")).exit(Exit::Held)
}

/// The blockers of an object that can be forced. An error if it is not being destroyed, or has none.
async fn blockers(world: &World, kinds: &Kinds, one: &One) -> Result<Vec<Blocker>, Failure> {
    if is_a_record(one) {
        return held(one);
    }
    let seen = Seen::look(&*world.gateway(kinds), &world.resources).await?;
    let label = &one.label;
    let Some(life) = seen.life(one.uid()) else { return Err(Failure::new(format!("{label} is gone"))) };
    let (judgement, plan) = seen.under_way(&DetectionSettings::default())?;
    let told = explain::explain(seen.snapshot(), &judgement, &plan, life, now());
    let why = format!("sexton why {}", quoted(&one.label));
    let Status::Doomed(dying) = told.status else {
        return Err(Failure::new(format!("{label} is not being destroyed"))
            .exit(Exit::Held)
            .next("see why it lives", why));
    };
    let naming = shown::naming(&world.namespace);
    let mut found = Vec::new();
    for blocker in &dying.blockers {
        let forced = blocker.remedies.iter().find_map(|remedy| match remedy {
            Remedy::Force { blocker, .. } => Some(blocker.clone()),
            _ => None,
        });
        found.extend(forced.map(|what| Blocker { what, words: blocker.text(&naming) }));
    }
    match found.is_empty() {
        true => Err(Failure::new(format!("nothing is in the way of {label} itself"))
            .exit(Exit::Held)
            .next("see what it waits for", why)),
        false => Ok(found),
    }
}

fn is_a_record(one: &One) -> bool {
    let kind = &one.place.kind.resource;
    (kind.group.as_str(), kind.resource.as_str()) == ("sexton.dev", collection::RESOURCE)
}

/// The blocker of a collection that is held. An error if it is not held.
fn held(one: &One) -> Result<Vec<Blocker>, Failure> {
    let record = Collection::read(&one.object).ok().filter(|record| record.status.phase == Phase::Held);
    let held = record.into_iter().flat_map(|record| record.status.blockers);
    let held: Vec<Blocker> =
        held.filter_map(|one| Some(Blocker { what: one.what?, words: one.reason })).collect();
    match held.is_empty() {
        true => {
            let failure = Failure::new(format!("{} is not held", one.name)).exit(Exit::Held);
            Err(failure.next("see what is", "sexton collections"))
        }
        false => Ok(held),
    }
}

/// The blocker that was typed; without a word, the only one. `None`: no such blocker, or several.
fn choose(typed: Option<&str>, blockers: &[Blocker]) -> Option<Blocker> {
    let same = |blocker: &&Blocker, typed: &str| {
        blocker.what == typed || blocker.what.strip_prefix("finalizer:") == Some(typed)
    };
    match typed {
        Some(typed) => blockers.iter().find(|blocker| same(blocker, typed)).cloned(),
        None => blockers.first().filter(|_| blockers.len() == 1).cloned(),
    }
}

/// Writes the annotation, and runs a collector for it in this process. Records of collections, and objects on a server
/// of ours, are left to the collector that runs there.
async fn ask(
    world: &World,
    kinds: &Kinds,
    mut one: One,
    give_up: Option<(String, String)>,
    words: &str,
    settings: &Settings,
    output: &Output,
) -> Result<Exit, Failure> {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    let (blocker, reason) = give_up.unzip();
    let want = if blocker.is_some() { Want::Force } else { Want::Retry };
    let id = format!("{:x}-{}", since.as_nanos(), std::process::id());
    let request = Request { id, want, blocker, reason };
    let text = request.text().map_err(|error| Failure::new(error.to_string()))?;
    one.annotate(world, marks::REQUEST, |_| Ok(Some(text.clone()))).await?;
    let label = one.label.clone();
    let event = Event::Requested {
        label: &label,
        want: if request.want == Want::Force { "force" } else { "retry" },
        blocker: request.blocker.as_deref(),
        reason: request.reason.as_deref(),
    };
    output.tell(&event, '~', Paint::Change, &format!("{label} {words}"))?;
    if is_a_record(&one) {
        output.talk("the collector sees to it");
        output.suggest(&[("see how it goes", "sexton collections")]);
        return Ok(Exit::Done);
    }
    if !world.embedded && is_ours(kinds) {
        output.talk("the server sees to it");
        output.suggest(&[("see how it goes", format!("sexton why {}", quoted(&one.label)))]);
        return Ok(Exit::Done);
    }
    if want == Want::Force && !keeps_tombstones(kinds) {
        output.talk("no tombstone is kept there: that takes the kinds of Sexton");
        output.suggest(&[("install them", format!("sexton install-crds{}", settings.target_flags()))]);
    }
    let uid = Uid(one.uid().to_owned());
    finish(world, kinds, Resumed::Of(&uid), settings, output).await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_blocker_is_named_unless_it_is_the_only_one() {
        let blocker = |what: &str| Blocker { what: what.into(), words: String::new() };
        let (one, two) = ([blocker("destroy")], [blocker("destroy"), blocker("finalizer:x.example/wait")]);
        assert_eq!(choose(None, &one), Some(blocker("destroy")));
        assert_eq!(choose(None, &two), None);
        for typed in ["x.example/wait", "finalizer:x.example/wait"] {
            assert_eq!(choose(Some(typed), &two), Some(blocker("finalizer:x.example/wait")));
        }
        assert_eq!(choose(Some("other"), &one), None, "a typing mistake gives nothing up");
    }
}
