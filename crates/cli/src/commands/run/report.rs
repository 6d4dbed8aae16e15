//! What is told about the objects of a program.

use std::fmt::Display;

use sexton_runtime::environment::Opened;
use sexton_runtime::gc::{Doomed, Preview, Report};
use sexton_runtime::lua;

use super::trouble::canceller;
use crate::failure::Failure;
use crate::output::ndjson::Event;
use crate::output::style::{ordinal, padded, width};
use crate::output::{Output, Paint};

/// More are not shown one by one.
const SHOWN: usize = 40;

/// More are not named in one line.
const NAMED: usize = 5;

/// Where the words of a program go.
pub(super) struct Words {
    output: Output,
}

impl Words {
    pub(super) fn new(output: Output) -> Words {
        Words { output }
    }
}

impl lua::Output for Words {
    fn log(&self, line: &str) {
        // Whoever does not listen any more is told at the end.
        let _ = match self.output.is_stream() {
            true => self.output.event(&Event::Log { message: line }),
            false => self.output.data(&format!("{line}\n")),
        };
    }

    fn trace(&self, line: &str) {
        self.output.talk(&format!("  · {line}"));
    }
}

/// What is to be known of an environment before anything runs in it.
pub(super) fn tell_opened(opened: &Opened, output: &Output) {
    for one in &opened.dangling {
        output.warn("environment", std::slice::from_ref(one));
    }
    if !opened.foreign.is_empty() {
        let some: Vec<&str> = opened.foreign.iter().take(NAMED).map(String::as_str).collect();
        let more = match opened.foreign.len().checked_sub(NAMED).filter(|more| *more > 0) {
            Some(more) => format!(" and {more} more"),
            None => String::new(),
        };
        let what = format!("not made by this environment, left alone: {}{more}", some.join(", "));
        output.warn("environment", &[what]);
    }
    if opened.recovered {
        output.talk("the last model was not completely stored: that is done now");
    }
    for (flag, kept) in [("exec", &opened.kept_grants.exec), ("http", &opened.kept_grants.http)] {
        if !kept.is_empty() {
            let names = kept.join(", ");
            output
                .talk(&format!("allowed by an earlier run: {flag} {names} (--revoke-{flag} takes it back)"));
        }
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
    if output.is_stream() {
        return preview_events(preview, output);
    }
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

/// The same for programs, all of it.
fn preview_events(preview: &Preview, output: &Output) -> Result<(), Failure> {
    for (at, one) in preview.doomed.iter().enumerate() {
        let (label, reason) = (&*label(one), &*reason(one));
        let (uid, order, because, group, marks) = (one.id.as_str(), at + 1, None, None, &[][..]);
        output.event(&Event::Death { label, uid, order, reason, because, group, marks })?;
    }
    for held in &preview.held {
        let label = &format!("{} {}", held.class, held.id);
        output.event(&Event::Kept { label, uid: held.id.as_str(), why: &held.reason.to_string() })?;
    }
    for waiting in &preview.waiting {
        let after: Vec<&str> = waiting.after.iter().map(|id| id.as_str()).collect();
        let label = &format!("{} {}", waiting.class, waiting.id);
        output.event(&Event::Held { label, why: &format!("has to wait for {}", after.join(", ")) })?;
    }
    Ok(())
}

/// What was destroyed. How many.
pub(super) fn destroyed(report: &Report, output: &Output) -> Result<usize, Failure> {
    if output.is_stream() {
        for one in &report.destroyed {
            output.event(&Event::Gone { label: &label(one), uid: one.id.as_str() })?;
        }
        return Ok(report.destroyed.len());
    }
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
    // Programs read all of it.
    let shown = if output.is_stream() { usize::MAX } else { SHOWN };
    let tell = |class: &dyn Display, id: &dyn Display, why: &str| {
        let event = Event::Failed { object: &format!("{class} {id}"), origin: "", why };
        output.tell(&event, '!', Paint::Change, &format!("{class} {id}  {why}"))
    };
    for one in report.failed.iter().take(shown) {
        tell(&one.class, &one.id, &format!("lives on: {} failed: {}", one.phase, one.error))?;
    }
    for one in report.waiting.iter().take(shown) {
        let after: Vec<&str> = one.after.iter().map(|id| id.as_str()).collect();
        tell(&one.class, &one.id, &format!("lives on: it goes after {}", after.join(", ")))?;
    }
    for one in report.held.iter().take(shown) {
        tell(&one.class, &one.id, &format!("kept: {}", one.reason))?;
    }
    if let Some(cancelled) = &report.cancelled {
        let line = format!("{} cancelled the collection: {}", canceller(cancelled), cancelled.reason);
        output.tell(&Event::Trouble { message: &line }, '!', Paint::Change, &line)?;
    }
    if report.left > 0 {
        let line = format!("{} are left: destructors made garbage again and again", report.left);
        output.tell(&Event::Trouble { message: &line }, '!', Paint::Change, &line)?;
    }
    untold(report, output);
    let open = report.failed.len() + report.waiting.len() + report.held.len() + report.left;
    Ok(open + usize::from(report.cancelled.is_some()))
}

/// What failed in a collection that the program asked for. It is tried again when the run ends.
pub(super) fn tried(report: &Report, output: &Output) -> Result<(), Failure> {
    for one in report.failed.iter().take(SHOWN) {
        let line =
            format!("{} {}  {} failed, to be tried again: {}", one.class, one.id, one.phase, one.error);
        output.tell(&Event::Trouble { message: &line }, '!', Paint::Change, &line)?;
    }
    untold(report, output);
    Ok(())
}

fn untold(report: &Report, output: &Output) {
    for one in &report.untold {
        output.warn("environment", &[format!("{} was destroyed, but: {}", one.id, one.error)]);
    }
}
