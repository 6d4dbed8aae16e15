//! What the collector does, told as core/v1 Events to whoever reads them with the tools that they know.
//!
//! ```text
//! round ─► tell ─► what is said at once ──► queue ──► writer ─► correlate ─► create or patch
//!             └──► what is in the way ────► waits ──────┘
//! ```
//!
//! Events are for people: nothing is decided by them, nothing waits for them, and what cannot be written is forgotten.
//! A mass destruction says a few of them, never one for each of its lives.

mod correlate;
#[cfg(test)]
mod correlate_tests;
mod forgetful;
mod said;
mod tell;
mod waits;
mod writer;

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use sexton_client::Resources;

use self::said::Said;
use self::waits::Pending;
use self::writer::Writer;
use crate::clock::Clock;

/// How events are told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EventSettings {
    /// What is in the way is told if it is so for longer than this: most of it is gone in a moment.
    pub moment: Duration,
}

impl Default for EventSettings {
    fn default() -> Self {
        EventSettings { moment: Duration::from_secs(2) }
    }
}

/// Where a collector tells what it does; says nothing if it is not to.
#[derive(Debug, Default)]
pub(crate) struct Events {
    writer: Option<Writer>,
    /// What of a life's end was told to be given up, or left alone: once each.
    told: HashSet<(&'static str, String)>,
    waits: Vec<Pending>,
}

impl Events {
    /// Begins to tell, if there are settings for it.
    pub(crate) fn start(
        settings: Option<EventSettings>,
        resources: Resources,
        clock: Arc<dyn Clock>,
    ) -> Events {
        let writer = settings.map(|settings| Writer::start(resources, clock, settings.moment));
        Events { writer, ..Events::default() }
    }

    /// Whether anybody is told anything.
    pub(crate) fn are_told(&self) -> bool {
        self.writer.is_some()
    }

    /// Says something, unless too much is said already.
    fn say(&mut self, said: Said) {
        if let Some(writer) = &mut self.writer {
            writer.say(said);
        }
    }

    /// Says what is in the way now.
    fn wait_for(&mut self, waits: Vec<Pending>) {
        if let Some(writer) = self.writer.as_ref().filter(|_| self.waits != waits) {
            writer.wait_for(waits.clone());
            self.waits = waits;
        }
    }

    /// Somebody else acts now: they tell what is in the way.
    pub(crate) fn step_down(&mut self) {
        self.told.clear();
        self.wait_for(Vec::new());
    }

    /// How much was not said, because too much was said.
    pub(crate) fn dropped(&self) -> u64 {
        self.writer.as_ref().map_or(0, Writer::dropped)
    }

    /// Writes what is left if that takes no time worth mentioning, and ends.
    pub(crate) async fn finish(self) {
        if let Some(writer) = self.writer {
            writer.finish().await;
        }
    }
}
