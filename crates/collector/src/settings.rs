//! What a collector is given: means, and what can be set: limits and durations, each with its reason.

use std::sync::Arc;
use std::time::Duration;

use sexton_client::{Gateway, Resources};
use sexton_lifecycle::{FuseLimits, Settings as Rules};

use crate::clock::Clock;
use crate::events::EventSettings;
use crate::hooked::Runner;
use crate::lease::LeaseSettings;

/// What the collector works with.
#[derive(Debug, Clone)]
pub struct Means {
    /// The server, as far as the feed and the writes are concerned.
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
    /// Whose turn it is is decided here.
    pub lease: LeaseSettings,
    /// How long a life without owners is left alone, if nobody saw its owners go.
    pub orphan_grace: Duration,
    /// How often everything is looked at even if nothing was heard: events are only hints.
    pub full_pass: Duration,
    /// After a failed request or a broken feed it is tried again after this, doubled each time.
    pub backoff: Duration,
    /// The longest such wait.
    pub max_backoff: Duration,
    /// What must not be destroyed.
    pub rules: Rules,
    /// How much of what the collector itself accuses may be destroyed at once.
    pub fuse: FuseLimits,
    /// Hooks that run at once: each may be a process.
    pub hooks_at_once: usize,
    /// Methods of programs that run at once beside them: each has a worker, with memory of its own.
    pub scripts_at_once: usize,
    /// The longest that a call of a hook may take, whatever its class says: until then it holds a slot.
    pub max_hook_time: Duration,
    /// Lives of one collection that leave a tombstone each. Beyond that only those with hooks do.
    pub tombstones: usize,
    /// Whether orphans are taken at all; elsewhere than on our own server that is the business of rules.
    pub takes_orphans: bool,
    /// Whether the hold of a namespace or a definition is taken off once it is empty. A cluster has controllers for that,
    /// which also see what cannot be listed from here.
    pub finalizes_containers: bool,
    /// Whether rules are kept. A collector that only finishes one command leaves them to others.
    pub keeps_rules: bool,
    /// How events about what it does are told, if they are. Only whoever works for others tells.
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
            rules: Rules::default(),
            fuse: FuseLimits::default(),
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
