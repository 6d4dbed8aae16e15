//! Ctrl-C in what works under the lease of an environment: the lease is given back, so that the next run need not wait for
//! its end. What was begun is finished by that run, as after a crash.

use std::cell::RefCell;
use std::future::Future;

use sexton_client::Resources;
use sexton_collector::modules::LeaseGiver;
use sexton_runtime::environment::{Opened, note_interrupted};

use crate::failure::Failure;
use crate::interrupt::breakable;
use crate::output::Output;

/// The lease that is held now, and what an interruption shows.
pub(super) struct CurrentLease<'a> {
    giver: RefCell<Option<LeaseGiver>>,
    resources: &'a Resources,
    environment: &'a str,
    /// The command that continues the work.
    command: &'a str,
    output: &'a Output,
}

impl<'a> CurrentLease<'a> {
    pub(super) fn new(
        resources: &'a Resources,
        environment: &'a str,
        command: &'a str,
        output: &'a Output,
    ) -> CurrentLease<'a> {
        CurrentLease { giver: RefCell::default(), resources, environment, command, output }
    }

    /// Sets the lease to that of an environment which was opened.
    pub(super) fn is_of(&self, opened: &Opened) {
        *self.giver.borrow_mut() = opened.lease();
    }

    /// Runs some work. Ctrl-C drops it and gives the lease back.
    pub(super) async fn breakable<T>(
        &self,
        work: impl Future<Output = Result<T, Failure>>,
    ) -> Result<T, Failure> {
        let done = breakable(work).await;
        if done.as_ref().is_err_and(Failure::is_interruption)
            && let Some(lease) = self.giver.take()
        {
            // Only a note: the next run does the same without it.
            let _ = note_interrupted(self.resources, self.environment).await;
            lease.give_back().await;
            self.output.talk("interrupted: what was begun is finished by the next run");
            self.output.suggest(&[("go on", self.command)]);
        }
        done
    }
}
