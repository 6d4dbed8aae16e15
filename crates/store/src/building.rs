//! A batch in the making: transactions applied one after the other to a working copy of the state.
//!
//! Nothing here is durable or visible to anybody; the writer decides what becomes of it.

use std::sync::Arc;

use crate::engine::{CommitError, Committed, Op, Transaction};
use crate::history::Change;
use crate::state::{Entry, State};
use crate::writer::Reply;

/// Larger batches only add latency: at this size the disk is no longer the limit.
const BATCH_OPS: usize = 1024;
const BATCH_BYTES: usize = 1 << 20;

/// A batch in the making: transactions applied one after the other to a working copy of the state.
pub(crate) struct Building {
    pub(crate) state: State,
    pub(crate) changes: Vec<Arc<Change>>,
    pub(crate) replies: Vec<(Reply<Committed>, Result<Committed, CommitError>)>,
    pub(crate) bytes: usize,
}

impl Building {
    pub(crate) fn on(state: State) -> Building {
        Building { state, changes: Vec::new(), replies: Vec::new(), bytes: 0 }
    }

    pub(crate) fn full(&self) -> bool {
        self.changes.len() >= BATCH_OPS || self.bytes >= BATCH_BYTES || self.replies.len() >= BATCH_OPS
    }

    pub(crate) fn add(&mut self, transaction: Transaction, reply: Reply<Committed>) {
        let outcome = match transaction.guards.iter().position(|guard| !self.state.holds(guard)) {
            Some(guard) => Err(CommitError::Conflict { guard }),
            None => {
                transaction.ops.into_iter().for_each(|op| self.apply(op));
                Ok(Committed { revision: self.state.revision })
            }
        };
        self.replies.push((reply, outcome));
    }

    fn apply(&mut self, op: Op) {
        let revision = self.state.revision.next();
        let (key, after) = match op {
            Op::Put { key, value } => (key, Some(value)),
            Op::Delete { key } if self.state.map.contains_key(key.as_ref() as &[u8]) => (key, None),
            Op::Delete { .. } => return,
        };
        self.bytes += key.len() + after.as_ref().map_or(0, |value| value.len());
        let entry = after.as_ref().map(|value| Entry { revision, value: value.clone() });
        let before = self.state.set(&key, entry);
        self.state.revision = revision;
        self.changes.push(Arc::new(Change { revision, key, before, after }));
    }
}
