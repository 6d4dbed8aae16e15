//! `sexton environments`: which environments there are, and what became of a model that could not be stored.

use serde_json::json;
use sexton_client::resources::{ListAsk, text};
use sexton_client::{Place, ServedKind};
use sexton_model::environment::{EnvironmentSpec, EnvironmentStatus, KIND, RESOURCE};
use sexton_runtime::environment::{Pending, PendingObject, give_up_pending, pending, retry_pending};

use super::apply::tools;
use super::run::cannot_open;
use crate::ask;
use crate::failure::{Exit, Failure};
use crate::output::ndjson::Event;
use crate::output::style::{count, padded, width};
use crate::output::{FormFlag, Output, Paint};
use crate::settings::{Settings, quoted};
use crate::world::{Purpose, World};

/// Objects that are shown of a model that could not be stored.
const SHOWN: usize = 40;

/// Show environments, and finish or give up a model that could not be stored
///
/// A run writes its model down before it stores it, and the next run finishes what is left. If the server refuses that,
/// no program can be run in the environment: `retry` stores the rest once the reason is gone, or without some objects;
/// `give-up` forgets it.
#[derive(Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct Args {
    /// Only this one, with the model that could not be stored, if there is one
    #[arg(value_name = "NAME")]
    environment: Option<String>,
    #[command(flatten)]
    form: FormFlag,
    #[command(subcommand)]
    verb: Option<Verb>,
}

#[derive(Debug, clap::Subcommand)]
enum Verb {
    /// Store the rest of a model that could not be stored
    Retry {
        /// The environment
        #[arg(value_name = "NAME")]
        environment: String,
        /// Leave this object out; may be repeated. References to it are nil then, and nothing destroys what it stood for
        #[arg(long, value_name = "KIND/NAME")]
        without: Vec<String>,
        #[command(flatten)]
        form: FormFlag,
    },
    /// Forget a model that could not be stored; what is stored of it stays
    GiveUp {
        /// The environment
        #[arg(value_name = "NAME")]
        environment: String,
        /// Do not ask
        #[arg(long)]
        yes: bool,
        #[command(flatten)]
        form: FormFlag,
    },
}

pub(crate) async fn run(args: Args, settings: &Settings, output: &Output) -> Result<Exit, Failure> {
    let purpose = if args.verb.is_some() { Purpose::Write } else { Purpose::Look };
    let world = World::open(settings, purpose).await?;
    match (args.verb, args.environment) {
        (Some(Verb::Retry { environment, without, .. }), _) => {
            retry(&world, &environment, &without, output).await
        }
        (Some(Verb::GiveUp { environment, yes, .. }), _) => give_up(&world, &environment, yes, output).await,
        (None, Some(environment)) => one(&world, &environment, output).await,
        (None, None) => all(&world, output).await,
    }
}

/// The record of an environment.
struct Found {
    name: String,
    spec: EnvironmentSpec,
    status: EnvironmentStatus,
}

async fn list(world: &World) -> Result<Vec<Found>, Failure> {
    let place = Place::new(&ServedKind::of_ours(RESOURCE, KIND), None);
    let listed = world.resources.list(&place, &ListAsk::default()).await?;
    let read = |document: &serde_json::Value| Found {
        name: text(document, "/metadata/name").to_owned(),
        spec: serde_json::from_value(document["spec"].clone()).unwrap_or_default(),
        status: serde_json::from_value(document["status"].clone()).unwrap_or_default(),
    };
    Ok(listed.found.iter().map(read).collect())
}

async fn all(world: &World, output: &Output) -> Result<Exit, Failure> {
    let found = list(world).await?;
    if output.is_stream() {
        found.iter().try_for_each(|one| event(one, None, output))?;
        return Ok(Exit::Done);
    }
    if found.is_empty() {
        output.talk(&format!("there are no environments on {}", world.target));
        return Ok(Exit::Done);
    }
    let head = ["ENVIRONMENT", "PHASE", "PROGRAM", "OBJECTS", "MODEL"].map(str::to_owned);
    let row = |one: &Found| {
        let model = if one.status.pending.is_some() { "not completely stored" } else { "stored" };
        let (phase, objects) = (format!("{:?}", one.status.phase), one.status.objects.to_string());
        [one.name.clone(), phase, one.spec.program.name.clone(), objects, model.to_owned()]
    };
    let rows: Vec<[String; 5]> = std::iter::once(head).chain(found.iter().map(row)).collect();
    let columns: Vec<usize> =
        (0..5).map(|at| rows.iter().map(|row| width(&row[at])).max().unwrap_or(0)).collect();
    for row in &rows {
        let cells: Vec<String> =
            row.iter().zip(&columns).map(|(cell, columns)| padded(cell, *columns)).collect();
        output.line(cells.join("   ").trim_end())?;
    }
    Ok(Exit::Done)
}

fn event(one: &Found, pending: Option<&Pending>, output: &Output) -> Result<(), Failure> {
    let pending = pending.map(|pending| {
        let object = |one: &PendingObject| json!({"kind": one.kind, "name": one.name, "stored": one.exists});
        pending.objects.iter().map(object).collect()
    });
    let status = json!(one.status);
    let (name, program) = (one.name.as_str(), one.spec.program.name.as_str());
    output.event(&Event::Environment { name, program, status: &status, pending })
}

/// One environment as it is now; nothing if the answer is not a stream.
async fn tell_one(world: &World, name: &str, output: &Output) -> Result<(), Failure> {
    match list(world).await?.iter().find(|one| output.is_stream() && one.name == name) {
        Some(found) => event(found, None, output),
        None => Ok(()),
    }
}

async fn one(world: &World, name: &str, output: &Output) -> Result<Exit, Failure> {
    let Some(found) = list(world).await?.into_iter().find(|one| one.name == name) else {
        return Err(none(world, name));
    };
    let model = pending(&tools(world).await?, name).await.map_err(|error| cannot_open(error, name, ""))?;
    if output.is_stream() {
        event(&found, model.as_ref(), output)?;
        return Ok(Exit::Done);
    }
    let (program, status) = (&found.spec.program, &found.status);
    let objects = count(status.objects);
    let objects = if status.objects == 1 { "1 object" } else { &format!("{objects} objects") };
    output.line(&format!("{name} · {:?} · {} · {objects}", status.phase, program.name))?;
    for (what, names) in [("exec", &program.exec), ("http", &program.http)] {
        if !names.is_empty() {
            output.line(&format!("  allowed   {what} {}", names.join(", ")))?;
        }
    }
    if let Some(run) = &status.run {
        let outcome = if run.outcome.is_empty() { "not ended" } else { run.outcome.as_str() };
        let mut lines = outcome.lines();
        let first = lines.next().unwrap_or_default();
        output.prose(&format!("  last run  {} by {}: {first}", run.at, run.by))?;
        lines.try_for_each(|line| output.prose(&format!("  {line}")))?;
    }
    if let Some(model) = model {
        show(&model, output)?;
        let name = quoted(name);
        output.suggest(&[
            ("try again", format!("sexton environments retry {name}")),
            ("leave out", format!("sexton environments retry {name} --without KIND/NAME")),
            ("give it up", format!("sexton environments give-up {name}")),
        ]);
    }
    Ok(Exit::Done)
}

/// A model that is not completely stored: why, and which of its objects are not there at all.
fn show(model: &Pending, output: &Output) -> Result<(), Failure> {
    if output.is_stream() {
        return Ok(());
    }
    let missing = model.objects.iter().filter(|one| !one.exists);
    let missing: Vec<String> =
        missing.map(|one| format!("{}/{}", one.kind.to_lowercase(), one.name)).collect();
    let all = count(model.objects.len());
    let what =
        format!("the last model is not completely stored: {all} to write, {} are new", count(missing.len()));
    output.mark('!', Paint::Change, &what)?;
    for why in std::iter::once(&model.refused).filter(|why| !why.is_empty()).chain(&model.unreadable) {
        output.prose(&format!("  {why}"))?;
    }
    for one in missing.iter().take(SHOWN) {
        output.line(&format!("  {one}  not stored"))?;
    }
    if let Some(more) = missing.len().checked_sub(SHOWN).filter(|more| *more > 0) {
        output.talk(&format!("  and {more} more"));
    }
    Ok(())
}

async fn retry(world: &World, name: &str, without: &[String], output: &Output) -> Result<Exit, Failure> {
    let tools = tools(world).await?;
    let Some(model) = pending(&tools, name).await.map_err(|error| cannot_open(error, name, ""))? else {
        output.talk(&format!("the model of {name} is completely stored"));
        tell_one(world, name, output).await?;
        return Ok(Exit::Done);
    };
    let known = |one: &&String| {
        let (kind, object) = one.split_once('/').unwrap_or_default();
        let is = |known: &PendingObject| known.name == object && same_kind(&known.kind, kind);
        model.objects.iter().any(is)
    };
    if let Some(unknown) = without.iter().find(|one| !known(one)) {
        return Err(Failure::new(format!("the model has no {unknown} to leave out"))
            .next("see what it has", format!("sexton environments {}", quoted(name))));
    }
    retry_pending(&tools, name, without).await.map_err(|error| cannot_open(error, name, ""))?;
    tell_one(world, name, output).await?;
    if !output.is_stream() {
        output.mark('✔', Paint::Good, &format!("the model of {name} is completely stored"))?;
    }
    Ok(Exit::Done)
}

fn same_kind(kind: &str, typed: &str) -> bool {
    kind.eq_ignore_ascii_case(typed) || sexton_model::environment::plural_of(kind) == typed.to_lowercase()
}

async fn give_up(world: &World, name: &str, yes: bool, output: &Output) -> Result<Exit, Failure> {
    let tools = tools(world).await?;
    let Some(model) = pending(&tools, name).await.map_err(|error| cannot_open(error, name, ""))? else {
        output.talk(&format!("the model of {name} is completely stored: there is nothing to give up"));
        tell_one(world, name, output).await?;
        return Ok(Exit::Done);
    };
    show(&model, output)?;
    output.talk(
        "What is not stored is not known to the environment then, and no destroy of it is ever called.",
    );
    if !yes {
        let command = format!("sexton environments give-up {} --yes", quoted(name));
        let held = |why: &str| Failure::new(why).detail("Nothing was written.").exit(Exit::Held);
        if !ask::somebody_is_there() {
            return Err(held("giving up a model needs a yes").next("give it up", command));
        }
        if ask::answer("Give it up? Type yes: ", output).await? != "yes" {
            return Err(held("the answer was not yes"));
        }
    }
    give_up_pending(&tools, name).await.map_err(|error| cannot_open(error, name, ""))?;
    tell_one(world, name, output).await?;
    if !output.is_stream() {
        let text = format!("the model of {name} is given up; programs can be run in it again");
        output.mark('-', Paint::Bad, &text)?;
    }
    Ok(Exit::Done)
}

fn none(world: &World, name: &str) -> Failure {
    Failure::new(format!("there is no environment {name} on {}", world.target))
        .next("see all", "sexton environments")
}
