//! Whose code runs: the green thread, and the objects whose methods are on its stack.
//!
//! Every coroutine has a story of its own. It is put in place whenever the coroutine is polled and taken away after
//! that, so that what is read here is always about the code that asks.

use std::cell::{Cell, RefCell};
use std::future::Future;
use std::mem;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};

use super::engine::Engine;
use crate::world::Handle;

/// Coroutines that may wait within each other: methods that are called by the world, not by a script.
const MAX_DEPTH: usize = 40;

/// A green thread of a program. The first one is 0.
pub(super) type ThreadId = u64;

/// The story of one coroutine.
#[derive(Default)]
pub(super) struct CallContext {
    pub(super) thread: ThreadId,
    /// The objects whose methods run in it, outermost first.
    pub(super) callers: Vec<Handle>,
}

/// The story of the code that runs now.
#[derive(Default)]
pub(super) struct CurrentContext {
    context: RefCell<CallContext>,
    depth: Cell<usize>,
}

impl CurrentContext {
    /// The green thread that runs.
    pub(super) fn thread(&self) -> ThreadId {
        self.context.borrow().thread
    }

    /// The object whose method runs.
    pub(super) fn caller(&self) -> Option<Handle> {
        self.context.borrow().callers.last().cloned()
    }

    /// Whether it is this object whose method runs.
    pub(super) fn is_caller(&self, object: &Handle) -> bool {
        self.context.borrow().callers.last() == Some(object)
    }

    /// A method of an object begins.
    pub(super) fn enter(&self, object: Handle) {
        self.context.borrow_mut().callers.push(object);
    }

    /// The method that began last is at its end.
    pub(super) fn leave(&self) {
        let last = self.context.borrow_mut().callers.pop();
        drop(last);
    }

    /// How many methods run.
    pub(super) fn mark(&self) -> usize {
        self.context.borrow().callers.len()
    }

    /// An error ended all methods but the first so many.
    pub(super) fn back_to(&self, mark: usize) {
        let ended = {
            let mut context = self.context.borrow_mut();
            let keep = mark.min(context.callers.len());
            context.callers.split_off(keep)
        };
        drop(ended);
    }

    /// Whether another coroutine may be begun within this one.
    pub(super) fn is_too_deep(&self) -> bool {
        self.depth.get() >= MAX_DEPTH
    }
}

/// A future that is polled with its story in place.
pub(super) struct InContext<F> {
    engine: Rc<Engine>,
    context: CallContext,
    future: Pin<Box<F>>,
}

impl<F: Future> InContext<F> {
    pub(super) fn new(engine: Rc<Engine>, context: CallContext, future: F) -> InContext<F> {
        InContext { engine, context, future: Box::pin(future) }
    }
}

impl<F: Future> Future for InContext<F> {
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        let this = Pin::into_inner(self);
        let current = &this.engine.current;
        let depth = current.depth.get();
        if depth == 0 {
            this.engine.clock.begin_slice();
        }
        current.depth.set(depth + 1);
        mem::swap(&mut *current.context.borrow_mut(), &mut this.context);
        let polled = this.future.as_mut().poll(cx);
        mem::swap(&mut *current.context.borrow_mut(), &mut this.context);
        current.depth.set(depth);
        polled
    }
}
