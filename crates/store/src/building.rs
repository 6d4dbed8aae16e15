//! A batch in the making: transactions applied one after the other to a working copy of the state.
//!
//! Nothing here is durable or visible to readers; the writer decides what becomes of it.

use std::sync::Arc;

use tokio::sync::oneshot;

use crate::engine::{CommitError, Committed, Guard, Op, Transaction};
use crate::history::Change;
use crate::state::{Entry, State};
use crate::terms::{Draft, TermIndex};
use crate::writer::{Command, Reply};

/// Larger batches only add latency: at this size the disk is no longer the limit.
const BATCH_OPS: usize = 1024;
const BATCH_BYTES: usize = 1 << 20;

/// A batch in the making: transactions applied one after the other to a working copy of the state.
pub(crate) struct Building {
    pub(crate) state: State,
    pub(crate) changes: Vec<Arc<Change>>,
    pub(crate) terms: Draft,
    pub(crate) replies: Vec<Waiting>,
    pub(crate) bytes: usize,
}

/// A caller that waits for the batch: what it asked for, and what it will hear if the batch becomes durable.
pub(crate) enum Waiting {
    One(Transaction, Reply<Committed>, Result<Committed, CommitError>),
    All(Vec<Transaction>, ReplyAll, Vec<Result<Committed, CommitError>>),
}

/// The reply to a caller that committed many transactions: one outcome for each of them.
pub(crate) type ReplyAll = oneshot::Sender<Vec<Result<Committed, CommitError>>>;

impl Waiting {
    /// The batch is durable.
    pub(crate) fn done(self) {
        // A caller that has gone away needs no answer.
        match self {
            Waiting::One(_, reply, outcome) => drop(reply.send(outcome)),
            Waiting::All(_, reply, outcomes) => drop(reply.send(outcomes)),
        }
    }

    /// The batch did not happen. Even refusals become this error: they may rest on commits that did not happen.
    pub(crate) fn failed(self, error: &CommitError) {
        match self {
            Waiting::One(_, reply, _) => drop(reply.send(Err(error.clone()))),
            Waiting::All(_, reply, outcomes) => drop(reply.send(vec![Err(error.clone()); outcomes.len()])),
        }
    }

    /// The same asked for once more.
    pub(crate) fn again(self) -> Command {
        match self {
            Waiting::One(transaction, reply, _) => Command::Commit { transaction, reply },
            Waiting::All(transactions, reply, _) => Command::CommitAll { transactions, reply },
        }
    }
}

impl Building {
    pub(crate) fn on(state: State) -> Building {
        Building { state, changes: Vec::new(), terms: Draft::default(), replies: Vec::new(), bytes: 0 }
    }

    pub(crate) fn full(&self) -> bool {
        self.changes.len() >= BATCH_OPS || self.bytes >= BATCH_BYTES || self.replies.len() >= BATCH_OPS
    }

    pub(crate) fn add(&mut self, index: &TermIndex, transaction: Transaction, reply: Reply<Committed>) {
        let outcome = self.attempt(index, &transaction);
        self.replies.push(Waiting::One(transaction, reply, outcome));
    }

    /// Adds many, however many: they belong into one batch.
    pub(crate) fn add_all(&mut self, index: &TermIndex, transactions: Vec<Transaction>, reply: ReplyAll) {
        let outcomes = transactions.iter().map(|transaction| self.attempt(index, transaction)).collect();
        self.replies.push(Waiting::All(transactions, reply, outcomes));
    }

    fn attempt(&mut self, index: &TermIndex, transaction: &Transaction) -> Result<Committed, CommitError> {
        let unused = |term, others: &[_]| self.terms.unused(index, &self.state, term, others);
        let holds = |guard: &Guard| self.state.holds(guard, unused);
        if let Some(guard) = transaction.guards.iter().position(|guard| !holds(guard)) {
            return Err(CommitError::Conflict { guard });
        }
        transaction.ops.iter().for_each(|op| self.apply(index, op));
        Ok(Committed { revision: self.state.revision })
    }

    fn apply(&mut self, index: &TermIndex, op: &Op) {
        let revision = self.state.revision.next();
        let (key, after) = match op {
            Op::Put { key, value } => (key.clone(), Some(value.clone())),
            Op::Delete { key } if self.state.map.contains_key(key.as_ref() as &[u8]) => (key.clone(), None),
            Op::Delete { .. } => return,
        };
        self.bytes += key.len() + after.as_ref().map_or(0, |value| value.len());
        let entry = after.as_ref().map(|value| Entry { revision, value: value.clone() });
        let before = self.state.set(&key, entry);
        self.state.revision = revision;
        let change = Change { revision, key, before, after };
        self.terms.add(index, &change);
        self.changes.push(Arc::new(change));
    }
}
