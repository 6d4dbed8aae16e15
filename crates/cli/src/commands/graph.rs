//! `sexton graph`: a picture of owners, destruction dependencies, and doomed objects.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::{Path, PathBuf};

use clap::ValueEnum;
use sexton_collector::preview::World as Seen;
use sexton_lifecycle::DetectionSettings;

use crate::failure::{Exit, Failure};
use crate::naming::Names;
use crate::one::One;
use crate::output::Output;
use crate::output::graph::{Picture, Size, dot, json, mermaid, svg};
use crate::settings::Settings;
use crate::showing::picture::View;
use crate::targets;
use crate::world::{Purpose, World};

/// Draw owners, dependents, and the order of destruction
///
/// Without names everything is drawn that is connected with anything; with names, what they are connected with.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// KIND/NAME, KIND/NAMESPACE/NAME, or KIND NAME
    #[arg(value_name = "KIND/NAME")]
    objects: Vec<String>,
    /// The form of the picture; to a file the one that its name ends with, else dot
    #[arg(short, long, value_enum)]
    output: Option<Form>,
    /// Draw at most so many, the most interesting ones; a drawing shows 50 without it, other forms all
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    max_nodes: Option<u32>,
    /// Draw all, also what is connected with nothing
    #[arg(long, conflicts_with = "max_nodes")]
    all: bool,
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
    for word in targets::several(&args.objects)? {
        uids.push(One::find(&world, &kinds, &word).await?.uid().to_owned());
    }
    let seen = Seen::look(&*world.gateway(&kinds), &world.resources).await?;
    world.tell_unseen(&seen);
    let (_, plan) = seen.under_way(&DetectionSettings::default())?;
    let names = Names::new(&kinds, &world.namespace);
    let view = View { snapshot: seen.snapshot(), plan: &plan, names: &names };
    let lives: Vec<_> = uids.iter().filter_map(|uid| seen.life(uid)).collect();
    let (drawn, title) = match lives.as_slice() {
        [] => (view.all(args.all), world.target.clone()),
        [one] => (view.around(&lives), format!("{} on {}", names.of(seen.snapshot(), *one), world.target)),
        many => (view.around(&lives), format!("{} objects on {}", many.len(), world.target)),
    };
    let (picture, size) = (view.picture(drawn, title), size(&args, form));
    let told = told(&args, &picture.clone().limited(size));
    let text = match form {
        Form::Dot => dot::dot(&picture.limited(size)),
        Form::Svg => svg::svg(picture, size),
        Form::Mermaid => mermaid::mermaid(&picture.limited(size)),
        Form::Json => json::ndjson(&picture.limited(size)),
    };
    match &args.out {
        None => output.data(&text)?,
        Some(file) => {
            let text = match form {
                Form::Json => output.framed("graph", &text, settings),
                _ => text,
            };
            write_new(file, &text)?;
        }
    }
    told.iter().for_each(|line| output.talk(line));
    Ok(Exit::Done)
}

/// How many are drawn: of a drawing as many as can be read, unless more are wanted.
fn size(args: &Args, form: Form) -> Size {
    match (args.max_nodes, form) {
        (Some(most), _) => Size::AtMost(usize::try_from(most).unwrap_or(usize::MAX)),
        (None, Form::Svg) if !args.all => Size::READABLE,
        (None, _) => Size::All,
    }
}

/// What was written where, and that it is not everything.
fn told(args: &Args, drawn: &Picture) -> Vec<String> {
    let file = args.out.as_ref().map(|file| format!("{}: ", file.display())).unwrap_or_default();
    match drawn.more {
        0 if file.is_empty() => Vec::new(),
        0 => vec![format!("{file}{}", drawn.counted())],
        _ => vec![format!("{file}{} are drawn; all of them with --all", drawn.counted())],
    }
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
