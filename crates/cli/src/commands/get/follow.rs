//! `sexton get -w`: the objects that exist, and each one again when it changes.

use futures::StreamExt;
use sexton_client::resources::{Event, WatchAsk};

use super::{Args, Form};
use crate::commands::watch::{Look, Shown};
use crate::failure::{Exit, Failure};
use crate::output::Output;
use crate::output::object::without_managers;
use crate::targets::Wanted;
use crate::world::World;

pub(super) async fn follow(
    args: &Args,
    world: &World,
    wanted: &[Wanted],
    output: &Output,
) -> Result<Exit, Failure> {
    let [wanted] = wanted else {
        return Err(Failure::new("one kind, or one object, can be watched at a time"));
    };
    if world.embedded {
        output.talk(&format!(
            "{} is used by this watch alone now; changes are seen on a server: sexton serve",
            world.target
        ));
    }
    let named = wanted.name.as_ref().map(|name| format!("metadata.name={name}"));
    let fields = named.unwrap_or_else(|| args.field_selector.clone());
    let namespace = (!args.all_namespaces).then_some(world.namespace.as_str());
    let ask = WatchAsk { labels: args.selector.clone(), fields, rows: args.output.has_rows() };
    let mut events = world.resources.watch(wanted.place(namespace), ask);
    let look = Look { wide: args.output == Form::Wide, headings: !args.no_headers, symbols: false };
    let mut shown = Shown::new(args.all_namespaces && wanted.kind.namespaced, look);
    while let Some(event) = events.next().await {
        match event? {
            event if args.output.has_rows() => shown.add(event, output)?,
            Event::Object { object, .. } => {
                let object = if args.show_managed_fields { object } else { without_managers(object) };
                if args.output == Form::Yaml {
                    output.line("---")?;
                }
                args.output.write(vec![(wanted.kind.clone(), object)], true, output)?;
            }
            Event::Columns(_) | Event::Listed => {}
        }
    }
    Ok(Exit::Done)
}
