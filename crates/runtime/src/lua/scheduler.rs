//! The scheduler of green threads: polls some work of a program and all threads that it starts, until all of them have
//! ended or a time limit is reached.
//!
//! ```text
//! poll work ─► poll the threads that were woken, in the order in which they began ─► all ended? done : wait for a waker
//! ```

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake, Waker};

use futures::future::LocalBoxFuture;
use futures::task::AtomicWaker;

use super::clock::TimeIsUp;
use super::engine::Engine;

/// Marks that a scheduler runs, until it is dropped, also if the work is cancelled. The outermost one drops all
/// threads.
struct DrivingGuard<'e> {
    engine: &'e Engine,
    /// Whether another scheduler runs already.
    is_nested: bool,
}

impl Drop for DrivingGuard<'_> {
    fn drop(&mut self) {
        if !self.is_nested {
            self.engine.threads.forget();
            self.engine.clock.end_run();
        }
        self.engine.threads.drive(self.is_nested);
    }
}

/// Runs some work and the threads that it starts. Nested calls only run their work: the outermost scheduler gives turns
/// to all threads.
///
/// # Errors
/// If a time limit is reached: none of the program's code runs any more.
pub(super) async fn run<T>(engine: &Rc<Engine>, work: impl Future<Output = T>) -> Result<T, TimeIsUp> {
    if let Some(why) = engine.clock.over() {
        return Err(why);
    }
    let driving = DrivingGuard { engine, is_nested: engine.threads.drive(true) };
    if driving.is_nested {
        return Ok(work.await);
    }
    let end = engine.clock.begin_run();
    let all = run_all(engine, work);
    match tokio::time::timeout_at(end.into(), all).await {
        Ok(done) => done,
        Err(_) => Err(engine.clock.run_is_over()),
    }
}

/// A thread with its waker.
struct ScheduledThread {
    run: Option<LocalBoxFuture<'static, ()>>,
    waker: Arc<ThreadWaker>,
}

/// Notes that its thread was woken, and wakes the scheduler.
struct ThreadWaker {
    woken: AtomicBool,
    all: Arc<AtomicWaker>,
}

impl Wake for ThreadWaker {
    fn wake(self: Arc<Self>) {
        self.woken.store(true, Ordering::Release);
        self.all.wake();
    }
}

async fn run_all<T>(engine: &Rc<Engine>, work: impl Future<Output = T>) -> Result<T, TimeIsUp> {
    let mut work = pin!(work);
    let (mut done, mut threads) = (None, Vec::new());
    let scheduler = Arc::new(AtomicWaker::new());
    poll_fn(|cx| {
        scheduler.register(cx.waker());
        if done.is_none()
            && let Poll::Ready(result) = work.as_mut().poll(cx)
        {
            done = Some(result);
        }
        if !engine.threads.is_given_up() {
            poll_threads(engine, &mut threads, &scheduler);
        }
        if let Some(why) = engine.clock.over() {
            return Poll::Ready(Err(why));
        }
        if !threads.is_empty() && !engine.threads.is_given_up() {
            return Poll::Pending;
        }
        done.take().map_or(Poll::Pending, |result| Poll::Ready(Ok(result)))
    })
    .await
}

/// Polls every thread that was woken once, in the order in which they began.
fn poll_threads(engine: &Engine, threads: &mut Vec<ScheduledThread>, scheduler: &Arc<AtomicWaker>) {
    let mut at = 0;
    loop {
        threads.extend(engine.threads.take_new().into_iter().map(|run| {
            let waker = ThreadWaker { woken: AtomicBool::new(true), all: scheduler.clone() };
            ScheduledThread { run: Some(run), waker: Arc::new(waker) }
        }));
        let Some(thread) = threads.get_mut(at) else { break };
        at += 1;
        if thread.waker.woken.swap(false, Ordering::AcqRel)
            && let Some(run) = &mut thread.run
        {
            let waker = Waker::from(thread.waker.clone());
            if run.as_mut().poll(&mut Context::from_waker(&waker)).is_ready() {
                thread.run = None;
            }
        }
        if engine.clock.over().is_some() {
            break;
        }
    }
    threads.retain(|thread| thread.run.is_some());
}
