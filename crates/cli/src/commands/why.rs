//! `sexton why`: explains why an object exists, is being deleted, or is gone.

use clap::ValueEnum;
use sexton_client::resources::{ListAsk, ListError, text};
use sexton_client::{CallError, Kinds, Place, ServedKind};
use sexton_collector::modules::Modules;
use sexton_collector::namespace_holds;
use sexton_collector::preview::World as Seen;
use sexton_lifecycle::DetectionSettings;
use sexton_lifecycle::explain::{self, CollectionProgress, Explanation};
use sexton_lifecycle::plan::policy_name;
use sexton_model::collection::{self, Collection};
use sexton_model::tombstone::{self, Outcome, Tombstone};
use sexton_model::{GroupResource, Policy, time};

use super::apply::tools;
use crate::failure::{Exit, Failure};
use crate::following::now;
use crate::naming::Names;
use crate::one;
use crate::output::Output;
use crate::output::why::{self, Command, Why, WhyLine};
use crate::settings::Settings;
use crate::showing::{namespaces, why as shown};
use crate::suggest;
use crate::targets;
use crate::world::{Purpose, World, is_ours, keeps_tombstones};

/// Explain why an object exists, is being deleted, or is gone
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// KIND/NAME, KIND/NAMESPACE/NAME, or KIND NAME
    #[arg(value_name = "KIND/NAME", required = true, num_args = 1..=2)]
    object: Vec<String>,
    /// The form of the answer
    #[arg(short, long, value_enum, default_value_t = Form::Text)]
    output: Form,
}

/// The form of the answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Form {
    /// For people
    Text,
    /// A stream of JSON lines for programs; docs/output.md describes it
    Json,
}

pub(crate) async fn run(args: Args, settings: &Settings, output: &Output) -> Result<Exit, Failure> {
    let world = World::open(settings, Purpose::Look).await?;
    let kinds = world.kinds().await?;
    let (place, name) = one::One::meant(&world, &kinds, &targets::one(&args.object)?)?;
    let why = match world.resources.find(&place, &name).await? {
        Some(object) => {
            let mut why = of_a_life(&world, &kinds, text(&object, "/metadata/uid")).await?;
            if place.kind.resource == GroupResource::new("", "namespaces") {
                if !is_ours(&kinds) {
                    why.lines.extend(namespaces::finalizers(&object));
                }
                let holds = namespace_holds(&world.resources, &kinds, &object).await;
                // What the cluster says of a group is more than that it does not answer.
                let is_told = |line: &WhyLine| kinds.unread.iter().any(|(group, _)| is_about(line, group));
                why.lines.retain(|line| holds.is_empty() || !is_told(line));
                why.lines.extend(holds.into_iter().map(shown::hold));
            }
            why
        }
        None => match of_a_tombstone(&world, &kinds, &place, &name).await? {
            Some(why) => why,
            None => return Err(one::absent(&world, &place, &name).await),
        },
    };
    match args.output {
        Form::Text => output.data(&why::text(&why, output.data_style()))?,
        Form::Json => output.data(&why::ndjson(&why))?,
    }
    Ok(Exit::Done)
}

/// Whether a line says that a group does not answer.
fn is_about(line: &WhyLine, unread: &str) -> bool {
    let group = unread.rsplit_once('/').map_or(unread, |(group, _)| group);
    line.text.starts_with(&format!("the group {group} does not answer"))
}

async fn of_a_life(world: &World, kinds: &Kinds, uid: &str) -> Result<Why, Failure> {
    let seen = Seen::look(&*world.gateway(kinds), &world.resources).await?;
    world.tell_unseen(&seen);
    let Some(life) = seen.life(uid) else {
        return Err(Failure::new("it was there a moment ago, and is gone now").next("ask again", "the same"));
    };
    let (judgement, plan) = seen.under_way(&DetectionSettings::default())?;
    let now = now();
    let mut told = explain::explain(seen.snapshot(), &judgement, &plan, life, now);
    if let Some(name) = seen.snapshot().collection(life)
        && let Some(progress) = progress(world, name).await?
    {
        told = told.with_progress(progress);
    }
    if is_ours(kinds)
        && let Some(root) = told.lacks_policy()
        && let Some(policy) = policy(world, root).await?
    {
        told = told.with_policy(policy);
    }
    if told.modules().next().is_some() && !is_swept(world, &told).await? {
        told = told.without_sweep();
    }
    let naming = shown::naming(&world.namespace);
    Ok(shown::why(explain::story(&told, &naming, now), keeps_tombstones(kinds)))
}

/// Whether the module of an object exists and sweeps what leaves it.
async fn is_swept(world: &World, told: &Explanation) -> Result<bool, Failure> {
    let modules = Modules::open(tools(world).await?).await?;
    for name in told.modules() {
        let module =
            modules.find(name).await.map_err(|error| Failure::new(error.to_string()).because(&error))?;
        if module.is_some_and(|module| module.record.spec.support_gc) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// How far a collection is, if there is a record of it.
async fn progress(world: &World, name: &str) -> Result<Option<CollectionProgress>, Failure> {
    let place = Place::new(&ServedKind::of_ours(collection::RESOURCE, collection::KIND), None);
    let record = world.resources.find(&place, name).await?;
    let record = record.and_then(|record| Collection::read(&record).ok());
    Ok(record.map(|record| CollectionProgress { gone: record.status.gone, doomed: record.status.doomed }))
}

/// The policy with which an object was deleted, by the latest collection that has it as a root. `None`: no record.
async fn policy(world: &World, root: &str) -> Result<Option<Policy>, Failure> {
    let place = Place::new(&ServedKind::of_ours(collection::RESOURCE, collection::KIND), None);
    let listed = world.resources.list(&place, &ListAsk::default()).await?;
    let records = listed.found.iter().filter_map(|document| Collection::read(document).ok());
    let roots = records.flat_map(|record| {
        let started = record.spec.started_at;
        record.spec.roots.into_iter().map(move |root| (started.clone(), root))
    });
    let last = roots.filter(|(_, one)| one.uid == root).max_by(|a, b| a.0.cmp(&b.0));
    let named = last.and_then(|(_, root)| root.policy);
    let all = [Policy::Cascade, Policy::Foreground, Policy::Background, Policy::Orphan];
    Ok(named.and_then(|name| all.into_iter().find(|policy| policy_name(*policy) == name)))
}

/// What became of an object that is gone: the tombstone of the last one with the name.
async fn of_a_tombstone(
    world: &World,
    kinds: &Kinds,
    meant: &Place,
    name: &str,
) -> Result<Option<Why>, Failure> {
    if !keeps_tombstones(kinds) {
        return Ok(None);
    }
    let place = Place::new(&ServedKind::of_ours(tombstone::RESOURCE, tombstone::KIND), None);
    let listed = match world.resources.list(&place, &ListAsk::default()).await {
        // Whether there was such an object is no business of this user.
        Err(ListError::Call(CallError::Refused(status))) if status.code == 403 => return Ok(None),
        listed => listed?,
    };
    let namespace = meant.namespace.as_deref().unwrap_or_default();
    let same = |stone: &Tombstone| {
        let object = &stone.object;
        (object.group.as_str(), object.kind.as_str()) == (&meant.kind.resource.group, &meant.kind.kind)
            && (object.namespace.as_str(), object.name.as_str()) == (namespace, name)
    };
    let stones = listed.found.iter().filter_map(|document| {
        let written = text(document, "/metadata/creationTimestamp").to_owned();
        Some((written, Tombstone::read(document).ok()?))
    });
    let last = stones.filter(|(_, stone)| same(stone)).max_by(|a, b| a.0.cmp(&b.0));
    Ok(last.map(|(written, stone)| epitaph(&stone, &written, &Names::new(kinds, &world.namespace))))
}

fn epitaph(stone: &Tombstone, written: &str, names: &Names) -> Why {
    let when = [stone.destroyed_at.as_str(), written].into_iter().find_map(time::parse);
    let ago = when.map(|at| format!(", {} ago", time::age(now() - at))).unwrap_or_default();
    let how = match stone.outcome {
        Outcome::Destroyed => "was destroyed",
        Outcome::Gone => "is gone",
        Outcome::Abandoned => "was given up: what it stood for may still exist",
    };
    let mut facts = vec![stone.reason.clone()];
    facts.extend(stone.by.as_ref().map(|by| format!("deleted by {by}")));
    facts.extend(stone.collection.as_ref().map(|name| format!("collection {name}")));
    let line = |text: &str, aside: &str| WhyLine {
        text: text.to_owned(),
        aside: aside.to_owned(),
        ..WhyLine::default()
    };
    let causes = stone.causes.iter().map(|cause| line("because", cause));
    let owners = stone.owners.iter().map(|owner| line("was owned by", owner));
    let outputs = stone.outputs.iter().map(|(method, said)| line(&format!("{method} said"), said.trim_end()));
    Why {
        subject: names.label(&stone.object),
        headline: format!("{how}{ago} ({})", facts.join(", ")),
        lines: causes.chain(owners).chain(outputs).collect(),
        footer: Vec::new(),
        commands: vec![Command {
            what: "its last document".to_owned(),
            command: suggest::complete(&format!("sexton get tombstone {} -o yaml", stone.object.uid)),
            note: String::new(),
        }],
    }
}
