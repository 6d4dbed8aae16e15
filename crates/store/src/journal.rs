//! What makes a local engine durable. The writer thread is its only caller.
//!
//! A journal sees whole batches: one call of [`Journal::append`] is one durable transaction. It must not know readers
//! or watches.

use std::sync::Arc;
use std::time::SystemTime;

use sexton_model::Revision;

use crate::history::Change;
use crate::state::State;

/// Why the journal could not do what was asked. The call counts as not done.
#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    /// No space: the same call may work later, and perhaps after [`Journal::fold`]. Nothing of it is on disk.
    #[error("{0}")]
    Full(String),
    /// Another process holds the file, or there is no memory: the same call may work later. Nothing of it is on disk.
    #[error("{0}")]
    Busy(String),
    /// The disk cannot be trusted any more: no later call may claim success. Whether it has this one is in doubt, so a
    /// refused batch may turn out to be there, as a whole, after a restart.
    #[error("{0}")]
    Broken(String),
}

/// The durable side of a local engine.
pub trait Journal: Send + 'static {
    /// Makes a batch durable, as one transaction. Returns only after the disk has it.
    fn append(&mut self, batch: &[Arc<Change>], at: SystemTime) -> Result<(), JournalError>;

    /// Folds the oldest changes of the history into the state on disk, as one transaction, and forgets them as
    /// history. `changes` are contiguous and begin right after the last folded revision. This is also how the space of
    /// what was removed or replaced becomes free.
    fn fold(&mut self, changes: &[Arc<Change>]) -> Result<(), JournalError>;

    /// Housekeeping in an idle moment; must be short.
    fn idle(&mut self) {}
}

/// What a journal held when it was opened.
#[derive(Debug, Default)]
pub struct Recovered {
    /// The state after the last durable batch.
    pub state: State,
    /// The revision up to which history was forgotten.
    pub compacted: Revision,
    /// The kept history, oldest first, and when each change was committed.
    pub history: Vec<(Arc<Change>, SystemTime)>,
}

/// No journal: what is committed lives as long as the process.
#[derive(Debug, Default)]
pub struct Volatile;

impl Journal for Volatile {
    fn append(&mut self, _: &[Arc<Change>], _: SystemTime) -> Result<(), JournalError> {
        Ok(())
    }

    fn fold(&mut self, _: &[Arc<Change>]) -> Result<(), JournalError> {
        Ok(())
    }
}
