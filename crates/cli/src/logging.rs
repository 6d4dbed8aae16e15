//! Log lines on stderr, as text or JSON.

use std::io;

use tracing::{Level, Metadata};
use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt::MakeWriter;

use crate::output::Paint;
use crate::output::screen;
use crate::output::style::Style;
use crate::settings::Settings;

/// How a command logs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Logs {
    /// Only when asked to.
    Quiet,
    /// What matters, as lines for people.
    Text,
    /// What matters, as a JSON object a line.
    Json,
}

/// Starts logging. The variable SEXTON_LOG overrides the level.
pub(crate) fn start(settings: &Settings, logs: Logs, style: Style) {
    let level = match (settings.verbose, logs) {
        (0, Logs::Quiet) => "off",
        (0, _) | (1, Logs::Quiet) => "info",
        _ => "debug,h2=info,hyper=info,hyper_util=info,tower=info,rustls=info",
    };
    let filter = EnvFilter::try_from_env("SEXTON_LOG").unwrap_or_else(|_| EnvFilter::new(level));
    let lines = Lines { style, is_json: logs == Logs::Json };
    let builder = tracing_subscriber::fmt().with_env_filter(filter).with_ansi(false).with_writer(lines);
    // Only a test starts logging twice; the first start stays in force.
    let _ = match logs {
        Logs::Json => builder.json().flatten_event(true).try_init(),
        Logs::Quiet | Logs::Text => builder.try_init(),
    };
}

/// Writes one line per event, whatever text the event contains.
#[derive(Debug, Clone, Copy)]
struct Lines {
    style: Style,
    is_json: bool,
}

/// One event. The subscriber writes it in one piece.
struct Line {
    lines: Lines,
    level: Option<Level>,
}

impl MakeWriter<'_> for Lines {
    type Writer = Line;

    fn make_writer(&self) -> Line {
        Line { lines: *self, level: None }
    }

    fn make_writer_for(&self, about: &Metadata<'_>) -> Line {
        Line { lines: *self, level: Some(*about.level()) }
    }
}

impl io::Write for Line {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let text = String::from_utf8_lossy(bytes);
        screen::Stream::Talk.write(&self.written(&text))?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Line {
    fn written(&self, text: &str) -> String {
        let text = text.strip_suffix('\n').unwrap_or(text);
        if self.lines.is_json {
            return screen::json(text).into_owned() + "\n";
        }
        let text = screen::inline(text);
        let Some(level) = self.level else { return text.into_owned() + "\n" };
        let paint = match level {
            Level::ERROR => Paint::Bad,
            Level::WARN => Paint::Change,
            Level::INFO => Paint::Good,
            _ => Paint::Faint,
        };
        // Only the time stands before the level.
        text.replacen(level.as_str(), &self.lines.style.paint(level.as_str(), paint), 1) + "\n"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The words of others stay within their line, and give no orders.
    #[test]
    fn an_event_is_one_line_without_instructions() {
        let lines = |is_json| Lines { style: Style { colours: true, ..Style::PLAIN }, is_json };
        let line = |is_json| Line { lines: lines(is_json), level: Some(Level::WARN) };
        let told = line(false).written("2026-01-01 WARN refused: a\nINFO all is well \u{9b}2J\u{202e}\n");
        assert_eq!(
            screen::neutral(&told),
            "2026-01-01 \x1b[33mWARN\x1b[0m refused: a\\nINFO all is well \\u{9b}2J\\u{202e}\n"
        );
        let told = line(true).written("{\"message\":\"\u{9b}2J\"}\n");
        assert_eq!(told, "{\"message\":\"\\u009b2J\"}\n");
    }
}
