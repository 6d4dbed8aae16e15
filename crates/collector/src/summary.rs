//! What a collector is doing now, for whoever asks: the server's metrics, the command line, tests.

use sexton_model::Revision;
use sexton_model::collection::Blocker;

/// The state of a collector.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Summary {
    /// Whether it is its turn to act; otherwise who has the lease.
    pub acts: bool,
    /// Who acts, if somebody else does.
    pub other: Option<String>,
    /// Whether everything that exists has been seen.
    pub synced: bool,
    /// Up to which revision it has seen everything.
    pub revision: Revision,
    /// How many lives are known.
    pub lives: usize,
    /// How many of them are to die.
    pub doomed: usize,
    /// How many ended by its hand since it started.
    pub removed: u64,
    /// How often it has looked at the world.
    pub rounds: u64,
    /// Calls of hooks that are under way.
    pub calls: usize,
    /// Whether there is nothing that it could do now: all is done, or blocked, or waits for a time.
    pub idle: bool,
    /// When it goes on by itself, in seconds since 1970.
    pub next: Option<i64>,
    /// What is in the way.
    pub blockers: Vec<Blocker>,
    /// What it would take by itself and does not, because it is too much; and what that comes from.
    pub held: Option<String>,
    /// How many events about what it does were not written, because there were too many at once.
    pub events_dropped: u64,
    /// Why it cannot work, if so.
    pub trouble: Option<String>,
}
