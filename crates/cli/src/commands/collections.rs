//! `sexton collections`: past and current collections, with their requesters, progress and blockers.

use clap::ValueEnum;
use serde_json::Value;
use sexton_client::resources::{ListAsk, text};
use sexton_client::{Kinds, Place, ServedKind};
use sexton_model::collection::{Collection, KIND, Phase, RESOURCE, Root};
use sexton_model::hook::ObjectRef;
use sexton_model::time;

use super::get;
use crate::failure::{Exit, Failure};
use crate::following::now;
use crate::naming::Names;
use crate::one;
use crate::output::Output;
use crate::output::ndjson::Event;
use crate::output::object::without_managers;
use crate::output::style::count;
use crate::output::why::{self, Why, WhyLine};
use crate::settings::Settings;
use crate::showing::blockers::Here;
use crate::world::{Purpose, World};

/// Show collections; with a name, everything about one
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// A collection
    name: Option<String>,
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
    /// Names
    Name,
}

fn place() -> Place {
    Place::new(&ServedKind::of_ours(RESOURCE, KIND), None)
}

pub(crate) async fn run(args: Args, settings: &Settings, output: &Output) -> Result<Exit, Failure> {
    let world = World::open(settings, Purpose::Look).await?;
    let kinds = world.kinds().await?;
    if !kinds.all.iter().any(|kind| kind.resource == place().kind.resource) {
        return Err(Failure::new(format!("nobody keeps records of collections on {}", world.target))
            .detail("it does not know our kinds")
            .next("make it know them", "sexton install-crds"));
    }
    if let Some(name) = &args.name {
        return show(&args, name, &world, &kinds, output).await;
    }
    match args.output {
        Form::Text => table(&world, output, |_| true).await?,
        form => {
            for document in world.resources.list(&place(), &ListAsk::default()).await?.found {
                match form {
                    Form::Name => output.line(text(&document, "/metadata/name"))?,
                    _ => event(document, output)?,
                }
            }
        }
    }
    Ok(Exit::Done)
}

/// The server's table of collections, reduced to the rows with wanted names.
pub(super) async fn table(
    world: &World,
    output: &Output,
    wanted: impl Fn(&str) -> bool,
) -> Result<(), Failure> {
    let place = place();
    let mut table = world.resources.list_rows(&place, &ListAsk::default()).await?.found;
    table.rows.retain(|row| wanted(text(&row.object, "/metadata/name")));
    if table.rows.is_empty() {
        output.talk(&format!("no collections on {}", world.target));
        return Ok(());
    }
    output.data(&get::lines(&place.kind, &table, false, false, false).text())
}

async fn show(
    args: &Args,
    name: &str,
    world: &World,
    kinds: &Kinds,
    output: &Output,
) -> Result<Exit, Failure> {
    let place = place();
    let Some(document) = world.resources.find(&place, name).await? else {
        return Err(one::absent(world, &place, name).await);
    };
    if args.output == Form::Json {
        event(document, output)?;
        return Ok(Exit::Done);
    }
    let collection = Collection::read(&document)
        .map_err(|error| Failure::new(format!("{name} is not a record that this version knows: {error}")))?;
    let names = Names::new(kinds, &world.namespace);
    let here = Here { names: &names, now: now() };
    output.data(&why::text(&details(&collection, &here), output.data_style()))?;
    Ok(Exit::Done)
}

/// The records that are wanted, for programs.
pub(super) fn events(
    records: Vec<Value>,
    output: &Output,
    wanted: impl Fn(&Value) -> bool,
) -> Result<Exit, Failure> {
    for record in records.into_iter().filter(wanted) {
        event(record, output)?;
    }
    Ok(Exit::Done)
}

/// A record for programs.
fn event(record: Value, output: &Output) -> Result<(), Failure> {
    let object = &without_managers(record);
    let label = place().kind.label(text(object, "/metadata/name"));
    output.event(&Event::Object { label: &label, action: None, object })
}

/// A collection in words: requester, reason, progress and blockers.
fn details(collection: &Collection, here: &Here<'_>) -> Why {
    let Collection { name, spec, status } = collection;
    let ago = |at: &str| time::parse(at).map(|at| format!("{} ago", time::age(here.now - at)));
    let phase = match status.phase {
        Phase::Running => "goes on",
        Phase::Blocked => "is blocked",
        Phase::Held => "is held",
        Phase::Done => "is done",
        Phase::Cancelled => "was given up",
    };
    let mut facts = vec![spec.trigger.clone()];
    facts.extend(spec.by.as_ref().map(|by| format!("by {by}")));
    facts.extend(ago(&spec.started_at));
    facts.extend(
        spec.digest.as_ref().filter(|_| spec.approved).map(|digest| format!("approved plan {digest}")),
    );
    let line = |text: String, aside: String| WhyLine { text, aside, ..WhyLine::default() };
    let mut lines: Vec<WhyLine> = spec.roots.iter().map(|root| of_root(root, here.names)).collect();
    if spec.roots_omitted > 0 {
        lines.push(line(format!("and {} more", spec.roots_omitted), String::new()));
    }
    for (kind, number) in &status.kinds {
        lines.push(line(kind.clone(), format!("{} of {} gone", number.gone, number.doomed)));
    }
    let blocked = here.lines(&status.blockers).into_iter();
    lines.extend(blocked.map(|line| match status.phase {
        // A held collection waits for a decision of the user, so "waits for" is left out.
        Phase::Held => WhyLine { text: line.aside, aside: String::new(), ..line },
        _ => WhyLine { text: format!("waits for {}", line.text), ..line },
    }));
    if status.blockers_omitted > 0 {
        lines.push(line(format!("and {} more in the way", status.blockers_omitted), String::new()));
    }
    lines.extend(status.unknown.iter().map(|unknown| line("left alone".into(), unknown.clone())));
    let number = |value: u64| count(usize::try_from(value).unwrap_or(usize::MAX));
    let mut footer = vec![format!("{} of {} are gone.", number(status.gone), number(status.doomed))];
    if let Some(finished) = status.finished_at.as_deref().and_then(ago) {
        footer[0] =
            format!("{} of {} are gone, since {finished}.", number(status.gone), number(status.doomed));
    }
    if spec.roots.is_empty() && status.kinds.is_empty() {
        // A record without roots and kinds is about what is held: it has no numbers of objects.
        footer = status.outcome.clone().into_iter().collect();
    }
    footer.extend(status.message.clone());
    Why {
        subject: name.clone(),
        headline: format!("{phase} ({})", facts.join(", ")),
        lines,
        footer,
        commands: Vec::new(),
    }
}

fn of_root(root: &Root, names: &Names) -> WhyLine {
    let Root { group, kind, namespace, name, uid, policy } = root.clone();
    let object = ObjectRef { group, kind, namespace, name, uid };
    let policy = policy.map(|policy| format!("policy {}", policy.to_lowercase())).unwrap_or_default();
    WhyLine { text: format!("deletes {}", names.label(&object)), aside: policy, ..WhyLine::default() }
}
