//! A plan for people: where, who dies in which order and why, who does not, a total, and what to type next.

use std::collections::BTreeSet;

use super::fold::{beside, folded, gap, more};
use super::forest::Forest;
use super::rows::{Row, Says};
use super::{Beside, DeathPlan, Fold, kind};
use crate::output::Paint;
use crate::output::style::{Style, count, harmless, ordinal, padded, width};
use crate::plugin;

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
        push(&mut text, &style.paint(&style.cut(&line, style.columns()), Paint::Faint));
    }
    push(&mut text, &total(plan, style));
    if plan.preview {
        push(&mut text, "Nothing was written.");
    }
    let column = plan.hints.iter().map(|(what, _)| width(what)).max().unwrap_or(0);
    for (what, command) in &plan.hints {
        push(&mut text, &format!("  {}   {}", padded(what, column), harmless(&plugin::typed(command))));
    }
    text
}

fn push(text: &mut String, line: &str) {
    text.push_str(line.trim_end());
    text.push('\n');
}

fn header(plan: &DeathPlan, style: Style) -> String {
    let (target, title) = (harmless(&plan.target), harmless(&plan.title));
    let dot = if title.is_empty() { "" } else { style.dot() };
    format!("{target}{dot}{title}\n")
}

/// A line about a life, before it is aligned.
struct Line {
    order: String,
    label: String,
    reason: String,
    marks: String,
    /// A sum, which fills the columns behind it.
    sum: bool,
}

fn deaths(plan: &DeathPlan, style: Style, fold: Fold, text: &mut String) {
    let forest = Forest::new(plan);
    let rows = folded(plan, &forest, fold);
    let lines: Vec<Line> = rows.iter().map(|row| line(plan, &forest, row, style)).collect();
    let widest = |part: fn(&Line) -> &str| {
        lines.iter().filter(|line| !line.sum).map(|line| width(part(line))).max().unwrap_or(0)
    };
    let order = lines.iter().map(|line| width(&line.order)).max().unwrap_or(0);
    let fixed = 2 + order + 2;
    let room = style.columns().saturating_sub(fixed);
    // Half of the room for who, most of the rest for why.
    let label = widest(|line| &line.label).min(LABEL_MOST).min((room / 2).max(16));
    let reason_room = room.saturating_sub(label + GAP);
    // What else is to be known is not pushed out of sight by why.
    let marks = widest(|line| &line.marks).min(reason_room / 5 * 2);
    let for_marks = if marks == 0 { 0 } else { marks + GAP };
    let reason = widest(|line| &line.reason).min(LABEL_MOST).min(reason_room.saturating_sub(for_marks));
    for line in &lines {
        let order = style.paint(&format!("{:>order$}", line.order), Paint::Faint);
        let begin = format!("{} {order}  ", style.paint("-", Paint::Bad));
        if line.sum {
            push(text, &format!("{begin}{}", style.paint(&style.cut(&line.label, room), Paint::Faint)));
            continue;
        }
        let for_why = if line.marks.is_empty() { reason_room } else { reason };
        let (who, why) = match style.width {
            Some(_) => (style.fit(&line.label, label), style.fit(&line.reason, for_why)),
            None => (line.label.clone(), line.reason.clone()),
        };
        let marks = style.cut(&line.marks, reason_room.saturating_sub(width(&why).max(reason) + GAP));
        let last = if marks.is_empty() { 0 } else { reason };
        push(
            text,
            &format!(
                "{begin}{who}{:gap$}{}{:GAP$}{}",
                "",
                style.paint(&padded(&why, last), Paint::Faint),
                "",
                style.paint(&marks, Paint::Change),
                gap = label.saturating_sub(width(&who)) + GAP,
            ),
        );
    }
}

fn line(plan: &DeathPlan, forest: &Forest, row: &Row, style: Style) -> Line {
    let guides = row.guides.text(style);
    let sum = |order: String, words: String| Line {
        order,
        label: format!("{guides}{words}"),
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
            let mut marks: Vec<String> = death.marks.iter().map(|mark| harmless(mark).into_owned()).collect();
            if *of > 1 && *place == 0 {
                marks.insert(0, format!("these {} die together", count(*of)));
            }
            Line {
                order: ordinal(death.order),
                label: format!("{guides}{bracket}{}", harmless(&death.label)),
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
        let (mut label, mut why) = (harmless(&one.label).into_owned(), harmless(&one.why).into_owned());
        if style.width.is_some() {
            label = style.fit(&label, column);
            why = style.cut(&why, room.saturating_sub(column + GAP));
        }
        let gap = column.saturating_sub(width(&label)) + GAP;
        push(text, &format!("{symbol} {label}{:gap$}{}", "", style.paint(&why, Paint::Faint)));
        if more > 0 {
            push(text, &sum(format!("{} more {} like these", count(more), kind(&harmless(&one.label)))));
        }
    }
    if others > 0 {
        push(text, &sum(format!("{} others", count(others))));
    }
}

/// `Plan: 5 to destroy in 3 waves, 2 keep living.   digest 7c1f…`
fn total(plan: &DeathPlan, style: Style) -> String {
    let waves = match plan.waves() {
        0 | 1 => String::new(),
        waves => format!(" in {} waves", count(waves)),
    };
    let destroy = format!("{} to destroy", count(plan.entries.len()));
    let paint = if plan.entries.is_empty() { Paint::Faint } else { Paint::Bad };
    let mut parts = vec![format!("{}{waves}", style.paint(&destroy, paint))];
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
    let mut text = format!("Plan: {}.", parts.join(", "));
    if !plan.digest.is_empty() {
        let shown: String = harmless(&plan.digest).chars().take(DIGEST_SHOWN).collect();
        let rest = if width(&plan.digest) > DIGEST_SHOWN { style.ellipsis() } else { "" };
        text.push_str(&format!("   {}", style.paint(&format!("digest {shown}{rest}"), Paint::Faint)));
    }
    text
}
