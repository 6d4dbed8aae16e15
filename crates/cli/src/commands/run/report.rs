//! What is told about the objects of a program.

use sexton_runtime::gc::{Doomed, Preview, Report};
use sexton_runtime::lua;

use crate::failure::Failure;
use crate::output::style::{ordinal, padded, width};
use crate::output::{Output, Paint};
use crate::settings::Settings;

/// More are not shown one by one.
const SHOWN: usize = 40;

/// Where the words of a program go.
pub(super) struct Words {
    output: Output,
}

impl Words {
    pub(super) fn new(settings: &Settings) -> Words {
        Words { output: Output::new(settings.no_color) }
    }
}

impl lua::Output for Words {
    fn log(&self, line: &str) {
        // Whoever does not listen any more is told at the end.
        let _ = self.output.line(line);
    }

    fn trace(&self, line: &str) {
        self.output.talk(&format!("  · {line}"));
    }
}

fn label(doomed: &Doomed) -> String {
    let name = doomed.name.as_deref().unwrap_or(doomed.id.as_str());
    format!("{} {name}", doomed.class)
}

fn reason(doomed: &Doomed) -> String {
    doomed.reasons.first().map(ToString::to_string).unwrap_or_default()
}

/// What would be destroyed before the deployment, in its order.
pub(super) fn show_preview(preview: &Preview, output: &Output) -> Result<(), Failure> {
    let column = preview.doomed.iter().map(|one| width(&label(one))).max().unwrap_or(0).min(60);
    for (at, one) in preview.doomed.iter().enumerate().take(SHOWN) {
        let line = format!("{}  {}  {}", padded(&label(one), column), reason(one), ordinal(at + 1));
        output.mark('-', Paint::Bad, &line)?;
    }
    if let Some(more) = preview.doomed.len().checked_sub(SHOWN).filter(|more| *more > 0) {
        output.talk(&format!("  and {more} more"));
    }
    for held in preview.held.iter().take(SHOWN) {
        output.mark('!', Paint::Change, &format!("{} {}  kept: {}", held.class, held.id, held.reason))?;
    }
    for waiting in preview.waiting.iter().take(SHOWN) {
        let after: Vec<&str> = waiting.after.iter().map(|id| id.as_str()).collect();
        let line = format!("{} {}  has to wait for {}", waiting.class, waiting.id, after.join(", "));
        output.mark('!', Paint::Change, &line)?;
    }
    Ok(())
}

/// What was destroyed. How many.
pub(super) fn destroyed(report: &Report, output: &Output) -> Result<usize, Failure> {
    for one in report.destroyed.iter().take(SHOWN) {
        output.mark('-', Paint::Bad, &format!("{}  destroyed: {}", label(one), reason(one)))?;
    }
    if let Some(more) = report.destroyed.len().checked_sub(SHOWN).filter(|more| *more > 0) {
        output.talk(&format!("  and {more} more"));
    }
    Ok(report.destroyed.len())
}

/// What should have been destroyed and was not, each with the reason. How many.
pub(super) fn not_destroyed(report: &Report, output: &Output) -> Result<usize, Failure> {
    for one in report.failed.iter().take(SHOWN) {
        let line = format!("{} {}  lives on: {} failed: {}", one.class, one.id, one.phase, one.error);
        output.mark('!', Paint::Change, &line)?;
    }
    for one in report.waiting.iter().take(SHOWN) {
        let after: Vec<&str> = one.after.iter().map(|id| id.as_str()).collect();
        let line = format!("{} {}  lives on: it goes after {}", one.class, one.id, after.join(", "));
        output.mark('!', Paint::Change, &line)?;
    }
    for one in report.held.iter().take(SHOWN) {
        output.mark('!', Paint::Change, &format!("{} {}  kept: {}", one.class, one.id, one.reason))?;
    }
    if let Some(cancelled) = &report.cancelled {
        let line = format!("{} cancelled the collection: {}", cancelled.by, cancelled.reason);
        output.mark('!', Paint::Change, &line)?;
    }
    if report.left > 0 {
        let line = format!("{} are left: destructors made garbage again and again", report.left);
        output.mark('!', Paint::Change, &line)?;
    }
    for one in &report.untold {
        output.warn("environment", &[format!("{} was destroyed, but: {}", one.id, one.error)]);
    }
    Ok(report.failed.len() + report.waiting.len() + report.held.len() + report.left)
}
