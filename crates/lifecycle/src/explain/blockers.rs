//! What keeps a dying object, apart from those that must go before it: each with what remedies it.

use sexton_model::hook::ObjectRef;
use sexton_model::{GroupResource, Uid, marks};

use super::doomed::journal_of;
use super::{Remedy, naming};
use crate::destruction::{self, Block, Callee, Phase, State};
use crate::detect::{Detection, WhyExcluded};
use crate::snapshot::{NodeId, Snapshot};

/// Something that blocks the destruction of an object, apart from objects that must go first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Blocker {
    /// What it is.
    pub obstacle: Obstacle,
    /// Since when it blocks, in seconds since 1970.
    pub since: Option<i64>,
    /// When it is retried automatically.
    pub next_attempt: Option<i64>,
    /// The commands that clear it, the least destructive first.
    pub remedies: Vec<Remedy>,
}

/// The kinds of blockers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Obstacle {
    /// A finalizer of another program.
    Finalizer {
        /// Its name.
        name: String,
    },
    /// A method that failed, vetoed, or does not exist.
    Call {
        /// The object's own `destroy`, or a subscriber's handler.
        callee: Callee,
        /// The subscriber; `None` for `destroy`.
        subscriber: Option<ObjectRef>,
        /// The phase in which it is called.
        phase: Phase,
        /// Why it does not proceed; `None` while it failed and is retried automatically.
        block: Option<Block>,
        /// How often it failed.
        failures: u32,
        /// The last error or reason.
        error: String,
    },
    /// An object that would have to be destroyed first, and is excluded.
    Excluded {
        /// That object.
        object: ObjectRef,
        /// Why it is excluded.
        why: WhyExcluded,
    },
    /// A class with objects that survive.
    InUse {
        /// One of them.
        object: ObjectRef,
        /// How many more there are.
        others: usize,
    },
    /// A kind that cannot be listed, so objects of it may have to be destroyed first.
    NotListed {
        /// The kind.
        kind: GroupResource,
        /// Why not.
        reason: String,
    },
    /// The journal of its destruction cannot be read, so the destruction does not proceed.
    Journal {
        /// What is wrong with it.
        error: String,
    },
}

/// All blockers of a doomed object.
pub(super) fn blockers(snapshot: &Snapshot, detection: &Detection, node: NodeId) -> Vec<Blocker> {
    let mut all = own(snapshot, node);
    let exclusions = detection.exclusions.iter().filter(|exclusion| exclusion.blocks == Some(node));
    all.extend(exclusions.map(|exclusion| excluded(snapshot, exclusion.node, &exclusion.why)));
    let mut users = snapshot.objects_of_class(node).filter(|user| !detection.is_doomed(*user));
    if let Some(user) = users.next() {
        let (object, others) = (snapshot.object_ref(user), users.count());
        all.push(Blocker {
            obstacle: Obstacle::InUse { object: object.clone(), others },
            since: snapshot.terminating_since(node),
            next_attempt: None,
            remedies: vec![Remedy::Delete { object }],
        });
    }
    all
}

/// The blockers that the object itself shows: calls in its journal, finalizers, kinds that cannot be listed.
pub(super) fn own(snapshot: &Snapshot, node: NodeId) -> Vec<Blocker> {
    let mut all = match journal_of(snapshot, node) {
        Some(Ok(state)) => calls(snapshot, node, &state),
        Some(Err(error)) => vec![unreadable(snapshot, node, &error)],
        None => Vec::new(),
    };
    // Other programs remove their finalizers only from terminating objects.
    if snapshot.is_terminating(node) {
        let foreign = snapshot.finalizers(node).filter(|finalizer| !marks::is_ours(finalizer));
        all.extend(foreign.map(|name| finalizer(snapshot, node, name)));
    }
    all.extend(not_listed(snapshot, node));
    all
}

fn calls(snapshot: &Snapshot, node: NodeId, state: &State) -> Vec<Blocker> {
    let object = snapshot.object_ref(node);
    let blocker_of = |blocker: destruction::BlockedCall| {
        let subscriber = match &blocker.callee {
            Callee::Destroy => None,
            Callee::Subscriber(uid) => Some(naming::of_uid(snapshot, &Uid(uid.clone()))),
        };
        let (retry, force) = (
            Remedy::Retry { object: object.clone() },
            Remedy::Force { object: object.clone(), blocker: blocker.callee.to_string() },
        );
        Blocker {
            since: Some(blocker.since),
            next_attempt: blocker.next,
            remedies: vec![retry, force],
            obstacle: Obstacle::Call {
                failures: state.open.get(&blocker.callee).map_or(0, |pending| pending.failures),
                callee: blocker.callee,
                subscriber,
                phase: blocker.phase,
                block: blocker.block,
                error: blocker.reason,
            },
        }
    };
    destruction::blocked_calls(state).into_iter().map(blocker_of).collect()
}

fn unreadable(snapshot: &Snapshot, node: NodeId, error: &destruction::BadJournal) -> Blocker {
    let again =
        Remedy::Force { object: snapshot.object_ref(node), blocker: destruction::UNREADABLE.to_owned() };
    Blocker {
        obstacle: Obstacle::Journal { error: error.to_string() },
        since: None,
        next_attempt: None,
        remedies: vec![again],
    }
}

fn finalizer(snapshot: &Snapshot, node: NodeId, name: &str) -> Blocker {
    let blocker = format!("finalizer:{name}");
    Blocker {
        obstacle: Obstacle::Finalizer { name: name.to_owned() },
        since: snapshot.terminating_since(node),
        next_attempt: None,
        remedies: vec![Remedy::Force { object: snapshot.object_ref(node), blocker }],
    }
}

fn excluded(snapshot: &Snapshot, node: NodeId, why: &WhyExcluded) -> Blocker {
    let object = snapshot.object_ref(node);
    let remedies = remedies(snapshot, node, why);
    Blocker {
        obstacle: Obstacle::Excluded { object, why: why.clone() },
        since: None,
        next_attempt: None,
        remedies,
    }
}

/// The commands that let an excluded object be destroyed.
pub(super) fn remedies(snapshot: &Snapshot, node: NodeId, why: &WhyExcluded) -> Vec<Remedy> {
    match why {
        // A kind can be protected by settings: no command changes that.
        WhyExcluded::Protected(_) if snapshot.protection(node).is_none() => Vec::new(),
        WhyExcluded::Protected(_) => {
            vec![Remedy::Unprotect { key: snapshot.key(node) }]
        }
        WhyExcluded::NotApproved(_) | WhyExcluded::NotInPlan => {
            vec![Remedy::Delete { object: snapshot.object_ref(node) }]
        }
    }
}

/// Kinds that cannot be listed completely, if the object is a container of such objects.
fn not_listed(snapshot: &Snapshot, node: NodeId) -> Vec<Blocker> {
    let own = snapshot.name(node);
    let could_hold = |kind: &GroupResource| {
        snapshot.is_namespace(node)
            || (snapshot.is_definition(node) && own == format!("{}.{}", kind.resource, kind.group))
    };
    let kinds = snapshot.incomplete().iter().filter(|(kind, _)| could_hold(kind));
    kinds
        .map(|(kind, reason)| Blocker {
            obstacle: Obstacle::NotListed { kind: kind.clone(), reason: reason.clone() },
            since: None,
            next_attempt: None,
            remedies: Vec::new(),
        })
        .collect()
}
