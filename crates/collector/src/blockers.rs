//! What blocks the destruction of objects: the blocker, how to clear it, and by which command.

use sexton_lifecycle::destruction::{self, Block, Callee};
use sexton_lifecycle::{Detection, NodeId, Snapshot, WhyExcluded};
use sexton_model::collection::Blocker;
use sexton_model::{Uid, time};

use crate::perform::items::foreign_finalizers;

/// Objects that cannot be removed by this collector.
#[derive(Debug, Default)]
pub(crate) struct Stuck {
    /// Held by finalizers of other controllers.
    pub(crate) finalizers: Vec<NodeId>,
    /// Waiting for an object that is not doomed, each with that one.
    pub(crate) kept: Vec<(NodeId, NodeId)>,
    /// Others, each with the reason in words.
    pub(crate) others: Vec<(NodeId, String)>,
}

/// A blocker of a collection.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct InTheWay {
    /// The root of the collection.
    pub(crate) root: Uid,
    pub(crate) blocker: Blocker,
    pub(crate) sort: Sort,
}

/// The sort of a blocker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sort {
    /// A method of a class failed this often.
    Failed(u32),
    /// Protection, or an approved plan that does not contain the object.
    Held,
    /// All others: finalizers, objects that stay, a method that vetoes.
    Other,
}

/// All blockers, each with the root of its collection.
pub(crate) fn blockers<'a>(
    snapshot: &Snapshot,
    judgement: &Detection,
    steps: impl Iterator<Item = (NodeId, &'a destruction::State)>,
    stuck: &Stuck,
) -> Vec<InTheWay> {
    let mut all = Vec::new();
    let of = |root: Uid, blocker: Blocker| InTheWay { root, blocker, sort: Sort::Other };
    let root = |life: NodeId| judgement.doomed.get(&life).map(|finding| finding.root.clone());
    for life in &stuck.finalizers {
        let Some(root) = root(*life) else { continue };
        for finalizer in foreign_finalizers(snapshot, *life) {
            all.push(of(root.clone(), of_finalizer(snapshot, *life, &finalizer)));
        }
    }
    let told = |life: NodeId, reason: &str| {
        let (object, since) = (snapshot.object_ref(life), snapshot.terminating_since(life).map(time::format));
        Blocker { object, reason: reason.to_owned(), since, ..Blocker::default() }
    };
    for (life, why) in &stuck.others {
        all.extend(root(*life).map(|root| of(root, told(*life, why))));
    }
    for (life, stays) in &stuck.kept {
        let held = judgement.exclusions.iter().any(|hold| hold.blocks == Some(*life))
            || snapshot.objects_of_class(*life).next().is_some();
        if let Some(root) = root(*life).filter(|_| !held) {
            all.push(of(root, of_staying(snapshot, *life, *stays)));
        }
    }
    for hold in &judgement.exclusions {
        let Some(keeps) = hold.blocks else { continue };
        let Some(root) = root(keeps) else { continue };
        let blocker = of_hold(snapshot, keeps, hold.node, &hold.why);
        all.push(InTheWay { sort: Sort::Held, ..of(root, blocker) });
    }
    for (life, finding) in &judgement.doomed {
        let mut users = snapshot.objects_of_class(*life).filter(|user| !judgement.is_doomed(*user));
        if let Some(user) = users.next() {
            all.push(of(finding.root.clone(), of_class(snapshot, *life, user, users.count())));
        }
    }
    for (life, state) in steps {
        let Some(root) = root(life) else { continue };
        for blocker in destruction::blocked_calls(state) {
            let sort = sort_of(state, &blocker);
            all.push(InTheWay { sort, ..of(root.clone(), of_step(snapshot, life, &blocker)) });
        }
    }
    all
}

fn sort_of(state: &destruction::State, blocker: &destruction::BlockedCall) -> Sort {
    let failures = state.open.get(&blocker.callee).map_or(0, |pending| pending.failures);
    match &blocker.block {
        None | Some(Block::Failed | Block::Missing) => Sort::Failed(failures.max(1)),
        Some(Block::Veto | Block::Blocked { .. }) => Sort::Other,
    }
}

fn of_finalizer(snapshot: &Snapshot, life: NodeId, finalizer: &str) -> Blocker {
    let object = snapshot.object_ref(life);
    Blocker {
        who: Some(format!("whoever serves the finalizer {finalizer}")),
        what: Some(format!("finalizer:{finalizer}")),
        reason: format!("held by the finalizer {finalizer}"),
        since: snapshot.terminating_since(life).map(time::format),
        clears: Some(force(&object.to_string(), &format!("finalizer:{finalizer}"))),
        object,
        ..Blocker::default()
    }
}

fn of_staying(snapshot: &Snapshot, life: NodeId, stays: NodeId) -> Blocker {
    let name = snapshot.object_ref(stays).to_string();
    Blocker {
        object: snapshot.object_ref(life),
        reason: format!("{name} needs it, and is not to be destroyed"),
        clears: Some(format!("sexton delete {name}")),
        waits_for: Some(name),
        since: snapshot.terminating_since(life).map(time::format),
        ..Blocker::default()
    }
}

fn of_hold(snapshot: &Snapshot, keeps: NodeId, held: NodeId, why: &WhyExcluded) -> Blocker {
    let name = snapshot.object_ref(held).to_string();
    let (reason, clears) = match why {
        WhyExcluded::Protected(text) if text == "true" => {
            (format!("{name} is protected"), format!("sexton unprotect {name}"))
        }
        WhyExcluded::Protected(text) => {
            (format!("{name} is protected: {text}"), format!("sexton unprotect {name}"))
        }
        WhyExcluded::NotApproved(digest) => (
            format!("{name} was not in the plan {digest} that was approved"),
            format!("sexton delete {name}"),
        ),
        WhyExcluded::NotInPlan => {
            (format!("{name} is not in the plan that is carried out"), format!("sexton delete {name}"))
        }
    };
    Blocker {
        object: snapshot.object_ref(keeps),
        waits_for: Some(name),
        reason,
        clears: Some(clears),
        ..Blocker::default()
    }
}

fn of_class(snapshot: &Snapshot, class: NodeId, user: NodeId, others: usize) -> Blocker {
    let name = snapshot.object_ref(user).to_string();
    let more = if others == 0 { String::new() } else { format!(" and {others} more") };
    Blocker {
        object: snapshot.object_ref(class),
        reason: format!("in use by {name}{more}"),
        since: snapshot.terminating_since(class).map(time::format),
        clears: Some(format!("sexton delete {name}")),
        waits_for: Some(name),
        ..Blocker::default()
    }
}

fn of_step(snapshot: &Snapshot, life: NodeId, blocker: &destruction::BlockedCall) -> Blocker {
    let object = snapshot.object_ref(life);
    let who = match &blocker.callee {
        Callee::Destroy => "its destroy method".to_owned(),
        Callee::Subscriber(uid) => snapshot
            .get(&Uid(uid.clone()))
            .map_or_else(|| uid.clone(), |subscriber| snapshot.object_ref(subscriber).to_string()),
    };
    let what = match &blocker.block {
        Some(Block::Veto) => "said no",
        Some(Block::Blocked { .. }) => "is blocked",
        Some(Block::Failed) => "failed too often",
        Some(Block::Missing) => "does not exist",
        None => "failed",
    };
    let by = match &blocker.block {
        Some(Block::Blocked { by }) if !by.is_empty() => format!(" by {by}"),
        _ => String::new(),
    };
    Blocker {
        reason: match &blocker.callee {
            Callee::Destroy => format!("{who} {what}{by}: {}", blocker.reason),
            Callee::Subscriber(_) => {
                format!("{} {who} {what}{by}: {}", blocker.phase.word(), blocker.reason)
            }
        },
        who: Some(who),
        what: Some(blocker.callee.to_string()),
        since: Some(time::format(blocker.since)),
        next: blocker.next.map(time::format),
        clears: Some(force(&object.to_string(), &blocker.callee.to_string())),
        object,
        waits_for: None,
    }
}

fn force(object: &str, what: &str) -> String {
    format!("sexton force {object} --blocker {what} --reason \"…\"")
}
