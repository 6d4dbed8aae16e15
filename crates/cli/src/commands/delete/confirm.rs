//! The question before more than one object dies.

use super::doomed::Doomed;
use crate::ask;
use crate::failure::{Exit, Failure};
use crate::output::Output;
use crate::world::World;

/// So many are shown before a question.
const SHOWN: usize = 20;

/// Goes on if one object without contents dies, if `--yes` was typed, or if somebody types it now.
pub(super) async fn confirm(
    yes: bool,
    world: &World,
    doomed: &[Doomed],
    output: &Output,
) -> Result<(), Failure> {
    let contents = doomed.iter().any(Doomed::has_contents);
    if yes || (doomed.len() == 1 && !contents) {
        return Ok(());
    }
    let count = match doomed {
        [one] => one.label(),
        many => format!("{} objects", many.len()),
    };
    let with = if contents { " with all contents" } else { "" };
    let question = format!("Delete {count}{with} on {}?", world.target);
    if !ask::somebody_is_there() {
        let mut failure =
            Failure::new(format!("this would delete {count}{with} on {}", world.target)).exit(Exit::Held);
        for doomed in doomed.iter().take(SHOWN) {
            failure = failure.detail(format!("- {}", doomed.label()));
        }
        if doomed.len() > SHOWN {
            failure = failure.detail(format!("and {} more", doomed.len() - SHOWN));
        }
        return Err(failure.detail("Nothing was deleted.").next("do it", "the same command with --yes"));
    }
    for doomed in doomed.iter().take(SHOWN) {
        output.talk(&format!("- {}", doomed.label()));
    }
    if doomed.len() > SHOWN {
        output.talk(&format!("  and {} more", doomed.len() - SHOWN));
    }
    match ask::yes(&question, output).await? {
        true => Ok(()),
        false => Err(Failure::new("the answer was not yes; nothing was deleted").exit(Exit::Held)),
    }
}
