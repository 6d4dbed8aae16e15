//! Ctrl-C in what works under the lease of an environment: the lease is given back, so that the next run need not wait for
//! its end. What was begun is finished by that run, as after a crash.

use std::cell::RefCell;
use std::future::Future;

use sexton_collector::modules::LeaseGiver;
use sexton_runtime::environment::Opened;

use crate::failure::Failure;
use crate::interrupt::breakable;

/// The lease under which is worked just now.
#[derive(Debug, Default)]
pub(super) struct CurrentLease(RefCell<Option<LeaseGiver>>);

impl CurrentLease {
    /// It is that of an environment which was opened.
    pub(super) fn is_of(&self, opened: &Opened) {
        *self.0.borrow_mut() = opened.lease();
    }

    /// Does some work. Ctrl-C breaks it off and gives the lease back.
    pub(super) async fn breakable<T>(
        &self,
        work: impl Future<Output = Result<T, Failure>>,
    ) -> Result<T, Failure> {
        let done = breakable(work).await;
        if done.as_ref().is_err_and(Failure::is_interruption)
            && let Some(lease) = self.0.take()
        {
            lease.give_back().await;
        }
        done
    }
}
