//! A deployment before it happens: deletions first, with reason and order, then what is put, then one line to read out
//! of habit.

use std::collections::HashMap;

use sexton_collector::modules::{
    Destruction, FieldChange, Kept, ModulePlan, PlannedPut, PutAction, Sweep, Unlistable, Victim,
};
use sexton_lifecycle::DeletionLimitExceeded;
use sexton_model::hook::ObjectRef;
use sexton_model::module::ModuleSpec;

use super::{Args, Form, command, drift, lines};
use crate::failure::{Exit, Failure};
use crate::naming::Names;
use crate::output::Paint;
use crate::output::graph::{Picture, Size, dot, mermaid, svg};
use crate::output::style::{Style, count, harmless, ordinal, padded, width, wrapped};
use crate::output::tree::Death;
use crate::output::tree::commands::LongCommands;
use crate::settings::Settings;
use crate::showing::picture::View;
use crate::showing::plan::Shown as ShownPlan;
use crate::suggest;
use crate::world::World;

/// Lines of one sort; the rest is counted.
const MANY: usize = 40;
/// Fields of one object; the rest is counted.
const FIELDS: usize = 12;
/// Columns of a label that others are aligned with.
const LABEL_MOST: usize = 60;
/// Columns of a value.
const VALUE: usize = 60;

/// What is shown, and from where.
pub(super) struct Shown<'a> {
    pub(super) args: &'a Args,
    pub(super) settings: &'a Settings,
    pub(super) world: &'a World,
    pub(super) plan: &'a ModulePlan,
    pub(super) names: &'a Names,
}

/// How many objects would be destroyed, with doomed dependents.
pub(super) fn doomed(plan: &ModulePlan) -> usize {
    match (&plan.sweep, &plan.destruction) {
        (Sweep::Accuse, Some(destruction)) => destruction.plan.len(),
        _ => 0,
    }
}

/// Whether anything but the marks of the deployment would change.
pub(super) fn changes_something(plan: &ModulePlan) -> bool {
    doomed(plan) > 0 || plan.puts.iter().any(|put| put.action != PutAction::Unchanged)
}

/// The doomed objects in the order of destruction, with reasons: members that are swept, and their dependents.
pub(crate) fn deaths(destruction: &Destruction, victims: &[Victim], names: &Names) -> Vec<Death> {
    let shown = ShownPlan {
        world: &destruction.world,
        judgement: &destruction.judgement,
        plan: &destruction.plan,
        names,
    };
    let mut deaths = shown.death_plan().entries;
    let reasons: HashMap<&str, &str> =
        victims.iter().map(|victim| (victim.member.uid.as_str(), victim.reason.as_str())).collect();
    for death in &mut deaths {
        if let Some(reason) = reasons.get(death.uid.as_str()) {
            death.reason = (*reason).to_owned();
        }
    }
    deaths
}

/// A line for each doomed object: the reason, what runs for it, and its place in the order.
pub(crate) fn doomed_lines(deaths: &[Death], full: bool, style: Style) -> String {
    let long = LongCommands::of(deaths);
    // More than half of the line is for reasons.
    let most = LABEL_MOST.min(style.columns() / 5 * 2);
    let column = deaths.iter().map(|death| width(&death.label)).filter(|label| *label <= most).max();
    let column = column.unwrap_or(0);
    let mut text = some(deaths.len(), full, |place| {
        let death = &deaths[place];
        let marks: String =
            death.marks.iter().map(|mark| format!("{}{}", style.dot(), long.beside(mark))).collect();
        let behind = format!("{}{marks}  {}", harmless(&death.reason), ordinal(death.order));
        let label = padded(&harmless(&death.label), column);
        // A label that is too long for the column stands on a line of its own, unless all of it fits.
        let whole = format!("- {label}  {behind}");
        let is_apart = width(&label) > column && width(&whole) > style.columns();
        let mut lines = if is_apart { vec![format!("- {label}")] } else { Vec::new() };
        let rest = if is_apart { format!("{:1$}{behind}", "", column + 4) } else { whole };
        lines.extend(wrapped(&rest, style.columns(), column + 4));
        lines.iter().map(|line| style.paint(line, Paint::Bad)).collect::<Vec<_>>().join("\n")
    });
    text.extend(long.lines(style).iter().map(|line| format!("{}\n", style.paint(line, Paint::Change))));
    text
}

/// The failure for a sweep that is above the deletion limit.
pub(super) fn held(
    held: &DeletionLimitExceeded,
    args: &Args,
    settings: &Settings,
    plan: &ModulePlan,
) -> Failure {
    let manager = &plan.spec.manager;
    let said = held.to_string();
    // The failure says already that it is held.
    let said = said.strip_prefix("held: ").unwrap_or(&said);
    let mut failure = Failure::new(format!("in {manager}, {said}")).exit(Exit::Held);
    let plain = Args { max_delete: None, ..args.clone() };
    let typed = command(&plain, settings);
    let digest: String = plan.digest.chars().take(8).collect();
    let most = if held.scope == 0 { 0 } else { held.doomed };
    failure = failure.detail("Nothing was put, nothing was destroyed.");
    failure
        .next("see all of it", typed.replacen("sexton apply", "sexton plan", 1))
        .next("do it", format!("{typed} --max-delete {most} --approve {digest}"))
}

impl Shown<'_> {
    /// All of it in the form that was asked for.
    pub(super) fn written(&self, style: Style) -> String {
        let picture = || {
            let manager = &self.plan.spec.manager;
            let Some(destruction) = &self.plan.destruction else {
                let title = format!("sweep of {manager}: nothing is destroyed");
                return Picture { title, ..Picture::default() };
            };
            let (snapshot, plan) = (destruction.world.snapshot(), &destruction.plan);
            let view = View { snapshot, plan, names: self.names };
            view.picture(view.doomed(), format!("sweep of {manager}"))
        };
        match self.args.output {
            Form::Text => self.text(style),
            Form::Json => {
                lines::plan(self.plan, (&self.world.target, self.names), self.args.dry_run, &self.deaths())
            }
            Form::Dot => dot::dot(&picture()),
            Form::Mermaid => mermaid::mermaid(&picture()),
            Form::Svg => svg::svg(picture(), if self.args.full { Size::All } else { Size::READABLE }),
        }
    }

    fn deaths(&self) -> Vec<Death> {
        match (&self.plan.sweep, &self.plan.destruction) {
            (Sweep::Accuse, Some(destruction)) => deaths(destruction, &self.plan.victims, self.names),
            _ => Vec::new(),
        }
    }

    fn text(&self, style: Style) -> String {
        let mut text = self.header(style);
        self.destroyed(style, &mut text);
        self.kept(style, &mut text);
        self.puts(style, &mut text);
        self.remarks(style, &mut text);
        text.push_str(&self.summary(style));
        text
    }

    fn header(&self, style: Style) -> String {
        let plan = self.plan;
        let dot = style.dot();
        let scope: Vec<String> =
            plan.spec.scope.iter().map(|(key, value)| format!("{key}={value}")).collect();
        let (manager, target) = (&plan.spec.manager, &self.world.target);
        let round = match self.args.dry_run {
            true => format!("{} live, {} in this module", count(plan.in_scope), count(plan.puts.len())),
            false => format!("deployment {}", plan.deployment_id),
        };
        let order = order(&plan.spec);
        let line = format!("{manager} on {target}{dot}scope {}{dot}{round}{dot}{order}", scope.join(","));
        wrapped(&line, style.columns(), 2).join("\n") + "\n"
    }

    fn destroyed(&self, style: Style, text: &mut String) {
        text.push_str(&doomed_lines(&self.deaths(), self.args.full, style));
    }

    fn kept(&self, style: Style, text: &mut String) {
        let kept = &self.plan.kept;
        self.several(kept.len(), text, |place| {
            let Kept { member, why } = &kept[place];
            painted(&format!("! {}  kept: {why}", self.names.member(member)), 4, Paint::Change, style)
        });
        if self.plan.sweep == Sweep::Accuse {
            return;
        }
        let victims = &self.plan.victims;
        self.several(victims.len(), text, |place| {
            let Victim { member, reason } = &victims[place];
            painted(&format!("= {}  stays: {reason}", self.names.member(member)), 4, Paint::Faint, style)
        });
    }

    fn puts(&self, style: Style, text: &mut String) {
        let shown: Vec<&PlannedPut> =
            self.plan.puts.iter().filter(|put| put.action != PutAction::Unchanged).collect();
        self.several(shown.len(), text, |place| self.put(shown[place], style));
    }

    fn put(&self, put: &PlannedPut, style: Style) -> String {
        let label = self.put_label(put);
        let number = put.conflicts.len();
        let fields = if number == 1 { "1 field" } else { &format!("{} fields", count(number)) };
        let head = match put.action {
            PutAction::Create => return style.paint(&format!("+ {label}"), Paint::Good),
            _ if number > 0 && !self.plan.force => format!("! {label}  {fields} managed by others"),
            PutAction::Adopt => format!("~ {label}  is taken into the module"),
            _ if number > 0 => format!("~ {label}  takes over {fields}"),
            PutAction::Change | PutAction::Unchanged => format!("~ {label}"),
        };
        let mut lines = vec![style.paint(&head, Paint::Change)];
        let most = if self.args.full { usize::MAX } else { FIELDS };
        let conflicts: Vec<_> = put.conflicts.iter().take(most).collect();
        lines.extend(drift::lines(&conflicts, style));
        let is_told = |change: &&FieldChange| !put.conflicts.iter().any(|one| one.path == change.path);
        let changes: Vec<&FieldChange> = put.changes.iter().filter(is_told).collect();
        let room = most.saturating_sub(conflicts.len());
        lines.extend(changes.iter().take(room).map(|change| format!("    {}", field(change, style))));
        let more = (number - conflicts.len()) + changes.len().saturating_sub(room);
        if more > 0 {
            lines.push(format!("    {} and {} more fields", style.ellipsis(), count(more)));
        }
        lines.join("\n")
    }

    fn remarks(&self, style: Style, text: &mut String) {
        let plan = self.plan;
        let mut remark = |line: String| {
            text.push_str(&painted(&format!("! {line}"), 2, Paint::Change, style));
            text.push('\n');
        };
        if let Some(shift) = &plan.scope_shift {
            let old: Vec<String> = shift.old.iter().map(|(key, value)| format!("{key}={value}")).collect();
            remark(format!("the scope was {}", old.join(",")));
            let names = |members: &[sexton_collector::modules::Member]| -> String {
                let named: Vec<String> = members.iter().take(5).map(|one| self.names.member(one)).collect();
                let more = members.len().saturating_sub(5);
                let more = if more > 0 { format!(" and {more} more") } else { String::new() };
                format!("{}{more}", named.join(", "))
            };
            if !shift.enter.is_empty() {
                remark(format!("enter the scope: {}", names(&shift.enter)));
            }
            if !shift.leave.is_empty() {
                remark(format!("leave the scope, and are not swept any more: {}", names(&shift.leave)));
            }
        }
        if let Some(before) = plan.order_before {
            let now = plan.spec.order.word();
            remark(format!("the order was {}, and is {now}: every object gets a new place", before.word()));
        }
        if let Some(intent) = &plan.interrupted {
            let (id, by) = (&intent.deployment_id, &intent.by);
            remark(format!("deployment {id} of {by} was begun and never sealed; this one takes its place"));
        }
        Unlistable::lines(&plan.unlistable).into_iter().for_each(&mut remark);
        let ignored = plan.destruction.iter().flat_map(|all| all.world.ignored_classes());
        plan.warnings.iter().chain(ignored).for_each(|warning| remark(warning.clone()));
        if let Sweep::None { why } = &plan.sweep {
            remark(format!("nothing is swept: {why}"));
        }
        if plan.first_gc && doomed(plan) > 0 {
            remark("garbage collection is new for this module: look at each of these".to_owned());
        }
    }

    fn summary(&self, style: Style) -> String {
        let plan = self.plan;
        let number = |action: PutAction| plan.puts.iter().filter(|put| put.action == action).count();
        let change = number(PutAction::Change) + number(PutAction::Adopt);
        let mut text = format!(
            "Plan: {} to put, {} to change, {} to destroy, {} unchanged.",
            count(number(PutAction::Create)),
            count(change),
            count(doomed(plan)),
            count(number(PutAction::Unchanged)),
        );
        if plan.sweep == Sweep::Renumber {
            text.push_str(&format!(" {} stay, in their order for the next time.", count(plan.victims.len())));
        }
        let digest: String = plan.digest.chars().take(8).collect();
        let digest_line = format!("digest {digest}");
        let fits = width(&text) + 3 + width(&digest_line) <= style.columns();
        let mut text = wrapped(&text, style.columns(), 2).join("\n");
        text.push_str(&format!("{}{digest_line}\n", if fits { "   " } else { "\n  " }));
        if !self.args.dry_run {
            return text;
        }
        if let Some(stopped) = &plan.held {
            let mut failure = held(stopped, self.args, self.settings, plan);
            failure.next.remove(0);
            failure.details.clear();
            text.push_str(&told(&failure, style));
        } else if let Some(failure) = drift::conflicts(plan, self.args, self.settings) {
            text.push_str(&told(&failure, style));
        } else if changes_something(plan) {
            let typed = command(self.args, self.settings);
            let typed = format!("{typed} --approve {digest}");
            text.push_str(&lines_of(&[("do exactly this".to_owned(), typed)], style));
        }
        text.push_str("Nothing was written.\n");
        text
    }

    fn put_label(&self, put: &PlannedPut) -> String {
        let group = put.api_version.split_once('/').map_or("", |(group, _)| group);
        self.names.label(&ObjectRef {
            group: group.to_owned(),
            kind: put.kind.clone(),
            namespace: put.namespace.clone(),
            name: put.name.clone(),
            uid: String::new(),
        })
    }

    fn several(&self, all: usize, text: &mut String, line: impl Fn(usize) -> String) {
        text.push_str(&some(all, self.args.full, line));
    }
}

/// Why a plan is not executed as it is, for the end of the preview.
fn told(failure: &Failure, style: Style) -> String {
    let mut text = String::new();
    for line in wrapped(&format!("! held: {}", failure.what), style.columns(), 2) {
        text.push_str(&format!("{}\n", style.paint(&line, Paint::Change)));
    }
    for detail in &failure.details {
        let lines = wrapped(&format!("  {detail}"), style.columns(), 2);
        text.extend(lines.iter().map(|line| format!("{line}\n")));
    }
    text + &lines_of(&failure.next, style)
}

fn lines_of(commands: &[(String, String)], style: Style) -> String {
    suggest::lines(commands, style).iter().map(|line| format!("{line}\n")).collect()
}

/// A painted text, broken between words where the line ends; all but the first line are indented.
fn painted(text: &str, indent: usize, paint: Paint, style: Style) -> String {
    let indent = indent.min(style.columns() / 2);
    let lines = wrapped(text, style.columns(), indent);
    lines.iter().map(|line| style.paint(line, paint)).collect::<Vec<_>>().join("\n")
}

/// Lines, as many as one reads.
fn some(all: usize, full: bool, line: impl Fn(usize) -> String) -> String {
    let mut text = String::new();
    let shown = if full { all } else { all.min(MANY) };
    for place in 0..shown {
        text.push_str(&line(place));
        text.push('\n');
    }
    if all > shown {
        text.push_str(&format!("  and {} more; all of them with --full\n", count(all - shown)));
    }
    text
}

/// How the order of a module is meant, as plans say it.
pub(crate) fn order(spec: &ModuleSpec) -> String {
    let most = spec.parallel.map(|most| format!(", at most {most} at once")).unwrap_or_default();
    format!("order {}{most}", spec.order.word())
}

fn field(change: &FieldChange, style: Style) -> String {
    let value = |value: &Option<serde_json::Value>| match value {
        Some(value) => style.fit(&value.to_string(), VALUE),
        None => "(none)".to_owned(),
    };
    let arrow = style.pick("→", "->");
    format!("{}  {} {arrow} {}", change.path, value(&change.old), value(&change.new))
}
