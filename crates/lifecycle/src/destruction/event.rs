//! What can happen to a life on its way out, and what is to be done about it.

use super::state::{Callee, Origin, Phase};

/// Somebody who wants to hear of a life's destruction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Subscriber {
    /// Who.
    pub uid: String,
    /// Whether the subscription names a handler. Without one it only orders; there is nobody to call.
    pub has_handler: bool,
}

/// How failures are repeated: the callee's class says it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Retry {
    /// So many failures are repeated; one more blocks.
    pub limit: u32,
    /// Seconds until the first repetition; doubled each time.
    pub backoff: i64,
    /// Never more seconds than this.
    pub max_backoff: i64,
}

impl Default for Retry {
    fn default() -> Retry {
        Retry { limit: 10, backoff: 1, max_backoff: 300 }
    }
}

/// How a call ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// It is done.
    Done {
        /// What it had to say.
        output: String,
    },
    /// There was nothing to do: it is gone already.
    Gone,
    /// It goes on; ask again. No failure.
    InProgress {
        /// Seconds.
        after: i64,
    },
    /// Something else is in the way.
    Blocked {
        /// What.
        by: String,
        /// Why.
        reason: String,
    },
    /// No.
    Veto {
        /// Why.
        reason: String,
        /// Ask again then, in seconds like `now`; without it, only when somebody says so.
        until: Option<i64>,
    },
    /// Ask again later; counts as a failure.
    Retry {
        /// Seconds.
        after: i64,
        /// Why.
        reason: String,
    },
    /// It says that it failed.
    Failed {
        /// Why.
        reason: String,
    },
    /// It could not be called, or gave no answer that can be understood. Nothing is known of its effect.
    HookError {
        /// Why.
        reason: String,
    },
    /// The handler or class that is to be called does not exist.
    Missing {
        /// Which.
        what: String,
    },
}

/// What happened. `now` is in seconds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    /// It is to be destroyed: its subscribers are warned.
    Begin {
        /// Asked for or accused.
        origin: Origin,
        /// Everybody who subscribed, as often as they did.
        subscribers: Vec<Subscriber>,
        /// Whether its class has a destroy method.
        has_destroy: bool,
    },
    /// A user's deletion marked it while it was only accused.
    Asked,
    /// It is no garbage any more: somebody refers to it.
    Rescued,
    /// The collection that accused it was cancelled.
    Cancelled {
        /// Why.
        reason: String,
    },
    /// Its turn in the plan: all that must go before it is gone.
    PredecessorsGone {
        /// Everybody who subscribes now.
        subscribers: Vec<Subscriber>,
        /// It is in a circle, whose members are notified all before any is destroyed.
        together: bool,
    },
    /// The whole circle has notified.
    CircleNotified,
    /// The mark is on it.
    Marked,
    /// A call ended.
    Answered {
        /// In which phase it was asked.
        phase: Phase,
        /// Whom.
        callee: Callee,
        /// How.
        outcome: Outcome,
        /// How the callee's failures are repeated.
        retry: Retry,
        /// When.
        now: i64,
    },
    /// A subscriber can hear nothing any more: it unsubscribed, is gone, or is itself destroyed.
    Left {
        /// Who.
        uid: String,
    },
    /// Time passed.
    Tick {
        /// When.
        now: i64,
    },
    /// Somebody wants it tried again now; what failed begins to count anew.
    RetryNow {
        /// Only this call.
        callee: Option<Callee>,
    },
    /// Somebody gives a call up.
    Forced {
        /// Which.
        callee: Callee,
        /// Why.
        reason: String,
    },
    /// The hold is off.
    Released,
    /// After a crash: the state was read back, what was under way is lost.
    Resume,
}

/// What is to be done, in the order given. An action that fails is not followed by the next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Action {
    /// Write the state to the life. Always the first.
    Journal,
    /// Call a method. [`Event::Answered`] follows.
    Call {
        /// Whose.
        callee: Callee,
        /// In which phase.
        phase: Phase,
        /// The same for the same call, always.
        key: String,
        /// Counted from 1; answers in progress and blocks do not count.
        attempt: u32,
    },
    /// Mark the life: no way back. [`Event::Marked`] follows.
    Mark,
    /// Take the hold off the life. [`Event::Released`] follows.
    Release,
    /// End the collection for all that it accused and did not mark yet.
    CancelCollection {
        /// Who said no.
        by: Callee,
        /// Why.
        reason: String,
    },
    /// Remove the journal; the life stays as it was.
    Forget,
}

/// Why an event cannot be: the one who sent it is mistaken. Nothing changes.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Illegal {
    /// Nothing was begun.
    #[error("its destruction has not begun")]
    NotBegun,
    /// It was begun before.
    #[error("its destruction has begun already")]
    Begun,
    /// It is marked.
    #[error("it is marked for deletion, which cannot be undone")]
    Irreversible,
    /// It was only warned of, and that is over.
    #[error("its subscribers are being notified: a reference does not save it any more")]
    TooLate,
    /// A step was left out.
    #[error("it has not come to that step yet")]
    TooEarly,
    /// An answer of somebody who was not asked.
    #[error("{0} was never asked")]
    Stranger(Callee),
    /// They do not fit into the journal.
    #[error("it has more than {} subscribers with handlers", super::MAX_SUBSCRIBERS)]
    TooManySubscribers,
    /// It ended.
    #[error("its destruction is over")]
    Over,
}
