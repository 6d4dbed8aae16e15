//! The collector that destroys the followed objects: one in this process, or one elsewhere that cannot be controlled.
//!
//! A collector here runs as a task. It is stopped in two stages (drain: finish what is under way; now: do not), and
//! [`Work::end`] awaits it, so that its lease is given back and its records are written before the command exits.

use std::time::Duration;

use sexton_collector::{Collector, Stop, Summary};
use tokio::sync::watch;
use tokio::task::JoinHandle;

use crate::failure::Failure;
use crate::output::Output;

/// A collector retries by itself; a trouble that lasts longer than this counts as permanent.
const PATIENCE: Duration = Duration::from_secs(3);

/// Where the collector runs.
#[derive(Debug)]
pub(crate) enum Work {
    /// In the server, or in another process.
    Elsewhere,
    /// The collector in this process.
    Here(Box<Own>),
}

/// The collector in this process.
#[derive(Debug)]
pub(crate) struct Own {
    stop: watch::Sender<Stop>,
    summary: watch::Receiver<Summary>,
    task: Option<JoinHandle<()>>,
    /// Whether the collector has ended and its summary cannot change any more.
    deaf: bool,
}

impl Work {
    /// Starts a collector, and waits until it has a complete snapshot and it, or another process, has the lease.
    ///
    /// # Errors
    /// The collector cannot begin, for example because the store takes no writes. Nothing was destroyed then.
    pub(crate) async fn start(collector: Collector) -> Result<Work, Failure> {
        let (stop, stopped) = watch::channel(Stop::No);
        let mut summary = collector.summary();
        let task = tokio::spawn(collector.run(stopped));
        let has_begun = |summary: &Summary| summary.synced && (summary.acts || summary.other.is_some());
        // If the collector ends before, `wait_for` returns an error, and `is_finished` is true from then on.
        while tokio::time::timeout(PATIENCE, summary.wait_for(has_begun)).await.is_err() {
            let trouble = summary.borrow().trouble.clone();
            // Without a trouble, the listing only takes long.
            if let Some(trouble) = trouble {
                stop.send_replace(Stop::Now);
                let _ = task.await;
                return Err(Failure::new("nothing can be destroyed now").detail(trouble));
            }
        }
        Ok(Work::Here(Box::new(Own { stop, summary, task: Some(task), deaf: false })))
    }

    /// What the collector in this process does. `None` if the work is elsewhere.
    pub(crate) fn summary(&self) -> Option<Summary> {
        match self {
            Work::Elsewhere => None,
            Work::Here(own) => Some(own.summary.borrow().clone()),
        }
    }

    /// What the own collector waits for, if that is no object: what it is, and what is the matter with it.
    pub(super) fn hindrance(&self) -> Option<(String, String)> {
        let summary = self.summary()?;
        match (summary.trouble, summary.other) {
            (Some(trouble), _) => Some(("the store".to_owned(), trouble)),
            (None, Some(holder)) => Some(("another collector".to_owned(), format!("{holder} has the lease"))),
            (None, None) => None,
        }
    }

    /// Waits for news of the own collector.
    pub(crate) async fn changed(&mut self) {
        if let Work::Here(own) = self
            && !own.deaf
        {
            own.deaf = own.summary.changed().await.is_err();
            return;
        }
        std::future::pending::<()>().await;
    }

    /// Whether the collector in this process has ended. False if the work is elsewhere.
    pub(crate) fn is_finished(&self) -> bool {
        match self {
            Work::Elsewhere => false,
            Work::Here(own) => own.task.as_ref().is_none_or(JoinHandle::is_finished),
        }
    }

    /// Handles Ctrl-C: the first one drains the collector, the second one stops it at once. Returns false if the work
    /// is elsewhere: then there is nothing to wait for.
    pub(crate) fn interrupt(&mut self, output: &Output) -> bool {
        let Work::Here(own) = self else { return false };
        let told = *own.stop.borrow();
        match told {
            Stop::No => {
                output.talk("finishing what is under way; Ctrl-C once more to stop at once");
                own.stop.send_replace(Stop::Drain);
            }
            _ => drop(own.stop.send_replace(Stop::Now)),
        }
        true
    }

    /// Drains the collector in this process, and waits until it has given its lease back and written its records.
    pub(crate) async fn end(&mut self) {
        if let Work::Here(own) = self {
            if *own.stop.borrow() == Stop::No {
                own.stop.send_replace(Stop::Drain);
            }
            if let Some(task) = own.task.take() {
                let _ = task.await;
            }
        }
    }
}
