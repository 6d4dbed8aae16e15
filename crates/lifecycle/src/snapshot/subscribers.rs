//! Destruction dependencies: who wants to be told of a life, and whom a life wants to outlive.

use sexton_model::Uid;
use sexton_model::subscription::{Subscription, Target};

use super::bag::Bag;
use super::{LifeId, Snapshot};

impl Snapshot {
    /// Everybody who subscribes to a life, each once, in the order of their ids. A life may subscribe to itself.
    pub fn subscribers_of(&self, life: LifeId) -> Vec<(LifeId, Subscription)> {
        let seen = self.life(life);
        let slot = [self.kinds.get(seen.kind).name, seen.namespace, seen.name];
        let bags = [self.subscribers_by_uid.get(&seen.uid), self.subscribers_by_slot.get(&slot)];
        let mut subscribers: Vec<LifeId> =
            bags.into_iter().flatten().flat_map(Bag::iter).map(|index| self.lives.id(index)).collect();
        if self.subscriptions(life).iter().any(|one| one.target == Target::Own) {
            subscribers.push(life);
        }
        subscribers.sort_unstable();
        subscribers.dedup();
        let heard = |subscriber| Some((subscriber, self.heard_by(subscriber, life)?.clone()));
        subscribers.into_iter().filter_map(heard).collect()
    }

    /// Everybody of whom it is known that it names this life, or its place, as something to hear of. More may do so than
    /// hear of it in the end.
    pub fn may_subscribe(&self, life: LifeId) -> Vec<Uid> {
        let seen = self.life(life);
        let slot = [self.kinds.get(seen.kind).name, seen.namespace, seen.name];
        let bags = [self.subscribers_by_uid.get(&seen.uid), self.subscribers_by_slot.get(&slot)];
        let known = bags.into_iter().flatten().flat_map(Bag::iter).map(|index| self.lives.id(index));
        let mut known: Vec<Uid> = known.chain([life]).map(|life| self.uid(life)).collect();
        known.sort();
        known.dedup();
        known
    }

    /// The subscription by which a life hears of another: one with a handler if there is one.
    fn heard_by(&self, subscriber: LifeId, target: LifeId) -> Option<&Subscription> {
        let uid = self.uid(target).0;
        let matching = || {
            let all = self.subscriptions(subscriber).iter();
            // Most name a uid, and comparing that is quicker than looking up names.
            let may = all.filter(|one| one.uid.as_ref().is_none_or(|named| *named == uid));
            may.filter(|one| self.target_of(subscriber, one) == Some(target))
        };
        matching().find(|one| one.handler.is_some()).or_else(|| matching().next())
    }

    /// Whom a life wants to outlive, each once, in the order of their ids.
    pub fn targets_of(&self, life: LifeId) -> Vec<LifeId> {
        let all = self.subscriptions(life).iter();
        let mut targets: Vec<LifeId> = all.filter_map(|one| self.target_of(life, one)).collect();
        targets.sort_unstable();
        targets.dedup();
        targets
    }

    /// The life that a subscription means now.
    pub fn target_of(&self, subscriber: LifeId, subscription: &Subscription) -> Option<LifeId> {
        let uid = subscription.uid.as_ref();
        let Target::Named { group, kind, namespace, name } = &subscription.target else {
            let same = uid.is_none_or(|uid| self.uid(subscriber).0 == *uid);
            return same.then_some(subscriber);
        };
        let of = self.kinds.find(group, kind)?;
        let own = self.words.text(self.life(subscriber).namespace);
        let places = &self.kinds.by_number(of).places;
        let namespaces = match namespace {
            Some(namespace) => [Some(namespace.as_str()), None],
            None => [Some(own), Some("")],
        };
        let found = namespaces.into_iter().flatten().find_map(|namespace| {
            let (namespace, name) = (self.words.find(namespace)?, self.words.find(name)?);
            places.iter().find_map(|place| self.in_slot(*place, namespace, name))
        })?;
        let right = uid.is_none_or(|uid| self.get(&Uid(uid.clone())) == Some(found));
        (right && self.kinds.get(self.life(found).kind).name == of).then_some(found)
    }
}
