//! A collector at work on a world, with hooks that a test scripts.

use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use futures::future::BoxFuture;
use sexton_client::{Gateway, Resources};
use sexton_collector::hooks::{HookError, Hooks};
use sexton_collector::{Clock, Collector, Means, Runner, Settings, Stop, Summary, SystemClock};
use sexton_model::Revision;
use sexton_model::class::Method;
use sexton_model::hook::{Call, Verdict};
use sexton_server::api::Nature;
use tokio::sync::watch;
use tokio::task::JoinHandle;

use crate::{FixedNature, World};

/// No test waits longer for anything: so long that it matters only where something is broken, however busy the machine is.
const PATIENCE: Duration = Duration::from_secs(120);

impl Clock for FixedNature {
    fn now(&self) -> i64 {
        Nature::now(self)
    }

    fn steady(&self) -> Duration {
        Nature::steady(self)
    }

    fn pause(&self, duration: Duration) -> BoxFuture<'static, ()> {
        self.wait(duration)
    }
}

/// Hooks that answer as a test says, and remember what they were asked. What nothing is said about is done.
#[derive(Default)]
pub struct Scripted {
    answers: Mutex<BTreeMap<String, VecDeque<Verdict>>>,
    during: Mutex<BTreeMap<String, BoxFuture<'static, ()>>>,
    calls: Mutex<Vec<Call>>,
    count: watch::Sender<usize>,
}

impl fmt::Debug for Scripted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scripted").field("heard", &self.heard()).finish_non_exhaustive()
    }
}

impl Scripted {
    /// The next answer of a call such as `destroying destroy vm-1` or `warning vmGone vm-1`: phase, method, and the
    /// name of the doomed object.
    pub fn answer(&self, call: &str, verdict: Verdict) {
        self.answers.lock().unwrap().entry(call.to_owned()).or_default().push_back(verdict);
    }

    /// What happens during the next call of this name, before it is answered. What never ends is a call that hangs.
    pub fn during(&self, call: &str, happens: impl Future<Output = ()> + Send + 'static) {
        self.during.lock().unwrap().insert(call.to_owned(), Box::pin(happens));
    }

    /// Waits until so many calls in all have been made.
    ///
    /// # Panics
    /// If that takes too long.
    pub async fn called(&self, count: usize) {
        let mut calls = self.count.subscribe();
        let waited = tokio::time::timeout(PATIENCE, calls.wait_for(|made| *made >= count)).await;
        assert!(waited.is_ok(), "only {:?}", self.heard());
    }

    /// All calls so far, as phase, method and name of the doomed object.
    pub fn heard(&self) -> Vec<String> {
        self.calls.lock().unwrap().iter().map(name_of).collect()
    }

    /// All calls so far.
    pub fn calls(&self) -> Vec<Call> {
        self.calls.lock().unwrap().clone()
    }
}

fn name_of(call: &Call) -> String {
    let name = call.object["metadata"]["name"].as_str().unwrap_or("?");
    format!("{} {} {name}", call.phase, call.method)
}

#[async_trait]
impl Runner for Scripted {
    async fn call(&self, _: &Method, call: &Call) -> Result<Verdict, HookError> {
        self.calls.lock().unwrap().push(call.clone());
        self.count.send_modify(|count| *count += 1);
        let during = self.during.lock().unwrap().remove(&name_of(call));
        if let Some(during) = during {
            during.await;
        }
        let mut answers = self.answers.lock().unwrap();
        let next = answers.get_mut(&name_of(call)).and_then(VecDeque::pop_front);
        Ok(next.unwrap_or(Verdict::Done { output: None }))
    }
}

/// A collector at work.
#[derive(Debug)]
pub struct Collecting {
    stop: watch::Sender<Stop>,
    summary: watch::Receiver<Summary>,
    work: Option<JoinHandle<()>>,
}

impl Collecting {
    /// Starts a collector that needs no hooks.
    pub fn on(world: &World) -> Collecting {
        Collecting::with(world, quick("tests"), Arc::new(Hooks::new()))
    }

    /// Starts a collector with real hooks and a real clock: hooks have no time that a test could stop.
    pub fn real(world: &World) -> Collecting {
        let resources = Resources::new(world.kube());
        let gateway = Arc::new(resources.clone());
        let (runner, clock) = (Arc::new(Hooks::new()), Arc::new(SystemClock));
        Collecting::of(Means { gateway, resources, runner, clock }, quick("tests"))
    }

    /// Starts a collector with scripted hooks.
    pub fn scripted(world: &World, hooks: &Arc<Scripted>) -> Collecting {
        Collecting::with(world, quick("tests"), hooks.clone())
    }

    /// Starts a collector with settings and hooks of its own.
    pub fn with(world: &World, settings: Settings, runner: Arc<dyn Runner>) -> Collecting {
        Collecting::through(world, settings, runner, Arc::new(Resources::new(world.kube())))
    }

    /// Starts a collector that hears and writes through a gateway of the test's own.
    pub fn through(
        world: &World,
        settings: Settings,
        runner: Arc<dyn Runner>,
        gateway: Arc<dyn Gateway>,
    ) -> Collecting {
        let resources = Resources::new(world.kube());
        let clock = world.shared_nature();
        Collecting::of(Means { gateway, resources, runner, clock }, settings)
    }

    /// Starts a collector with means of its own.
    pub fn of(means: Means, settings: Settings) -> Collecting {
        let collector = Collector::new(means, settings);
        let (stop, stopped) = watch::channel(Stop::No);
        let summary = collector.summary();
        let work = Some(tokio::spawn(collector.run(stopped)));
        Collecting { stop, summary, work }
    }

    /// Waits until the collector has seen everything up to now and has nothing to do.
    ///
    /// # Panics
    /// If that takes too long.
    pub async fn settled(&mut self, world: &World) -> Summary {
        let head = Revision::new(world.head().await);
        self.until(|summary| summary.idle && summary.revision >= head).await
    }

    /// The same while calls are under way that do not end: it has seen everything and made all calls that it can.
    ///
    /// # Panics
    /// If that takes too long.
    pub async fn settled_but_for_calls(&mut self, world: &World) -> Summary {
        loop {
            let (head, rounds) = (world.head().await, self.now().rounds);
            let seen = self.until(|summary| summary.revision >= Revision::new(head)).await;
            tokio::task::yield_now().await;
            if seen.rounds == rounds && world.head().await == head && self.now().rounds == rounds {
                return seen;
            }
        }
    }

    /// Waits until the collector is as a test wants it. While it gets on, however slowly, it is given much more time.
    ///
    /// # Panics
    /// If that takes too long.
    pub async fn until(&mut self, mut is_so: impl FnMut(&Summary) -> bool) -> Summary {
        let begin = tokio::time::Instant::now();
        while begin.elapsed() < 10 * PATIENCE {
            let now = self.summary.borrow_and_update().clone();
            if is_so(&now) {
                return now;
            }
            match tokio::time::timeout(PATIENCE, self.summary.changed()).await {
                Ok(changed) => changed.unwrap(),
                Err(_) => break,
            }
        }
        panic!("the collector is stuck: {:#?}", *self.summary.borrow());
    }

    /// What it is doing.
    pub fn now(&self) -> Summary {
        self.summary.borrow().clone()
    }

    /// Lets it finish what is under way.
    pub async fn drain(mut self) {
        self.stop.send_replace(Stop::Drain);
        if let Some(work) = self.work.take() {
            work.await.unwrap();
        }
    }

    /// Ends it in the middle of whatever it does, as a crash would.
    pub fn kill(mut self) {
        if let Some(work) = self.work.take() {
            work.abort();
        }
    }
}

impl Drop for Collecting {
    fn drop(&mut self) {
        if let Some(work) = self.work.take() {
            work.abort();
        }
    }
}

/// Settings that wait for nothing.
pub fn quick(holder: &str) -> Settings {
    let mut settings = Settings::new(holder);
    settings.orphan_grace = Duration::ZERO;
    settings.backoff = Duration::from_millis(2);
    settings.max_backoff = Duration::from_millis(50);
    settings.lease.inherits = true;
    settings
}
