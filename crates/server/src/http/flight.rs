//! Bytes in flight: what all requests under way hold in memory, and where that ends.
//!
//! Only what is more than small is counted: a small request never finds the budget used up by large ones.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use sexton_model::Status;

use crate::api::Result;

/// So many bytes may large bodies and answers have together, on all connections.
const MAX_BYTES_IN_FLIGHT: usize = 128 << 20;
/// Up to here a body or an answer is small. Times the connections that there may be it is bearable.
pub(super) const SMALL_BYTES: usize = 16 << 10;

/// From here on an answer is large.
pub(super) const LARGE_BYTES: usize = 64 << 10;

/// The budget. Cloning shares it.
#[derive(Debug, Clone, Default)]
pub(super) struct Budget(Arc<AtomicUsize>);

impl Budget {
    /// How much is used.
    pub(super) fn used(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }

    /// Nothing yet, to be grown.
    pub(super) fn begin(&self) -> Charge {
        Charge { budget: self.clone(), bytes: 0 }
    }
}

/// What one request has of the budget, until it is dropped.
#[derive(Debug)]
pub(super) struct Charge {
    budget: Budget,
    bytes: usize,
}

impl Charge {
    /// Takes more, or says when to come back.
    pub(super) fn grow(&mut self, bytes: usize) -> Result<()> {
        let used = self.budget.0.fetch_add(bytes, Ordering::Relaxed);
        self.bytes += bytes;
        if used.saturating_add(bytes) > MAX_BYTES_IN_FLIGHT {
            let message = "requests under way take too much memory, please try again later";
            return Err(Status::too_many_requests(message, 1).into());
        }
        Ok(())
    }
}

impl Drop for Charge {
    fn drop(&mut self) {
        self.budget.0.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_used_up_is_refused_and_given_back() {
        let budget = Budget::default();
        let (mut one, mut other) = (budget.begin(), budget.begin());
        one.grow(MAX_BYTES_IN_FLIGHT - 10).unwrap();
        other.grow(10).unwrap();
        let refused = budget.begin().grow(1).unwrap_err();
        assert_eq!((refused.0.code, refused.0.details.unwrap().retry_after_seconds), (429, 1));
        drop(one);
        other.grow(1000).unwrap();
        drop(other);
        assert_eq!(budget.used(), 0);
    }
}
