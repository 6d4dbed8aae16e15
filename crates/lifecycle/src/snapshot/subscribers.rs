//! Subscriptions (destruction dependencies): the subscribers of an object, and the targets of a subscriber.

use sexton_model::Uid;
use sexton_model::subscription::{Subscription, Target};

use super::node_set::NodeSet;
use super::{NodeId, Snapshot};

impl Snapshot {
    /// The subscribers of an object with the subscription that counts, each once, by id. May include the object itself.
    pub fn subscribers_of(&self, node: NodeId) -> Vec<(NodeId, Subscription)> {
        let seen = self.node(node);
        let slot = [self.kinds.get(seen.kind).name, seen.namespace, seen.name];
        let bags = [self.subscribers_by_uid.get(&seen.uid), self.subscribers_by_key.get(&slot)];
        let mut subscribers: Vec<NodeId> =
            bags.into_iter().flatten().flat_map(NodeSet::iter).map(|index| self.nodes.id(index)).collect();
        if self.subscriptions(node).iter().any(|one| one.target == Target::Own) {
            subscribers.push(node);
        }
        subscribers.sort_unstable();
        subscribers.dedup();
        let matching = |subscriber| Some((subscriber, self.matching_subscription(subscriber, node)?.clone()));
        subscribers.into_iter().filter_map(matching).collect()
    }

    /// Uids of all objects with a subscription that may match this object or its key; a superset of
    /// [`Snapshot::subscribers_of`].
    pub fn possible_subscribers(&self, node: NodeId) -> Vec<Uid> {
        let seen = self.node(node);
        let slot = [self.kinds.get(seen.kind).name, seen.namespace, seen.name];
        let bags = [self.subscribers_by_uid.get(&seen.uid), self.subscribers_by_key.get(&slot)];
        let known = bags.into_iter().flatten().flat_map(NodeSet::iter).map(|index| self.nodes.id(index));
        let mut known: Vec<Uid> = known.chain([node]).map(|node| self.uid(node)).collect();
        known.sort();
        known.dedup();
        known
    }

    /// The subscription of an object that matches a target: one with a handler if there is one.
    fn matching_subscription(&self, subscriber: NodeId, target: NodeId) -> Option<&Subscription> {
        let uid = self.uid(target).0;
        let matching = || {
            let all = self.subscriptions(subscriber).iter();
            // Most subscriptions have a uid, and comparing that is quicker than looking up names.
            let may = all.filter(|one| one.uid.as_ref().is_none_or(|named| *named == uid));
            may.filter(|one| self.target_of(subscriber, one) == Some(target))
        };
        matching().find(|one| one.handler.is_some()).or_else(|| matching().next())
    }

    /// The objects that an object subscribes to, each once, by id. They are destroyed before it.
    pub fn targets_of(&self, node: NodeId) -> Vec<NodeId> {
        let all = self.subscriptions(node).iter();
        let mut targets: Vec<NodeId> = all.filter_map(|one| self.target_of(node, one)).collect();
        targets.sort_unstable();
        targets.dedup();
        targets
    }

    /// The object that a subscription matches now.
    pub fn target_of(&self, subscriber: NodeId, subscription: &Subscription) -> Option<NodeId> {
        let uid = subscription.uid.as_ref();
        let Target::Named { group, kind, namespace, name } = &subscription.target else {
            let same = uid.is_none_or(|uid| self.uid(subscriber).0 == *uid);
            return same.then_some(subscriber);
        };
        let of = self.kinds.find(group, kind)?;
        let own = self.interner.text(self.node(subscriber).namespace);
        let resource_ids = &self.kinds.by_number(of).resource_ids;
        let namespaces = match namespace {
            Some(namespace) => [Some(namespace.as_str()), None],
            None => [Some(own), Some("")],
        };
        let found = namespaces.into_iter().flatten().find_map(|namespace| {
            let (namespace, name) = (self.interner.find(namespace)?, self.interner.find(name)?);
            resource_ids.iter().find_map(|resource_id| self.find_by_key(*resource_id, namespace, name))
        })?;
        let right = uid.is_none_or(|uid| self.get(&Uid(uid.clone())) == Some(found));
        (right && self.kinds.get(self.node(found).kind).name == of).then_some(found)
    }
}
