//! `sexton watch`: shows objects, and every change of them.

use clap::ValueEnum;
use futures::StreamExt;
use serde_json::Value;
use sexton_client::resources::{Change, Column, Event, WatchAsk, text};

use crate::failure::{Exit, Failure};
use crate::output::ndjson::Event as Seen;
use crate::output::object::without_managers;
use crate::output::table::{Lines, cell};
use crate::output::{Output, Paint};
use crate::settings::Settings;
use crate::targets;
use crate::world::{Purpose, World};

/// Show objects, and every change of them
///
/// Goes on until Ctrl-C. An embedded store is used by one process at a time, so changes are only seen on a server.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// KIND, KIND NAME, or KIND/NAME
    #[arg(required = true, num_args = 1..=2, value_name = "KIND|KIND/NAME")]
    words: Vec<String>,
    /// In all namespaces
    #[arg(short = 'A', long)]
    all_namespaces: bool,
    /// Only objects with these labels, such as app=web,tier!=db
    #[arg(short = 'l', long, value_name = "LABELS", default_value = "", hide_default_value = true)]
    selector: String,
    /// The form of the answer
    #[arg(short, long, value_enum, default_value_t = Form::Table)]
    output: Form,
    /// Show who manages which fields, in JSON
    #[arg(long)]
    show_managed_fields: bool,
}

/// The form of the answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Form {
    /// For people
    Table,
    /// A stream of JSON lines for programs; docs/output.md describes it
    Json,
}

pub(crate) async fn run(args: Args, settings: &Settings, output: &Output) -> Result<Exit, Failure> {
    let world = World::open(settings, Purpose::Look).await?;
    let wanted = targets::read(&world.kinds().await?, &args.words)?;
    let [wanted] = wanted.as_slice() else {
        return Err(Failure::new("one kind can be watched at a time"));
    };
    if world.embedded {
        output.talk(&format!("{} is used by this watch alone now", world.target));
        output.suggest(&[("see the changes of others", format!("sexton serve{}", settings.target_flags()))]);
    }
    let fields = wanted.name.as_ref().map_or(String::new(), |name| format!("metadata.name={name}"));
    let namespace = (!args.all_namespaces).then_some(world.namespace.as_str());
    let ask = WatchAsk { labels: args.selector.clone(), fields, rows: args.output == Form::Table };
    let mut events = world.resources.watch(wanted.place(namespace), ask);
    let look = Look { wide: false, headings: true, symbols: true };
    let mut shown = Shown::new(args.all_namespaces && wanted.kind.namespaced, look);
    while let Some(event) = events.next().await {
        match (event?, args.output) {
            (Event::Object { change, object, .. }, Form::Json) => {
                let object = if args.show_managed_fields { object } else { without_managers(object) };
                output.event(&Seen::Change { change: change.word(), object: &object })?;
            }
            (event, Form::Table) => shown.add(event, output)?,
            (_, Form::Json) => {}
        }
    }
    Ok(Exit::Done)
}

/// How changes look.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Look {
    /// Whether columns for wide screens are shown.
    pub(crate) wide: bool,
    /// Whether there are headings.
    pub(crate) headings: bool,
    /// Whether each line begins with what happened.
    pub(crate) symbols: bool,
}

/// What people see: what is there first, aligned; then line after line, as wide as that.
pub(crate) struct Shown {
    look: Look,
    with_namespace: bool,
    columns: Vec<usize>,
    lines: Lines,
    listed: bool,
}

impl Shown {
    pub(crate) fn new(with_namespace: bool, look: Look) -> Shown {
        Shown { look, with_namespace, columns: Vec::new(), lines: Lines::default(), listed: false }
    }

    pub(crate) fn add(&mut self, event: Event, output: &Output) -> Result<(), Failure> {
        match event {
            Event::Columns(columns) => {
                self.begin(&columns);
                Ok(())
            }
            Event::Object { object, cells, .. } if !self.listed => {
                let row = self.row(&object, &cells);
                self.lines.add(row);
                Ok(())
            }
            Event::Object { change, object, cells } => {
                let line = self.lines.row(&self.row(&object, &cells));
                let (symbol, paint) = match change {
                    Change::Added => ('+', Paint::Good),
                    Change::Modified => ('~', Paint::Change),
                    Change::Deleted => ('-', Paint::Bad),
                };
                self.write(Some((symbol, paint)), &line, output)
            }
            Event::Listed => {
                self.listed = true;
                for (at, line) in self.lines.lines().enumerate() {
                    match at {
                        0 if self.look.headings => self.write(None, &line, output)?,
                        0 => {}
                        _ => self.write(Some(('+', Paint::Good)), &line, output)?,
                    }
                }
                Ok(())
            }
        }
    }

    fn write(&self, happened: Option<(char, Paint)>, line: &str, output: &Output) -> Result<(), Failure> {
        match happened {
            _ if !self.look.symbols => output.line(line),
            Some((symbol, paint)) => output.mark(symbol, paint, line),
            None => output.line(&format!("  {line}")),
        }
    }

    fn begin(&mut self, columns: &[Column]) {
        let wide = self.look.wide;
        let shown = columns.iter().enumerate().filter(|(_, column)| wide || column.priority == 0);
        self.columns = shown.clone().map(|(at, _)| at).collect();
        let namespace = self.with_namespace.then_some("Namespace");
        self.lines = Lines::new(namespace.into_iter().chain(shown.map(|(_, column)| column.name.as_str())));
    }

    fn row(&self, object: &Value, cells: &[Value]) -> Vec<String> {
        let namespace = self.with_namespace.then(|| text(object, "/metadata/namespace").to_owned());
        let cells = self.columns.iter().map(|at| cells.get(*at).map_or(String::new(), cell));
        namespace.into_iter().chain(cells).collect()
    }
}
