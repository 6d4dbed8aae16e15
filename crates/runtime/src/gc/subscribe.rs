//! Destruction dependencies: subscriptions of one object to the destruction of another.
//!
//! A subscription of `caller` to `target` means: `target` is destroyed before `caller`, and `caller`'s handler (if it
//! names one) is called for it. Subscriptions are counted per pair and stored at both ends; they keep neither object
//! alive.
//!
//! ```text
//! subscribe(net, vm, "vmGone")   vm.subscribers = {net: vmGone ×1}   net.targets = {vm}
//! subscribe(net, vm, nil)        vm.subscribers = {net: vmGone ×2}
//! unsubscribe(net, vm)           vm.subscribers = {net: vmGone ×1}
//! ```

use std::rc::Rc;

use sexton_lifecycle::destruction::MAX_SUBSCRIBERS;
use sexton_model::subscription::MAX_ENTRIES;

use super::Gc;
use crate::world::{Handle, ObjectId, ObjectKey, Store, Subscriber};

/// The ids of all subscribers with handlers of one target may take this many bytes together.
const MAX_SUBSCRIBER_ID_BYTES: usize = 40 * MAX_SUBSCRIBERS;

/// Why a subscription cannot be made or removed. Nothing is changed in that case.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SubscribeError {
    /// The target was destroyed.
    #[error("{class} {id} was destroyed: nobody can subscribe to it")]
    Destroyed {
        /// The class of the target.
        class: String,
        /// Its id.
        id: ObjectId,
    },
    /// The caller was destroyed.
    #[error("{0} was destroyed: it cannot subscribe to anything")]
    CallerDestroyed(ObjectId),
    /// The caller's class has no such method, or it is `init` or `destroy`.
    #[error("class {class} has no method {handler} that could hear of it")]
    UnknownHandler {
        /// The class of the caller.
        class: String,
        /// The name of the handler.
        handler: String,
    },
    /// The target has the maximum number of subscribers with handlers.
    #[error("{0} has {MAX_SUBSCRIBERS} subscribers with handlers, and cannot have more")]
    TooMany(ObjectId),
    /// The caller has the maximum number of targets; more could not be stored with it.
    #[error("{0} has subscribed to {MAX_ENTRIES} others, and cannot to more")]
    TooManyTargets(ObjectId),
    /// Caller or target belongs to another world.
    #[error("caller and target are not both of this world")]
    Foreign,
}

/// A subscription, from the caller's point of view.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Subscription {
    /// The object that it is subscribed to.
    pub target: ObjectId,
    /// The method that is called, if any.
    pub handler: Option<Rc<str>>,
    /// How often `subscribe` was called for it, minus `unsubscribe`.
    pub count: u32,
}

impl Gc {
    /// Subscribes a caller to the destruction of a target: the target is destroyed first, and the handler is called for
    /// it. Repeated calls are counted as one subscription, and have to be undone as often; the last handler that is
    /// named wins.
    ///
    /// # Errors
    /// See [`SubscribeError`].
    pub fn subscribe(
        &self,
        caller: &Handle,
        target: &Handle,
        handler: Option<&str>,
    ) -> Result<(), SubscribeError> {
        self.subscribe_times(caller, target, handler, 1)
    }

    /// Calls [`Gc::subscribe`] `times` times.
    ///
    /// # Errors
    /// See [`SubscribeError`].
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

    /// Undoes one [`Gc::subscribe`]; without a subscription it does nothing. The handler needs not be named; one that
    /// is named must exist.
    ///
    /// # Errors
    /// If one belongs to another world, or the caller has no such method.
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

    /// The subscriptions of a caller, in creation order of the targets.
    pub fn subscriptions(&self, caller: &Handle) -> Vec<Subscription> {
        self.world().read(|store| subscriptions(store, caller.key()))
    }
}

/// The subscriptions of an object to targets that still exist, in creation order of the targets.
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

/// Checks that a handler, if named, is a method of the caller that may be called as one.
pub(crate) fn known(caller: &Handle, handler: Option<&str>) -> Result<(), SubscribeError> {
    let Some(handler) = handler else { return Ok(()) };
    let class = caller.class();
    match class.method(handler) {
        Some(_) if !matches!(handler, "init" | "destroy") => Ok(()),
        _ => Err(SubscribeError::UnknownHandler { class: class.name().into(), handler: handler.into() }),
    }
}

/// Adds subscriptions; both objects are checked by the caller of this function.
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
        let length = |key: ObjectKey| store.get(key).map_or(0, |object| object.id.as_str().len());
        let (mut count, mut bytes) = (1, length(caller));
        for (key, _) in at.subscribers().filter(|(_, known)| known.handler.is_some()) {
            count += 1;
            bytes += length(key);
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

/// Takes one subscription off.
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
