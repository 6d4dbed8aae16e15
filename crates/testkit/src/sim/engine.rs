//! An engine that answers at once and shows every commit to the judge, in order: with it a world that runs on one
//! thread has no other thread to wait for.

use std::future::Future;
use std::pin::pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::Thread;

use async_trait::async_trait;
use sexton_store::engine::RawKey;
use sexton_store::feed::ChangeFeed;
use sexton_store::{
    At, CommitError, Committed, Engine, Entry, KeyRange, Page, ReadError, Revision, Snapshot, Term,
    Transaction,
};

use super::judge::{ACTOR, Actor, Judge};

/// An engine under observation.
#[derive(Debug)]
pub struct Observed {
    inner: Arc<dyn Engine>,
    judge: Arc<Mutex<Judge>>,
}

impl Observed {
    /// Observes an engine.
    pub fn new(inner: Arc<dyn Engine>, judge: Arc<Mutex<Judge>>) -> Observed {
        Observed { inner, judge }
    }

    fn saw(&self, transaction: &Transaction, result: &Result<Committed, CommitError>) {
        if let Ok(committed) = result {
            let actor = ACTOR.try_with(|actor| *actor).unwrap_or(Actor::Server);
            self.judge.lock().unwrap().committed(actor, &transaction.ops, committed.revision.get());
        }
    }
}

struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// Waits in place: nothing else happens meanwhile, and no time passes.
fn at_once<T>(future: impl Future<Output = T>) -> T {
    let mut future = pin!(tokio::task::unconstrained(future));
    let waker = Waker::from(Arc::new(Unpark(std::thread::current())));
    let mut context = Context::from_waker(&waker);
    loop {
        match future.as_mut().poll(&mut context) {
            Poll::Ready(value) => return value,
            Poll::Pending => std::thread::park(),
        }
    }
}

#[async_trait]
impl Engine for Observed {
    async fn commit(&self, transaction: Transaction) -> Result<Committed, CommitError> {
        let result = at_once(self.inner.commit(transaction.clone()));
        self.saw(&transaction, &result);
        result
    }

    async fn commit_all(&self, transactions: Vec<Transaction>) -> Vec<Result<Committed, CommitError>> {
        let results = at_once(self.inner.commit_all(transactions.clone()));
        transactions.iter().zip(&results).for_each(|(transaction, result)| self.saw(transaction, result));
        results
    }

    async fn get(&self, key: &[u8], at: At) -> Result<Option<Entry>, ReadError> {
        at_once(self.inner.get(key, at))
    }

    async fn range(&self, range: &KeyRange, at: At, limit: Option<usize>) -> Result<Page, ReadError> {
        at_once(self.inner.range(range, at, limit))
    }

    async fn snapshot(&self, at: At) -> Result<Arc<dyn Snapshot>, ReadError> {
        at_once(self.inner.snapshot(at))
    }

    async fn count(&self, range: &KeyRange, at: At) -> Result<usize, ReadError> {
        at_once(self.inner.count(range, at))
    }

    async fn with_term(&self, term: Term, limit: usize) -> Result<Vec<RawKey>, ReadError> {
        at_once(self.inner.with_term(term, limit))
    }

    async fn changes(&self, range: KeyRange, after: Revision) -> Result<Box<dyn ChangeFeed>, ReadError> {
        at_once(self.inner.changes(range, after))
    }

    async fn head(&self) -> Result<Revision, ReadError> {
        at_once(self.inner.head())
    }

    async fn compact(&self, upto: Revision) -> Result<(), CommitError> {
        at_once(self.inner.compact(upto))
    }

    async fn close(&self) {
        self.inner.close().await;
    }
}
