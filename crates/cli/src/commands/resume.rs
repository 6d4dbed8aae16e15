//! `sexton resume`: finishes what an interrupted command left.

use std::collections::BTreeSet;
use std::time::Duration;

use sexton_client::resources::ListAsk;
use sexton_client::{Kinds, Place, ServedKind};
use sexton_collector::modules::{Buried, ModuleView, Modules};
use sexton_collector::preview::World as Seen;
use sexton_lifecycle::{DeletionScope, DetectionSettings};
use sexton_model::Uid;
use sexton_model::collection::{Collection, KIND, RESOURCE};
use sexton_model::module::ModulePhase;

use super::apply::tools;
use super::delete::tell;
use crate::allowing::AllowingHere;
use crate::collecting;
use crate::failure::{Exit, Failure};
use crate::following::{Follow, Obituary, Until, Where, Work, handed_over, report, silence};
use crate::input::durations;
use crate::interrupt::Interrupts;
use crate::naming::Names;
use crate::output::ndjson;
use crate::output::style::count;
use crate::output::tree::{Death, DeathPlan, json};
use crate::output::{FormFlag, Output, Paint};
use crate::settings::Settings;
use crate::world::{Purpose, World, is_ours};

/// Finish what an interrupted command left
///
/// On the embedded store it collects until nothing is left to do: what is marked goes, and so do objects whose owners do
/// not exist any more. On a Kubernetes of others what a command of Sexton marked or swept goes; what others deleted is
/// left to them. A server of ours does that by itself: then it is shown what is under way.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// How long an object is left alone whose owners are all gone, if nobody saw them go
    #[arg(long, default_value = "5s", value_parser = durations::read, value_name = "DURATION")]
    orphan_grace: Duration,
    #[command(flatten)]
    pub(crate) allowing: AllowingHere,
    #[command(flatten)]
    form: FormFlag,
}

pub(crate) async fn run(args: Args, settings: &Settings, output: &Output) -> Result<Exit, Failure> {
    let world = World::open(settings, Purpose::Look).await?;
    let kinds = world.kinds().await?;
    let exit = match !world.embedded && is_ours(&kinds) {
        true => open_ones(&world, output).await?,
        false => {
            let what = Resumed::All { orphan_grace: args.orphan_grace };
            finish(&world, &kinds, what, settings, output).await?
        }
    };
    match exit {
        Exit::Done => bury(&world, output).await,
        exit => Ok(exit),
    }
}

/// Removes the records of modules that were being destroyed, and of which nothing is left: that was the last step of the
/// command that was interrupted.
async fn bury(world: &World, output: &Output) -> Result<Exit, Failure> {
    let cannot = |error: &(dyn std::error::Error + 'static)| Failure::new(error.to_string()).because(error);
    let modules = Modules::open(tools(world).await?).await?;
    let views = match modules.list().await {
        // What may not be read was not destroyed by this user.
        Err(error) if error.is_forbidden() => return Ok(Exit::Done),
        views => views.map_err(|error| cannot(&error))?,
    };
    let is_left = |view: &&ModuleView| {
        let at_work = view.lease.as_ref().is_some_and(|lease| !lease.expired);
        view.record.status.phase == Some(ModulePhase::Destroying) && !at_work
    };
    let left: Vec<&ModuleView> = views.iter().filter(is_left).collect();
    if !left.is_empty() {
        // Kinds may have gone with the modules.
        world.resources.kinds_anew().await?;
    }
    for name in left.into_iter().map(|view| view.record.spec.manager.as_str()) {
        if modules.bury(name, None).await.map_err(|error| cannot(&error))? == Buried::Gone {
            let label = format!("Module/{name}");
            let event = ndjson::Event::Gone { label: &label, uid: "" };
            output.tell(&event, '-', Paint::Bad, &format!("{name} is gone"))?;
        }
    }
    Ok(Exit::Done)
}

/// What is resumed.
#[derive(Debug, Clone, Copy)]
pub(super) enum Resumed<'a> {
    /// Everything that earlier commands left; on the embedded store also objects with absent owners.
    All { orphan_grace: Duration },
    /// The deletion to which this object belongs.
    Of(&'a Uid),
}

/// Collects in this process, or follows the collector of the server, until nothing is left to do.
pub(super) async fn finish(
    world: &World,
    kinds: &Kinds,
    what: Resumed<'_>,
    settings: &Settings,
    output: &Output,
) -> Result<Exit, Failure> {
    let mut interrupts = Interrupts::listen();
    let names = Names::new(kinds, &world.namespace);
    let until = if world.embedded { Until::Idle } else { Until::Gone };
    let mut follow = Follow::begin(Where::of(world, kinds), until, &names, output).await?;
    let left = Left::find(follow.seen(), world, what, &names)?;
    if !left.lives.is_empty() {
        world.tell_ignored_classes(follow.seen());
        follow.seen().may_delete([], None)?;
    }
    if let Resumed::All { .. } = what {
        output.talk(&format!("resume on {}: {}", world.target, left.told()));
    }
    let scope = DeletionScope::only(left.scope.clone());
    let collector = match (what, &world.data) {
        (Resumed::All { orphan_grace }, Some(data)) => {
            Some(collecting::of_a_plan_here(world.resources.clone(), data, scope, Some(orphan_grace)))
        }
        _ => collecting::of_a_plan(world, kinds, scope),
    };
    output.data(&lines(&left, world, output))?;
    if left.lives.is_empty() && until == Until::Gone {
        output.summarize(serde_json::json!({"gone": 0, "left": 0, "interrupted": false}));
        return Ok(Exit::Done);
    }
    follow.expect(left.lives.iter().cloned());
    let mut work = match collector {
        Some(collector) => Work::start(collector).await?,
        None => Work::Elsewhere,
    };
    let says: &Obituary<'_> = if output.is_stream() { &ndjson::gone } else { &silence };
    let end = follow.run(&mut work, says, &mut interrupts).await?;
    tell::left(&end, output)?;
    output.summarize(tell::summary(&end));
    if !end.left.is_empty() && end.interrupted {
        output.talk(&end.interrupted_text());
        handed_over(&end, output);
        output.suggest(&[("go on", "sexton resume")]);
    }
    if !end.left.is_empty() && !end.interrupted {
        report(&end, &left.roots, &world.namespace, settings, output);
    }
    let held = work.summary().and_then(|summary| summary.held);
    match (end.exit(), held.filter(|_| matches!(what, Resumed::All { .. }))) {
        (Exit::Done, Some(held)) => {
            output.talk(&held);
            output.suggest(&[("see what can be done", "sexton collections")]);
            Ok(Exit::Held)
        }
        (exit, _) => Ok(exit),
    }
}

/// The objects that are being destroyed, for programs.
fn lines(left: &Left, world: &World, output: &Output) -> String {
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
        entries: left.lives.iter().map(death).collect(),
        digest: left.digest.clone(),
        ..DeathPlan::default()
    })
}

/// What is left of earlier commands: this is resumed, and nothing else.
struct Left {
    /// The objects that were deleted by request, without their dependents.
    roots: Vec<Uid>,
    /// Uid, label and wave.
    lives: Vec<(Uid, String, usize)>,
    /// How many further objects have absent owners.
    orphans: usize,
    /// All objects that may be destroyed.
    scope: BTreeSet<Uid>,
    /// The digest of their plan.
    digest: String,
}

impl Left {
    fn find(seen: &Seen, world: &World, what: Resumed<'_>, names: &Names) -> Result<Left, Failure> {
        let rules = DetectionSettings::default();
        // The embedded store has no other users: what is terminating there was left by a command or a server of it.
        let (_, plan) = if world.embedded { seen.under_way(&rules)? } else { seen.left_by_commands(&rules)? };
        let digest = plan.digest.clone();
        let mut left =
            Left { roots: Vec::new(), lives: Vec::new(), orphans: 0, scope: BTreeSet::new(), digest };
        let root = match what {
            Resumed::All { .. } => None,
            Resumed::Of(uid) => Some(plan.step_of(uid).map_or(uid, |step| &step.finding.root)),
        };
        for step in plan.steps().filter(|step| root.is_none_or(|root| step.finding.root == *root)) {
            if step.finding.root == step.uid {
                left.roots.push(step.uid.clone());
            }
            let wave = plan.wave_of(&step.uid).unwrap_or(0) + 1;
            left.lives.push((step.uid.clone(), names.of(seen.snapshot(), step.node), wave));
            left.scope.extend([step.uid.clone(), step.finding.root.clone()]);
        }
        match what {
            Resumed::All { .. } if world.embedded => {
                let (_, orphans) = seen.without_owners(&rules)?;
                left.orphans = orphans.len();
                left.scope.extend(orphans.steps().map(|step| step.uid.clone()));
            }
            Resumed::All { .. } => {}
            // Another client deleted it: it is in no plan of ours, and was named on the command line.
            Resumed::Of(uid) if left.lives.is_empty() => {
                if let Some(life) = seen.snapshot().get(uid) {
                    left.lives.push((uid.clone(), names.of(seen.snapshot(), life), 1));
                }
                left.roots.push(uid.clone());
                left.scope.insert(uid.clone());
            }
            Resumed::Of(_) => {}
        }
        Ok(left)
    }

    fn told(&self) -> String {
        let told = match self.lives.len() {
            0 => "nothing is being destroyed".to_owned(),
            1 => "1 is being destroyed".to_owned(),
            many => format!("{} are being destroyed", count(many)),
        };
        match self.orphans {
            0 => told,
            1 => format!("{told}; 1 follows owners that do not exist any more"),
            many => format!("{told}; {} follow owners that do not exist any more", count(many)),
        }
    }
}

/// Shows the collections that a server has under way.
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
