//! Fields that other managers own with other values: what is theirs, what is ours, and what to type about it.

use serde_json::Value;
use sexton_collector::modules::{FieldConflict, ModulePlan};

use super::{Args, command};
use crate::failure::{Exit, Failure};
use crate::output::style::{Style, count, harmless, padded, width};
use crate::settings::Settings;

/// Columns of a path; a longer one stands on a line of its own.
const PATH_MOST: usize = 28;
/// In front of a path.
const INDENT: usize = 4;

/// The failure for a plan with conflicts. `None`: it has none.
pub(super) fn conflicts(plan: &ModulePlan, args: &Args, settings: &Settings) -> Option<Failure> {
    let objects = plan.conflicting().count();
    if objects == 0 {
        return None;
    }
    let fields = plan.conflicting().map(|put| put.conflicts.len()).sum();
    let take = Args { take_over: true, ..args.clone() };
    Some(
        Failure::new(format!("{} managed by others with other values", counted(fields, objects)))
            .exit(Exit::Held)
            .detail("To keep their values, leave these fields out of the documents.")
            .next("take them over", command(&take, settings)),
    )
}

/// `3 fields of 2 objects are`
fn counted(fields: usize, objects: usize) -> String {
    let (fields, are) = match fields {
        1 => ("1 field".to_owned(), "is"),
        many => (format!("{} fields", count(many)), "are"),
    };
    let objects = match objects {
        1 => "1 object".to_owned(),
        many => format!("{} objects", count(many)),
    };
    format!("{fields} of {objects} {are}")
}

/// The fields of one object, each with both values and the other manager.
pub(super) fn lines(conflicts: &[&FieldConflict], style: Style) -> Vec<String> {
    let column = conflicts.iter().map(|one| width(&one.path)).filter(|width| *width <= PATH_MOST).max();
    let column = column.unwrap_or(0);
    let begin = INDENT + column + 2;
    let mut lines = Vec::new();
    for FieldConflict { path, manager, ours, theirs, .. } in conflicts {
        let path = harmless(path);
        let manager = format!("  ({})", harmless(manager));
        let room = style.columns().saturating_sub(begin + width("theirs  ") + width(&manager)).max(8);
        let value = |value: &Option<Value>| match value {
            Some(value) => style.fit(&harmless(&value.to_string()), room),
            None => "(none)".to_owned(),
        };
        let theirs = format!("theirs  {}{manager}", value(theirs));
        match width(&path) > column {
            true => {
                lines.push(format!("{:INDENT$}{path}", ""));
                lines.push(format!("{:begin$}{theirs}", ""));
            }
            false => lines.push(format!("{:INDENT$}{}  {theirs}", "", padded(&path, column))),
        }
        lines.push(format!("{:begin$}ours    {}", "", value(ours)));
    }
    lines
}
