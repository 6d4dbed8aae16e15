//! Collectors at work on one world: started, killed in the middle of anything, paused and woken late.

use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Poll, Waker};
use std::time::Duration;

use sexton_client::Resources;
use sexton_collector::{Clock, Collector, Means, Settings, Stop, Summary};
use sexton_lifecycle::DeletionLimit;
use tokio::sync::watch;
use tokio::task::JoinHandle;

use super::ears::Ears;
use super::hooks::{Moods, Moody};
use super::wire::{Air, Wire};

/// One collector at work.
#[derive(Debug)]
pub struct Member {
    wire: Wire,
    pause: watch::Sender<bool>,
    /// What it says of itself.
    pub summary: watch::Receiver<Summary>,
    stop: watch::Sender<Stop>,
    asleep: Arc<Mutex<Option<Waker>>>,
    work: JoinHandle<()>,
}

impl Member {
    /// Starts a collector with this name.
    pub fn start(
        number: usize,
        holder: &str,
        (air, moods): (&Arc<Air>, &Arc<Moods>),
        clock: Arc<dyn Clock>,
        settings: impl FnOnce(&mut Settings),
    ) -> Member {
        let (pause, paused) = watch::channel(false);
        let wire = Wire {
            number,
            air: air.clone(),
            dead: Arc::new(AtomicBool::new(false)),
            paused: paused.clone(),
            summary: Arc::default(),
            blind: Arc::new(AtomicBool::new(false)),
        };
        let resources = Resources::new(kube::Client::new(wire.clone(), "default"));
        let means = Means {
            gateway: Arc::new(Ears { resources: resources.clone(), wire: wire.clone() }),
            resources,
            runner: Arc::new(Moody { moods: moods.clone(), wire: wire.clone() }),
            clock,
        };
        let mut chosen = Settings::new(holder);
        chosen.fuse = DeletionLimit { count: None, percent: None };
        chosen.backoff = Duration::from_millis(20);
        settings(&mut chosen);
        let collector = Collector::new(means, chosen);
        let summary = collector.summary();
        *wire.summary.lock().unwrap() = Some(summary.clone());
        tokio::spawn(report(summary.clone(), air.clone()));
        let (stop, stopped) = watch::channel(Stop::No);
        let asleep: Arc<Mutex<Option<Waker>>> = Arc::default();
        let work = tokio::spawn(paced(Box::pin(collector.run(stopped)), paused, asleep.clone()));
        Member { wire, pause, summary, stop, asleep, work }
    }

    /// Ends it in the middle of whatever it does; nothing of it is heard any more.
    pub fn kill(self) {
        self.wire.dead.store(true, Ordering::SeqCst);
        self.work.abort();
    }

    /// Tells it to finish what it is doing, and to end.
    pub fn drain(&self) {
        self.pause(false);
        self.stop.send_replace(Stop::Drain);
    }

    /// Lets it stand still, or go on.
    pub fn pause(&self, paused: bool) {
        self.pause.send_replace(paused);
        if !paused && let Some(waker) = self.asleep.lock().unwrap().take() {
            waker.wake();
        }
    }

    /// Whether it stands still.
    pub fn is_paused(&self) -> bool {
        *self.pause.borrow()
    }

    /// Whether it has ended, told to or not.
    pub fn ended(&self) -> bool {
        self.work.is_finished()
    }
}

/// Tells the judge when a collector does not trust its own plan.
async fn report(mut summary: watch::Receiver<Summary>, air: Arc<Air>) {
    while summary.changed().await.is_ok() {
        let trouble = summary.borrow_and_update().trouble.clone();
        if let Some(trouble) = trouble.filter(|trouble| trouble.contains("did not pass")) {
            return air.judge.lock().unwrap().accuse(trouble);
        }
    }
}

/// Works, except while paused.
fn paced(
    mut work: Pin<Box<dyn Future<Output = ()> + Send>>,
    paused: watch::Receiver<bool>,
    asleep: Arc<Mutex<Option<Waker>>>,
) -> impl Future<Output = ()> + Send {
    std::future::poll_fn(move |context| {
        if *paused.borrow() {
            *asleep.lock().unwrap() = Some(context.waker().clone());
            return Poll::Pending;
        }
        work.as_mut().poll(context)
    })
}
