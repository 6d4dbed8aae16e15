//! The subscriptions of an object, in both directions.

use sexton_model::hook::ObjectRef;
use sexton_model::subscription::{Subscription, Target};

use crate::detect::Detection;
use crate::snapshot::{NodeId, Snapshot};

/// How many subscriptions are shown in each direction; the rest is counted.
const MAX_SHOWN: usize = 5;

/// The subscriptions of an object.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Subscriptions {
    /// What the object subscribes to.
    pub to: Vec<SubscriptionPeer>,
    /// How many more targets there are.
    pub more_to: usize,
    /// What subscribes to the object.
    pub by: Vec<SubscriptionPeer>,
    /// How many more subscribers there are.
    pub more_by: usize,
}

/// The other side of a subscription.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SubscriptionPeer {
    /// The target, or the subscriber.
    pub object: ObjectRef,
    /// The handler of the subscriber, if it has one.
    pub handler: Option<String>,
    /// The state of the other side.
    pub state: PeerState,
}

/// The state of the other side of a subscription.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PeerState {
    /// It exists and is not doomed.
    Lives,
    /// It is doomed.
    Doomed,
    /// It does not exist.
    Absent,
}

/// The subscriptions of an object, without one to itself.
pub(super) fn subscriptions(snapshot: &Snapshot, detection: &Detection, node: NodeId) -> Subscriptions {
    let state = |other: NodeId| match detection.is_doomed(other) {
        true => PeerState::Doomed,
        false => PeerState::Lives,
    };
    let to = |one: &Subscription| {
        let target = snapshot.target_of(node, one);
        let object = match target {
            Some(target) => snapshot.object_ref(target),
            None => written(snapshot, node, one)?,
        };
        let state = target.map_or(PeerState::Absent, state);
        Some(SubscriptionPeer { object, handler: one.handler.clone(), state })
    };
    let to: Vec<SubscriptionPeer> = snapshot
        .subscriptions(node)
        .iter()
        .filter(|one| snapshot.target_of(node, one) != Some(node))
        .filter_map(to)
        .collect();
    let by = |(other, one): (NodeId, Subscription)| SubscriptionPeer {
        object: snapshot.object_ref(other),
        handler: one.handler,
        state: state(other),
    };
    let by: Vec<SubscriptionPeer> =
        snapshot.subscribers_of(node).into_iter().filter(|(other, _)| *other != node).map(by).collect();
    let more = |all: &[SubscriptionPeer]| all.len().saturating_sub(MAX_SHOWN);
    Subscriptions {
        more_to: more(&to),
        more_by: more(&by),
        to: to.into_iter().take(MAX_SHOWN).collect(),
        by: by.into_iter().take(MAX_SHOWN).collect(),
    }
}

/// A target that does not exist, as the subscription names it.
fn written(snapshot: &Snapshot, node: NodeId, subscription: &Subscription) -> Option<ObjectRef> {
    let Target::Named { group, kind, namespace, name } = &subscription.target else { return None };
    Some(ObjectRef {
        group: group.clone(),
        kind: kind.clone(),
        namespace: namespace.as_deref().unwrap_or(snapshot.namespace(node)).to_owned(),
        name: name.clone(),
        uid: subscription.uid.clone().unwrap_or_default(),
    })
}
