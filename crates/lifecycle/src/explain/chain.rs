//! The chain of facts from a dying life to the deletion from which its own follows.

use std::collections::BTreeSet;

use sexton_model::Uid;
use sexton_model::hook::ObjectRef;

use super::name;
use crate::detect::{Cause, Judgement};
use crate::snapshot::{LifeId, Snapshot};

/// Longer chains are cut in the middle: both ends matter, the rest is counted.
const LONGEST: usize = 20;

/// Why one life follows another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// How it follows.
    pub link: Link,
    /// What it follows.
    pub object: ObjectRef,
    /// Whether that is still there.
    pub alive: bool,
    /// So many steps before this one are not told.
    pub omitted: usize,
}

/// How one life follows another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Link {
    /// It is owned by it.
    OwnedBy,
    /// It was owned by it, and that is gone.
    WasOwnedBy,
    /// It is in that namespace.
    In,
    /// That defines its kind.
    DefinedBy,
}

/// From a life to its root. Empty if somebody asked for the end of the life itself.
pub(super) fn chain(snapshot: &Snapshot, judgement: &Judgement, life: LifeId) -> Vec<Step> {
    let (mut chain, mut at, mut seen) = (Vec::new(), life, BTreeSet::new());
    while let Some(finding) = judgement.doomed.get(&at).filter(|_| seen.insert(at)) {
        let (link, next) = match &finding.cause {
            Cause::Asked | Cause::Accused { .. } | Cause::Unreachable | Cause::Removed => break,
            Cause::OwnersGone { uids } => {
                chain.extend(uids.iter().map(|uid| gone(snapshot, at, uid)));
                break;
            }
            Cause::OwnerDoomed { owner } => (Link::OwnedBy, *owner),
            Cause::InNamespace { namespace } => (Link::In, *namespace),
            Cause::OfDefinition { definition } => (Link::DefinedBy, *definition),
        };
        let alive = snapshot.contains(next);
        if !alive {
            break;
        }
        chain.push(Step { link, object: snapshot.object(next), alive, omitted: 0 });
        at = next;
    }
    shortened(chain)
}

/// An owner that is not there any more; the reference still says what it was.
fn gone(snapshot: &Snapshot, life: LifeId, uid: &Uid) -> Step {
    let owners = snapshot.owners(life);
    let written = owners.iter().find(|(reference, _)| reference.uid == *uid);
    let object = match written {
        Some((reference, _)) => name::of_reference(snapshot, reference),
        None => name::of_uid(snapshot, uid),
    };
    Step { link: Link::WasOwnedBy, object, alive: false, omitted: 0 }
}

fn shortened(mut chain: Vec<Step>) -> Vec<Step> {
    if chain.len() > LONGEST {
        let omitted = chain.len() - LONGEST;
        chain.drain(LONGEST / 2..LONGEST / 2 + omitted);
        chain[LONGEST / 2].omitted = omitted;
    }
    chain
}
