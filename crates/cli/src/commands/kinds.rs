//! `sexton kinds`: shows what is served.

use clap::ValueEnum;
use serde_json::{Value, json};
use sexton_client::ServedKind;

use crate::failure::{Exit, Failure};
use crate::output::Output;
use crate::output::ndjson::Event;
use crate::output::table::Lines;
use crate::settings::Settings;
use crate::world::{Purpose, World};

/// Show which kinds there are
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The form of the answer
    #[arg(short, long, value_enum, default_value_t = Form::Table)]
    output: Form,
}

/// The form of the answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Form {
    /// For people
    Table,
    /// A stream of JSON lines for programs; docs/output.md describes it
    Json,
    /// One document
    Yaml,
    /// Full names
    Name,
}

pub(crate) async fn run(args: &Args, settings: &Settings, output: &Output) -> Result<Exit, Failure> {
    let world = World::open(settings, Purpose::Look).await?;
    let kinds = world.kinds().await?;
    let mut shown: Vec<&ServedKind> = kinds.preferred().collect();
    shown.sort_by(|a, b| {
        (&a.resource.group, &a.resource.resource).cmp(&(&b.resource.group, &b.resource.resource))
    });
    match args.output {
        Form::Table => output.data(&table(&shown))?,
        Form::Name => {
            for kind in shown {
                output.line(&kind.resource.to_string())?;
            }
        }
        Form::Json => {
            for kind in shown {
                output.event(&event(kind, &kind.api_version()))?;
            }
        }
        Form::Yaml => output.yaml(&Value::Array(shown.into_iter().map(document).collect()))?,
    }
    Ok(Exit::Done)
}

fn table(kinds: &[&ServedKind]) -> String {
    let mut lines = Lines::new(["Name", "Short names", "apiVersion", "Namespaced", "Kind"]);
    for kind in kinds {
        lines.add(vec![
            kind.resource.resource.clone(),
            kind.short_names.join(","),
            kind.api_version(),
            kind.namespaced.to_string(),
            kind.kind.clone(),
        ]);
    }
    lines.text()
}

fn event<'a>(kind: &'a ServedKind, api_version: &'a str) -> Event<'a> {
    Event::Kind {
        name: &kind.resource.resource,
        singular: &kind.singular,
        short_names: &kind.short_names,
        api_version,
        namespaced: kind.namespaced,
        object_kind: &kind.kind,
        categories: &kind.categories,
        verbs: &kind.verbs,
    }
}

fn document(kind: &ServedKind) -> Value {
    json!({
        "name": kind.resource.resource, "singular": kind.singular, "shortNames": kind.short_names,
        "apiVersion": kind.api_version(), "namespaced": kind.namespaced, "kind": kind.kind,
        "categories": kind.categories, "verbs": kind.verbs,
    })
}
