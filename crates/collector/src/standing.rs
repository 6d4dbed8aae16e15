//! The state of terminating objects as seen from outside of a collector: blockers, and steps under way.
//!
//! It is computed from a snapshot and the journals on the objects alone, for commands that wait without a collector
//! of their own. The texts are those of a collector's records.

use std::collections::BTreeSet;

use sexton_lifecycle::destruction::{self, Pending, State};
use sexton_lifecycle::{Detection, NodeId, Snapshot};
use sexton_model::collection::Blocker;

use crate::blockers::{Stuck, blockers};
use crate::hooked::{is_refused, is_refused_whole};
use crate::perform::items::{foreign_finalizers, is_held_by_us};

/// What blocks and what is under way.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Standing {
    /// What blocks.
    pub blockers: Vec<Blocker>,
    /// Objects with a call under way, and its phase.
    pub under_way: Vec<(NodeId, String)>,
    /// The next moment at which something is tried again by itself, in seconds since 1970.
    pub next: Option<i64>,
    /// Objects with calls that are all refused by a class or by settings of the operator. To try again does not help
    /// until one of these is changed.
    pub refused: BTreeSet<NodeId>,
    /// Lives whose calls all wait for a person: refused, vetoed, or failed too often. None is made again by itself.
    pub stopped: BTreeSet<NodeId>,
}

impl Standing {
    pub(crate) fn of(snapshot: &Snapshot, judgement: &Detection) -> Standing {
        let marked = || judgement.doomed.keys().copied().filter(|life| snapshot.is_terminating(*life));
        let finalizers: Vec<NodeId> = marked()
            .filter(|life| !is_held_by_us(snapshot, *life) && !foreign_finalizers(snapshot, *life).is_empty())
            .collect();
        let stuck = Stuck { finalizers, ..Stuck::default() };
        let journal = |life: NodeId| Some((life, State::decode(snapshot.journal(life)?).ok()?));
        let states: Vec<(NodeId, State)> = judgement.doomed.keys().copied().filter_map(journal).collect();
        let steps = states.iter().map(|(life, state)| (*life, state));
        let blockers = blockers(snapshot, judgement, steps, &stuck);
        let under_way = states.iter().filter_map(|(life, state)| Some((*life, asked(state)?)));
        let refused = states.iter().filter(|(_, state)| is_refused_whole(state)).map(|(life, _)| *life);
        let stopped = states.iter().filter(|(_, state)| is_stopped(state)).map(|(life, _)| *life);
        Standing {
            stopped: stopped.collect(),
            refused: refused.collect(),
            blockers: blockers.into_iter().map(|one| one.blocker).collect(),
            under_way: under_way.collect(),
            next: states.iter().filter_map(|(_, state)| destruction::due(state)).min(),
        }
    }

    /// Whether there are blockers, and nothing continues by itself before `until`.
    pub fn is_stuck(&self, until: i64) -> bool {
        !self.blockers.is_empty() && self.is_idle(until)
    }

    /// Whether nothing continues by itself before `until`.
    pub fn is_idle(&self, until: i64) -> bool {
        self.under_way.is_empty() && self.next.is_none_or(|next| next > until)
    }
}

/// Whether nothing of what a life waits for goes on without a person.
fn is_stopped(state: &State) -> bool {
    let stopped = |pending: &Pending| !pending.in_flight && pending.block.is_some() && pending.next.is_none();
    !state.open.is_empty() && state.open.values().all(|pending| stopped(pending) || is_refused(pending))
}

/// Whether a life waits until our collector lets go of it, for example because others have to go before it.
pub fn waits_for_us(snapshot: &Snapshot, life: NodeId) -> bool {
    snapshot.is_terminating(life)
        && is_held_by_us(snapshot, life)
        && foreign_finalizers(snapshot, life).is_empty()
}

/// What a life is in the middle of, in a word or two.
fn asked(state: &State) -> Option<String> {
    let phase = state.phase()?;
    let mut asked = state.open.iter().filter(|(_, pending)| pending.in_flight);
    let (_, first) = asked.next()?;
    let attempt = match first.failures {
        0 => String::new(),
        failures => format!(", attempt {}", failures + 1),
    };
    Some(format!("{}{attempt}", phase.word()))
}
