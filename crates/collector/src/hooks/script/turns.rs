//! One at a time, by name.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use tokio::sync::OwnedMutexGuard;

/// The holder of each name. Names without a holder or a waiting task are dropped.
#[derive(Debug, Clone, Default)]
pub(super) struct Turns {
    all: Arc<Mutex<HashMap<String, Weak<tokio::sync::Mutex<()>>>>>,
}

impl Turns {
    /// Waits until no other task holds the name, and holds it as long as the result is kept.
    pub(super) async fn take(&self, name: &str) -> OwnedMutexGuard<()> {
        let turn = {
            let mut all = self.all.lock().unwrap_or_else(PoisonError::into_inner);
            all.retain(|_, turn| turn.strong_count() > 0);
            match all.get(name).and_then(Weak::upgrade) {
                Some(turn) => turn,
                None => {
                    let turn = Arc::default();
                    all.insert(name.to_owned(), Arc::downgrade(&turn));
                    turn
                }
            }
        };
        turn.lock_owned().await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn one_at_a_time_by_name() {
        let turns = Turns::default();
        let first = turns.take("a").await;
        let _other = turns.take("b").await;
        let mut second = Box::pin(turns.take("a"));
        assert!(futures::poll!(&mut second).is_pending());
        drop(first);
        second.await;
        assert_eq!(turns.all.lock().unwrap().len(), 2, "only those who are kept, or were just now");
    }
}
