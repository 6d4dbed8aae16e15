//! Output about a program and its objects.

use std::collections::HashMap;
use std::rc::Rc;

use sexton_runtime::environment::Opened;
use sexton_runtime::gc::{Doomed, Preview, Report, Waiting};
use sexton_runtime::lua;
use sexton_runtime::world::ObjectId;

use super::trouble::canceller;
use crate::failure::Failure;
use crate::output::ndjson::Event;
use crate::output::style::{count, ordinal, padded, width};
use crate::output::{Output, Paint};

/// More are not shown one by one.
const SHOWN: usize = 40;

/// More are not named in one line.
const NAMED: usize = 5;

/// The output for the log lines of a program.
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
        // A closed output is an error at the end of the run, not in the middle of the program.
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
/// `hold`: whether grants of earlier runs hold here.
pub(super) fn tell_opened(opened: &Opened, hold: bool, output: &Output) {
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
            output.talk(&match hold {
                true => format!("allowed by an earlier run: {flag} {names} (--revoke-{flag} takes it back)"),
                false => format!(
                    "allowed by an earlier run, and not to this one unless it names it: --allow-{flag} {names}"
                ),
            });
        }
    }
}

/// What objects are called in one answer: by their names, and with the id where several have the same.
#[derive(Default)]
struct Labels(HashMap<(Rc<str>, Rc<str>), usize>);

impl Labels {
    fn of<'a>(all: impl Iterator<Item = Named<'a>>) -> Labels {
        let mut labels = Labels::default();
        for (class, name, _) in all {
            if let Some(name) = name {
                *labels.0.entry((class.clone(), name.clone())).or_default() += 1;
            }
        }
        labels
    }

    fn label(&self, (class, name, id): Named<'_>) -> String {
        match name {
            None => format!("{class} {id}"),
            Some(name) => match self.0.get(&(class.clone(), name.clone())) {
                Some(2..) => format!("{class} {name} ({id})"),
                _ => format!("{class} {name}"),
            },
        }
    }
}

/// The class, name and id of an object.
type Named<'a> = (&'a Rc<str>, &'a Option<Rc<str>>, &'a ObjectId);

fn doomed(one: &Doomed) -> Named<'_> {
    (&one.class, &one.name, &one.id)
}

fn reason(doomed: &Doomed) -> String {
    doomed.reasons.first().map(ToString::to_string).unwrap_or_default()
}

/// What would be destroyed before the deployment, in its order.
pub(super) fn show_preview(preview: &Preview, output: &Output) -> Result<(), Failure> {
    if output.is_stream() {
        return preview_events(preview, output);
    }
    let labels = Labels::of(preview.doomed.iter().map(doomed));
    let label = |one: &Doomed| labels.label(doomed(one));
    let shown = || preview.doomed.iter().take(SHOWN);
    let column = shown().map(|one| width(&label(one))).max().unwrap_or(0).min(60);
    for one in shown() {
        let line = format!("{}  {}  {}", padded(&label(one), column), reason(one), ordinal(one.wave + 1));
        output.mark('-', Paint::Bad, &line)?;
    }
    more(preview.doomed.len(), output);
    let mut groups = Groups::default();
    for held in &preview.held {
        groups.add(format!("kept: {}", held.reason), labels.label((&held.class, &held.name, &held.id)));
    }
    for one in &preview.waiting {
        groups.add(format!("has to wait for {}", after(one)), labels.label((&one.class, &one.name, &one.id)));
    }
    groups.tell(output)
}

/// How many more there are than are shown.
fn more(all: usize, output: &Output) {
    if let Some(more) = all.checked_sub(SHOWN).filter(|more| *more > 0) {
        output.talk(&format!("  and {} more", count(more)));
    }
}

/// The objects that are destroyed before an object.
fn after(one: &Waiting) -> String {
    let after: Vec<&str> = one.after.iter().map(|id| id.as_str()).collect();
    after.join(", ")
}

/// Remarks about objects, grouped: a remark about several objects is written once.
#[derive(Default)]
struct Groups {
    said: Vec<(String, Vec<String>)>,
    place: HashMap<String, usize>,
}

impl Groups {
    fn add(&mut self, said: String, label: String) {
        let place = *self.place.entry(said.clone()).or_insert(self.said.len());
        match self.said.get_mut(place) {
            Some((_, labels)) => labels.push(label),
            None => self.said.push((said, vec![label])),
        }
    }

    /// A line for each thing that is said; further lines of it are indented.
    fn tell(&self, output: &Output) -> Result<(), Failure> {
        for (said, labels) in self.said.iter().take(SHOWN) {
            let named = labels.iter().take(NAMED).map(String::as_str).collect::<Vec<_>>().join(", ");
            let rest = match labels.len().saturating_sub(NAMED) {
                0 => String::new(),
                more => format!(" and {} more", count(more)),
            };
            let mut lines = said.lines();
            let first = lines.next().unwrap_or_default();
            output.mark('!', Paint::Change, &format!("{named}{rest}  {first}"))?;
            lines.try_for_each(|line| output.prose(&format!("  {line}")))?;
        }
        more(self.said.len(), output);
        Ok(())
    }
}

/// The same for programs, all of it.
fn preview_events(preview: &Preview, output: &Output) -> Result<(), Failure> {
    let labels = Labels::of(preview.doomed.iter().map(doomed));
    for one in &preview.doomed {
        let (label, reason) = (&*labels.label(doomed(one)), &*reason(one));
        let (uid, order, because, group, marks) = (one.id.as_str(), one.wave + 1, None, None, &[][..]);
        output.event(&Event::Death { label, uid, order, reason, because, group, marks })?;
    }
    for held in &preview.held {
        let label = &labels.label((&held.class, &held.name, &held.id));
        output.event(&Event::Kept { label, uid: held.id.as_str(), why: &held.reason.to_string() })?;
    }
    for one in &preview.waiting {
        let label = &labels.label((&one.class, &one.name, &one.id));
        output.event(&Event::Held { label, why: &format!("has to wait for {}", after(one)) })?;
    }
    Ok(())
}

/// Writes which objects were destroyed, and returns how many.
pub(super) fn destroyed(report: &Report, output: &Output) -> Result<usize, Failure> {
    let labels = Labels::of(report.destroyed.iter().map(doomed));
    let shown = if output.is_stream() { usize::MAX } else { SHOWN };
    for one in report.destroyed.iter().take(shown) {
        let label = &labels.label(doomed(one));
        let event = Event::Gone { label, uid: one.id.as_str() };
        output.tell(&event, '-', Paint::Bad, &format!("{label}  destroyed: {}", reason(one)))?;
    }
    if !output.is_stream() {
        more(report.destroyed.len(), output);
    }
    Ok(report.destroyed.len())
}

/// Writes which objects should have been destroyed and were not, grouped by reason, and returns how many.
pub(super) fn not_destroyed(report: &Report, output: &Output) -> Result<usize, Failure> {
    let failed = || report.failed.iter().map(|one| (&one.class, &one.name, &one.id));
    let waiting = || report.waiting.iter().map(|one| (&one.class, &one.name, &one.id));
    let held = || report.held.iter().map(|one| (&one.class, &one.name, &one.id));
    let labels = Labels::of(failed().chain(waiting()).chain(held()));
    let reasons = report.failed.iter().map(|one| format!("lives on: {} failed: {}", one.phase, one.error));
    let reasons = reasons.chain(report.waiting.iter().map(|one| lives_on(one, report, &labels)));
    let reasons = reasons.chain(report.held.iter().map(|one| format!("kept: {}", one.reason)));
    let mut groups = Groups::default();
    for (named, why) in failed().chain(waiting()).chain(held()).zip(reasons) {
        if output.is_stream() {
            let object = &format!("{} {}", named.0, named.2);
            output.event(&Event::Failed { object, origin: "", why: &why })?;
        } else {
            groups.add(why, labels.label(named));
        }
    }
    groups.tell(output)?;
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

/// What an object waits for, by name if that is an object that could not be destroyed.
fn lives_on(one: &Waiting, report: &Report, labels: &Labels) -> String {
    let name = |id: &ObjectId| match report.failed.iter().find(|failed| failed.id == *id) {
        Some(failed) => labels.label((&failed.class, &failed.name, &failed.id)),
        None => id.to_string(),
    };
    let after: Vec<String> = one.after.iter().map(name).collect();
    format!("lives on: it goes after {}", after.join(", "))
}

/// Writes the failures of a collection that the program asked for. They are tried again at the end of the run.
pub(super) fn tried(report: &Report, output: &Output) -> Result<(), Failure> {
    let labels = Labels::of(report.failed.iter().map(|one| (&one.class, &one.name, &one.id)));
    let mut groups = Groups::default();
    for one in &report.failed {
        let why = format!("{} failed, to be tried again: {}", one.phase, one.error);
        let label = labels.label((&one.class, &one.name, &one.id));
        match output.is_stream() {
            true => output.event(&Event::Trouble { message: &format!("{label}  {why}") })?,
            false => groups.add(why, label),
        }
    }
    groups.tell(output)?;
    untold(report, output);
    Ok(())
}

fn untold(report: &Report, output: &Output) {
    for one in &report.untold {
        output.warn("environment", &[format!("{} was destroyed, but: {}", one.id, one.error)]);
    }
}
