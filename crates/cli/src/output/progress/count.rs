//! A counter on a terminal: `read 4,000 of 10,000`, drawn over in place. Writes nothing elsewhere.

use std::sync::Mutex;
use std::time::{Duration, Instant};

use crate::output::style::{Style, count};
use crate::output::{Output, screen};

/// Work that takes less is not drawn.
const SOON: Duration = Duration::from_millis(400);
/// Between two drawings.
const DRAW: Duration = Duration::from_millis(120);
/// Back to the beginning of the line, which is emptied.
const ERASE: &str = "\r\x1b[2K";

/// Something that is counted. Several threads may count; dropped, it leaves nothing behind.
#[derive(Debug)]
pub(crate) struct Count {
    output: Output,
    /// What is done with each, such as `read`.
    verb: &'static str,
    line: Mutex<Line>,
}

#[derive(Debug)]
struct Line {
    live: bool,
    started: Instant,
    drawn: Option<Instant>,
}

impl Count {
    pub(crate) fn new(output: &Output, verb: &'static str) -> Count {
        let line = Line { live: output.is_live(), started: Instant::now(), drawn: None };
        Count { output: output.clone(), verb, line: Mutex::new(line) }
    }

    /// So many are done; of how many, if that is known.
    pub(crate) fn at(&self, done: usize, of: Option<usize>) {
        let text = match self.line.lock() {
            Ok(mut line) => line.draw(Instant::now(), self.verb, done, of, self.output.talk_style()),
            Err(_) => None,
        };
        if let Some(text) = text {
            self.output.talk_text(&text);
        }
    }

    /// Makes room for a line of talk.
    pub(crate) fn erase(&self) {
        let drawn = self.line.lock().ok().and_then(|mut line| line.drawn.take());
        if drawn.is_some() {
            self.output.talk_text(&screen::own(ERASE));
        }
    }
}

impl Drop for Count {
    fn drop(&mut self) {
        self.erase();
    }
}

impl Line {
    fn draw(
        &mut self,
        now: Instant,
        verb: &str,
        done: usize,
        of: Option<usize>,
        style: Style,
    ) -> Option<String> {
        let due = match self.drawn {
            Some(drawn) => now >= drawn + DRAW,
            None => now >= self.started + SOON,
        };
        if !self.live || !due {
            return None;
        }
        self.drawn = Some(now);
        let all = of.map(|of| format!(" of {}", count(of))).unwrap_or_default();
        let words = style.cut(&format!("  {verb} {}{all}", count(done)), style.columns() - 1);
        Some(screen::own(ERASE) + &words)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_drawn_on_a_terminal_when_it_takes_long_and_not_too_often() {
        let started = Instant::now();
        let mut line = Line { live: true, started, drawn: None };
        let mut at = |after: u64, done: usize, of| {
            let drawn = line.draw(started + Duration::from_millis(after), "read", done, of, Style::PLAIN);
            drawn.map(|text| screen::neutral(&text).into_owned())
        };
        assert_eq!(at(10, 5, Some(10_000)), None);
        assert_eq!(at(500, 4_000, Some(10_000)).as_deref(), Some("\r\x1b[2K  read 4,000 of 10,000"));
        assert_eq!(at(510, 4_100, Some(10_000)), None);
        assert_eq!(at(700, 4_200, None).as_deref(), Some("\r\x1b[2K  read 4,200"));
        let mut file = Line { live: false, started, drawn: None };
        assert_eq!(file.draw(started + SOON * 9, "read", 1, None, Style::PLAIN), None);
    }
}
