//! The inputs and outputs of the state machine: events, the outcomes of calls, and actions.

use super::state::{Callee, Origin, Phase};

/// A subscriber of the object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Subscriber {
    /// Its uid.
    pub uid: String,
    /// Whether the subscription names a handler. Without one it only orders destructions, and no method is called.
    pub has_handler: bool,
}

/// How failed calls are retried, as the class of the callee says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Retry {
    /// How many failures are retried; one more blocks.
    pub limit: u32,
    /// Seconds until the first retry; doubled each time.
    pub backoff: i64,
    /// The maximum of these seconds.
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
    /// The method is done.
    Done {
        /// Its output.
        output: String,
    },
    /// There was nothing to do: what it destroys is gone already.
    Gone,
    /// The method is still working; call again. No failure.
    InProgress {
        /// Seconds.
        after: i64,
    },
    /// Something else has to happen first.
    Blocked {
        /// What.
        by: String,
        /// Why.
        reason: String,
    },
    /// The method objects to the destruction.
    Veto {
        /// Why.
        reason: String,
        /// When to call again, in seconds like `now`; `None`: only on request.
        until: Option<i64>,
    },
    /// Call again later; counts as a failure.
    Retry {
        /// Seconds.
        after: i64,
        /// Why.
        reason: String,
    },
    /// The method reports a failure.
    Failed {
        /// Why.
        reason: String,
    },
    /// The call failed, or its answer could not be understood. Nothing is known about its effect.
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

/// An event of the state machine. `now` is in seconds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    /// The destruction begins: subscribers are warned.
    Begin {
        /// A request or a candidate record.
        origin: Origin,
        /// All subscriptions to the object; a subscriber may occur several times.
        subscribers: Vec<Subscriber>,
        /// Whether its class has a destroy method.
        has_destroy: bool,
    },
    /// A user deleted the object while it was only a candidate.
    Requested,
    /// The candidate is not garbage any more: another object refers to it.
    Rescued,
    /// The collection of the candidate was cancelled.
    Cancelled {
        /// Why.
        reason: String,
    },
    /// All its predecessors in the plan are gone.
    PredecessorsGone {
        /// All subscriptions to the object now.
        subscribers: Vec<Subscriber>,
        /// Whether it is in a cycle: all members are notified before any is destroyed.
        together: bool,
    },
    /// All members of its cycle are notified.
    CircleNotified,
    /// `deletionTimestamp` is set.
    Terminating,
    /// A call ended.
    Answered {
        /// The phase in which it was made.
        phase: Phase,
        /// The callee.
        callee: Callee,
        /// How it ended.
        outcome: Outcome,
        /// How the callee's failures are retried.
        retry: Retry,
        /// When.
        now: i64,
    },
    /// A subscriber cannot be called any more: it unsubscribed, is gone, or is itself destroyed.
    SubscriberLeft {
        /// Its uid.
        uid: String,
    },
    /// Time passed.
    Tick {
        /// When.
        now: i64,
    },
    /// A user requested a retry; failures are counted from 0 again.
    RetryNow {
        /// The call to retry; `None`: all of them.
        callee: Option<Callee>,
    },
    /// A user gave a call up.
    Forced {
        /// The call.
        callee: Callee,
        /// Why.
        reason: String,
    },
    /// The finalizer is removed.
    Released,
    /// The state was read back after a crash: calls in flight are lost.
    Resume,
}

/// What the caller has to do, in the order given. If an action fails, the ones after it are not executed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Action {
    /// Write the state to the object. Always the first action.
    Journal,
    /// Call a method. [`Event::Answered`] follows.
    Call {
        /// The callee.
        callee: Callee,
        /// The phase.
        phase: Phase,
        /// The idempotency key.
        key: String,
        /// Counted from 1. Answers `InProgress` and `Blocked` do not count.
        attempt: u32,
    },
    /// Set `deletionTimestamp`: no way back. [`Event::Terminating`] follows.
    Delete,
    /// Remove the finalizer. [`Event::Released`] follows.
    Release,
    /// Cancel the collection for all its candidates that are not terminating.
    CancelCollection {
        /// The callee with the veto.
        by: Callee,
        /// Why.
        reason: String,
    },
    /// Remove the journal; the object survives unchanged.
    Forget,
}

/// Why an event is impossible in a state: a bug of the caller. The state does not change.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum IllegalEvent {
    /// The destruction has not begun.
    #[error("its destruction has not begun")]
    NotBegun,
    /// The destruction has begun before.
    #[error("its destruction has begun already")]
    Begun,
    /// The object is terminating.
    #[error("its deletion has begun, which cannot be undone")]
    Irreversible,
    /// The object was to be rescued, and subscribers are notified already.
    #[error("its subscribers are being notified: a reference does not save it any more")]
    TooLate,
    /// A stage was left out.
    #[error("it has not come to that step yet")]
    TooEarly,
    /// An answer to a call that was never made.
    #[error("{0} was never called")]
    NeverCalled(Callee),
    /// The subscribers do not fit into the journal.
    #[error("it has more than {} subscribers with handlers", super::MAX_SUBSCRIBERS)]
    TooManySubscribers,
    /// The destruction has ended.
    #[error("its destruction is over")]
    Over,
}
