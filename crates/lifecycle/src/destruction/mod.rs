//! The steps of one life's destruction: a table of states and events, without IO and without a clock.
//!
//! [`step`] is the whole of it: a state and an event give the next state and what is to be done. It is total: every
//! pair is defined, as a step, as nothing to do, or as [`Illegal`]. The [`State`] is the journal, kept on the life
//! itself: after a crash it is all there is, and [`Event::Resume`] asks again for exactly what has no recorded answer.
//!
//! ```text
//! fresh ── Begin ─▶ warning ─▶ warned ── PredecessorsGone ─▶ notifying ─▶ (notified) ─▶ (marking) ─▶ destroying
//!                      │          │                              │                                      │
//!                   Rescued: accused only, up to warned       a veto: accused only                   done, gone
//!                      ▼          ▼                              ▼                                      ▼
//!                   rescued ◀─────┘                           cancelled            released ◀─ releasing ◀─ destroyed
//! ```
//!
//! A life is *asked* for (a user's deletion, or a cascade from one: marked, no way back) or *accused* by the collector
//! (not marked until `marking`). `notified` waits for the rest of a circle, `marking` is for the accused.
//! Intent comes before effect: whatever actions are returned, writing the journal is first among them.
//!
//! It must not know what a life is made of, who its subscribers are beyond their uid, or how anything is called.

mod answer;
mod codec;
mod event;
mod key;
mod progress;
mod state;
mod step;
mod view;

pub use codec::{BadJournal, MAX_JOURNAL, UNREADABLE};
pub use event::{Action, Event, Illegal, Outcome, Retry, Subscriber};
pub use key::idempotency_key;
pub use state::{
    Abandoned, Block, Callee, Ending, MAX_ERROR, MAX_OUTPUT, MAX_SUBSCRIBERS, Origin, Pending, Phase, Stage,
    State,
};
pub use step::step;
pub use view::{Blocker, blockers, due};
