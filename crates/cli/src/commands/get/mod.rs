//! `sexton get`: shows objects.

mod follow;
mod form;
mod sort;

use serde_json::Value;
use sexton_client::ServedKind;
use sexton_client::resources::{ListAsk, Table, text};
use sexton_model::jsonpath::JsonPath;

use form::Form;

use crate::failure::{Exit, Failure};
use crate::output::Output;
use crate::output::object::without_managers;
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
    /// The form of the answer: table, wide, name, json or yaml (one document), or jsonpath=TEMPLATE such as
    /// '{.items[*].metadata.name}' or '{range .items[*]}{.metadata.name}{"\n"}{end}'
    #[arg(short, long, value_name = "FORM", default_value = "table")]
    output: Form,
    /// Go on until Ctrl-C, and show what changes
    #[arg(short, long, conflicts_with_all = ["sort_by", "limit"])]
    watch: bool,
    /// No headings above tables
    #[arg(long)]
    no_headers: bool,
    /// Sort by a field, such as .metadata.creationTimestamp
    #[arg(long, value_name = "JSONPATH", value_parser = sort::path)]
    sort_by: Option<JsonPath>,
    /// At most so many of each kind
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u32).range(1..))]
    limit: Option<u32>,
    /// Show who manages which fields, in JSON and YAML
    #[arg(long)]
    show_managed_fields: bool,
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
    if args.watch {
        return follow::follow(&args, &world, &wanted, output).await;
    }
    let mut found = Found { asked: wanted.len(), ..Found::default() };
    for wanted in &wanted {
        if let Err(failure) = find(&args, &world, wanted, &mut found, output).await {
            found.failures.push(failure);
        }
    }
    let Found { mut objects, mut tables, failures, asked } = found;
    let one = asked == 1 && wanted.iter().all(|wanted| wanted.name.is_some());
    if let Some(path) = &args.sort_by {
        sort::by(path, &mut objects, &mut tables)?;
    }
    if args.output.has_rows() {
        print_tables(&args, &world, tables, failures.is_empty(), output)?;
    } else {
        let clean = |object| if args.show_managed_fields { object } else { without_managers(object) };
        let objects = objects.into_iter().map(|(kind, object)| (kind, clean(object))).collect();
        args.output.write(objects, one, output)?;
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
    let rows = args.output.has_rows();
    // Rows come without what they are sorted by.
    let objects = !rows || args.sort_by.is_some();
    let kind = &wanted.kind;
    let more = match &wanted.name {
        Some(name) => {
            if rows {
                found.add_rows(kind, world.resources.get_row(&place, name).await?);
            }
            if objects {
                found.objects.push((kind.clone(), world.resources.get(&place, name).await?));
            }
            false
        }
        None => {
            let ask = ListAsk {
                labels: args.selector.clone(),
                fields: args.field_selector.clone(),
                limit: args.limit.map(|limit| limit as usize),
            };
            let mut more = false;
            if rows {
                let listed = world.resources.list_rows(&place, &ask).await?;
                found.add_rows(kind, listed.found);
                more |= listed.more;
            }
            if objects {
                let listed = world.resources.list(&place, &ask).await?;
                found.objects.extend(listed.found.into_iter().map(|object| (kind.clone(), object)));
                more |= listed.more;
            }
            more
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
        let (blank, lines) = match args.no_headers {
            true => ("", lines.without_headings()),
            false => (blank, lines),
        };
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
