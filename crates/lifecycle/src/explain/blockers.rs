//! What keeps a dying life, apart from those that must go before it: each with what clears it.

use sexton_model::hook::ObjectRef;
use sexton_model::{GroupResource, Uid, marks};

use super::dying::journal_of;
use super::{Remedy, name};
use crate::destruction::{self, Block, Callee, Phase, State};
use crate::detect::{Judgement, WhyHeld};
use crate::snapshot::{LifeId, Snapshot};

/// Something that is in the way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Blocker {
    /// What.
    pub what: Obstacle,
    /// Since when, in seconds since 1970.
    pub since: Option<i64>,
    /// When it is asked again by itself.
    pub next: Option<i64>,
    /// What can be typed about it, the gentler first.
    pub clears: Vec<Remedy>,
}

/// What can be in the way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Obstacle {
    /// A finalizer of somebody else.
    Finalizer {
        /// Its name.
        name: String,
    },
    /// A method that failed, said no, or does not exist.
    Call {
        /// Whose: the life's own `destroy`, or a subscriber's handler.
        callee: Callee,
        /// The subscriber; nobody for `destroy`.
        subscriber: Option<ObjectRef>,
        /// What it is called for.
        phase: Phase,
        /// What about it; nothing while it failed and is repeated by itself.
        block: Option<Block>,
        /// How often it failed.
        failures: u32,
        /// The last error or reason.
        error: String,
    },
    /// A life that would have to go before and must not.
    Spared {
        /// That life.
        object: ObjectRef,
        /// Why it must not.
        why: WhyHeld,
    },
    /// A class of which objects live on.
    InUse {
        /// One of them.
        object: ObjectRef,
        /// How many more there are.
        others: usize,
    },
    /// Not everything that would have to go before can be seen.
    Unseen {
        /// Of which kind.
        kind: GroupResource,
        /// Why not.
        reason: String,
    },
    /// The journal of its destruction cannot be read, so nothing is done.
    Journal {
        /// What is wrong with it.
        error: String,
    },
}

/// Everything that keeps a dying life, apart from those that must go before it.
pub(super) fn blockers(snapshot: &Snapshot, judgement: &Judgement, life: LifeId) -> Vec<Blocker> {
    let mut all = own(snapshot, life);
    let holds = judgement.holds.iter().filter(|hold| hold.keeps == Some(life));
    all.extend(holds.map(|hold| spared(snapshot, hold.life, &hold.why)));
    let mut users = snapshot.users_of(life).filter(|user| !judgement.dooms(*user));
    if let Some(user) = users.next() {
        let (object, others) = (snapshot.object(user), users.count());
        all.push(Blocker {
            what: Obstacle::InUse { object: object.clone(), others },
            since: snapshot.deleted(life),
            next: None,
            clears: vec![Remedy::Delete { object }],
        });
    }
    all
}

/// What can be seen on the life itself.
pub(super) fn own(snapshot: &Snapshot, life: LifeId) -> Vec<Blocker> {
    let mut all = match journal_of(snapshot, life) {
        Some(Ok(state)) => calls(snapshot, life, &state),
        Some(Err(error)) => vec![unreadable(snapshot, life, &error)],
        None => Vec::new(),
    };
    // While it is not marked, nobody can know that it is to take its finalizer off.
    if snapshot.is_marked(life) {
        let foreign = snapshot.finalizers(life).filter(|finalizer| !marks::is_ours(finalizer));
        all.extend(foreign.map(|finalizer| held(snapshot, life, finalizer)));
    }
    all.extend(unseen(snapshot, life));
    all
}

fn calls(snapshot: &Snapshot, life: LifeId, state: &State) -> Vec<Blocker> {
    let object = snapshot.object(life);
    let told = |blocker: destruction::Blocker| {
        let subscriber = match &blocker.who {
            Callee::Destroy => None,
            Callee::Subscriber(uid) => Some(name::of_uid(snapshot, &Uid(uid.clone()))),
        };
        let (retry, force) = (
            Remedy::Retry { object: object.clone() },
            Remedy::Force { object: object.clone(), blocker: blocker.who.to_string() },
        );
        Blocker {
            since: Some(blocker.since),
            next: blocker.next,
            clears: vec![retry, force],
            what: Obstacle::Call {
                failures: state.open.get(&blocker.who).map_or(0, |pending| pending.failures),
                callee: blocker.who,
                subscriber,
                phase: blocker.phase,
                block: blocker.what,
                error: blocker.reason,
            },
        }
    };
    destruction::blockers(state).into_iter().map(told).collect()
}

fn unreadable(snapshot: &Snapshot, life: LifeId, error: &destruction::BadJournal) -> Blocker {
    let again = Remedy::Force { object: snapshot.object(life), blocker: destruction::UNREADABLE.to_owned() };
    Blocker {
        what: Obstacle::Journal { error: error.to_string() },
        since: None,
        next: None,
        clears: vec![again],
    }
}

fn held(snapshot: &Snapshot, life: LifeId, finalizer: &str) -> Blocker {
    let blocker = format!("finalizer:{finalizer}");
    Blocker {
        what: Obstacle::Finalizer { name: finalizer.to_owned() },
        since: snapshot.deleted(life),
        next: None,
        clears: vec![Remedy::Force { object: snapshot.object(life), blocker }],
    }
}

fn spared(snapshot: &Snapshot, life: LifeId, why: &WhyHeld) -> Blocker {
    let object = snapshot.object(life);
    let clears = clears(snapshot, life, why);
    Blocker { what: Obstacle::Spared { object, why: why.clone() }, since: None, next: None, clears }
}

/// What can be typed about somebody who would die and must not.
pub(super) fn clears(snapshot: &Snapshot, life: LifeId, why: &WhyHeld) -> Vec<Remedy> {
    match why {
        // A kind can be protected by settings: there is nothing to type about that here.
        WhyHeld::Protected(_) if snapshot.protect(life).is_none() => Vec::new(),
        WhyHeld::Protected(_) => {
            vec![Remedy::Unprotect { key: snapshot.key(life) }]
        }
        WhyHeld::NotApproved(_) | WhyHeld::NotInPlan => {
            vec![Remedy::Delete { object: snapshot.object(life) }]
        }
    }
}

/// Kinds that are not seen completely, if objects of them could be inside.
fn unseen(snapshot: &Snapshot, life: LifeId) -> Vec<Blocker> {
    let own = snapshot.name(life);
    let could_hold = |kind: &GroupResource| {
        snapshot.is_namespace(life)
            || (snapshot.is_definition(life) && own == format!("{}.{}", kind.resource, kind.group))
    };
    let kinds = snapshot.incomplete().iter().filter(|(kind, _)| could_hold(kind));
    kinds
        .map(|(kind, reason)| Blocker {
            what: Obstacle::Unseen { kind: kind.clone(), reason: reason.clone() },
            since: None,
            next: None,
            clears: Vec::new(),
        })
        .collect()
}
