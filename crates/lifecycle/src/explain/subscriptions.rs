//! The subscriptions of an object, in both directions.

use sexton_model::hook::ObjectRef;
use sexton_model::subscription::{Subscription, Target};

use crate::detect::Judgement;
use crate::snapshot::{LifeId, Snapshot};

/// So many are named in each direction; the rest is counted.
const MOST: usize = 5;

/// The subscriptions of an object.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Subscriptions {
    /// What the object subscribes to.
    pub to: Vec<Subscribed>,
    /// How many more targets there are.
    pub more_to: usize,
    /// What subscribes to the object.
    pub by: Vec<Subscribed>,
    /// How many more subscribers there are.
    pub more_by: usize,
}

/// The other side of a subscription.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Subscribed {
    /// The target, or the subscriber.
    pub object: ObjectRef,
    /// The method of the subscriber that hears of it.
    pub handler: Option<String>,
    /// What becomes of the other side.
    pub state: OtherSide,
}

/// What becomes of the other side of a subscription.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OtherSide {
    /// It exists and is not doomed.
    Lives,
    /// It is doomed.
    Doomed,
    /// It does not exist.
    Absent,
}

/// The subscriptions of an object. One to itself is not among them.
pub(super) fn subscriptions(snapshot: &Snapshot, judgement: &Judgement, life: LifeId) -> Subscriptions {
    let state = |other: LifeId| match judgement.dooms(other) {
        true => OtherSide::Doomed,
        false => OtherSide::Lives,
    };
    let to = |one: &Subscription| {
        let target = snapshot.target_of(life, one);
        let object = match target {
            Some(target) => snapshot.object(target),
            None => written(snapshot, life, one)?,
        };
        let state = target.map_or(OtherSide::Absent, state);
        Some(Subscribed { object, handler: one.handler.clone(), state })
    };
    let to: Vec<Subscribed> = snapshot
        .subscriptions(life)
        .iter()
        .filter(|one| snapshot.target_of(life, one) != Some(life))
        .filter_map(to)
        .collect();
    let by = |(other, one): (LifeId, Subscription)| Subscribed {
        object: snapshot.object(other),
        handler: one.handler,
        state: state(other),
    };
    let by: Vec<Subscribed> =
        snapshot.subscribers_of(life).into_iter().filter(|(other, _)| *other != life).map(by).collect();
    let more = |all: &[Subscribed]| all.len().saturating_sub(MOST);
    Subscriptions {
        more_to: more(&to),
        more_by: more(&by),
        to: to.into_iter().take(MOST).collect(),
        by: by.into_iter().take(MOST).collect(),
    }
}

/// A target that does not exist, as it is written.
fn written(snapshot: &Snapshot, life: LifeId, subscription: &Subscription) -> Option<ObjectRef> {
    let Target::Named { group, kind, namespace, name } = &subscription.target else { return None };
    Some(ObjectRef {
        group: group.clone(),
        kind: kind.clone(),
        namespace: namespace.as_deref().unwrap_or(snapshot.namespace(life)).to_owned(),
        name: name.clone(),
        uid: subscription.uid.clone().unwrap_or_default(),
    })
}
