//! Seats: how much is served at once, by kind of work and by client.
//!
//! Each kind of work has its own, so that lists that are not read keep nothing from being written. Of each kind one user
//! may have three quarters, and of lists one connection a quarter: whatever one client does, others find a seat. Health
//! needs none.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use sexton_model::Status;
use tokio::sync::Notify;

use super::flow::Flows;
use super::metrics::Metrics;
use crate::api::Result;

/// How much is served at once.
#[derive(Debug, Clone, Copy)]
pub struct RequestLimits {
    /// Requests that read or write and end. Half of them may write, a quarter each may read one object or list many.
    pub requests: usize,
    /// Watches, which stay.
    pub watches: usize,
}

impl Default for RequestLimits {
    /// As many requests as Kubernetes takes.
    fn default() -> Self {
        RequestLimits { requests: 400, watches: 10_000 }
    }
}

/// More bulk requests at once would only wait for each other, with their bodies in memory.
const MAX_BULKS: usize = 8;

/// Users that are remembered by a kind of work though they have nothing of it: most come back at once.
const MAX_IDLE_USERS: usize = 64;

/// Kinds of work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Work {
    Write,
    Read,
    /// A seat is held until the last piece is taken.
    List,
    /// Many writes in one request: each keeps the writer busy for a while.
    Bulk,
    Watch,
}

impl Work {
    const ALL: [Work; 5] = [Work::Write, Work::Read, Work::List, Work::Bulk, Work::Watch];

    fn name(self) -> &'static str {
        match self {
            Work::Write => "write",
            Work::Read => "read",
            Work::List => "list",
            Work::Bulk => "bulk",
            Work::Watch => "watch",
        }
    }

    fn seats(self, limits: RequestLimits) -> usize {
        match self {
            Work::Write => limits.requests.div_ceil(2),
            Work::Read | Work::List => limits.requests.div_ceil(4),
            Work::Bulk => MAX_BULKS,
            Work::Watch => limits.watches,
        }
    }
}

/// A connection of a client: what it has taken, and whether it is to be cut. Cloning shares it.
#[derive(Debug, Clone, Default)]
pub struct Connection(Arc<Line>);

#[derive(Debug, Default)]
struct Line {
    lists: AtomicUsize,
    cut: Notify,
}

impl Connection {
    /// Waits until the connection is to be cut, because its client stopped reading.
    pub async fn cut(&self) {
        self.0.cut.notified().await;
    }

    /// Cuts the connection, with all that is under way on it.
    pub(super) fn end(&self) {
        self.0.cut.notify_one();
    }
}

/// All seats, and which of them are taken.
#[derive(Debug)]
pub(super) struct Seats {
    pools: [Arc<Pool>; 5],
    pub(super) flows: Arc<Flows>,
}

#[derive(Debug)]
struct Pool {
    seats: usize,
    taken: Mutex<Taken>,
    refused: AtomicU64,
}

#[derive(Debug, Default)]
struct Taken {
    all: usize,
    /// By user. At most [`MAX_IDLE_USERS`] users without a seat are in it.
    by_user: HashMap<String, usize>,
}

impl Pool {
    fn taken(&self) -> MutexGuard<'_, Taken> {
        // Two numbers that are changed together without anything between that could panic.
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What one user may have: three quarters, so that there is something left for others.
    fn share(&self) -> usize {
        self.seats.saturating_mul(3).div_ceil(4)
    }

    fn take(&self, user: &str) -> bool {
        let mut taken = self.taken();
        if taken.all >= self.seats {
            return false;
        }
        match taken.by_user.get_mut(user) {
            Some(count) if *count >= self.share() => return false,
            Some(count) => *count += 1,
            None => drop(taken.by_user.insert(user.to_owned(), 1)),
        }
        taken.all += 1;
        true
    }

    fn give_back(&self, user: &str) {
        let mut taken = self.taken();
        taken.all -= 1;
        if let Some(count) = taken.by_user.get_mut(user) {
            *count -= 1;
            if *count == 0 && taken.by_user.len() > MAX_IDLE_USERS {
                taken.by_user.remove(user);
            }
        }
    }
}

/// A seat, given back when it is dropped.
#[derive(Debug)]
pub(super) struct Seat {
    pool: Arc<Pool>,
    user: String,
    /// The connection, of which a list is one of few.
    line: Option<Connection>,
}

impl Drop for Seat {
    fn drop(&mut self) {
        self.pool.give_back(&self.user);
        if let Some(line) = &self.line {
            line.0.lists.fetch_sub(1, Ordering::Relaxed);
        }
    }
}

impl Seats {
    pub(super) fn new(limits: RequestLimits) -> Seats {
        let pool = |work: Work| {
            let (taken, refused) = (Mutex::default(), AtomicU64::new(0));
            Arc::new(Pool { seats: work.seats(limits), taken, refused })
        };
        Seats { pools: Work::ALL.map(pool), flows: Arc::default() }
    }

    /// A seat, or a refusal that says when to come back.
    pub(super) fn take(&self, work: Work, user: &str, line: Option<&Connection>) -> Result<Seat> {
        let pool = &self.pools[work as usize];
        let line = line.filter(|_| work == Work::List);
        let few = line.is_none_or(|line| line.0.lists.load(Ordering::Relaxed) < pool.seats.div_ceil(4));
        // A list that is not read gives way to one that may be.
        let free =
            few && (pool.take(user) || (work == Work::List && self.flows.give_up_idle() && pool.take(user)));
        if !free {
            pool.refused.fetch_add(1, Ordering::Relaxed);
            let message = "too many requests are being served, please try again later";
            return Err(Status::too_many_requests(message, 1).into());
        }
        if let Some(line) = line {
            line.0.lists.fetch_add(1, Ordering::Relaxed);
        }
        Ok(Seat { pool: pool.clone(), user: user.to_owned(), line: line.cloned() })
    }

    /// Tells how many seats are taken and how many requests found none.
    pub(super) fn tell(&self, metrics: &Metrics) {
        let pools = self.pools.clone();
        metrics.gauge_by("seats_taken", "Requests being served, by kind of work", "work", move || {
            let taken = |work: Work| (work.name(), pools[work as usize].taken().all as i64);
            Work::ALL.map(taken).to_vec()
        });
        let pools = self.pools.clone();
        metrics.counter("refused_requests", "Requests that found no seat", move || {
            pools.iter().map(|pool| pool.refused.load(Ordering::Relaxed)).sum()
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seats(requests: usize) -> Seats {
        Seats::new(RequestLimits { requests, watches: 4 })
    }

    /// One kind of work keeps no other from being done, nor one user others.
    #[test]
    fn nobody_takes_all() {
        let seats = seats(16);
        let mut held: Vec<Seat> = Vec::new();
        while let Ok(seat) = seats.take(Work::List, "a", None) {
            held.push(seat);
        }
        assert_eq!(held.len(), 3, "three quarters of a quarter of 16");
        held.push(seats.take(Work::List, "b", None).unwrap());
        let full = seats.take(Work::List, "c", None).unwrap_err();
        assert_eq!((full.0.code, full.0.details.unwrap().retry_after_seconds), (429, 1));
        for work in [Work::Write, Work::Read, Work::Bulk, Work::Watch] {
            held.push(seats.take(work, "a", None).unwrap());
        }
        held.clear();
        let idle =
            |pool: &Pool| pool.taken().all == 0 && pool.taken().by_user.values().all(|count| *count == 0);
        assert!(seats.pools.iter().all(|pool| idle(pool)));
    }

    /// However many users there were, few are remembered.
    #[test]
    fn idle_users_are_forgotten() {
        let seats = seats(16);
        let held = seats.take(Work::Read, "stays", None).unwrap();
        for user in 0..1_000 {
            drop(seats.take(Work::Read, &format!("user {user}"), None).unwrap());
            assert!(seats.pools[Work::Read as usize].taken().by_user.len() <= MAX_IDLE_USERS + 1);
        }
        assert_eq!(seats.pools[Work::Read as usize].taken().by_user["stays"], 1);
        drop(held);
    }

    /// A connection has a quarter of the lists, whatever the user has.
    #[test]
    fn a_connection_has_its_share() {
        let (seats, one, other) = (seats(64), Connection::default(), Connection::default());
        let held: Vec<Seat> = (0..4).map(|_| seats.take(Work::List, "a", Some(&one)).unwrap()).collect();
        assert!(seats.take(Work::List, "a", Some(&one)).is_err());
        let kept = seats.take(Work::List, "a", Some(&other)).unwrap();
        drop(held);
        drop((seats.take(Work::List, "a", Some(&one)).unwrap(), kept));
    }

    #[test]
    fn few_seats_are_still_some() {
        let none = seats(0);
        assert!(none.take(Work::Read, "a", None).is_err() && none.take(Work::Write, "a", None).is_err());
        let one = seats(1);
        for work in [Work::Read, Work::Write, Work::List] {
            assert!(one.take(work, "a", Some(&Connection::default())).is_ok());
        }
    }
}
