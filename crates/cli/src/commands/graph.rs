//! `sexton graph`: a picture of owners, destruction dependencies, and what dies.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::{Path, PathBuf};

use clap::ValueEnum;
use sexton_collector::preview::World as Seen;
use sexton_lifecycle::Settings as Rules;

use crate::failure::{Exit, Failure};
use crate::naming::Names;
use crate::one::One;
use crate::output::Output;
use crate::output::graph::{dot, json, mermaid, svg};
use crate::settings::Settings;
use crate::showing::picture::View;
use crate::world::{Purpose, World};

/// Draw owners, dependents, and the order of destruction
///
/// Without names everything is drawn that is connected with anything; with names, what they are connected with.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// KIND/NAME or KIND/NAMESPACE/NAME
    #[arg(value_name = "KIND/NAME")]
    objects: Vec<String>,
    /// The form of the picture; to a file the one that its name ends with, else dot
    #[arg(short, long, value_enum)]
    output: Option<Form>,
    /// Write it to this new file
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

/// The form of a picture.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Form {
    /// For Graphviz
    Dot,
    /// Drawn here
    Svg,
    /// For Mermaid
    Mermaid,
    /// A stream of JSON lines for programs; docs/output.md describes it
    Json,
}

pub(crate) async fn run(args: Args, settings: &Settings, output: &Output) -> Result<Exit, Failure> {
    let form = form(&args);
    if form == Form::Svg && args.out.is_none() && output.is_watched() {
        return Err(Failure::new("a drawing is not for reading on a terminal")
            .next("to a file", format!("sexton graph{} --out graph.svg", typed(&args))));
    }
    let world = World::open(settings, Purpose::Look).await?;
    let kinds = world.kinds().await?;
    let mut uids = Vec::new();
    for word in &args.objects {
        uids.push(One::find(&world, &kinds, word).await?.uid().to_owned());
    }
    let seen = Seen::look(&*world.gateway(&kinds), &world.resources).await?;
    world.tell_unseen(&seen);
    let (_, plan) = seen.under_way(&Rules::default())?;
    let names = Names::new(&kinds, &world.namespace);
    let view = View { snapshot: seen.snapshot(), plan: &plan, names: &names };
    let lives: Vec<_> = uids.iter().filter_map(|uid| seen.life(uid)).collect();
    let (drawn, title) = match lives.as_slice() {
        [] => (view.all(), world.target.clone()),
        [one] => (view.around(&lives), format!("{} on {}", names.of(seen.snapshot(), *one), world.target)),
        many => (view.around(&lives), format!("{} objects on {}", many.len(), world.target)),
    };
    let picture = view.picture(drawn, title);
    let text = match form {
        Form::Dot => dot::dot(&picture),
        Form::Svg => svg::svg(&picture),
        Form::Mermaid => mermaid::mermaid(&picture),
        Form::Json => json::ndjson(&picture),
    };
    match &args.out {
        None => output.data(&text)?,
        Some(file) => {
            let text = match form {
                Form::Json => output.framed("graph", &text, settings),
                _ => text,
            };
            write_new(file, &text)?;
            output.talk(&format!("{}: {} resources", file.display(), picture.nodes.len()));
        }
    }
    Ok(Exit::Done)
}

fn form(args: &Args) -> Form {
    let ending = args.out.as_deref().and_then(Path::extension).and_then(|ending| ending.to_str());
    args.output.unwrap_or(match ending {
        Some("svg") => Form::Svg,
        Some("mmd" | "mermaid") => Form::Mermaid,
        Some("json" | "ndjson") => Form::Json,
        _ => Form::Dot,
    })
}

fn typed(args: &Args) -> String {
    args.objects.iter().map(|object| format!(" {}", crate::settings::quoted(object))).collect()
}

fn write_new(file: &Path, text: &str) -> Result<(), Failure> {
    let cannot = |error: std::io::Error| match error.kind() {
        std::io::ErrorKind::AlreadyExists => {
            Failure::new(format!("{} exists", file.display())).detail("nothing is ever overwritten")
        }
        _ => Failure::new(format!("cannot write {}: {error}", file.display())),
    };
    let mut opened = OpenOptions::new().write(true).create_new(true).open(file).map_err(cannot)?;
    opened.write_all(text.as_bytes()).map_err(cannot)
}
