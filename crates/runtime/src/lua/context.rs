//! The context of running code: its green thread, and the stack of objects with running methods. The object on top is
//! the caller of `GC.subscribe`, and may use its private properties.
//!
//! Every coroutine has a context of its own, which is swapped in whenever the coroutine is polled:
//!
//! ```text
//! poll(coroutine A) ── current = A's context ── … code runs, asks for its caller … ── current = the previous context
//! ```

use std::cell::{Cell, RefCell};
use std::future::Future;
use std::mem;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};

use super::engine::Engine;
use crate::world::Handle;

/// How deep coroutines may be nested: methods that are called by the world, not by a script, run in a coroutine each.
const MAX_DEPTH: usize = 40;

/// The number of a green thread. The main thread is 0.
pub(super) type ThreadId = u64;

/// The context of one coroutine.
#[derive(Default)]
pub(super) struct CallContext {
    pub(super) thread: ThreadId,
    /// The objects with running methods, outermost first.
    pub(super) callers: Vec<Handle>,
}

/// The context of the code that runs now.
#[derive(Default)]
pub(super) struct CurrentContext {
    context: RefCell<CallContext>,
    depth: Cell<usize>,
}

impl CurrentContext {
    /// The running green thread.
    pub(super) fn thread(&self) -> ThreadId {
        self.context.borrow().thread
    }

    /// The object with the innermost running method.
    pub(super) fn caller(&self) -> Option<Handle> {
        self.context.borrow().callers.last().cloned()
    }

    /// Whether the innermost running method is one of this object.
    pub(super) fn is_caller(&self, object: &Handle) -> bool {
        self.context.borrow().callers.last() == Some(object)
    }

    /// Notes that a method of an object begins.
    pub(super) fn enter(&self, object: Handle) {
        self.context.borrow_mut().callers.push(object);
    }

    /// Notes that the innermost method has ended.
    pub(super) fn leave(&self) {
        let last = self.context.borrow_mut().callers.pop();
        drop(last);
    }

    /// The number of running methods; for [`CurrentContext::back_to`].
    pub(super) fn mark(&self) -> usize {
        self.context.borrow().callers.len()
    }

    /// Unwinds the stack to an earlier [`CurrentContext::mark`], after an error ended the methods above.
    pub(super) fn back_to(&self, mark: usize) {
        let ended = {
            let mut context = self.context.borrow_mut();
            let keep = mark.min(context.callers.len());
            context.callers.split_off(keep)
        };
        drop(ended);
    }

    /// Whether another nested coroutine would be too many.
    pub(super) fn is_too_deep(&self) -> bool {
        self.depth.get() >= MAX_DEPTH
    }
}

/// A future that is polled in its own context. Polling the outermost one begins a slice of the program's clock.
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
