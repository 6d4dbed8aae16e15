//! Giving turns: some work of a program and all threads that it begins, until everything is at its end or the time is
//! up.
//!
//! It must not know what the work is.

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

/// Nobody gives turns twice at the same time, also if the work is dropped in the middle.
struct DrivingGuard<'e> {
    engine: &'e Engine,
    was: bool,
}

impl Drop for DrivingGuard<'_> {
    fn drop(&mut self) {
        if !self.was {
            self.engine.threads.forget();
            self.engine.clock.end_run();
        }
        self.engine.threads.drive(self.was);
    }
}

/// Does some work, and gives turns to the threads that come of it. Work within such work only waits for itself.
///
/// # Errors
/// The time is up. Nothing of the program runs any more then.
pub(super) async fn run<T>(engine: &Rc<Engine>, work: impl Future<Output = T>) -> Result<T, TimeIsUp> {
    if let Some(why) = engine.clock.over() {
        return Err(why);
    }
    let driving = DrivingGuard { engine, was: engine.threads.drive(true) };
    if driving.was {
        return Ok(work.await);
    }
    let end = engine.clock.begin_run();
    let all = run_all(engine, work);
    match tokio::time::timeout_at(end.into(), all).await {
        Ok(done) => done,
        Err(_) => Err(engine.clock.run_is_over()),
    }
}

/// A thread, and whether it wants a turn.
struct ScheduledThread {
    run: Option<LocalBoxFuture<'static, ()>>,
    bell: Arc<ThreadWaker>,
}

/// Rung when a thread can go on.
struct ThreadWaker {
    rung: AtomicBool,
    all: Arc<AtomicWaker>,
}

impl Wake for ThreadWaker {
    fn wake(self: Arc<Self>) {
        self.rung.store(true, Ordering::Release);
        self.all.wake();
    }
}

async fn run_all<T>(engine: &Rc<Engine>, work: impl Future<Output = T>) -> Result<T, TimeIsUp> {
    let mut work = pin!(work);
    let (mut done, mut threads) = (None, Vec::new());
    let bells = Arc::new(AtomicWaker::new());
    poll_fn(|cx| {
        bells.register(cx.waker());
        if done.is_none()
            && let Poll::Ready(result) = work.as_mut().poll(cx)
        {
            done = Some(result);
        }
        if !engine.threads.is_given_up() {
            poll_threads(engine, &mut threads, &bells);
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

/// One turn for everybody who can go on, in the order in which they began.
fn poll_threads(engine: &Engine, threads: &mut Vec<ScheduledThread>, bells: &Arc<AtomicWaker>) {
    let mut at = 0;
    loop {
        threads.extend(engine.threads.take_new().into_iter().map(|run| {
            let bell = ThreadWaker { rung: AtomicBool::new(true), all: bells.clone() };
            ScheduledThread { run: Some(run), bell: Arc::new(bell) }
        }));
        let Some(thread) = threads.get_mut(at) else { break };
        at += 1;
        if thread.bell.rung.swap(false, Ordering::AcqRel)
            && let Some(run) = &mut thread.run
        {
            let waker = Waker::from(thread.bell.clone());
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
