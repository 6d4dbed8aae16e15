//! Output while objects are destroyed, and at the end.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use sexton_model::Uid;

use super::preview::{Form, Preview};
use crate::failure::Failure;
use crate::following::{End, Where, handed_over};
use crate::output::ndjson::{self, Event};
use crate::output::style::count;
use crate::output::{Output, Paint};
use crate::world::World;

/// The line about an object that is gone, in the forms for programs. Empty in all others.
pub(super) fn gone(form: Form, label: &str, uid: &Uid) -> String {
    match form {
        Form::Json => ndjson::gone(label, uid),
        Form::Name => format!("{label}\n"),
        _ => String::new(),
    }
}

/// Writes the result: one line for each object that was named, or events for programs.
pub(super) fn end(
    form: Form,
    preview: &Preview,
    end: &End,
    left_alone: &BTreeSet<Uid>,
    output: &Output,
) -> Result<(), Failure> {
    match form {
        Form::Json => {
            left(end, output)?;
            output.summarize(summary(end));
            Ok(())
        }
        Form::Text => roots(preview, end, left_alone, output),
        _ => Ok(()),
    }
}

/// Writes an event for each object that still exists.
pub(crate) fn left(end: &End, output: &Output) -> Result<(), Failure> {
    let left = end.left.iter();
    left.map(|(uid, label)| Event::Left { label, uid: &uid.0 }).try_for_each(|event| output.event(&event))
}

/// The summary for programs.
pub(crate) fn summary(end: &End) -> Value {
    json!({"gone": end.gone, "left": end.left.len(), "interrupted": end.interrupted})
}

fn roots(preview: &Preview, end: &End, left_alone: &BTreeSet<Uid>, output: &Output) -> Result<(), Failure> {
    let snapshot = preview.seen.snapshot();
    for root in &preview.roots {
        let (label, uid) = (preview.names.of(snapshot, *root), snapshot.uid(*root));
        if left_alone.contains(&uid) {
            // The failure about it is shown already.
            continue;
        }
        if end.left.contains_key(&uid) {
            output.mark('!', Paint::Change, &format!("{label} is marked, and still there"))?;
            continue;
        }
        let followed = preview.plan.steps().filter(|step| step.uid != uid && step.finding.root == uid);
        let there = |uid: &Uid| end.left.contains_key(uid) || left_alone.contains(uid);
        let followed = followed.filter(|step| !there(&step.uid)).count();
        let along = match followed {
            0 => String::new(),
            1 => ", and 1 other with it".to_owned(),
            others => format!(", and {} others with it", count(others)),
        };
        output.mark('-', Paint::Bad, &format!("{label} destroyed{along}"))?;
    }
    Ok(())
}

/// Writes the end of a command with `--no-wait`.
pub(super) fn not_waited(world: &World, place: &Where, output: &Output) {
    match place.foreign {
        true => {
            output.talk(&format!("marked on {}; the collector of Kubernetes does the rest", world.target))
        }
        false => output.talk(&format!("marked on {}; nobody waits for it", world.target)),
    }
    if world.embedded {
        output.suggest(&[("go on", "sexton resume")]);
    }
}

/// Writes the end of a command that was interrupted while objects were left.
pub(super) fn interrupted(end: &End, world: &World, place: &Where, output: &Output) {
    output.talk(&end.interrupted_text());
    handed_over(end, output);
    output.suggest(&[match world.embedded || place.foreign {
        true => ("go on", "sexton resume"),
        false => ("the server goes on; see how far it is", "sexton collections"),
    }]);
}
