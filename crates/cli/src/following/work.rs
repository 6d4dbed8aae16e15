//! Who does the work while it is followed: a collector in this process, or somebody else.

use std::time::Duration;

use sexton_collector::{Collector, Stop, Summary};
use tokio::sync::watch;
use tokio::task::JoinHandle;

use crate::failure::Failure;
use crate::output::Output;

/// A collector tries again by itself; what is in its way for longer than this stays there.
const PATIENCE: Duration = Duration::from_secs(3);

/// Who does the work.
#[derive(Debug)]
pub(crate) enum Work {
    /// The server, or another process.
    Elsewhere,
    /// A collector in this process.
    Here(Box<Own>),
}

/// A collector in this process.
#[derive(Debug)]
pub(crate) struct Own {
    stop: watch::Sender<Stop>,
    summary: watch::Receiver<Summary>,
    task: Option<JoinHandle<()>>,
    /// Whether it can tell anything new.
    deaf: bool,
}

impl Work {
    /// Starts a collector, and waits until it has seen everything there is and acts, or somebody else does.
    ///
    /// # Errors
    /// It cannot begin, for example because the store takes no writes. Nothing was destroyed then.
    pub(crate) async fn start(collector: Collector) -> Result<Work, Failure> {
        let (stop, stopped) = watch::channel(Stop::No);
        let mut summary = collector.summary();
        let task = tokio::spawn(collector.run(stopped));
        let has_begun = |summary: &Summary| summary.synced && (summary.acts || summary.other.is_some());
        // Should it end before, whoever waits for it will notice.
        while tokio::time::timeout(PATIENCE, summary.wait_for(has_begun)).await.is_err() {
            let trouble = summary.borrow().trouble.clone();
            // Without any trouble there is only much to be seen.
            if let Some(trouble) = trouble {
                stop.send_replace(Stop::Now);
                let _ = task.await;
                return Err(Failure::new("nothing can be destroyed now").detail(trouble));
            }
        }
        Ok(Work::Here(Box::new(Own { stop, summary, task: Some(task), deaf: false })))
    }

    /// What the own collector does.
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

    /// Whether the own collector has ended.
    pub(crate) fn is_finished(&self) -> bool {
        match self {
            Work::Elsewhere => false,
            Work::Here(own) => own.task.as_ref().is_none_or(JoinHandle::is_finished),
        }
    }

    /// Ctrl-C: the first lets what is under way come to its end, the second does not. Whether there is anything to wait
    /// for.
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

    /// Lets the own collector come to its end: what it has under way, its lease, its records.
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
