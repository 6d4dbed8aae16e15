//! Slots for calls: a limit on the calls under way, shared fairly between classes, and between namespaces within a
//! class.
//!
//! A hook may hang until its deadline, so no class gets all slots. A class may have as many slots as would still be
//! free beside it, and one namespace of it as many as are left of that. With 64 slots one class has at most 32, and
//! one namespace of it 22; a second class finds 32 slots, a third 16, and so on, however many calls of the first
//! wait.
//!
//! It must not know what is called.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use sexton_model::class::Run;
use tokio::sync::oneshot;

use crate::settings::Settings;

/// A queue of calls: those of one class in one namespace.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Lane {
    /// Group and kind of the class that has the method.
    pub(crate) class: (String, String),
    /// The namespace of the object that has the method.
    pub(crate) namespace: String,
}

/// A slot of a call under way. Dropping it frees the slot.
#[derive(Debug)]
pub(crate) struct Slot {
    slots: Slots,
    lane: Lane,
}

impl Drop for Slot {
    fn drop(&mut self) {
        self.slots.lock().end(&self.lane);
        self.slots.grant();
    }
}

/// The slots of a collector. Scripts have slots of their own: each has a worker, and the memory of all workers a bound.
#[derive(Debug)]
pub(crate) struct AllSlots {
    calls: Slots,
    scripts: Slots,
}

impl AllSlots {
    /// As many slots as the settings say.
    pub(crate) fn new(settings: &Settings) -> AllSlots {
        let (calls, scripts) = (Slots::new(settings.hooks_at_once), Slots::new(settings.scripts_at_once));
        AllSlots { calls, scripts }
    }

    /// The slots for this kind of method.
    pub(crate) fn of(&self, run: Option<&Run>) -> &Slots {
        if matches!(run, Some(Run::Lua { .. })) { &self.scripts } else { &self.calls }
    }
}

/// A pool of slots. Clones share it.
#[derive(Debug, Clone)]
pub(crate) struct Slots(Arc<Mutex<Queue<oneshot::Sender<Slot>>>>);

impl Slots {
    /// A pool of this size; at least one.
    pub(crate) fn new(total: usize) -> Slots {
        Slots(Arc::new(Mutex::new(Queue::new(total.max(1)))))
    }

    /// Waits for a slot for a call of a lane.
    pub(crate) async fn take(&self, lane: Lane) -> Slot {
        let (grant, granted) = oneshot::channel();
        self.lock().wait(lane.clone(), grant);
        self.grant();
        match granted.await {
            Ok(slot) => slot,
            // The queue exists as long as this pool; if it lost the call nevertheless, the call is made and counted.
            Err(_) => {
                self.lock().begin(&lane);
                Slot { slots: self.clone(), lane }
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, Queue<oneshot::Sender<Slot>>> {
        // No code under this lock can leave a half-changed state.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Grants free slots to waiting calls. If a call was dropped meanwhile, its slot is returned by `Drop`, which
    /// takes the lock; so nothing is sent under the lock.
    fn grant(&self) {
        loop {
            let Some((lane, waiting)) = self.lock().next(|waiting| !waiting.is_closed()) else { return };
            let _ = waiting.send(Slot { slots: self.clone(), lane });
        }
    }
}

/// Which calls are under way, and which wait.
#[derive(Debug)]
struct Queue<W> {
    total: usize,
    running: usize,
    by_class: HashMap<(String, String), usize>,
    by_lane: HashMap<Lane, usize>,
    /// The waiting calls of each lane in the order of their arrival, each with its arrival number.
    waiting: BTreeMap<Lane, VecDeque<(u64, W)>>,
    came: u64,
}

impl<W> Queue<W> {
    fn new(total: usize) -> Queue<W> {
        Queue {
            total,
            running: 0,
            by_class: HashMap::new(),
            by_lane: HashMap::new(),
            waiting: BTreeMap::new(),
            came: 0,
        }
    }

    fn wait(&mut self, lane: Lane, call: W) {
        self.came += 1;
        self.waiting.entry(lane).or_default().push_back((self.came, call));
    }

    fn begin(&mut self, lane: &Lane) {
        self.running += 1;
        *self.by_class.entry(lane.class.clone()).or_default() += 1;
        *self.by_lane.entry(lane.clone()).or_default() += 1;
    }

    fn end(&mut self, lane: &Lane) {
        self.running = self.running.saturating_sub(1);
        count_down(&mut self.by_class, &lane.class);
        count_down(&mut self.by_lane, lane);
    }

    /// How many calls of the class and of the lane are under way.
    fn share(&self, lane: &Lane) -> (usize, usize) {
        let of_class = self.by_class.get(&lane.class).copied().unwrap_or(0);
        (of_class, self.by_lane.get(lane).copied().unwrap_or(0))
    }

    fn may_begin(&self, lane: &Lane) -> bool {
        let free = self.total.saturating_sub(self.running);
        let (of_class, of_lane) = self.share(lane);
        of_lane < free.saturating_sub(of_class)
    }

    /// The next call to grant, counted as running from now on: from the class with the fewest running calls, in it
    /// from the namespace with the fewest, the one that came first. Calls that are not wanted any more are dropped.
    fn next(&mut self, is_wanted: impl Fn(&W) -> bool) -> Option<(Lane, W)> {
        self.waiting.retain(|_, calls| {
            while calls.front().is_some_and(|(_, call)| !is_wanted(call)) {
                calls.pop_front();
            }
            !calls.is_empty()
        });
        let rank = |(lane, calls): &(&Lane, &VecDeque<(u64, W)>)| {
            (self.share(lane), calls.front().map(|(came, _)| *came))
        };
        let ready = self.waiting.iter().filter(|(lane, _)| self.may_begin(lane));
        let lane = ready.min_by_key(rank)?.0.clone();
        let (_, call) = self.waiting.get_mut(&lane)?.pop_front()?;
        self.begin(&lane);
        Some((lane, call))
    }
}

fn count_down<K: std::hash::Hash + Eq>(counts: &mut HashMap<K, usize>, key: &K) {
    if let Some(count) = counts.get_mut(key) {
        *count = count.saturating_sub(1);
        if *count == 0 {
            counts.remove(key);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lane(class: &str, namespace: &str) -> Lane {
        Lane { class: (String::new(), class.to_owned()), namespace: namespace.to_owned() }
    }

    /// Grants all calls that may run now, in order.
    fn begun(queue: &mut Queue<usize>) -> Vec<(String, String, usize)> {
        let next = || queue.next(|_| true).map(|(lane, call)| (lane.class.1, lane.namespace, call));
        std::iter::from_fn(next).collect()
    }

    /// One class has half of the slots, and one namespace of it a third, however many calls wait.
    #[test]
    fn no_class_gets_all() {
        let mut queue = Queue::new(64);
        (0..1_000).for_each(|call| queue.wait(lane("hangs", "a"), call));
        assert_eq!(begun(&mut queue).len(), 22);
        (0..1_000).for_each(|call| queue.wait(lane("hangs", &format!("n{call}")), call));
        let hanging = 22 + begun(&mut queue).len();
        assert_eq!(hanging, 32);
        queue.wait(lane("other", "a"), 1);
        assert_eq!(begun(&mut queue), [("other".into(), "a".into(), 1)], "and another one goes on at once");
    }

    /// Six classes that hang leave room for a seventh.
    #[test]
    fn several_classes_that_hang_leave_room() {
        let mut queue = Queue::new(64);
        for class in 0..6 {
            (0..100).for_each(|call| queue.wait(lane(&class.to_string(), &call.to_string()), call));
            assert!(!begun(&mut queue).is_empty(), "class {class}");
        }
        queue.wait(lane("last", "a"), 0);
        assert_eq!(begun(&mut queue).len(), 1);
    }

    /// A free slot goes to the class with the fewest running calls, in it to the namespace with the fewest, and in
    /// that to the call that came first.
    #[test]
    fn turns_are_fair() {
        let mut queue = Queue::new(3);
        for call in 0..3 {
            queue.wait(lane("many", "a"), call);
        }
        queue.wait(lane("many", "b"), 3);
        queue.wait(lane("few", "a"), 4);
        let first = begun(&mut queue);
        assert_eq!(first, [("many".into(), "a".into(), 0), ("few".into(), "a".into(), 4)]);
        queue.wait(lane("few", "a"), 5);
        queue.end(&lane("many", "a"));
        assert_eq!(begun(&mut queue), [("many".into(), "a".into(), 1)]);
        queue.end(&lane("few", "a"));
        assert_eq!(begun(&mut queue), [("few".into(), "a".into(), 5)]);
        queue.end(&lane("many", "a"));
        queue.end(&lane("few", "a"));
        assert_eq!(begun(&mut queue).len(), 2);
        assert_eq!(queue.running, 2);
    }

    #[test]
    fn one_slot_is_enough_for_all_in_turn() {
        let mut queue = Queue::new(1);
        (0..3).for_each(|call| queue.wait(lane("a", "n"), call));
        for call in 0..3 {
            assert_eq!(begun(&mut queue), [("a".into(), "n".into(), call)]);
            queue.end(&lane("a", "n"));
        }
        assert!(queue.by_class.is_empty() && queue.by_lane.is_empty(), "nothing is kept of what is over");
    }

    /// A call that is dropped while it waits, or when it was just granted, costs no slot.
    #[tokio::test]
    async fn what_is_dropped_gives_its_slot_back() {
        let slots = Slots::new(1);
        let first = slots.take(lane("a", "n")).await;
        let mut second = Box::pin(slots.take(lane("a", "n")));
        let mut third = Box::pin(slots.take(lane("a", "n")));
        assert!(futures::poll!(&mut second).is_pending() && futures::poll!(&mut third).is_pending());
        drop(second);
        drop(first);
        let fourth = slots.take(lane("b", "n"));
        drop(third);
        drop(fourth.await);
        assert_eq!(slots.lock().running, 0);
    }
}
