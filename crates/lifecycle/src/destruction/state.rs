//! Where a life stands on its way out. This is the journal: whatever is not in it is lost by a crash.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde::{Deserialize, Serialize};
/// What subscribers and methods are called for.
pub use sexton_model::hook::Phase;

/// More subscribers with a handler than this cannot be journalled on one life.
pub const MAX_SUBSCRIBERS: usize = 1_000;
/// Longer errors are cut.
pub const MAX_ERROR: usize = 1 << 10;
/// Longer outputs of a destroy method are cut.
pub const MAX_OUTPUT: usize = 4 << 10;
/// All errors and reasons of open calls together: the later ones are cut to what is left.
pub(super) const MAX_TEXTS: usize = 16 << 10;

/// Whose method is called.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(into = "String", from = "String")]
pub enum Callee {
    /// The doomed life's own `destroy`.
    Destroy,
    /// A handler of a subscriber, by its uid.
    Subscriber(String),
}

/// What stands for the destroy method where a uid could stand. No uid is this word.
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

/// Why a life is to be destroyed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Origin {
    /// A user's deletion, or a cascade from it: marked already, no way back.
    Asked,
    /// The collector's own judgement: not marked, and can still be saved.
    Accused,
}

/// The steps, in their order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Stage {
    /// Nothing happened yet.
    Fresh,
    /// Subscribers are being warned.
    Warning,
    /// All are warned; it is not its turn yet.
    Warned,
    /// Its turn: subscribers are being notified.
    Notifying,
    /// All are notified; the rest of its circle is not.
    Notified,
    /// An accused life is being marked.
    Marking,
    /// Its destroy method is running.
    Destroying,
    /// It is destroyed; subscribers are being told.
    Destroyed,
    /// All is done; what holds it is being taken off.
    Releasing,
    /// Over: released.
    Released,
    /// Over: saved while it was only warned of. Alive and untouched.
    Rescued,
    /// Over: a veto ended the collection that accused it. Alive and untouched.
    Cancelled,
}

impl Stage {
    /// Whether nothing can follow.
    pub fn is_over(self) -> bool {
        self >= Stage::Released
    }
}

/// Why a call does not get on by itself, or not soon.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Block {
    /// The callee says no.
    Veto,
    /// The callee says that something else is in the way.
    Blocked {
        /// What is in the way.
        by: String,
    },
    /// It failed more often than it may.
    Failed,
    /// The handler or the class that the subscription names does not exist.
    Missing,
}

/// A call without a final answer.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Pending {
    /// Asked, and no answer is recorded: what [`super::Event::Resume`] asks again.
    #[serde(default, skip_serializing_if = "is_false")]
    pub asked: bool,
    /// How often it failed.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub failures: u32,
    /// How often it was blocked: later and later it is asked again.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub blocked: u32,
    /// When it is asked again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<i64>,
    /// What is in the way.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub block: Option<Block>,
    /// The last error or reason.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Since when it does not get on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<i64>,
}

/// The first call that was given up.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Abandoned {
    /// Whose.
    pub callee: Callee,
    /// In which phase.
    pub phase: Phase,
    /// Why somebody forced it.
    pub reason: String,
}

/// How the destroy step ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Ending {
    /// There was no method, or it said that it is done.
    Done,
    /// The method found nothing to destroy.
    Gone,
    /// The method never said so: it was forced. What it stands for may still exist.
    Abandoned,
}

/// Where one life stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct State {
    /// The life.
    pub uid: String,
    /// Why it is to go.
    pub origin: Origin,
    /// Whether it is marked: no way back.
    #[serde(default, skip_serializing_if = "is_false")]
    pub marked: bool,
    /// The step.
    pub stage: Stage,
    /// Whether its class has a destroy method.
    #[serde(default, skip_serializing_if = "is_false")]
    pub has_destroy: bool,
    /// Whether it waits for the rest of a circle after it notified.
    #[serde(default, skip_serializing_if = "is_false")]
    pub together: bool,
    /// Who hears of it: subscribers with a handler, by uid. Who is here and not in `open` has heard of this phase.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub subscribers: BTreeSet<String>,
    /// The calls of this phase that have no final answer.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub open: BTreeMap<Callee, Pending>,
    /// How the destroy step ended, once it has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome: Option<Ending>,
    /// What the destroy method had to say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<String>,
    /// How many calls were given up by force.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub forced: u32,
    /// The first of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub abandoned: Option<Abandoned>,
    /// How many subscribers could not be told that it is destroyed.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub untold: u32,
    /// Whose veto cancelled the collection.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub vetoed_by: Option<Callee>,
    /// The last error of a call that told nobody, or the reason of a cancellation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_error: Option<String>,
}

impl State {
    /// A life to which nothing happened yet.
    pub fn new(uid: impl Into<String>) -> State {
        State {
            uid: uid.into(),
            origin: Origin::Accused,
            marked: false,
            stage: Stage::Fresh,
            has_destroy: false,
            together: false,
            subscribers: BTreeSet::new(),
            open: BTreeMap::new(),
            outcome: None,
            output: None,
            forced: 0,
            abandoned: None,
            untold: 0,
            vetoed_by: None,
            last_error: None,
        }
    }

    /// What is being called for, if anything can be.
    pub fn phase(&self) -> Option<Phase> {
        match self.stage {
            Stage::Warning | Stage::Warned => Some(Phase::Warning),
            Stage::Notifying | Stage::Notified | Stage::Marking => Some(Phase::Notifying),
            Stage::Destroying => Some(Phase::Destroying),
            Stage::Destroyed | Stage::Releasing | Stage::Released => Some(Phase::Destroyed),
            Stage::Fresh | Stage::Rescued | Stage::Cancelled => None,
        }
    }

    /// Whether it was destroyed, by its method or for want of one. What was forced was not.
    pub fn is_destroyed(&self) -> bool {
        matches!(self.outcome, Some(Ending::Done | Ending::Gone))
    }

    /// Whether some call was given up: what it stands for may still exist.
    pub fn is_abandoned(&self) -> bool {
        self.forced > 0
    }

    /// The bytes of all texts of calls.
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
