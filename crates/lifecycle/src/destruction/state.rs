//! The state of one destruction. It is the journal: whatever is not in it is lost by a crash.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde::{Deserialize, Serialize};
/// What subscribers and methods are called for.
pub use sexton_model::hook::Phase;

/// The maximum number of subscribers with a handler: more do not fit into a journal.
pub const MAX_SUBSCRIBERS: usize = 1_000;
/// Longer errors are cut.
pub const MAX_ERROR_BYTES: usize = 1 << 10;
/// Longer outputs of a destroy method are cut.
pub const MAX_OUTPUT_BYTES: usize = 4 << 10;
/// The maximum for errors and reasons of all open calls together: later ones are cut to what is left.
pub(super) const MAX_TEXT_BYTES: usize = 16 << 10;

/// The method that is called.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(into = "String", from = "String")]
pub enum Callee {
    /// The `destroy` method of the object itself.
    Destroy,
    /// The handler of a subscriber, by the uid of that.
    Subscriber(String),
}

/// The word for the destroy method where a uid could stand. No uid equals it.
const DESTROY: &str = "destroy";

impl fmt::Display for Callee {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Callee::Destroy => f.write_str(DESTROY),
            Callee::Subscriber(uid) => f.write_str(uid),
        }
    }
}

impl From<Callee> for String {
    fn from(callee: Callee) -> String {
        callee.to_string()
    }
}

impl From<String> for Callee {
    fn from(text: String) -> Callee {
        if text == DESTROY { Callee::Destroy } else { Callee::Subscriber(text) }
    }
}

/// Why the object is to be destroyed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Origin {
    /// A user's deletion, or a cascade from one: terminating from the start.
    #[serde(rename = "asked")]
    Requested,
    /// A candidate record: not terminating, and can still be rescued.
    #[serde(rename = "accused")]
    Candidate,
}

/// The stages, in their order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Stage {
    /// Nothing happened yet.
    Fresh,
    /// Subscribers are being warned.
    Warning,
    /// All are warned; predecessors in the plan are not gone.
    Warned,
    /// Subscribers are being notified.
    Notifying,
    /// All are notified; other members of the cycle are not.
    Notified,
    /// `deletionTimestamp` of a candidate is being set.
    #[serde(rename = "marking")]
    Deleting,
    /// Its destroy method is running.
    Destroying,
    /// The object is destroyed; subscribers are being notified of that.
    Destroyed,
    /// The finalizer is being removed.
    Releasing,
    /// Over: released.
    Released,
    /// Over: rescued by a reference. The object survives unchanged.
    Rescued,
    /// Over: a veto cancelled the collection. The object survives unchanged.
    Cancelled,
}

impl Stage {
    /// Whether the destruction has ended: no further stage follows.
    pub fn is_over(self) -> bool {
        self >= Stage::Released
    }
}

/// Why a call does not proceed by itself, or not soon.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Block {
    /// The callee vetoes.
    Veto,
    /// The callee reports that something else has to happen first.
    Blocked {
        /// What has to happen first.
        by: String,
    },
    /// It failed more often than it may.
    Failed,
    /// The handler or the class that the subscription names does not exist.
    Missing,
}

/// An open call: one without a final answer.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Pending {
    /// Whether it is made and no answer is recorded: [`super::Event::Resume`] repeats it.
    #[serde(rename = "asked", default, skip_serializing_if = "is_false")]
    pub in_flight: bool,
    /// How often it failed.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub failures: u32,
    /// How often it was blocked: the delay grows with it.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub blocked: u32,
    /// When it is made again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<i64>,
    /// Why it does not proceed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub block: Option<Block>,
    /// The last error or reason.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Since when it does not proceed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<i64>,
}

/// The first call that was given up.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Abandoned {
    /// The callee.
    pub callee: Callee,
    /// The phase.
    pub phase: Phase,
    /// The reason that the user gave.
    pub reason: String,
}

/// How the stage `destroying` ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Ending {
    /// The class has no destroy method, or the method is done.
    Done,
    /// The method found nothing to destroy.
    Gone,
    /// The call was given up. What the object stands for may still exist.
    Abandoned,
}

/// The state of one destruction.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct State {
    /// The uid of the object.
    pub uid: String,
    /// Why it is to be destroyed.
    pub origin: Origin,
    /// Whether `deletionTimestamp` is set: no way back.
    #[serde(rename = "marked", default, skip_serializing_if = "is_false")]
    pub is_terminating: bool,
    /// The stage.
    pub stage: Stage,
    /// Whether its class has a destroy method.
    #[serde(default, skip_serializing_if = "is_false")]
    pub has_destroy: bool,
    /// Whether it is in a cycle, and waits for the other members after notifying.
    #[serde(default, skip_serializing_if = "is_false")]
    pub together: bool,
    /// The uids of the subscribers with a handler. Those without an open call have answered in this phase.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub subscribers: BTreeSet<String>,
    /// The calls of this phase without a final answer.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub open: BTreeMap<Callee, Pending>,
    /// How the stage `destroying` ended, once it has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome: Option<Ending>,
    /// The output of the destroy method.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<String>,
    /// How many calls users gave up.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub forced: u32,
    /// The first of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub abandoned: Option<Abandoned>,
    /// How many subscribers could not be notified that the object is destroyed.
    #[serde(rename = "untold", default, skip_serializing_if = "is_zero")]
    pub unnotified: u32,
    /// The callee whose veto cancelled the collection.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub vetoed_by: Option<Callee>,
    /// The last error of a notification that was given up, or the reason of a cancellation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_error: Option<String>,
}

impl State {
    /// The state before the destruction begins.
    pub fn new(uid: impl Into<String>) -> State {
        State {
            uid: uid.into(),
            origin: Origin::Candidate,
            is_terminating: false,
            stage: Stage::Fresh,
            has_destroy: false,
            together: false,
            subscribers: BTreeSet::new(),
            open: BTreeMap::new(),
            outcome: None,
            output: None,
            forced: 0,
            abandoned: None,
            unnotified: 0,
            vetoed_by: None,
            last_error: None,
        }
    }

    /// The phase of the calls in this stage, if it has any.
    pub fn phase(&self) -> Option<Phase> {
        match self.stage {
            Stage::Warning | Stage::Warned => Some(Phase::Warning),
            Stage::Notifying | Stage::Notified | Stage::Deleting => Some(Phase::Notifying),
            Stage::Destroying => Some(Phase::Destroying),
            Stage::Destroyed | Stage::Releasing | Stage::Released => Some(Phase::Destroyed),
            Stage::Fresh | Stage::Rescued | Stage::Cancelled => None,
        }
    }

    /// Whether the object was destroyed, by its method or without one. Not if the call was given up.
    pub fn is_destroyed(&self) -> bool {
        matches!(self.outcome, Some(Ending::Done | Ending::Gone))
    }

    /// Whether some call was given up: what the object stands for may still exist.
    pub fn is_abandoned(&self) -> bool {
        self.forced > 0
    }

    /// The bytes of all errors and reasons of open calls.
    pub(super) fn texts(&self) -> usize {
        let text = |pending: &Pending| {
            let by = match &pending.block {
                Some(Block::Blocked { by }) => by.len(),
                _ => 0,
            };
            by + pending.error.as_ref().map_or(0, String::len)
        };
        self.open.values().map(text).sum()
    }
}

fn is_false(value: &bool) -> bool {
    !*value
}

fn is_zero(value: &u32) -> bool {
    *value == 0
}
