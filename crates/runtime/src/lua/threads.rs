//! The state of green threads: which of them run, which wait for which other, and which failed without being joined.
//!
//! A green thread is a coroutine of the script engine; all of them take turns on one thread of the system. A deadlock
//! is found when the wait that closes the circle begins:
//!
//! ```text
//! waits: 1 → thread 2, 2 → collection; thread 3 collects
//! thread 3 joins thread 1: the chain 3 → 1 → 2 → 3 is a Deadlock
//! ```

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::future::poll_fn;
use std::rc::Rc;
use std::task::{Poll, Waker};

use futures::future::LocalBoxFuture;

use super::context::ThreadId;
use super::fault::Fault;

/// The state of one thread, shared with the scripts that can join it.
#[derive(Default)]
pub(super) struct ThreadState {
    over: Cell<bool>,
    joined: Cell<bool>,
    fault: RefCell<Option<Fault>>,
    waiting: RefCell<Vec<Waker>>,
}

impl ThreadState {
    /// Waits for the end of the thread.
    pub(super) async fn over(&self) {
        poll_fn(|cx| {
            if self.over.get() {
                return Poll::Ready(());
            }
            self.waiting.borrow_mut().push(cx.waker().clone());
            Poll::Pending
        })
        .await;
    }

    /// The error of the thread, if it failed.
    pub(super) fn fault(&self) -> Option<Fault> {
        self.fault.borrow().clone()
    }

    /// Notes that the thread is joined, so that its error is not reported elsewhere.
    pub(super) fn join(&self) {
        self.joined.set(true);
    }

    fn end(&self, fault: Option<Fault>) {
        self.fault.replace(fault);
        self.over.set(true);
        self.waiting.take().into_iter().for_each(Waker::wake);
    }
}

/// What a thread waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WaitTarget {
    /// The end of another thread.
    Thread(ThreadId),
    /// The end of the collection that is under way, of any thread.
    Collection,
}

/// All threads of a program except the main thread.
#[derive(Default)]
pub(super) struct Threads {
    last: Cell<ThreadId>,
    running: RefCell<BTreeMap<ThreadId, Rc<ThreadState>>>,
    failed: RefCell<Vec<(ThreadId, Rc<ThreadState>)>>,
    new: RefCell<VecDeque<LocalBoxFuture<'static, ()>>>,
    waits: RefCell<HashMap<ThreadId, WaitTarget>>,
    collecting: Cell<Option<ThreadId>>,
    driven: Cell<bool>,
    given_up: Cell<bool>,
}

/// Notes a wait until it is dropped.
pub(super) struct Wait<'t> {
    threads: &'t Threads,
    waiting: ThreadId,
}

impl Drop for Wait<'_> {
    fn drop(&mut self) {
        self.threads.waits.borrow_mut().remove(&self.waiting);
    }
}

/// Threads that would wait for each other for ever: the chain, with the first thread at its end again.
pub(super) struct Deadlock(pub(super) Vec<ThreadId>);

impl Threads {
    /// Whether a scheduler gives turns to threads.
    pub(super) fn is_driven(&self) -> bool {
        self.driven.get()
    }

    /// Notes whether a scheduler gives turns to threads; returns the value before.
    pub(super) fn drive(&self, driven: bool) -> bool {
        self.driven.replace(driven)
    }

    /// Notes that the run has failed: the threads get no more turns and are not waited for.
    pub(super) fn give_up(&self) {
        self.given_up.set(true);
    }

    /// Whether [`Threads::give_up`] was called.
    pub(super) fn is_given_up(&self) -> bool {
        self.given_up.get()
    }

    /// The number of running threads.
    pub(super) fn count(&self) -> usize {
        self.running.borrow().len()
    }

    /// The number of a new thread.
    pub(super) fn next(&self) -> ThreadId {
        self.last.set(self.last.get() + 1);
        self.last.get()
    }

    /// Adds a thread.
    pub(super) fn begin(&self, id: ThreadId, state: Rc<ThreadState>, run: LocalBoxFuture<'static, ()>) {
        self.running.borrow_mut().insert(id, state);
        self.new.borrow_mut().push_back(run);
    }

    /// The threads that were added since the last call.
    pub(super) fn take_new(&self) -> VecDeque<LocalBoxFuture<'static, ()>> {
        self.new.take()
    }

    /// Notes the end of a thread, and wakes the threads that wait for it.
    pub(super) fn end(&self, id: ThreadId, fault: Option<Fault>) {
        let Some(state) = self.running.borrow_mut().remove(&id) else { return };
        let failed = fault.is_some();
        state.end(fault);
        if failed {
            self.failed.borrow_mut().push((id, state));
        }
    }

    /// The thread that runs a collection, if any.
    pub(super) fn collecting(&self) -> Option<ThreadId> {
        self.collecting.get()
    }

    /// Sets the thread that runs a collection.
    pub(super) fn set_collecting(&self, thread: Option<ThreadId>) {
        self.collecting.set(thread);
    }

    /// Begins a wait of a thread.
    ///
    /// # Errors
    /// If the wait would never end.
    pub(super) fn wait(&self, waiting: ThreadId, what: WaitTarget) -> Result<Wait<'_>, Deadlock> {
        let mut chain = vec![waiting];
        let mut next = self.awaited_thread(what);
        let mut waits = self.waits.borrow_mut();
        // Bounded: without this wait there is no circle, so no thread occurs twice before it.
        while let Some(thread) = next {
            chain.push(thread);
            if thread == waiting || chain.len() > waits.len() + 2 {
                return Err(Deadlock(chain));
            }
            next = waits.get(&thread).and_then(|what| self.awaited_thread(*what));
        }
        waits.insert(waiting, what);
        Ok(Wait { threads: self, waiting })
    }

    /// The thread that has to continue so that a wait can end.
    fn awaited_thread(&self, what: WaitTarget) -> Option<ThreadId> {
        match what {
            WaitTarget::Thread(thread) => Some(thread),
            WaitTarget::Collection => self.collecting.get(),
        }
    }

    /// The errors of threads that were not joined, in the order in which they happened; removes them.
    pub(super) fn unjoined_failures(&self) -> Vec<(ThreadId, Fault)> {
        let failed = self.failed.take();
        let unjoined_failures = failed.into_iter().filter(|(_, state)| !state.joined.get());
        unjoined_failures.filter_map(|(id, state)| Some((id, state.fault()?))).collect()
    }

    /// Drops all threads, at the end of a run.
    pub(super) fn forget(&self) {
        let (new, running) = (self.new.take(), self.running.take());
        drop((new, running));
        self.waits.take();
        self.given_up.set(false);
    }
}
