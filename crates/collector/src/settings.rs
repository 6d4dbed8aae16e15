//! The environment of a collector, and its settings: limits and durations, each with its reason.

use std::sync::Arc;
use std::time::Duration;

use sexton_client::{Gateway, Resources};
use sexton_lifecycle::{DeletionLimit, DetectionSettings};

use crate::clock::Clock;
use crate::events::EventSettings;
use crate::hooked::Runner;
use crate::lease::LeaseSettings;

/// Server, hooks and clock that the collector works with.
#[derive(Debug, Clone)]
pub struct Means {
    /// The server's change feed, and writes in bulk.
    pub gateway: Arc<dyn Gateway>,
    /// The server, for everything else.
    pub resources: Resources,
    /// Runs methods of classes.
    pub runner: Arc<dyn Runner>,
    /// Tells the time.
    pub clock: Arc<dyn Clock>,
}

/// How a collector works.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The lease that allows only one collector to act.
    pub lease: LeaseSettings,
    /// How long an object without owners is left alone, if the collector has not seen its owners being deleted.
    pub orphan_grace: Duration,
    /// How often a round is made even if the feed brought nothing: events are only hints.
    pub full_pass: Duration,
    /// The first pause after a failed request or a broken feed; it doubles each time.
    pub backoff: Duration,
    /// The longest such pause.
    pub max_backoff: Duration,
    /// What is protected.
    pub rules: DetectionSettings,
    /// The deletion limit: how many of the orphans that the collector found itself it may delete at once.
    pub fuse: DeletionLimit,
    /// Most hooks under way: each may be a process.
    pub hooks_at_once: usize,
    /// Most methods of programs under way, besides hooks: each has a worker with memory of its own.
    pub scripts_at_once: usize,
    /// The longest deadline of a call, whatever its class says: until then it holds a slot.
    pub max_hook_time: Duration,
    /// How many objects of one collection leave a tombstone. Beyond that only objects with hooks do.
    pub tombstones: usize,
    /// Whether orphans are deleted without a rule. Only on a server of ours; on any other, rules decide.
    pub takes_orphans: bool,
    /// Whether the collector releases empty namespaces and definitions. A cluster has controllers for that, which
    /// also see what cannot be listed from here.
    pub finalizes_containers: bool,
    /// Whether rules are applied. A collector that only completes one command leaves that to others.
    pub keeps_rules: bool,
    /// How Events about the deletions are written; `None` for a collector that only completes one command.
    pub events: Option<EventSettings>,
}

impl Settings {
    /// The usual settings for a collector of this name.
    pub fn new(holder: impl Into<String>) -> Settings {
        Settings {
            lease: LeaseSettings::new(holder),
            orphan_grace: Duration::from_secs(5),
            full_pass: Duration::from_secs(600),
            backoff: Duration::from_millis(50),
            max_backoff: Duration::from_secs(10),
            rules: DetectionSettings::default(),
            fuse: DeletionLimit::default(),
            hooks_at_once: 64,
            scripts_at_once: 8,
            max_hook_time: Duration::from_secs(3600),
            tombstones: 200,
            takes_orphans: true,
            finalizes_containers: true,
            keeps_rules: true,
            events: None,
        }
    }
}
