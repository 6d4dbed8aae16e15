//! What becomes of stored objects: intent before effect, outcome after, in batches.

use futures::future::LocalBoxFuture;
use sexton_lifecycle::destruction::State;

use super::Reason;
use crate::world::Handle;

/// The store could not be asked or told.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct RecorderError(pub String);

/// An object whose `destroy` is about to be called.
#[derive(Debug)]
pub struct Intent<'a> {
    /// Which.
    pub object: &'a Handle,
    /// The journal as it is to be written: marked, with the call of `destroy` open; past that if no class has one.
    pub state: &'a State,
    /// Why it dies.
    pub reasons: &'a [Reason],
}

/// An object after a step.
#[derive(Debug)]
pub struct ObjectJournal<'a> {
    /// Which.
    pub object: &'a Handle,
    /// Its journal now: destroyed, with the calls of subscribers open; or still destroying, with what is in the way.
    pub state: &'a State,
}

/// Whether an object may die.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Permit {
    /// It may, and the intent is recorded.
    Granted,
    /// It must not, for this reason: it stays alive, and so does what has to come after it.
    Refused(String),
}

/// Who knows which objects are stored, and keeps their journals. All calls come one after the other.
pub trait DestructionRecorder {
    /// Whether an object is stored, so that everything below is told of it.
    fn is_stored(&self, object: &Handle) -> bool;

    /// Whether `destroy` of an object was begun by a session that did not end: a reference does not rescue it any more.
    fn was_begun(&self, _object: &Handle) -> bool {
        false
    }

    /// Which of these must not die, with the reason. Asked once for all that are accused, before anybody is warned, and
    /// by previews.
    fn permits<'a>(&'a self, objects: &'a [Handle])
    -> LocalBoxFuture<'a, Result<Vec<Permit>, RecorderError>>;

    /// Their subscribers are notified, and `destroy` comes next: one permit for each. An error means that nothing is
    /// recorded: none of them is touched.
    fn record_intents<'a>(
        &'a self,
        batch: &'a [Intent<'a>],
    ) -> LocalBoxFuture<'a, Result<Vec<Permit>, RecorderError>>;

    /// Nothing was called of these after all, though the intent may be recorded: they live on.
    fn record_withdrawals<'a>(
        &'a self,
        objects: &'a [Handle],
    ) -> LocalBoxFuture<'a, Result<(), RecorderError>>;

    /// How `destroy` ended, before any subscriber is told.
    fn record_outcomes<'a>(
        &'a self,
        batch: &'a [ObjectJournal<'a>],
    ) -> LocalBoxFuture<'a, Result<(), RecorderError>>;

    /// Everybody is told: nothing of them is left to do.
    fn record_releases<'a>(
        &'a self,
        batch: &'a [ObjectJournal<'a>],
    ) -> LocalBoxFuture<'a, Result<(), RecorderError>>;
}

/// Nothing is stored.
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
