//! `sexton orphans`: looks once for objects with owners that do not exist, and has them collected on request. The
//! collector's rules decide which objects are orphans.

mod collect;
mod show;

use std::time::Duration;

use clap::ValueEnum;
use sexton_client::Kinds;
use sexton_collector::rules::{Ask, Scan, nonsense, scan_counting};
use sexton_lifecycle::DeletionLimit;
use sexton_model::LabelSelector;
use sexton_model::rule::{DEFAULT_MIN_AGE, KindName, Targets, duration};

use crate::allowing::AllowingHere;
use crate::commands::delete::consent::Agreement;
use crate::failure::{Exit, Failure};
use crate::following::now;
use crate::input::durations;
use crate::interrupt::breakable;
use crate::naming::Names;
use crate::output::Output;
use crate::output::progress::count::Count;
use crate::settings::{Settings, quoted};
use crate::world::{Purpose, World, is_ours};

/// Look for objects whose owners do not exist
///
/// Looks at objects first and at their owners then, and says of each what it is, with the evidence: ORPHAN (every owner that
/// it names is proved absent), UNKNOWN (an owner cannot be asked for, or a reference is not what it says), TOO_YOUNG,
/// PROTECTED, OWNED, OWNERLESS. Only orphans are collected, and only with --collect: after a question, or with --yes or
/// --approve, in the right order, with all their steps. Without -n it looks into all namespaces. A `Rule` does the same
/// again and again.
/// Exit codes: 3 if nothing was done because somebody must agree or it is too much at once, 4 if part of it is gone.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Collect the orphans
    #[arg(long)]
    pub(crate) collect: bool,
    /// Look only at these kinds, such as statefulsets,services; without it at all of them
    #[arg(long, value_name = "KIND,…", value_delimiter = ',')]
    pub(crate) kinds: Vec<String>,
    /// Look only at objects with these labels, such as app=web,tier!=db
    #[arg(short = 'l', long, value_name = "LABELS")]
    pub(crate) selector: Option<String>,
    /// Leave alone what is younger, such as 90s or 10m
    #[arg(long, value_name = "DURATION", value_parser = durations::read, default_value = "60s")]
    pub(crate) min_age: Duration,
    /// How many may be collected at once, such as 20 or 30%; more are held. Without it: 10, or half of what was looked at
    /// if that is more
    #[arg(long, value_name = "COUNT|PERCENT")]
    pub(crate) max_delete: Option<DeletionLimit>,
    #[command(flatten)]
    pub(crate) agreement: Agreement,
    #[command(flatten)]
    pub(crate) allowing: AllowingHere,
    /// Show every single object, also those of whom there is nothing to tell
    #[arg(long)]
    pub(crate) full: bool,
    /// The form of the answer
    #[arg(short, long, value_enum, default_value_t = Form::Text)]
    pub(crate) output: Form,
}

/// The form of the answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Form {
    /// Lines for people, orphans first
    Text,
    /// A stream of JSON lines for programs; docs/output.md describes it
    Json,
}

/// The result of a scan, and the target that was scanned.
struct Looked {
    world: World,
    kinds: Kinds,
    names: Names,
    scan: Scan,
}

pub(crate) async fn run(args: Args, settings: &Settings, output: &Output) -> Result<Exit, Failure> {
    let looked = breakable(look(&args, settings, output)).await?;
    show::scan(&args, &looked, settings, output)?;
    match args.collect {
        true => collect::collect(&args, settings, looked, output).await,
        false if looked.scan.troubles.is_empty() => Ok(Exit::Done),
        false => Ok(Exit::Partial),
    }
}

async fn look(args: &Args, settings: &Settings, output: &Output) -> Result<Looked, Failure> {
    if !args.collect && (args.agreement.yes || args.agreement.approve.is_some()) {
        return Err(Failure::new("--yes and --approve agree to something: they go with --collect"));
    }
    let selector = args.selector.clone().unwrap_or_default();
    if let Err(bad) = LabelSelector::parse(&selector) {
        return Err(Failure::new(bad.to_string()).next("for example", "sexton orphans -l app=web"));
    }
    let world = World::open(settings, Purpose::Look).await?;
    let kinds = world.kinds().await?;
    let ask = Ask {
        kinds: targets(args, &kinds)?,
        selector,
        namespaces: settings.namespace.iter().cloned().collect(),
        min_age: i64::try_from(args.min_age.as_secs()).unwrap_or(i64::MAX),
        leftover: None,
        name: None,
        all: args.full,
    };
    if !is_ours(&kinds) && args.collect {
        output.talk(
            "this server is not ours: that owners are gone is looked up right before each write, not proved with it",
        );
    }
    for wrong in nonsense(&world.resources).await? {
        output.talk(&format!("warning: {wrong}"));
    }
    let count = Count::new(output, "read");
    let scan = scan_counting(&world.resources, &ask, now(), &|read| count.at(read, None)).await?;
    drop(count);
    let names = Names::new(&kinds, &world.namespace);
    Ok(Looked { world, kinds, names, scan })
}

fn targets(args: &Args, kinds: &Kinds) -> Result<Targets, Failure> {
    if args.kinds.is_empty() {
        return Ok(Targets::All);
    }
    let mut named = Vec::new();
    for word in &args.kinds {
        let kind = kinds.resolve(word)?;
        let name = KindName { group: kind.resource.group.clone(), kind: kind.kind.clone() };
        if !named.contains(&name) {
            named.push(name);
        }
    }
    Ok(Targets::These(named))
}

/// The command that was typed, with --collect and without what gives consent.
fn command(args: &Args, settings: &Settings) -> String {
    let mut words = vec!["sexton orphans --collect".to_owned()];
    if !args.kinds.is_empty() {
        words.push(format!("--kinds {}", quoted(&args.kinds.join(","))));
    }
    words.extend(args.selector.iter().map(|selector| format!("-l {}", quoted(selector))));
    if args.min_age != DEFAULT_MIN_AGE {
        words.push(format!("--min-age {}", duration::format(args.min_age)));
    }
    words.extend(args.max_delete.map(|limit| match (limit.count, limit.percent) {
        (Some(count), _) => format!("--max-delete {count}"),
        (None, percent) => format!("--max-delete {}%", percent.unwrap_or(100)),
    }));
    format!("{}{}", words.join(" "), settings.flags())
}
