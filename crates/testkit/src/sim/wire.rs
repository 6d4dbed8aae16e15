//! The wire between one collector and the server: requests that never arrive, answers that get lost, and a server that
//! is not always the same process.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use futures::future::BoxFuture;
use http::{Request, Response};
use sexton_collector::Summary;
use tokio::sync::watch;
use tower::{Service, ServiceExt};

use super::chance::Chance;
use super::judge::{ACTOR, Actor, Judge, Known};

/// How often what goes wrong, in a thousand.
#[derive(Debug, Clone, Copy, Default)]
pub struct Weather {
    /// Requests that never arrive.
    pub lost: u64,
    /// Requests that are served and whose answer is lost.
    pub unanswered: u64,
    /// Requests that take their time.
    pub slow: u64,
    /// Feeds that are cut, with a line lost.
    pub cut: u64,
    /// Feeds that lose lines and then say that it is too late.
    pub gap: u64,
    /// Lines that come twice, or again later.
    pub again: u64,
    /// Lines that take their time.
    pub late: u64,
    /// Hooks that answer something else than done, in a hundred.
    pub moody: u64,
    /// Milliseconds that a call of a hook takes at most. Not a fault, so it is here only for the sake of the last act.
    pub call_takes: u64,
}

impl Weather {
    /// Weather of all kinds, from none to storm.
    pub fn of(chance: &mut Chance) -> Weather {
        let strength = chance.one(&[0, 0, 20, 60, 150]);
        let mut some = |most: u64| if chance.percent(60) { chance.below(most + 1) } else { 0 };
        Weather {
            lost: some(strength),
            unanswered: some(strength),
            slow: some(strength),
            cut: some(strength / 3),
            gap: some(strength / 5),
            again: some(strength),
            late: some(strength),
            moody: some(70),
            call_takes: 0,
        }
    }
}

/// What all parts on the server's side share.
#[derive(Debug)]
pub struct Air {
    /// The server's routes; another one after a restart.
    pub router: Mutex<Router>,
    /// What goes wrong.
    pub weather: Mutex<Weather>,
    /// The judge of every commit.
    pub judge: Arc<Mutex<Judge>>,
    /// Chance for what goes wrong.
    pub chance: Mutex<Chance>,
}

impl Air {
    /// Whether something happens that happens so often in a thousand.
    pub fn roll(&self, mille: impl Fn(&Weather) -> u64) -> bool {
        let mille = mille(&self.weather.lock().unwrap());
        mille > 0 && self.chance.lock().unwrap().mille(mille)
    }

    /// A short while, sometimes a longer one.
    pub fn while_(&self) -> Duration {
        let mut chance = self.chance.lock().unwrap();
        let most = chance.one(&[5, 50, 500, 5_000, 20_000]);
        Duration::from_millis(chance.below(most))
    }

    /// Counts what happened.
    pub fn count(&self, what: &'static str) {
        self.judge.lock().unwrap().figures.count(what);
    }
}

/// One collector's end of the wire.
#[derive(Debug, Clone)]
pub struct Wire {
    /// The number of the collector.
    pub number: usize,
    /// What all share.
    pub air: Arc<Air>,
    /// Nothing goes through any more, in either direction.
    pub dead: Arc<AtomicBool>,
    /// Nothing goes through for now.
    pub paused: watch::Receiver<bool>,
    /// What the collector says of itself.
    pub summary: Arc<Mutex<Option<watch::Receiver<Summary>>>>,
    /// Whether lines of its feed were lost.
    pub blind: Arc<AtomicBool>,
}

impl Wire {
    /// Waits while the collector is paused; for ever once it is dead.
    pub async fn gate(&self) {
        let mut paused = self.paused.clone();
        let opened = paused.wait_for(|paused| !*paused).await.is_ok();
        if !opened || self.dead.load(Ordering::SeqCst) {
            std::future::pending::<()>().await;
        }
    }

    fn known(&self) -> Known {
        let summary = self.summary.lock().unwrap();
        let revision = summary.as_ref().map_or(0, |summary| summary.borrow().revision.get());
        Known { revision, blind: self.blind.load(Ordering::SeqCst) }
    }

    async fn serve(self, request: Request<Body>) -> Result<Response<Body>, std::io::Error> {
        let broken = |what: &str| std::io::Error::new(std::io::ErrorKind::ConnectionReset, what.to_owned());
        let feed = request.uri().path().ends_with("/changes");
        if self.air.judge.lock().unwrap().is_endless(request.uri().path()) {
            std::future::pending::<()>().await;
        }
        if request.uri().path().ends_with("/bulk") {
            let known = self.known();
            self.air.judge.lock().unwrap().known.insert(self.number, known);
        }
        self.gate().await;
        if self.air.roll(|weather| weather.slow) {
            self.air.count("slow requests");
            tokio::time::sleep(self.air.while_()).await;
            self.gate().await;
        }
        if self.air.roll(|weather| weather.lost) {
            self.air.count("lost requests");
            return Err(broken("the request never arrived"));
        }
        let router = self.air.router.lock().unwrap().clone();
        let served = router.oneshot(request);
        let answer = ACTOR.scope(Actor::Collector(self.number), served).await;
        let Ok(answer) = answer;
        self.gate().await;
        if !feed && self.air.roll(|weather| weather.unanswered) {
            self.air.count("lost answers");
            return Err(broken("the answer never arrived"));
        }
        Ok(answer)
    }
}

impl Service<Request<kube::client::Body>> for Wire {
    type Response = Response<Body>;
    type Error = std::io::Error;
    type Future = BoxFuture<'static, Result<Response<Body>, std::io::Error>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), std::io::Error>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<kube::client::Body>) -> Self::Future {
        Box::pin(self.clone().serve(request.map(Body::new)))
    }
}
