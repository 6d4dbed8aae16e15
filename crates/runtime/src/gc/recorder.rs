//! The durable side of a collection: an interface that records the destruction of stored objects, so that a run that is
//! killed can be resumed.
//!
//! A program's objects live in memory. Some of them also exist as resources in a store, and those must not be lost or
//! destroyed twice. The collector knows nothing about the store; it calls a [`DestructionRecorder`] before and after
//! every effect on a stored object (intent before effect, outcome after), with whole batches at a time:
//!
//! ```text
//! detect garbage ─► permits ─► warn subscribers ─► notify subscribers ─► record_intents ─► destroy()
//!                      │                                                       │             │
//!            Refused: protected,                              Refused: record_withdrawals    ▼
//!            stays alive                                                             record_outcomes
//!                                                                                            │
//!                                                    record_releases ◄─ tell subscribers ◄───┘
//! ```
//!
//! After a crash, every object with a recorded intent and no recorded release is destroyed again by the next run
//! ([`DestructionRecorder::was_begun`]).

use futures::future::LocalBoxFuture;
use sexton_lifecycle::destruction::State;

use super::Reason;
use crate::world::Handle;

/// The store could not be read or written.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct RecorderError(pub String);

/// The intent to destroy an object: its subscribers are notified, and its `destroy` comes next.
#[derive(Debug)]
pub struct Intent<'a> {
    /// The object.
    pub object: &'a Handle,
    /// The journal to write: terminating, with the call of `destroy` open; or past that call if no class has a
    /// `destroy`.
    pub state: &'a State,
    /// Why the object is destroyed.
    pub reasons: &'a [Reason],
}

/// An object with its destruction journal after a step.
#[derive(Debug)]
pub struct ObjectJournal<'a> {
    /// The object.
    pub object: &'a Handle,
    /// The journal: destroyed, with the calls of subscribers open; or still destroying, with its blockers.
    pub state: &'a State,
}

/// Whether a stored object may be destroyed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Permit {
    /// It may be destroyed. As the answer to an intent: the intent is recorded.
    Granted,
    /// It must not be destroyed, for this reason (for example because it is protected). It stays alive, and so does
    /// every object that has to be destroyed after it.
    Refused(String),
}

/// Knows which objects are stored, which of them are protected, and records their destruction.
///
/// # Guarantees of the collector
/// - Methods are called one after the other, never concurrently.
/// - `permits`, `record_intents`, `record_outcomes` and `record_releases` of one object come in this order.
/// - Only objects for which [`is_stored`](Self::is_stored) is true are passed in batches.
/// - Results correspond to the arguments by position: one permit per object.
pub trait DestructionRecorder {
    /// Whether an object is stored, so that its destruction has to be recorded.
    fn is_stored(&self, object: &Handle) -> bool;

    /// Whether an earlier session recorded the intent to destroy this object and did not finish. A new reference does
    /// not rescue such an object: part of its `destroy` may have run.
    fn was_begun(&self, _object: &Handle) -> bool {
        false
    }

    /// Whether each of these candidates may be destroyed. Asked once per candidate, before its subscribers are warned,
    /// and by previews. Writes nothing.
    fn permits<'a>(&'a self, objects: &'a [Handle])
    -> LocalBoxFuture<'a, Result<Vec<Permit>, RecorderError>>;

    /// Records that `destroy` of these objects comes next; one permit for each. An error means that nothing is
    /// recorded, and none of the objects is destroyed.
    fn record_intents<'a>(
        &'a self,
        batch: &'a [Intent<'a>],
    ) -> LocalBoxFuture<'a, Result<Vec<Permit>, RecorderError>>;

    /// Takes intents back: `destroy` of these objects was not called after all, and they stay alive. Also called for
    /// objects without a recorded intent.
    fn record_withdrawals<'a>(
        &'a self,
        objects: &'a [Handle],
    ) -> LocalBoxFuture<'a, Result<(), RecorderError>>;

    /// Records how `destroy` ended, before any subscriber is told.
    fn record_outcomes<'a>(
        &'a self,
        batch: &'a [ObjectJournal<'a>],
    ) -> LocalBoxFuture<'a, Result<(), RecorderError>>;

    /// Records that the subscribers of these destroyed objects were told: nothing is left to do for them, and their
    /// resources can be removed.
    fn record_releases<'a>(
        &'a self,
        batch: &'a [ObjectJournal<'a>],
    ) -> LocalBoxFuture<'a, Result<(), RecorderError>>;
}

/// A recorder for worlds without stored objects: grants everything and records nothing.
pub struct NoRecorder;

impl DestructionRecorder for NoRecorder {
    fn is_stored(&self, _: &Handle) -> bool {
        false
    }

    fn permits<'a>(
        &'a self,
        objects: &'a [Handle],
    ) -> LocalBoxFuture<'a, Result<Vec<Permit>, RecorderError>> {
        Box::pin(std::future::ready(Ok(vec![Permit::Granted; objects.len()])))
    }

    fn record_intents<'a>(
        &'a self,
        batch: &'a [Intent<'a>],
    ) -> LocalBoxFuture<'a, Result<Vec<Permit>, RecorderError>> {
        Box::pin(std::future::ready(Ok(vec![Permit::Granted; batch.len()])))
    }

    fn record_withdrawals<'a>(&'a self, _: &'a [Handle]) -> LocalBoxFuture<'a, Result<(), RecorderError>> {
        Box::pin(std::future::ready(Ok(())))
    }

    fn record_outcomes<'a>(
        &'a self,
        _: &'a [ObjectJournal<'a>],
    ) -> LocalBoxFuture<'a, Result<(), RecorderError>> {
        Box::pin(std::future::ready(Ok(())))
    }

    fn record_releases<'a>(
        &'a self,
        _: &'a [ObjectJournal<'a>],
    ) -> LocalBoxFuture<'a, Result<(), RecorderError>> {
        Box::pin(std::future::ready(Ok(())))
    }
}
