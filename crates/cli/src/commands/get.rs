//! `sexton get`: shows objects.

use clap::ValueEnum;
use serde_json::Value;
use sexton_client::ServedKind;
use sexton_client::resources::{ListAsk, Table, text};

use crate::failure::{Exit, Failure};
use crate::output::Output;
use crate::output::object::{list, without_managers};
use crate::output::table::{Lines, cell};
use crate::settings::Settings;
use crate::targets::{self, Wanted};
use crate::world::{Purpose, World};

/// Show objects
///
/// Kinds can be named in every way that the server knows them, several with commas between them: cm, configmaps,
/// ConfigMap, deployments.apps, or a category such as all.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// KIND, KIND NAME…, or KIND/NAME…
    #[arg(required = true, value_name = "KIND|KIND/NAME")]
    words: Vec<String>,
    /// In all namespaces
    #[arg(short = 'A', long)]
    all_namespaces: bool,
    /// Only objects with these labels, such as app=web,tier!=db
    #[arg(short = 'l', long, value_name = "LABELS", default_value = "", hide_default_value = true)]
    selector: String,
    /// Only objects with these fields, such as metadata.name=web
    #[arg(long, value_name = "FIELDS", default_value = "", hide_default_value = true)]
    field_selector: String,
    /// The form of the answer
    #[arg(short, long, value_enum, default_value_t = Form::Table)]
    output: Form,
    /// At most so many of each kind
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u32).range(1..))]
    limit: Option<u32>,
    /// Show who manages which fields, in JSON and YAML
    #[arg(long)]
    show_managed_fields: bool,
}

/// The form of the answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Form {
    /// For people
    Table,
    /// For people with wide screens
    Wide,
    /// One document
    Json,
    /// One document
    Yaml,
    /// KIND/NAME lines
    Name,
}

/// What was found, and what was not.
#[derive(Default)]
struct Found {
    objects: Vec<(ServedKind, Value)>,
    tables: Vec<(ServedKind, Table)>,
    failures: Vec<Failure>,
    asked: usize,
}

pub(crate) async fn run(args: Args, settings: &Settings, output: &Output) -> Result<Exit, Failure> {
    let world = World::open(settings, Purpose::Look).await?;
    let wanted = targets::read(&world.kinds().await?, &args.words)?;
    check(&args, &wanted)?;
    let mut found = Found { asked: wanted.len(), ..Found::default() };
    for wanted in &wanted {
        if let Err(failure) = find(&args, &world, wanted, &mut found, output).await {
            found.failures.push(failure);
        }
    }
    let Found { objects, tables, failures, asked } = found;
    let one = asked == 1 && wanted.iter().all(|wanted| wanted.name.is_some());
    match args.output {
        Form::Table | Form::Wide => print_tables(&args, &world, tables, failures.is_empty(), output)?,
        Form::Name => {
            for (kind, object) in &objects {
                output.line(&kind.label(text(object, "/metadata/name")))?;
            }
        }
        Form::Json | Form::Yaml if one && objects.is_empty() => {}
        Form::Json | Form::Yaml => {
            let clean = |object| if args.show_managed_fields { object } else { without_managers(object) };
            let mut objects: Vec<Value> = objects.into_iter().map(|(_, object)| clean(object)).collect();
            let shown = if one { objects.remove(0) } else { list(objects) };
            if args.output == Form::Json { output.json(&shown)? } else { output.yaml(&shown)? }
        }
    }
    failures.iter().for_each(|failure| output.explain(failure));
    Ok(Exit::of_several(failures.len(), asked))
}

fn check(args: &Args, wanted: &[Wanted]) -> Result<(), Failure> {
    let named = wanted.iter().any(|wanted| wanted.name.is_some());
    if named && !(args.selector.is_empty() && args.field_selector.is_empty()) {
        return Err(Failure::new("names and selectors exclude each other"));
    }
    if named && args.all_namespaces {
        return Err(Failure::new("a name is looked for in one namespace").next("say which", "-n NAMESPACE"));
    }
    Ok(())
}

async fn find(
    args: &Args,
    world: &World,
    wanted: &Wanted,
    found: &mut Found,
    output: &Output,
) -> Result<(), Failure> {
    let namespace = (!args.all_namespaces).then_some(world.namespace.as_str());
    let place = wanted.place(namespace);
    let rows = matches!(args.output, Form::Table | Form::Wide);
    let kind = &wanted.kind;
    let more = match &wanted.name {
        Some(name) if rows => {
            found.add_rows(kind, world.resources.get_row(&place, name).await?);
            false
        }
        Some(name) => {
            found.objects.push((kind.clone(), world.resources.get(&place, name).await?));
            false
        }
        None => {
            let ask = ListAsk {
                labels: args.selector.clone(),
                fields: args.field_selector.clone(),
                limit: args.limit.map(|limit| limit as usize),
            };
            if rows {
                let listed = world.resources.list_rows(&place, &ask).await?;
                found.add_rows(kind, listed.found);
                listed.more
            } else {
                let listed = world.resources.list(&place, &ask).await?;
                found.objects.extend(listed.found.into_iter().map(|object| (kind.clone(), object)));
                listed.more
            }
        }
    };
    if more {
        output.talk(&format!("there are more {} than the limit shows", kind.resource));
    }
    Ok(())
}

impl Found {
    /// Rows of one kind belong to one table, even if they were asked for one by one.
    fn add_rows(&mut self, kind: &ServedKind, table: Table) {
        match self.tables.last_mut() {
            Some((last, rows)) if last == kind => rows.rows.extend(table.rows),
            _ => self.tables.push((kind.clone(), table)),
        }
    }
}

fn print_tables(
    args: &Args,
    world: &World,
    tables: Vec<(ServedKind, Table)>,
    complete: bool,
    output: &Output,
) -> Result<(), Failure> {
    let several = tables.len() > 1;
    let tables: Vec<_> = tables.into_iter().filter(|(_, table)| !table.rows.is_empty()).collect();
    if tables.is_empty() && complete {
        let place =
            if args.all_namespaces { String::new() } else { format!(", namespace {}", world.namespace) };
        output.talk(&format!("nothing found on {}{place}", world.target));
    }
    for (at, (kind, table)) in tables.iter().enumerate() {
        let blank = if at > 0 { "\n" } else { "" };
        let lines = lines(kind, table, args.output == Form::Wide, args.all_namespaces, several);
        output.data(&format!("{blank}{}", lines.text()))?;
    }
    Ok(())
}

/// A table of the server as texts. Of several tables each row also says its kind.
pub(crate) fn lines(
    kind: &ServedKind,
    table: &Table,
    wide: bool,
    all_namespaces: bool,
    several: bool,
) -> Lines {
    let columns = table.column_definitions.iter().enumerate();
    let shown: Vec<(usize, &str)> = columns
        .filter(|(_, column)| wide || column.priority == 0)
        .map(|(at, column)| (at, column.name.as_str()))
        .collect();
    let with_namespace = all_namespaces && kind.namespaced;
    let namespace = with_namespace.then_some("Namespace");
    let mut lines = Lines::new(namespace.into_iter().chain(shown.iter().map(|(_, name)| *name)));
    for row in &table.rows {
        let namespace = with_namespace.then(|| text(&row.object, "/metadata/namespace").to_owned());
        let cells = shown.iter().map(|(at, name)| {
            let cell = cell(row.cells.get(*at).unwrap_or(&Value::Null));
            if several && *name == "Name" { kind.label(&cell) } else { cell }
        });
        lines.add(namespace.into_iter().chain(cells).collect());
    }
    lines
}
