//! The first writes of a round, prepared while another thread checks the plan.
//!
//! [`prepare`] only returns if the plan passed its check. Nothing is sent here.

use sexton_lifecycle::{NodeId, Snapshot};
use sexton_model::bulk::{Action, Item};

use super::{First, Sign, Turns, Writes, first, turns};
use crate::decide::{Decision, Unproved};

/// A smaller plan is checked on the same thread: that takes less time than to start another one.
const WORTH_A_THREAD: usize = 500;

/// The writes that a round makes first, and those after them if there are none.
#[derive(Debug)]
pub(crate) struct Prepared<'a> {
    /// References to remove, and objects to set terminating.
    pub(crate) first: Writes<'a>,
    /// The removals, if there is nothing to write first.
    pub(crate) turns: Option<Turns<'a>>,
}

impl Prepared<'_> {
    /// The result that the first writes have if the server refuses none of them.
    pub(crate) fn hoped(&self) -> First {
        let marks = |(_, item): &(NodeId, &Item)| matches!(item.action, Action::Delete { .. });
        let marked = self.first.each().filter(marks).map(|(life, _)| life).collect();
        First { marked, ..First::default() }
    }
}

/// Checks the plan and makes the first writes.
pub(crate) fn prepare<'a>(
    snapshot: &Snapshot,
    decision: &'a Decision,
    sign: &dyn Sign,
) -> Result<Prepared<'a>, Unproved> {
    std::thread::scope(|scope| {
        let large = decision.plan.len() >= WORTH_A_THREAD;
        let proof = large.then(|| scope.spawn(|| decision.prove(snapshot)));
        let first = first(snapshot, decision, sign);
        let turns = first.is_empty().then(|| turns(snapshot, decision, &First::default(), sign));
        match proof.map(std::thread::ScopedJoinHandle::join) {
            None => decision.prove(snapshot)?,
            Some(Ok(proved)) => proved?,
            Some(Err(panic)) => std::panic::resume_unwind(panic),
        }
        Ok(Prepared { first, turns })
    })
}
