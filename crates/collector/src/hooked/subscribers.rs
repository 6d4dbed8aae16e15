//! The subscribers of an object that are to be called, and the method of each.

use std::collections::BTreeSet;
use std::sync::Arc;

use sexton_lifecycle::destruction::{Callee, State, Subscriber};
use sexton_lifecycle::{NodeId, Snapshot};
use sexton_model::class::{Class, Method};

use crate::view::Classes;

/// The subscribers of an object that can be called: destroyed ones run no method any more.
pub(crate) fn subscribers(snapshot: &Snapshot, life: NodeId) -> Vec<Subscriber> {
    snapshot
        .subscribers_of(life)
        .into_iter()
        .filter(|(subscriber, _)| !snapshot.is_destroyed(*subscriber))
        .map(|(subscriber, subscription)| Subscriber {
            uid: snapshot.uid(subscriber).0,
            has_handler: subscription.handler.is_some(),
        })
        .collect()
}

/// The handler with which a subscriber is called: name, method, and the class that has it.
///
/// # Errors
/// What is missing, in words.
pub(crate) fn handler_of(
    snapshot: &Snapshot,
    classes: &Classes,
    life: NodeId,
    subscriber: NodeId,
) -> Result<(String, Method, Arc<Class>), String> {
    let all = snapshot.subscribers_of(life);
    let found = all.into_iter().find(|(other, _)| *other == subscriber);
    let handler =
        found.and_then(|(_, subscription)| subscription.handler).ok_or("the subscription is gone")?;
    let kind = snapshot.kind(subscriber);
    if let Some(why) = classes.broken(snapshot.group(subscriber), kind) {
        return Err(why.to_owned());
    }
    let Some(class) = classes.of(snapshot.group(subscriber), kind) else {
        return Err(format!("there is no class for {kind}, which would have the handler {handler}"));
    };
    match class.handlers.get(&handler) {
        Some(method) => Ok((handler, method.clone(), class.clone())),
        None => Err(format!("the class of {kind} has no handler {handler}")),
    }
}

/// The uids of subscribers with an open call that cannot answer any more: gone, unsubscribed, or destroyed.
pub(super) fn left(snapshot: &Snapshot, life: NodeId, state: &State) -> Vec<String> {
    let open: Vec<&String> = state
        .open
        .keys()
        .filter_map(|callee| match callee {
            Callee::Subscriber(uid) => Some(uid),
            Callee::Destroy => None,
        })
        .collect();
    if open.is_empty() {
        return Vec::new();
    }
    let here: BTreeSet<String> = subscribers(snapshot, life).into_iter().map(|one| one.uid).collect();
    open.into_iter().filter(|uid| !here.contains(*uid)).cloned().collect()
}
