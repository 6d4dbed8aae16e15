//! The loop of a collector.
//!
//! It waits for one of: lines of the feed, answers to calls, the signal to stop, a deadline. Each only sets `dirty`
//! (a round is needed) and updates the view. Then, if this process has the lease and the view is complete,
//! [`Collector::look`] makes one round over all of the snapshot. So starting, continuing after a crash and the steady
//! state are the same code.
//!
//! After a round that wrote up to revision R, the next round waits until the feed has reached R (`echo`, at most 2
//! s): nothing is concluded from a snapshot that lacks the collector's own writes. After a failure it waits for
//! `pause`.

use std::time::Duration;

use sexton_lifecycle::NodeId;
use sexton_model::Revision;
use tokio::sync::{mpsc, watch};
use tokio::task::JoinSet;
use tokio::time::Instant;

use crate::decide::Waiting;
use crate::ear::{self, Backoff, Heard};
use crate::events::Events;
use crate::hooked::{Actives, AllSlots, Answer};
use crate::lease::{Lease, Turn};
use crate::ledger::{Ledger, Scribe};
use crate::perform::{Hand, SendError};
use crate::rules::Desk;
use crate::settings::{Means, Settings};
use crate::summary::Summary;
use crate::view::{Classes, View};

/// How a collector is told to stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stop {
    /// It goes on.
    No,
    /// It begins nothing new, waits for the calls under way, and ends.
    Drain,
    /// It ends at once. What is under way is found again by the next one.
    Now,
}

/// The most lines of the feed that are applied before the loop does something else.
const GULP: usize = 8_192;
/// A round begins after this time, even if the feed has not reached what the last round wrote.
const ECHO: Duration = Duration::from_secs(2);

/// A collector.
#[derive(Debug)]
pub struct Collector {
    pub(crate) means: Means,
    pub(crate) settings: Settings,
    pub(crate) view: View,
    pub(crate) waiting: Waiting,
    pub(crate) actives: Actives,
    pub(crate) ledger: Ledger,
    /// Writes the records while this process has the lease.
    pub(crate) scribe: Option<Scribe>,
    pub(crate) calls: JoinSet<Answer>,
    /// Slots for calls under way; other calls wait for one.
    pub(crate) slots: AllSlots,
    pub(crate) hand: Option<Hand>,
    pub(crate) stop: watch::Receiver<Stop>,
    /// Objects with steps that have no predecessors left.
    pub(crate) turn: Vec<NodeId>,
    pub(crate) summary: Summary,
    pub(crate) events: Events,
    lease: Lease,
    /// The task that applies the rules.
    rules: Desk,
    heard: mpsc::Receiver<Heard>,
    tell: watch::Sender<Summary>,
    classes_stale: bool,
    /// The records that an earlier collector left unfinished are not read yet.
    pub(crate) books_stale: bool,
    /// A round is needed.
    dirty: bool,
    /// A round is needed once the feed has reached this revision.
    awaited: Revision,
    /// What the last round wrote up to, and how long to wait until the feed has reached it.
    echo: Option<(Revision, Instant)>,
    /// No round begins before this moment, because the last one failed.
    pause: Option<Instant>,
    pub(crate) backoff: Backoff,
    /// Until when a stopping collector waits for its last records.
    drain_until: Option<Instant>,
    next_look: Instant,
    /// The time of the last round, in seconds since 1970.
    looked: i64,
    next_turn: Instant,
}

impl Collector {
    /// A collector that has not begun.
    pub fn new(means: Means, mut settings: Settings) -> Collector {
        settings.rules.kubernetes = !means.gateway.is_ours();
        let backoff = Backoff::new(settings.backoff, settings.max_backoff);
        let (tell, _) = watch::channel(Summary::default());
        let now = Instant::now();
        Collector {
            lease: Lease::new(settings.lease.clone(), &means.resources),
            rules: Desk::start(means.clone()),
            heard: ear::listen(means.gateway.clone(), backoff),
            scribe: None,
            ledger: Ledger::new(settings.tombstones),
            events: Events::start(settings.events, means.resources.clone(), means.clock.clone()),
            view: View::default(),
            waiting: Waiting::default(),
            actives: Actives::default(),
            calls: JoinSet::new(),
            slots: AllSlots::new(&settings),
            hand: None,
            stop: watch::channel(Stop::No).1,
            turn: Vec::new(),
            summary: Summary::default(),
            tell,
            classes_stale: true,
            books_stale: true,
            dirty: true,
            awaited: Revision::NONE,
            echo: None,
            pause: None,
            backoff,
            drain_until: None,
            next_look: now,
            looked: i64::MIN,
            next_turn: now,
            means,
            settings,
        }
    }

    /// What the collector is doing, updated whenever that changes.
    pub fn summary(&self) -> watch::Receiver<Summary> {
        self.tell.subscribe()
    }

    /// Runs until the signal to stop.
    pub async fn run(mut self, mut stop: watch::Receiver<Stop>) {
        self.stop = stop.clone();
        loop {
            let told = *stop.borrow_and_update();
            if told == Stop::Drain && self.is_drained() {
                self.write_down().await;
                break;
            }
            if told == Stop::Now {
                break;
            }
            if Instant::now() >= self.next_turn {
                self.take_turn().await;
            }
            if self.may_look() {
                // A watcher that waits until the collector acts sees what it is doing, and not only the result.
                self.publish();
                self.look().await;
            }
            self.publish();
            let wake = self.wake();
            tokio::select! {
                // In this order, so that equal inputs have equal results; no branch can starve the next for long.
                biased;
                changed = stop.changed() => if changed.is_err() { break },
                Some(answer) = self.calls.join_next(), if !self.calls.is_empty() => self.answered(answer),
                heard = self.heard.recv() => self.hear(heard),
                () = tokio::time::sleep_until(wake) => self.dirty |= self.is_time(),
            }
        }
        self.calls.abort_all();
        // The records may only be written while the lease is held.
        if let Some(scribe) = self.scribe.take() {
            scribe.finish().await;
        }
        self.lease.release().await;
        self.events.finish().await;
    }

    /// Whether no call is under way, and the records are up to date or cannot be brought up to date in time.
    fn is_drained(&mut self) -> bool {
        let until = *self.drain_until.get_or_insert_with(|| Instant::now() + ECHO);
        let working = self.hand.is_some() && self.view.synced();
        self.calls.is_empty() && (!self.dirty || !working || Instant::now() >= until)
    }

    fn hear(&mut self, first: Option<Heard>) {
        let Some(first) = first else { return };
        self.take_in(first);
        for _ in 0..GULP {
            match self.heard.try_recv() {
                Ok(next) => self.take_in(next),
                Err(_) => break,
            }
        }
    }

    fn take_in(&mut self, heard: Heard) {
        match heard {
            Heard::Beginning => self.view.begin(),
            Heard::Line(line) => {
                self.summary.trouble = None;
                self.rules.hear(&line);
                if self.hand.is_none() && self.lease.is_changed_by(&line) {
                    // Its holder may have given it back.
                    self.next_turn = Instant::now();
                }
                let before = self.view.snapshot.revision();
                let effect = self.view.hear(*line);
                let caught_up = before < self.awaited && self.view.snapshot.revision() >= self.awaited;
                // A call may wait for a method that a class lacked until now.
                self.dirty |= effect.matters || caught_up || effect.classes;
                self.classes_stale |= effect.classes;
            }
            Heard::Silence(why) => {
                tracing::warn!(why, "the feed is silent");
                self.summary.trouble = Some(why);
            }
        }
    }

    fn answered(&mut self, answer: Result<Answer, tokio::task::JoinError>) {
        match answer {
            Ok(answer) => {
                self.awaited = self.awaited.max(answer.seen);
                self.actives.answer(answer);
            }
            Err(error) => tracing::error!(%error, "a call of a hook broke off"),
        }
        self.dirty = true;
    }

    /// Takes, keeps or loses the lease.
    async fn take_turn(&mut self) {
        self.next_turn = Instant::now() + self.lease.renewal();
        match self.lease.turn(&*self.means.clock).await {
            Ok(Turn::Ours(epoch)) => {
                let is_new = self.hand.as_ref().is_none_or(|hand| hand.epoch() != epoch.transitions);
                if is_new {
                    tracing::info!(epoch = epoch.transitions, "it is our turn to collect");
                    self.step_down();
                    (self.dirty, self.books_stale) = (true, true);
                    self.scribe = Some(self.open_books(epoch.proof.clone()));
                }
                self.hand = Some(Hand::new(self.means.gateway.clone(), Some(epoch)));
            }
            Ok(Turn::Theirs { holder }) => {
                self.step_down();
                self.summary.other = Some(holder);
                self.next_turn = Instant::now() + self.lease.pause(&self.view);
            }
            Err(error) => {
                tracing::warn!(%error, "the lease cannot be asked for");
                self.summary.trouble = Some(error.to_string());
                self.next_turn = Instant::now() + self.backoff.pause();
            }
        }
    }

    /// Gives everything up that only the holder of the lease may do. The next holder finds what is under way in the
    /// journals.
    fn step_down(&mut self) {
        // The records belong to the holder, too.
        (self.hand, self.scribe) = (None, None);
        self.ledger = Ledger::new(self.settings.tombstones);
        self.calls.abort_all();
        self.calls = JoinSet::new();
        self.actives.clear();
        self.events.step_down();
        self.summary.other = None;
    }

    /// Whether a round may begin now.
    fn may_look(&self) -> bool {
        let now = Instant::now();
        self.dirty
            && self.hand.is_some()
            && self.view.synced()
            && self.pause.is_none_or(|until| now >= until)
            && self
                .echo
                .is_none_or(|(revision, until)| self.view.snapshot.revision() >= revision || now >= until)
    }

    async fn look(&mut self) {
        (self.dirty, self.pause, self.echo) = (false, None, None);
        // A former holder of the lease may have written records late, so they are read again from time to time.
        self.books_stale |= Instant::now() >= self.next_look;
        self.next_look = Instant::now() + self.settings.full_pass;
        self.looked = self.means.clock.now();
        self.summary.rounds += 1;
        if (self.classes_stale && !self.read_classes().await)
            || (self.books_stale && !self.read_books().await)
        {
            return;
        }
        match self.round().await {
            Ok(reached) => {
                if self.pause.is_none() {
                    self.backoff.reset();
                }
                // A second round follows when the feed has reached all that this one wrote, even if one begins
                // before.
                self.awaited = self.awaited.max(reached);
                if reached > self.view.snapshot.revision() {
                    self.echo = Some((reached, Instant::now() + ECHO));
                    self.dirty = true;
                }
            }
            Err(SendError::Stale) => {
                tracing::warn!("the lease was lost");
                self.step_down();
                self.next_turn = Instant::now();
                self.dirty = true;
            }
            Err(error) => {
                tracing::warn!(%error, "the writes will be tried again");
                self.summary.trouble = Some(error.to_string());
                self.rest();
            }
        }
    }

    /// Makes another round after a pause.
    pub(crate) fn rest(&mut self) {
        self.pause = Some(Instant::now() + self.backoff.pause());
        self.dirty = true;
    }

    async fn read_classes(&mut self) -> bool {
        match Classes::read(&self.means.resources, &self.view).await {
            Ok(classes) => {
                self.view.snapshot.set_classes(&classes.bindings());
                self.view.classes = classes;
                self.actives.retry_refused();
                self.classes_stale = false;
                true
            }
            Err(error) => {
                tracing::warn!(%error, "the classes cannot be read");
                self.rest();
                false
            }
        }
    }

    /// The moment at which the loop wakes up if nothing happens.
    fn wake(&self) -> Instant {
        let seconds = |at: i64| {
            let left = at.saturating_sub(self.means.clock.now()).max(0);
            Instant::now() + Duration::from_secs(u64::try_from(left).unwrap_or(0))
        };
        if self.dirty {
            // A round waits for the later of the two. Ignore moments that have passed: something else blocks the
            // round then.
            let waits = [self.pause, self.echo.map(|(_, until)| until)];
            let may = waits.into_iter().flatten().max().filter(|may| *may > Instant::now());
            return may.map_or(self.next_turn, |may| may.min(self.next_turn));
        }
        let wake = self.next_turn.min(self.next_look);
        match self.due() {
            Some(due) => wake.min(seconds(due)),
            None => wake,
        }
    }

    /// Whether a round is needed although the feed brought nothing.
    fn is_time(&self) -> bool {
        Instant::now() >= self.next_look || self.due().is_some_and(|due| due <= self.means.clock.now())
    }

    /// The next deadline of an object, in seconds since 1970. Deadlines before the last round were handled by it.
    fn due(&self) -> Option<i64> {
        let grace = i64::try_from(self.settings.orphan_grace.as_secs()).unwrap_or(i64::MAX);
        [self.actives.due(self.looked), self.waiting.due(grace, self.looked)].into_iter().flatten().min()
    }

    fn publish(&mut self) {
        let keeps_rules = self.settings.keeps_rules && !self.is_draining();
        self.rules.turn(self.hand.as_ref().filter(|_| keeps_rules).and_then(Hand::lease));
        let snapshot = &self.view.snapshot;
        let next = self.due();
        let summary = &mut self.summary;
        summary.acts = self.hand.is_some();
        summary.synced = self.view.synced();
        summary.revision = snapshot.revision();
        summary.lives = snapshot.len();
        summary.calls = self.calls.len();
        summary.next = next;
        summary.events_dropped = self.events.dropped();
        summary.idle = summary.acts && summary.synced && !self.dirty && self.calls.is_empty();
        self.tell.send_if_modified(|told| {
            let changed = told != summary;
            if changed {
                told.clone_from(summary);
            }
            changed
        });
    }
}
