//! A plan for people: the target, doomed objects in order with reasons, the others, a total, and what to type next.

use std::collections::BTreeSet;

use super::commands::LongCommands;
use super::fold::{beside, folded, gap, more};
use super::forest::Forest;
use super::rows::{Row, Says};
use super::{Beside, DeathPlan, Fold, kind};
use crate::output::Paint;
use crate::output::style::{Style, count, harmless, ordinal, padded, width, wrapped};
use crate::suggest;

/// Columns are apart by so many spaces.
const GAP: usize = 3;
/// A label that is longer does not move the column behind it.
const LABEL_MOST: usize = 72;
/// What of a digest people compare.
const DIGEST_SHOWN: usize = 8;

impl DeathPlan {
    /// How many steps it takes.
    pub(super) fn waves(&self) -> usize {
        self.entries.iter().map(|death| death.order).collect::<BTreeSet<_>>().len()
    }
}

/// The whole plan.
pub(crate) fn text(plan: &DeathPlan, style: Style, fold: Fold) -> String {
    let mut text = header(plan, style);
    deaths(plan, style, fold, &mut text);
    let sections = [
        ('=', Paint::Faint, &plan.kept),
        ('~', Paint::Change, &plan.loses),
        ('!', Paint::Change, &plan.holds),
        ('?', Paint::Change, &plan.unknown),
    ];
    let labels = sections.iter().flat_map(|(_, _, list)| list.iter());
    let column = labels.map(|one| width(&harmless(&one.label))).max().unwrap_or(0);
    for (symbol, paint, list) in sections {
        section(symbol, paint, list, column, style, fold, &mut text);
    }
    for given_up in &plan.dropped {
        let line = format!("  order given up: {}", harmless(given_up));
        for part in wrapped(&line, style.columns(), 4) {
            push(&mut text, &style.paint(&part, Paint::Faint));
        }
    }
    text.push_str(&total(plan, style));
    if plan.preview {
        push(&mut text, "Nothing was written.");
    }
    suggest::lines(&plan.hints, style).iter().for_each(|line| push(&mut text, line));
    text
}

fn push(text: &mut String, line: &str) {
    text.push_str(line.trim_end());
    text.push('\n');
}

fn header(plan: &DeathPlan, style: Style) -> String {
    let (target, title) = (harmless(&plan.target), harmless(&plan.title));
    let dot = if title.is_empty() { "" } else { style.dot() };
    let lines = wrapped(&format!("{target}{dot}{title}"), style.columns(), 2);
    lines.iter().map(|line| format!("{line}\n")).collect()
}

/// A line about an object, before it is aligned.
struct Line {
    order: String,
    /// The lines that lead to its cause.
    guides: String,
    label: String,
    reason: String,
    marks: String,
    /// A sum, which fills the columns behind it.
    sum: bool,
}

impl Line {
    fn width(&self) -> usize {
        width(&self.guides) + width(&self.label)
    }
}

/// Where the columns of the lines begin.
struct Columns {
    order: usize,
    label: usize,
    reason: usize,
    /// What is left for a reason and all behind it.
    room: usize,
}

impl Columns {
    fn of(lines: &[Line], style: Style) -> Columns {
        let lives = || lines.iter().filter(|line| !line.sum);
        let order = lines.iter().map(|line| width(&line.order)).max().unwrap_or(0);
        let room = style.columns().saturating_sub(2 + order + 2);
        // Half of the room for names, the rest for reasons. A longer name stands on a line of its own.
        let most = LABEL_MOST.min((room / 2).max(16));
        let label = lives().map(Line::width).filter(|label| *label <= most).max().unwrap_or(0);
        let room = room.saturating_sub(label + GAP);
        let reason = lives().map(|line| width(&line.reason)).max().unwrap_or(0).min(LABEL_MOST).min(room);
        Columns { order, label, reason, room }
    }

    /// What stands behind a label: the reason, and what else is to be known in its own column, or below if it does not fit.
    fn behind(&self, line: &Line, style: Style) -> Vec<String> {
        let faint = |text: &str| style.paint(text, Paint::Faint);
        let change = |text: &str| style.paint(text, Paint::Change);
        if line.marks.is_empty() {
            return wrapped(&line.reason, self.room, 0).iter().map(|part| faint(part)).collect();
        }
        if self.reason.max(width(&line.reason)) + GAP + width(&line.marks) <= self.room {
            let reason = faint(&padded(&line.reason, self.reason));
            return vec![format!("{reason}{:GAP$}{}", "", change(&line.marks))];
        }
        let reasons = wrapped(&line.reason, self.room, 0).into_iter().map(|part| faint(&part));
        reasons.chain(wrapped(&line.marks, self.room, 0).into_iter().map(|part| change(&part))).collect()
    }
}

fn deaths(plan: &DeathPlan, style: Style, fold: Fold, text: &mut String) {
    let forest = Forest::new(plan);
    let rows = folded(plan, &forest, fold);
    let long = LongCommands::of(&plan.entries);
    let lines: Vec<Line> = rows.iter().map(|row| line(plan, &forest, (row, &long), style)).collect();
    let columns = Columns::of(&lines, style);
    let order = columns.order;
    for (at, line) in lines.iter().enumerate() {
        let begin = style.paint(&format!("{:>order$}", line.order), Paint::Faint);
        let begin = format!("{} {begin}  {}", style.paint("-", Paint::Bad), line.guides);
        let next = lines.get(at + 1).map_or("", |next| next.guides.as_str());
        let through = through(&line.guides, next, style);
        let below = |column: usize| {
            format!("{:1$}{through}", "", 2 + order + 2) + &" ".repeat(column.saturating_sub(width(&through)))
        };
        if line.sum {
            let indent = width(&line.guides);
            let room = columns.label + GAP + columns.room;
            let parts = wrapped(&line.label, room.saturating_sub(indent), 2);
            for (place, part) in parts.iter().enumerate() {
                let begin = if place == 0 { begin.clone() } else { below(indent) };
                push(text, &format!("{begin}{}", style.paint(part, Paint::Faint)));
            }
            continue;
        }
        let behind = columns.behind(line, style);
        let beside = line.width() <= columns.label || style.width.is_none();
        let gap = (columns.label + GAP).saturating_sub(line.width()).max(GAP);
        let first = behind.first().filter(|_| beside).map(|first| format!("{:gap$}{first}", ""));
        push(text, &format!("{begin}{}{}", line.label, first.unwrap_or_default()));
        for part in behind.iter().skip(usize::from(beside)) {
            push(text, &format!("{}{part}", below(columns.label + GAP)));
        }
    }
    long.lines(style).iter().for_each(|line| push(text, &style.paint(line, Paint::Change)));
}

/// The lines between two rows: those that lead down from the guides of the upper one, or up from those of the lower one.
fn through(upper: &str, lower: &str, style: Style) -> String {
    let leads =
        |guides: &str, signs: &str| -> Vec<bool> { guides.chars().map(|c| signs.contains(c)).collect() };
    let (down, up) = (leads(upper, "│├┌╭|,/"), leads(lower, "│├└╰|`\\"));
    let is_line = |at: usize| down.get(at) == Some(&true) || up.get(at) == Some(&true);
    let line = |at: usize| if is_line(at) { style.pick("│", "|") } else { " " };
    (0..down.len().max(up.len())).map(line).collect()
}

fn line(plan: &DeathPlan, forest: &Forest, (row, long): (&Row, &LongCommands<'_>), style: Style) -> Line {
    let guides = row.guides.text(style);
    let sum = |order: String, words: String| Line {
        order,
        guides: guides.clone(),
        label: words,
        reason: String::new(),
        marks: String::new(),
        sum: true,
    };
    match &row.says {
        Says::Life { entry, place, of } => {
            let death = &plan.entries[*entry];
            let bracket = match (*place, *of) {
                (_, 0 | 1) => "",
                (0, _) => style.pick("╭ ", "/ "),
                (place, of) if place + 1 == of => style.pick("╰ ", "\\ "),
                _ => style.pick("│ ", "| "),
            };
            let mut marks: Vec<String> = death.marks.iter().map(|mark| long.beside(mark)).collect();
            if *of > 1 && *place == 0 {
                marks.insert(0, format!("these {} die together", count(*of)));
            }
            Line {
                order: ordinal(death.order),
                guides: format!("{guides}{bracket}"),
                label: harmless(&death.label).into_owned(),
                reason: harmless(&death.reason).into_owned(),
                marks: marks.join(style.dot()),
                sum: false,
            }
        }
        Says::More { units } => {
            let order = units.first().and_then(|unit| forest.units.get(*unit)).map_or(0, |unit| unit.order);
            sum(ordinal(order), more(plan, forest, units, style))
        }
        Says::Gap { rows } => sum(String::new(), gap(plan, forest, rows, style)),
    }
}

fn section(
    symbol: char,
    paint: Paint,
    list: &[Beside],
    column: usize,
    style: Style,
    fold: Fold,
    text: &mut String,
) {
    let room = style.columns().saturating_sub(2);
    let column = column.min(LABEL_MOST).min((room / 2).max(16));
    let symbol = style.paint(&symbol.to_string(), paint);
    let (shown, others) = beside(list, fold);
    let sum = |words: String| {
        let words = format!("{} and {words}", style.ellipsis());
        format!("{symbol} {}", style.paint(&words, Paint::Faint))
    };
    for (one, more) in shown {
        let label = harmless(&one.label);
        let parts = wrapped(&harmless(&one.why), room.saturating_sub(column + GAP), 0);
        let beside = width(&label) <= column || style.width.is_none();
        let gap = column.saturating_sub(width(&label)) + GAP;
        let first = parts.first().filter(|_| beside).map(|part| style.paint(part, Paint::Faint));
        push(text, &format!("{symbol} {label}{:gap$}{}", "", first.unwrap_or_default()));
        for part in parts.iter().skip(usize::from(beside)) {
            push(text, &format!("{:1$}{part}", "", 2 + column + GAP, part = style.paint(part, Paint::Faint)));
        }
        if more > 0 {
            push(text, &sum(format!("{} more {} like these", count(more), kind(&harmless(&one.label)))));
        }
    }
    if others > 0 {
        push(text, &sum(format!("{} others", count(others))));
    }
}

/// `Plan: 5 to destroy in 3 waves, 2 keep living.   digest 7c1f…`, the digest on a line of its own if it does not fit.
fn total(plan: &DeathPlan, style: Style) -> String {
    let waves = match plan.waves() {
        0 | 1 => String::new(),
        waves => format!(" in {} waves", count(waves)),
    };
    let destroy = format!("{} to destroy", count(plan.entries.len()));
    let mut parts = vec![format!("{destroy}{waves}")];
    let beside = [
        (plan.kept.len(), "keeps living", "keep living"),
        (plan.loses.len(), "loses a reference", "lose a reference"),
        (plan.holds.len(), "held", "held"),
        (plan.unknown.len(), "unknown", "unknown"),
    ];
    for (number, one, many) in beside {
        match number {
            0 => {}
            1 => parts.push(format!("1 {one}")),
            number => parts.push(format!("{} {many}", count(number))),
        }
    }
    let paint = if plan.entries.is_empty() { Paint::Faint } else { Paint::Bad };
    let painted = |text: &str| text.replacen(&destroy, &style.paint(&destroy, paint), 1);
    let total = format!("Plan: {}.", parts.join(", "));
    if plan.digest.is_empty() {
        return wrapped(&total, style.columns(), 2).iter().map(|line| painted(line) + "\n").collect();
    }
    let shown: String = harmless(&plan.digest).chars().take(DIGEST_SHOWN).collect();
    let rest = if width(&plan.digest) > DIGEST_SHOWN { style.ellipsis() } else { "" };
    let digest = format!("digest {shown}{rest}");
    let fits = width(&total) + GAP + width(&digest) <= style.columns();
    let digest = style.paint(&digest, Paint::Faint);
    if fits {
        return format!("{}{:GAP$}{digest}\n", painted(&total), "");
    }
    let lines = wrapped(&total, style.columns(), 2).into_iter().map(|line| painted(&line));
    lines.chain([format!("  {digest}")]).map(|line| line + "\n").collect()
}
