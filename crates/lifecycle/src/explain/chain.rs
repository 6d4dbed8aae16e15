//! The chain of causes from a doomed object to the root of its deletion.

use std::collections::BTreeSet;

use sexton_model::Uid;
use sexton_model::hook::ObjectRef;

use super::naming;
use crate::detect::{Cause, Detection};
use crate::snapshot::{NodeId, Snapshot};

/// Longer chains are cut in the middle: both ends are shown, the rest is counted.
const MAX_CHAIN_STEPS: usize = 20;

/// One step of a chain: the object that is the cause.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChainStep {
    /// How the object before it is related to it.
    pub link: LinkKind,
    /// The cause.
    pub object: ObjectRef,
    /// Whether that still exists.
    pub alive: bool,
    /// How many steps before this one are left out.
    pub omitted: usize,
}

/// How an object is related to the cause of its deletion.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LinkKind {
    /// The cause owns it.
    OwnedBy,
    /// The cause owned it, and is gone.
    WasOwnedBy,
    /// The cause is its namespace.
    In,
    /// The cause is the definition of its kind.
    DefinedBy,
}

/// The chain of an object. Empty if the object itself is the root.
pub(super) fn chain(snapshot: &Snapshot, detection: &Detection, node: NodeId) -> Vec<ChainStep> {
    let (mut chain, mut at, mut seen) = (Vec::new(), node, BTreeSet::new());
    while let Some(finding) = detection.doomed.get(&at).filter(|_| seen.insert(at)) {
        let (link, next) = match &finding.cause {
            Cause::Requested | Cause::Candidate { .. } | Cause::Unreachable | Cause::Removed => break,
            Cause::OwnersGone { uids } => {
                chain.extend(uids.iter().map(|uid| removed_owner(snapshot, at, uid)));
                break;
            }
            Cause::OwnerDoomed { owner } => (LinkKind::OwnedBy, *owner),
            Cause::InNamespace { namespace } => (LinkKind::In, *namespace),
            Cause::OfDefinition { definition } => (LinkKind::DefinedBy, *definition),
        };
        let alive = snapshot.contains(next);
        if !alive {
            break;
        }
        chain.push(ChainStep { link, object: snapshot.object_ref(next), alive, omitted: 0 });
        at = next;
    }
    shortened(chain)
}

/// The step to a removed owner; the reference still says what it was.
fn removed_owner(snapshot: &Snapshot, node: NodeId, uid: &Uid) -> ChainStep {
    let owners = snapshot.owners(node);
    let written = owners.iter().find(|(reference, _)| reference.uid == *uid);
    let object = match written {
        Some((reference, _)) => naming::of_reference(snapshot, reference),
        None => naming::of_uid(snapshot, uid),
    };
    ChainStep { link: LinkKind::WasOwnedBy, object, alive: false, omitted: 0 }
}

fn shortened(mut chain: Vec<ChainStep>) -> Vec<ChainStep> {
    if chain.len() > MAX_CHAIN_STEPS {
        let omitted = chain.len() - MAX_CHAIN_STEPS;
        chain.drain(MAX_CHAIN_STEPS / 2..MAX_CHAIN_STEPS / 2 + omitted);
        chain[MAX_CHAIN_STEPS / 2].omitted = omitted;
    }
    chain
}
