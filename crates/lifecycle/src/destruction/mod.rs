//! The destruction of one object as a table of states and events, without IO and without a clock.
//!
//! [`step`] is all of it: a state and an event give the next state, and actions for the caller to execute. It is total:
//! each pair of state and event is a step, has no effect, or is an [`IllegalEvent`]. The [`State`] is also the journal,
//! stored on the object itself: after a crash it is all that is left, and [`Event::Resume`] repeats exactly the calls
//! that have no recorded answer.
//!
//! ```text
//! fresh ── Begin ─▶ warning ─▶ warned ── PredecessorsGone ─▶ notifying ─▶ (notified) ─▶ (deleting) ─▶ destroying
//!                      │          │                              │                                      │
//!                   Rescued (candidates only)                 a veto (candidates only)               done, gone
//!                      ▼          ▼                              ▼                                      ▼
//!                   rescued ◀─────┘                           cancelled            released ◀─ releasing ◀─ destroyed
//! ```
//!
//! | stage | what happens | ends when |
//! |---|---|---|
//! | warning | subscribers are called: the object may be destroyed | all have answered |
//! | warned | nothing; a new reference to a candidate rescues it | all predecessors in the plan are gone |
//! | notifying | subscribers are called: the object will be destroyed | all have answered |
//! | notified | only in a cycle: waits for its other members | all of these are notified |
//! | deleting | only for candidates: `deletionTimestamp` is being set | it is set; no way back from here |
//! | destroying | the object's own `destroy` method is called | it answers `Done` or `Gone`, or is given up |
//! | destroyed | subscribers are called: the object was destroyed | all have answered, or failed too often |
//! | releasing | the finalizer is being removed | it is removed |
//!
//! The *origin* of a destruction is a request (a user's deletion, or a cascade from one: terminating from the start) or
//! a candidate record (not terminating before `deleting`). Intent comes before effect: whatever actions a step returns,
//! writing the journal is the first of them.
//!
//! What an object consists of, what its subscribers are apart from uids, and how a method is called is not known here.

mod advance;
mod answer;
mod blocked_calls;
mod event;
mod idempotency;
mod journal;
mod state;
mod step;

pub use blocked_calls::{BlockedCall, blocked_calls, due};
pub use event::{Action, Event, IllegalEvent, Outcome, Retry, Subscriber};
pub use idempotency::idempotency_key;
pub use journal::{BadJournal, MAX_JOURNAL_BYTES, UNREADABLE};
pub use state::{
    Abandoned, Block, Callee, Ending, MAX_ERROR_BYTES, MAX_OUTPUT_BYTES, MAX_SUBSCRIBERS, Origin, Pending,
    Phase, Stage, State,
};
pub use step::step;
