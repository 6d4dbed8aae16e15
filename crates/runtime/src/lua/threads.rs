//! Green threads: who runs, who waits for whom, and whose error nobody has heard.
//!
//! A thread is a coroutine of the script engine; all of them take turns on one thread of the system. Threads that wait
//! for each other are found when the last of them begins to wait.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::future::poll_fn;
use std::rc::Rc;
use std::task::{Poll, Waker};

use futures::future::LocalBoxFuture;

use super::context::ThreadId;
use super::fault::Fault;

/// How a thread stands.
#[derive(Default)]
pub(super) struct ThreadState {
    over: Cell<bool>,
    joined: Cell<bool>,
    fault: RefCell<Option<Fault>>,
    waiting: RefCell<Vec<Waker>>,
}

impl ThreadState {
    /// Waits for its end.
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

    /// Its error, if it ended with one.
    pub(super) fn fault(&self) -> Option<Fault> {
        self.fault.borrow().clone()
    }

    /// Somebody wants to hear how it ended.
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
    /// The end of another.
    Thread(ThreadId),
    /// The end of the collection that is under way, whoever began it.
    Collection,
}

/// All threads of a program but the first.
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

/// One thread waits for another as long as this lives.
pub(super) struct Wait<'t> {
    threads: &'t Threads,
    who: ThreadId,
}

impl Drop for Wait<'_> {
    fn drop(&mut self) {
        self.threads.waits.borrow_mut().remove(&self.who);
    }
}

/// Waiting would never end: the threads that wait for each other, in order.
pub(super) struct Deadlock(pub(super) Vec<ThreadId>);

impl Threads {
    /// Whether there is somebody who gives threads their turns.
    pub(super) fn is_driven(&self) -> bool {
        self.driven.get()
    }

    /// Somebody begins, or ends, to give threads their turns; whether it was so before.
    pub(super) fn drive(&self, driven: bool) -> bool {
        self.driven.replace(driven)
    }

    /// What they are for has failed: they are not waited for.
    pub(super) fn give_up(&self) {
        self.given_up.set(true);
    }

    /// Whether that is so.
    pub(super) fn is_given_up(&self) -> bool {
        self.given_up.get()
    }

    /// How many there are.
    pub(super) fn count(&self) -> usize {
        self.running.borrow().len()
    }

    /// A number for a new thread.
    pub(super) fn next(&self) -> ThreadId {
        self.last.set(self.last.get() + 1);
        self.last.get()
    }

    /// Begins a thread.
    pub(super) fn begin(&self, id: ThreadId, state: Rc<ThreadState>, run: LocalBoxFuture<'static, ()>) {
        self.running.borrow_mut().insert(id, state);
        self.new.borrow_mut().push_back(run);
    }

    /// Threads that began and had no turn yet.
    pub(super) fn take_new(&self) -> VecDeque<LocalBoxFuture<'static, ()>> {
        self.new.take()
    }

    /// A thread is at its end.
    pub(super) fn end(&self, id: ThreadId, fault: Option<Fault>) {
        let Some(state) = self.running.borrow_mut().remove(&id) else { return };
        let failed = fault.is_some();
        state.end(fault);
        if failed {
            self.failed.borrow_mut().push((id, state));
        }
    }

    /// Who collects.
    pub(super) fn collecting(&self) -> Option<ThreadId> {
        self.collecting.get()
    }

    /// Somebody begins to collect, or nobody does any more.
    pub(super) fn set_collecting(&self, who: Option<ThreadId>) {
        self.collecting.set(who);
    }

    /// One thread begins to wait.
    pub(super) fn wait(&self, who: ThreadId, what: WaitTarget) -> Result<Wait<'_>, Deadlock> {
        let mut chain = vec![who];
        let mut next = self.awaited_thread(what);
        let mut waits = self.waits.borrow_mut();
        // Bounded: nobody is in it twice before this wait closes it.
        while let Some(thread) = next {
            chain.push(thread);
            if thread == who || chain.len() > waits.len() + 2 {
                return Err(Deadlock(chain));
            }
            next = waits.get(&thread).and_then(|what| self.awaited_thread(*what));
        }
        waits.insert(who, what);
        Ok(Wait { threads: self, who })
    }

    /// Who has to go on, so that something that is waited for happens.
    fn awaited_thread(&self, what: WaitTarget) -> Option<ThreadId> {
        match what {
            WaitTarget::Thread(thread) => Some(thread),
            WaitTarget::Collection => self.collecting.get(),
        }
    }

    /// The errors that nobody has heard, in the order in which they happened; once.
    pub(super) fn unjoined_failures(&self) -> Vec<(ThreadId, Fault)> {
        let failed = self.failed.take();
        let unjoined_failures = failed.into_iter().filter(|(_, state)| !state.joined.get());
        unjoined_failures.filter_map(|(id, state)| Some((id, state.fault()?))).collect()
    }

    /// Nothing of the program runs any more.
    pub(super) fn forget(&self) {
        let (new, running) = (self.new.take(), self.running.take());
        drop((new, running));
        self.waits.take();
        self.given_up.set(false);
    }
}
