//! What is told while lives go, and at the end.

use serde_json::{Value, json};
use sexton_model::Uid;

use super::preview::{Form, Preview};
use crate::failure::Failure;
use crate::following::End;
use crate::output::ndjson::{self, Event};
use crate::output::style::count;
use crate::output::{Output, Paint};

/// What is said of a life that is gone, in a form for programs.
pub(super) fn gone(form: Form, label: &str, uid: &Uid) -> String {
    match form {
        Form::Json => ndjson::gone(label, uid),
        Form::Name => format!("{label}\n"),
        _ => String::new(),
    }
}

/// The end: one line for each that was named.
pub(super) fn end(form: Form, preview: &Preview, end: &End, output: &Output) -> Result<(), Failure> {
    match form {
        Form::Json => {
            left(end, output)?;
            output.summarize(summary(end));
            Ok(())
        }
        Form::Text => roots(preview, end, output),
        _ => Ok(()),
    }
}

/// What is still there, for programs.
pub(crate) fn left(end: &End, output: &Output) -> Result<(), Failure> {
    let left = end.left.iter();
    left.map(|(uid, label)| Event::Left { label, uid: &uid.0 }).try_for_each(|event| output.event(&event))
}

/// What a program reads at the end.
pub(crate) fn summary(end: &End) -> Value {
    json!({"gone": end.gone, "left": end.left.len(), "interrupted": end.interrupted})
}

fn roots(preview: &Preview, end: &End, output: &Output) -> Result<(), Failure> {
    let snapshot = preview.seen.snapshot();
    for root in &preview.roots {
        let (label, uid) = (preview.names.of(snapshot, *root), snapshot.uid(*root));
        if end.left.contains_key(&uid) {
            output.mark('!', Paint::Change, &format!("{label} is marked, and still there"))?;
            continue;
        }
        let followed = preview.plan.steps().filter(|step| step.uid != uid && step.finding.root == uid);
        let followed = followed.filter(|step| !end.left.contains_key(&step.uid)).count();
        let along = match followed {
            0 => String::new(),
            1 => ", and 1 other with it".to_owned(),
            others => format!(", and {} others with it", count(others)),
        };
        output.mark('-', Paint::Bad, &format!("{label} destroyed{along}"))?;
    }
    Ok(())
}
