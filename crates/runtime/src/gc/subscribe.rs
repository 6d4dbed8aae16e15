//! Destruction dependencies between objects. Counted per caller and target, kept at the target, keeping neither alive.

use std::rc::Rc;

use sexton_lifecycle::destruction::MAX_SUBSCRIBERS;
use sexton_model::subscription::MAX_ENTRIES;

use super::Gc;
use crate::world::{Handle, ObjectId, ObjectKey, Store, Subscriber};

/// Ids of subscribers of one target may have so many bytes together.
const MAX_SUBSCRIBER_ID_BYTES: usize = 40 * MAX_SUBSCRIBERS;

/// Why a subscription cannot be made or removed. Nothing changes then.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SubscribeError {
    /// It is over for the target.
    #[error("{class} {id} was destroyed: nobody can subscribe to it")]
    Destroyed {
        /// Its class.
        class: String,
        /// Which.
        id: ObjectId,
    },
    /// The caller will hear nothing any more.
    #[error("{0} was destroyed: it cannot subscribe to anything")]
    CallerDestroyed(ObjectId),
    /// The caller has no such method.
    #[error("class {class} has no method {handler} that could hear of it")]
    UnknownHandler {
        /// The class of the caller.
        class: String,
        /// The handler.
        handler: String,
    },
    /// More could not be told.
    #[error("{0} has {MAX_SUBSCRIBERS} subscribers with handlers, and cannot have more")]
    TooMany(ObjectId),
    /// More could not be stored with the caller.
    #[error("{0} has subscribed to {MAX_ENTRIES} others, and cannot to more")]
    TooManyTargets(ObjectId),
    /// They are not of this world.
    #[error("caller and target are not both of this world")]
    Foreign,
}

/// One subscription, as the caller has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Subscription {
    /// Who is subscribed to.
    pub target: ObjectId,
    /// Which method hears of it.
    pub handler: Option<Rc<str>>,
    /// How often it was made.
    pub count: u32,
}

impl Gc {
    /// Subscribes a caller to the destruction of a target: the target goes first, and a handler hears of it. Repeated
    /// calls are one subscription, to be undone as often; the last handler that is named counts.
    ///
    /// # Errors
    /// If one of them is destroyed, or the caller has no such method.
    pub fn subscribe(
        &self,
        caller: &Handle,
        target: &Handle,
        handler: Option<&str>,
    ) -> Result<(), SubscribeError> {
        self.subscribe_times(caller, target, handler, 1)
    }

    /// The same as often as it is counted.
    ///
    /// # Errors
    /// Likewise.
    pub fn subscribe_times(
        &self,
        caller: &Handle,
        target: &Handle,
        handler: Option<&str>,
        times: u32,
    ) -> Result<(), SubscribeError> {
        let world = self.world();
        if !caller.world().is(world) || !target.world().is(world) {
            return Err(SubscribeError::Foreign);
        }
        if target.is_destroyed() || target.init_failed() {
            let class = target.class().name().to_owned();
            return Err(SubscribeError::Destroyed { class, id: target.id() });
        }
        if caller.is_destroyed() || caller.init_failed() {
            return Err(SubscribeError::CallerDestroyed(caller.id()));
        }
        known(caller, handler)?;
        world.write(|store| add(store, caller.key(), target.key(), handler, times))
    }

    /// Undoes one subscription of a caller to a target. More than there are do no harm. A handler needs not be named;
    /// one that is named must exist.
    ///
    /// # Errors
    /// If they are not of this world, or the caller has no such method.
    pub fn unsubscribe(
        &self,
        caller: &Handle,
        target: &Handle,
        handler: Option<&str>,
    ) -> Result<(), SubscribeError> {
        if !caller.world().is(self.world()) || !target.world().is(self.world()) {
            return Err(SubscribeError::Foreign);
        }
        known(caller, handler)?;
        self.world().write(|store| remove(store, caller.key(), target.key()));
        Ok(())
    }

    /// What a caller is subscribed to, by the births of the targets.
    pub fn subscriptions(&self, caller: &Handle) -> Vec<Subscription> {
        self.world().read(|store| subscriptions(store, caller.key()))
    }
}

/// Everything that an object is subscribed to and that is there still.
pub(crate) fn subscriptions(store: &Store, caller: ObjectKey) -> Vec<Subscription> {
    let Some(object) = store.get(caller) else { return Vec::new() };
    let one = |key: ObjectKey| {
        let target = store.get(key)?;
        let known = target.subscriber(caller)?;
        let (handler, count) = (known.handler.clone(), known.count);
        Some((target.sequence, Subscription { target: target.id.clone(), handler, count }))
    };
    let mut all: Vec<(u64, Subscription)> = object.targets().filter_map(one).collect();
    all.sort_by_key(|(sequence, _)| *sequence);
    all.into_iter().map(|(_, one)| one).collect()
}

pub(crate) fn known(caller: &Handle, handler: Option<&str>) -> Result<(), SubscribeError> {
    let Some(handler) = handler else { return Ok(()) };
    let class = caller.class();
    match class.method(handler) {
        Some(_) if !matches!(handler, "init" | "destroy") => Ok(()),
        _ => Err(SubscribeError::UnknownHandler { class: class.name().into(), handler: handler.into() }),
    }
}

pub(crate) fn add(
    store: &mut Store,
    caller: ObjectKey,
    target: ObjectKey,
    handler: Option<&str>,
    times: u32,
) -> Result<(), SubscribeError> {
    let Some(at) = store.get(target) else { return Ok(()) };
    if at.subscriber(caller).is_none()
        && let Some(caller) = store.get(caller)
        && caller.targets().count() >= MAX_ENTRIES
    {
        return Err(SubscribeError::TooManyTargets(caller.id.clone()));
    }
    if handler.is_some() && at.subscriber(caller).is_none_or(|known| known.handler.is_none()) {
        let length = |who: ObjectKey| store.get(who).map_or(0, |object| object.id.as_str().len());
        let (mut count, mut bytes) = (1, length(caller));
        for (who, _) in at.subscribers().filter(|(_, known)| known.handler.is_some()) {
            count += 1;
            bytes += length(who);
        }
        if count > MAX_SUBSCRIBERS || bytes > MAX_SUBSCRIBER_ID_BYTES {
            return Err(SubscribeError::TooMany(at.id.clone()));
        }
    }
    if let Some(object) = store.get_mut(target) {
        let new = || Subscriber { handler: None, count: 0 };
        let known = object.rare_mut().subscribers.entry(caller).or_insert_with(new);
        known.count = known.count.saturating_add(times);
        known.handler = handler.map(Rc::from).or_else(|| known.handler.take());
    }
    if let Some(object) = store.get_mut(caller) {
        object.rare_mut().targets.insert(target);
    }
    store.note_change(caller);
    Ok(())
}

fn remove(store: &mut Store, caller: ObjectKey, target: ObjectKey) {
    let Some(object) = store.get_mut(target).filter(|object| object.subscriber(caller).is_some()) else {
        return;
    };
    let subscribers = &mut object.rare_mut().subscribers;
    match subscribers.get_mut(&caller) {
        Some(known) if known.count > 1 => known.count -= 1,
        _ => {
            subscribers.remove(&caller);
            if let Some(caller) = store.get_mut(caller) {
                caller.rare_mut().targets.remove(&target);
            }
        }
    }
    store.note_change(caller);
}

/// Ends all subscriptions to and of an object.
pub(super) fn end(store: &mut Store, object: ObjectKey) {
    let Some(rare) = store.get_mut(object).and_then(|object| object.rare.as_mut()) else { return };
    let (subscribers, targets) = (std::mem::take(&mut rare.subscribers), std::mem::take(&mut rare.targets));
    for subscriber in subscribers.into_keys() {
        if let Some(subscriber) = store.get_mut(subscriber) {
            subscriber.rare_mut().targets.remove(&object);
        }
    }
    for target in targets {
        if let Some(target) = store.get_mut(target) {
            target.rare_mut().subscribers.remove(&object);
        }
    }
}
