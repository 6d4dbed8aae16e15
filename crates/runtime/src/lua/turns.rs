//! Giving turns: some work of a program and all threads that it begins, until everything is at its end or the time is up.
//!
//! It must not know what the work is.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::rc::Rc;
use std::task::Poll;

use futures::StreamExt;
use futures::stream::FuturesUnordered;

use super::clock::TimeIsUp;
use super::engine::Engine;

/// Nobody gives turns twice at the same time, also if the work is dropped in the middle.
struct Driving<'e> {
    engine: &'e Engine,
    was: bool,
}

impl Drop for Driving<'_> {
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
pub(super) async fn take<T>(engine: &Rc<Engine>, work: impl Future<Output = T>) -> Result<T, TimeIsUp> {
    if let Some(why) = engine.clock.over() {
        return Err(why);
    }
    let driving = Driving { engine, was: engine.threads.drive(true) };
    if driving.was {
        return Ok(work.await);
    }
    let end = engine.clock.begin_run();
    let all = all(engine, work);
    match tokio::time::timeout_at(end.into(), all).await {
        Ok(done) => done,
        Err(_) => Err(engine.clock.run_is_over()),
    }
}

async fn all<T>(engine: &Rc<Engine>, work: impl Future<Output = T>) -> Result<T, TimeIsUp> {
    let mut work = pin!(work);
    let mut done = None;
    let mut threads = FuturesUnordered::new();
    poll_fn(|cx| {
        if done.is_none()
            && let Poll::Ready(result) = work.as_mut().poll(cx)
        {
            done = Some(result);
        }
        if engine.threads.is_given_up()
            && let Some(result) = done.take()
        {
            return Poll::Ready(engine.clock.over().map_or(Ok(result), Err));
        }
        loop {
            threads.extend(engine.threads.take_fresh());
            let polled = threads.poll_next_unpin(cx);
            if let Some(why) = engine.clock.over() {
                return Poll::Ready(Err(why));
            }
            match polled {
                Poll::Ready(Some(())) => {}
                Poll::Pending if engine.threads.has_fresh() => {}
                Poll::Pending => return Poll::Pending,
                Poll::Ready(None) => break,
            }
        }
        match done.take() {
            Some(result) => Poll::Ready(Ok(result)),
            None => Poll::Pending,
        }
    })
    .await
}
