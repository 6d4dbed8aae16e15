//! The core/v1 Events about what the collector does.
//!
//! ```text
//! round ─► tell ─► messages ──────► queue ──► writer ─► correlate ─► create or patch
//!             └──► blockers ──────► waits ──────┘
//! ```
//!
//! Events are for people: no decision is based on them, nothing waits for them, and one that cannot be written is
//! dropped. A deletion of thousands makes a few of them, never one for each object.

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

/// Settings of Events.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EventSettings {
    /// A blocker is reported if it lasts for longer than this: most are gone in a moment.
    pub moment: Duration,
}

impl Default for EventSettings {
    fn default() -> Self {
        EventSettings { moment: Duration::from_secs(2) }
    }
}

/// The collector's end of the Events; does nothing without settings.
#[derive(Debug, Default)]
pub(crate) struct Events {
    writer: Option<Writer>,
    /// Forced steps and deferrals that were reported: each is reported once.
    told: HashSet<(&'static str, String)>,
    waits: Vec<Pending>,
}

impl Events {
    /// Starts to write Events, if there are settings for it.
    pub(crate) fn start(
        settings: Option<EventSettings>,
        resources: Resources,
        clock: Arc<dyn Clock>,
    ) -> Events {
        let writer = settings.map(|settings| Writer::start(resources, clock, settings.moment));
        Events { writer, ..Events::default() }
    }

    /// Whether Events are written.
    pub(crate) fn are_told(&self) -> bool {
        self.writer.is_some()
    }

    /// Queues a message; drops it if too many wait.
    fn say(&mut self, said: Said) {
        if let Some(writer) = &mut self.writer {
            writer.say(said);
        }
    }

    /// Sets the current blockers.
    fn wait_for(&mut self, waits: Vec<Pending>) {
        if let Some(writer) = self.writer.as_ref().filter(|_| self.waits != waits) {
            writer.wait_for(waits.clone());
            self.waits = waits;
        }
    }

    /// Another collector acts now, and reports the blockers.
    pub(crate) fn step_down(&mut self) {
        self.told.clear();
        self.wait_for(Vec::new());
    }

    /// How many messages were dropped, because too many waited.
    pub(crate) fn dropped(&self) -> u64 {
        self.writer.as_ref().map_or(0, Writer::dropped)
    }

    /// Writes what is left if that takes almost no time, and ends.
    pub(crate) async fn finish(self) {
        if let Some(writer) = self.writer {
            writer.finish().await;
        }
    }
}
