//! The lines of a progress: pure functions from an event.

use super::{Event, Waiting};
use crate::output::style::{Style, count, harmless, padded, time, width, wrapped};
use crate::output::{Paint, USUAL_COLUMNS};

/// Entries of what is waited for that are shown.
const WAITS_SHOWN: usize = 5;
/// Lines of one reason; the end of a longer one is cut.
const REASON_LINES: usize = 3;
const BAR: usize = 30;

/// What is drawn over and over on a terminal. Each line is narrower than the terminal, so that none breaks.
pub(super) fn block(event: &Event, style: Style) -> Vec<String> {
    let columns = style.width.map_or(USUAL_COLUMNS, |_| style.columns()) - 1;
    let facts = facts(event, style).join("   ");
    // The bar takes what the facts leave.
    let bar = BAR.min(columns.saturating_sub(width(&facts) + 4));
    let mut lines = vec![match bar {
        0..8 => format!("  {}", style.cut(&facts, columns - 2)),
        bar => format!("  {}  {facts}", draw_bar(event, bar, style)),
    }];
    let waits = &event.waiting[..event.waiting.len().min(WAITS_SHOWN)];
    let widest = |part: fn(&Waiting) -> &str| waits.iter().map(|wait| width(&harmless(part(wait)))).max();
    let label = widest(|wait| &wait.label).unwrap_or(0).min(columns / 2 - 8);
    let since = waits.iter().map(|wait| width(&time(wait.since))).max().unwrap_or(0);
    let room = columns.saturating_sub(width("  waits for ") + label + 3 + 3 + since);
    let what = widest(|wait| &wait.what).unwrap_or(0).min(room);
    for wait in waits {
        let who = padded(&style.fit(&harmless(&wait.label), label), label);
        let reason = harmless(&wait.what);
        let mut parts = wrapped(&reason, what, 0).into_iter();
        let why = padded(&style.cut(&parts.next().unwrap_or_default(), what), what);
        let since = style.paint(&format!("{:>since$}", time(wait.since)), Paint::Faint);
        lines.push(format!("  waits for {who}   {why}   {since}"));
        // The rest of a reason is continued below, up to `REASON_LINES`.
        let indent = width("  waits for ") + label + 3;
        let rest: Vec<String> = parts.collect();
        for (at, part) in rest.iter().take(REASON_LINES - 1).enumerate() {
            let ends = rest.len() < REASON_LINES || at + 2 < REASON_LINES;
            let part = if ends { part.clone() } else { rest[at..].join(" ") };
            lines.push(format!("{:indent$}{}", "", style.cut(&part, what)));
        }
    }
    if event.waiting.len() > WAITS_SHOWN {
        let words = format!("  {} and {} more", style.ellipsis(), count(event.waiting.len() - WAITS_SHOWN));
        lines.push(style.paint(&words, Paint::Faint));
    }
    lines
}

fn draw_bar(event: &Event, columns: usize, style: Style) -> String {
    let done = (event.gone.min(event.doomed) * columns).checked_div(event.doomed).unwrap_or(0);
    let full = style.pick("━", "#").repeat(done);
    let rest = style.pick("─", "-").repeat(columns - done);
    format!("{}{}", style.paint(&full, Paint::Good), style.paint(&rest, Paint::Faint))
}

/// What is known in numbers, the most important first.
fn facts(event: &Event, style: Style) -> Vec<String> {
    let mut facts = vec![format!("{} of {} gone", count(event.gone), count(event.doomed))];
    if let (wave @ 1.., waves @ 2..) = event.wave {
        facts.push(format!("wave {} of {}", count(wave), count(waves)));
    }
    if let Some(rate) = rate(event) {
        facts.push(format!("{rate}/s"));
    }
    if let Some(left) = left(event) {
        facts.push(format!("{}{left} left", style.pick("≈ ", "~ ")));
    }
    facts
}

/// Fewer than one in ten seconds is no rate, and neither is what cannot be counted.
fn rate(event: &Event) -> Option<String> {
    let rate = event.rate;
    match rate {
        0.1..10.0 => Some(format!("{rate:.1}")),
        10.0..1e15 => Some(count(rate.round() as usize)),
        _ => None,
    }
}

/// How long the rest takes at this rate. Not said while something is waited for: the rate says nothing about that.
fn left(event: &Event) -> Option<String> {
    let rest = event.doomed.saturating_sub(event.gone);
    rate(event)?;
    let seconds = rest as f64 / event.rate;
    let worth_saying = event.waiting.is_empty() && rest > 0 && (1.0..1e6).contains(&seconds);
    worth_saying.then(|| time(std::time::Duration::from_secs(seconds as u64)))
}

/// One line for a file: what is new in it, and all of it.
pub(super) fn line(event: &Event, style: Style) -> (String, String) {
    let mut facts = facts(event, style).into_iter();
    let head = facts.next().unwrap_or_default();
    let waits = event.waiting.first().map(|wait| {
        let more = match event.waiting.len() {
            1 => String::new(),
            all => format!(" and {} more", count(all - 1)),
        };
        let (label, what) = (harmless(&wait.label), harmless(&wait.what));
        (
            format!("waits for {label}: {what}"),
            format!("waits for {label}: {what} for {}{more}", time(wait.since)),
        )
    });
    let (new, whole) = waits.unzip();
    let said = format!("{head}{}", new.unwrap_or_default());
    let parts: Vec<String> = std::iter::once(head).chain(facts).chain(whole).collect();
    (said, parts.join(style.dot()))
}

/// The last line.
pub(super) fn finish(event: &Event, style: Style) -> String {
    let elapsed = time(event.elapsed);
    let dot = style.dot();
    let left = event.doomed.saturating_sub(event.gone);
    if left == 0 {
        let symbol = style.paint(style.pick("✔", "ok"), Paint::Good);
        return format!("{symbol} {} gone{dot}{elapsed}", count(event.gone));
    }
    let symbol = style.paint("!", Paint::Change);
    format!("{symbol} {} gone{dot}{} still there{dot}{elapsed}", count(event.gone), count(left))
}
