//! A collection while it runs: how many are gone, how fast, what is waited for and since when.
//!
//! On a terminal a few lines are drawn over and over; elsewhere every event that says something new is one line.
//! It must not know how anything is destroyed, does not write, and does not look at the clock: the caller does.

pub(crate) mod count;
mod render;

use std::time::Duration;

use super::screen;
use super::style::Style;
use render::{block, finish, line};

/// How far a collection is.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Event {
    /// How many objects are doomed, as far as is known.
    pub(crate) doomed: usize,
    /// How many of them are gone.
    pub(crate) gone: usize,
    /// How many are destroyed per second.
    pub(crate) rate: f64,
    /// The wave that is destroyed now, and the number of waves. `(0, 0)`: unknown.
    pub(crate) wave: (usize, usize),
    /// What is waited for, the longest first.
    pub(crate) waiting: Vec<Waiting>,
    /// Since the beginning.
    pub(crate) elapsed: Duration,
}

/// Something that is waited for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Waiting {
    /// `Volume/data`
    pub(crate) label: String,
    /// `destroy ./hooks/volume-rm, 3rd attempt`
    pub(crate) what: String,
    /// Since when.
    pub(crate) since: Duration,
}

/// Where lines stay: how many are gone is said again after this.
const BETWEEN_LINES: Duration = Duration::from_secs(2);

/// What was drawn so far.
#[derive(Debug, Clone)]
pub(crate) struct Progress {
    style: Style,
    live: bool,
    /// How many lines are to be drawn over.
    drawn: usize,
    /// The last line, without what changes all the time.
    said: Option<String>,
    /// When that was, and what was waited for.
    last: Option<(Duration, Vec<String>)>,
}

impl Progress {
    /// `live`: there is a terminal that can be drawn over.
    pub(crate) fn new(style: Style, live: bool) -> Progress {
        Progress { style, live, drawn: 0, said: None, last: None }
    }

    /// What to write now: the lines before, drawn over, or one more line, or nothing at all.
    pub(crate) fn show(&mut self, event: &Event) -> String {
        if self.live {
            let lines = block(event, self.style);
            let text = format!(
                "{}{}",
                self.erase(),
                lines.iter().map(|line| format!("{line}\n")).collect::<String>()
            );
            self.drawn = lines.len();
            return text;
        }
        let waits: Vec<String> =
            event.waiting.iter().map(|wait| format!("{} {}", wait.label, wait.what)).collect();
        let is_soon =
            |(at, of): &(Duration, Vec<String>)| *of == waits && event.elapsed < *at + BETWEEN_LINES;
        if self.last.as_ref().is_some_and(is_soon) {
            return String::new();
        }
        self.last = Some((event.elapsed, waits));
        let (said, line) = line(event, self.style);
        if self.said.replace(said.clone()).is_some_and(|before| before == said) {
            return String::new();
        }
        line + "\n"
    }

    /// What to write when something else is to be printed in between, or at the end.
    pub(crate) fn erase(&mut self) -> String {
        match std::mem::take(&mut self.drawn) {
            0 => String::new(),
            // Up to the first line that was drawn, and clear from there.
            lines => screen::own(&format!("\x1b[{lines}A\r\x1b[J")),
        }
    }

    /// What to write when it is over.
    pub(crate) fn end(&mut self, event: &Event) -> String {
        let erase = self.erase();
        format!("{erase}{}\n", finish(event, self.style))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::style::width;

    fn waiting(label: &str, what: &str, seconds: u64) -> Waiting {
        Waiting { label: label.into(), what: what.into(), since: Duration::from_secs(seconds) }
    }

    fn halfway() -> Event {
        Event {
            doomed: 10_000,
            gone: 6_120,
            rate: 1_890.4,
            wave: (2, 5),
            waiting: vec![
                waiting("Volume/data", "destroy ./hooks/volume-rm, 3rd attempt", 72),
                waiting("App/shop", "finalizer example.com/backup", 4),
            ],
            elapsed: Duration::from_millis(3_240),
        }
    }

    #[test]
    fn lines_are_drawn_over() {
        let style = Style { width: Some(90), ..Style::PLAIN };
        let mut progress = Progress::new(style, true);
        let first = progress.show(&Event { waiting: Vec::new(), ..halfway() });
        let second = progress.show(&halfway());
        let end = progress.end(&Event { gone: 10_000, waiting: Vec::new(), ..halfway() });
        let all = format!("{first}{second}{end}");
        let all = screen::neutral(&all).replace('\u{1b}', "␛").replace('\r', "␍");
        insta::assert_snapshot!(all, @"
          ━━━━━━━━━━━━━━━━━───────────  6,120 of 10,000 gone   wave 2 of 5   1,890/s   ≈ 2 s left
        ␛[1A␍␛[J  ━━━━━━━━━━━━━━━━━━────────────  6,120 of 10,000 gone   wave 2 of 5   1,890/s
          waits for Volume/data   destroy ./hooks/volume-rm, 3rd attempt   72 s
          waits for App/shop      finalizer example.com/backup              4 s
        ␛[3A␍␛[J✔ 10,000 gone · 3.2 s
        ");
    }

    #[test]
    fn a_line_never_breaks_or_what_is_drawn_over_would_be_wrong() {
        let waits = (0..40).map(|at| waiting(&format!("Volume/{}", "long-".repeat(at)), "waits", 3));
        let event = Event { waiting: waits.collect(), ..halfway() };
        for columns in 40..120 {
            for unicode in [true, false] {
                let style = Style { colours: false, unicode, width: Some(columns) };
                let shown = Progress::new(style, true).show(&event);
                assert!(shown.lines().all(|line| width(line) < columns), "{shown}");
                assert!(shown.lines().count() <= 8, "{shown}");
            }
        }
    }

    /// A reason that does not fit beside its object is continued below it.
    #[test]
    fn a_reason_is_not_cut_where_there_is_room_below() {
        let reason = "destroy failed: the volume is attached to vm-9 and has to be detached first";
        let event = Event { waiting: vec![waiting("Volume/data", reason, 3)], ..halfway() };
        let shown = Progress::new(Style { width: Some(60), ..Style::PLAIN }, true).show(&event);
        let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        assert!(words(reason).iter().all(|word| words(&shown).contains(word)), "{shown}");
        assert!(shown.lines().all(|line| width(line) < 60), "{shown}");
    }

    #[test]
    fn elsewhere_one_line_for_each_event_that_is_new() {
        let mut progress = Progress::new(Style::PLAIN, false);
        let start = Event { doomed: 10_000, ..Event::default() };
        let mut all = progress.show(&start);
        all += &progress.show(&halfway());
        all += &progress.show(&Event { rate: 1_700.0, elapsed: Duration::from_secs(9), ..halfway() });
        all += &progress.show(&Event { gone: 6_121, waiting: Vec::new(), ..halfway() });
        all += &progress.end(&Event { gone: 9_998, ..halfway() });
        insta::assert_snapshot!(all, @"
        0 of 10,000 gone
        6,120 of 10,000 gone · wave 2 of 5 · 1,890/s · waits for Volume/data: destroy ./hooks/volume-rm, 3rd attempt for 72 s and 1 more
        6,121 of 10,000 gone · wave 2 of 5 · 1,890/s · ≈ 2 s left
        ! 9,998 gone · 2 still there · 3.2 s
        ");
    }

    /// A log is not filled with numbers: they are said every two seconds, and what is waited for at once.
    #[test]
    fn elsewhere_numbers_are_said_now_and_then() {
        let mut progress = Progress::new(Style::PLAIN, false);
        let at = |tenths: u64, gone: usize| Event {
            gone,
            waiting: Vec::new(),
            elapsed: Duration::from_millis(tenths * 100),
            ..halfway()
        };
        let lines: Vec<String> =
            (0..50).map(|tenths| progress.show(&at(tenths, 100 + tenths as usize))).collect();
        assert_eq!(lines.iter().filter(|line| !line.is_empty()).count(), 3, "{lines:?}");
        let waits = Event { waiting: vec![waiting("Volume/data", "destroying", 0)], ..at(50, 150) };
        assert!(progress.show(&waits).contains("waits for Volume/data"));
    }

    #[test]
    fn nothing_known_yet_is_no_division_by_zero() {
        let mut progress = Progress::new(Style { unicode: false, width: Some(60), ..Style::PLAIN }, true);
        insta::assert_snapshot!(progress.show(&Event { rate: f64::NAN, ..Event::default() }), @"  ------------------------------  0 of 0 gone");
    }
}
