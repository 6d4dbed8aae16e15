//! Blockers as lines of an explanation, with the commands that clear them, and as entries of a progress.
//!
//! The input is what a collector says: [`Blocker`] has a reason, and either `what` can be forced or the command that
//! `clears` it. Commands are completed with the flags of the target, so that they can be pasted.

use sexton_collector::FUSE;
use sexton_model::collection::Blocker;
use sexton_model::time;

use crate::naming::Names;
use crate::output::progress::Waiting;
use crate::output::style;
use crate::output::why::{Command, WhyLine};
use crate::suggest::{self, PLACEHOLDER};

/// Blockers shown at most; the rest is counted.
const SHOWN: usize = 20;

/// What blockers are shown relative to: the names that are valid where the command was typed, and the time.
pub(crate) struct Here<'a> {
    pub(crate) names: &'a Names,
    /// Seconds since 1970.
    pub(crate) now: i64,
}

impl Here<'_> {
    /// A line for each blocker, with its commands; at most [`SHOWN`], and a line with the number of the others.
    pub(crate) fn lines(&self, blockers: &[Blocker]) -> Vec<WhyLine> {
        let mut lines: Vec<WhyLine> = blockers.iter().take(SHOWN).map(|blocker| self.line(blocker)).collect();
        if blockers.len() > SHOWN {
            let text = format!("and {} more", style::count(blockers.len() - SHOWN));
            lines.push(WhyLine { text, ..WhyLine::default() });
        }
        lines
    }

    fn line(&self, blocker: &Blocker) -> WhyLine {
        let label = self.names.label(&blocker.object);
        let mut aside = blocker.reason.clone();
        if let Some(next) = blocker.next.as_deref().and_then(time::parse) {
            let left = u64::try_from(next - self.now).unwrap_or(0);
            aside.push_str(&format!("; next attempt in {left} s"));
        }
        let mut commands = Vec::new();
        let mut add = |what: &str, command: String, note: &str| {
            let command = suggest::complete(&command);
            commands.push(Command { what: what.into(), command, note: note.into() });
        };
        match (blocker.what.as_deref(), blocker.clears.as_deref()) {
            (Some(what), Some(clears)) if what.starts_with(FUSE) => {
                add("let it go on", clears.to_owned(), "they are destroyed then");
            }
            (Some(what), _) => {
                if !what.starts_with("finalizer:") {
                    add("try again now", format!("sexton retry {label}"), "");
                }
                let force = format!("sexton force {label} --blocker {what} --reason \"{PLACEHOLDER}\"");
                add("give it up", force, "leaves a tombstone: may still exist");
            }
            (None, Some(clears)) => add("clear it", clears.to_owned(), ""),
            (None, None) => {}
        }
        WhyLine { depth: 0, text: label, aside, commands }
    }

    /// All blockers as entries of a progress, the oldest first, each with the first line of its reason.
    pub(crate) fn waiting(&self, blockers: &[Blocker]) -> Vec<Waiting> {
        let mut waiting: Vec<Waiting> = blockers.iter().map(|blocker| self.wait(blocker)).collect();
        waiting.sort_by_key(|wait| std::cmp::Reverse(wait.since));
        waiting
    }

    fn wait(&self, blocker: &Blocker) -> Waiting {
        let since = blocker.since.as_deref().and_then(time::parse).unwrap_or(self.now);
        Waiting {
            label: self.names.label(&blocker.object),
            what: blocker.reason.lines().next().unwrap_or_default().to_owned(),
            since: std::time::Duration::from_secs(u64::try_from(self.now - since).unwrap_or(0)),
        }
    }
}
