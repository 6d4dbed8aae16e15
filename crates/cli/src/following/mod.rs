//! Waits until objects are destroyed, shows progress, and stops when waiting is of no use. Deletes nothing itself.
//!
//! 1. [`Follow::begin`] lists everything and opens the feed. What is not in that listing any more counts as gone.
//! 2. [`Follow::expect`] names the objects, by uid. The command sets them terminating; [`Work`] is the collector.
//! 3. [`Follow::run`] reads feed and collector until `is_over`: all gone, blocked, no collector, timeout or Ctrl-C.
//! 4. [`End`] has the objects that are left; [`report`] explains them. Objects that are left stay terminating.

mod collector_lease;
mod end;
mod hear;
mod leave;
mod work;

pub(crate) use end::{End, handed_over, report};
pub(crate) use hear::{Obituary, silence};
pub(crate) use work::Work;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use futures::StreamExt;
use futures::stream::Fuse;
use sexton_client::{Gateway, Kinds, Lines, Resources};
use sexton_collector::preview::World as Seen;
use sexton_collector::{Standing, Summary};
use sexton_lifecycle::detect::follow_candidates;
use sexton_lifecycle::{DeletionScope, Detection, DetectionSettings, Ownership, Roots, follow_deletions};
use sexton_model::Uid;
use tokio::time::Instant;

use self::collector_lease::CollectorLease;
use crate::failure::{Exit, Failure};
use crate::interrupt::Interrupts;
use crate::naming::Names;
use crate::output::Output;
use crate::output::progress::{Event, Progress, Waiting};
use crate::showing::blockers::Here;
use crate::world::{World, is_ours, keeps_tombstones};

/// Between two drawings of the progress.
const DRAW: Duration = Duration::from_millis(120);
/// In seconds: a retry that is due within this time is waited for.
const SOON: i64 = 10;
/// Without progress for this long, a blocker counts as permanent. Collectors in other processes get more time.
const QUIET: Duration = Duration::from_millis(300);
const QUIET_ON_A_SERVER: Duration = Duration::from_secs(5);
/// The limit if no blocker can be seen from here, for example because a warned handler vetoed the deletion.
const IDLE: Duration = Duration::from_secs(30);
/// The limit if the lease of the collector is free: no process does the work. Also when to begin to ask for that.
const ABANDONED: Duration = Duration::from_secs(3);
/// How long the collector in this process may take to write its last records after all objects are gone.
const BOOKS: Duration = Duration::from_secs(2);

/// The target on which objects are followed.
#[derive(Debug, Clone)]
pub(crate) struct Where {
    pub(crate) gateway: Arc<dyn Gateway>,
    pub(crate) resources: Resources,
    /// Whether the server is not ours: its controllers delete objects, and their plans cannot be seen from here.
    pub(crate) foreign: bool,
    /// Whether the target has the kind Tombstone.
    tombstones: bool,
    kinds: Kinds,
}

impl Where {
    /// The target of a command.
    pub(crate) fn of(world: &World, kinds: &Kinds) -> Where {
        let foreign = !world.embedded && !is_ours(kinds);
        let (gateway, resources) = (world.gateway(kinds), world.resources.clone());
        Where { gateway, resources, foreign, tombstones: keeps_tombstones(kinds), kinds: kinds.clone() }
    }
}

/// What ends the wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Until {
    /// All followed objects are gone.
    Gone,
    /// The collector of this process has nothing left to do.
    Idle,
}

/// Objects that are followed, and everything that is known about their progress.
pub(crate) struct Follow<'a> {
    pub(crate) place: Where,
    pub(crate) until: Until,
    pub(crate) names: &'a Names,
    pub(crate) output: &'a Output,
    seen: Seen,
    /// Fused, because a feed that broke off must not be polled again.
    lines: Fuse<Lines>,
    /// Followed objects that still exist, with their labels.
    left: BTreeMap<Uid, String>,
    /// Limits blockers to the followed objects.
    rules: DetectionSettings,
    /// When to stop waiting, also if objects are left.
    deadline: Option<Instant>,
    total: usize,
    waves: BTreeMap<Uid, usize>,
    progress: Progress,
    started: Instant,
    /// The time of the last progress, see [`Follow::concerns`].
    moved: Instant,
    standing: Standing,
    /// Whether none of the objects that are left is doomed any more, for example because they were rescued.
    saved: bool,
    next_look: Instant,
    broken: u32,
    collector: CollectorLease,
    /// Whether Ctrl-C was pressed.
    interrupted: bool,
    /// Lines for stdout that are not written yet.
    told: String,
    /// The first error of writing to stdout. A closed output does not stop the work in the middle.
    unheard: Result<(), Failure>,
}

impl<'a> Follow<'a> {
    /// The current snapshot.
    pub(crate) fn seen(&self) -> &Seen {
        &self.seen
    }

    /// Lists everything and opens the feed. Which objects are followed is said later, by [`Follow::expect`].
    pub(crate) async fn begin(
        place: Where,
        until: Until,
        names: &'a Names,
        output: &'a Output,
    ) -> Result<Follow<'a>, Failure> {
        let (seen, lines) = Seen::open(&*place.gateway, &place.resources).await?;
        let now = Instant::now();
        Ok(Follow {
            progress: Progress::new(output.talk_style(), output.is_live()),
            left: BTreeMap::new(),
            rules: DetectionSettings::default(),
            deadline: None,
            total: 0,
            waves: BTreeMap::new(),
            started: now,
            moved: now,
            standing: Standing::default(),
            saved: false,
            next_look: now,
            broken: 0,
            collector: CollectorLease::default(),
            interrupted: false,
            told: String::new(),
            unheard: Ok(()),
            place,
            until,
            names,
            output,
            seen,
            lines: lines.fuse(),
        })
    }

    /// Sets the objects to follow: uid, label, and wave from 1. Replaces earlier ones, and starts the clock.
    pub(crate) fn expect(&mut self, lives: impl Iterator<Item = (Uid, String, usize)>) {
        for (uid, label, wave) in lives {
            self.waves.insert(uid.clone(), wave);
            self.left.insert(uid, label);
        }
        self.total = self.left.len();
        self.rules.scope = DeletionScope::only(self.left.keys().cloned());
        self.started = Instant::now();
        self.moved = self.started;
    }

    /// Runs something that should not stop half-way, such as setting approved objects terminating. After the first
    /// Ctrl-C it still finishes, and the work stops then; the second one drops it and is an error.
    pub(crate) async fn finish_first<T>(
        &mut self,
        first: impl Future<Output = Result<T, Failure>>,
        work: &mut Work,
        interrupts: &mut Interrupts,
    ) -> Result<T, Failure> {
        tokio::pin!(first);
        loop {
            tokio::select! {
                biased;
                () = interrupts.next() => {
                    if std::mem::replace(&mut self.interrupted, true) {
                        return Err(Failure::new("interrupted while the plan was being marked")
                            .detail("what is marked stays marked")
                            .exit(Exit::Interrupted)
                            .next("mark the rest", "the same command once more"));
                    }
                    work.interrupt(self.output);
                }
                done = &mut first => return done,
            }
        }
    }

    /// Sets a timeout from now. `None`: no timeout.
    pub(crate) fn wait_at_most(&mut self, timeout: Option<Duration>) {
        self.deadline = timeout.and_then(|timeout| Instant::now().checked_add(timeout));
    }

    /// Waits until [`Follow::is_over`], then ends the work and lists everything once more.
    pub(crate) async fn run(
        mut self,
        work: &mut Work,
        says: &Obituary<'_>,
        interrupts: &mut Interrupts,
    ) -> Result<End, Failure> {
        let mut tick = tokio::time::interval(DRAW);
        tick.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        self.catch_up(says);
        loop {
            self.write_told();
            if self.is_over(work, self.interrupted) {
                break;
            }
            tokio::select! {
                biased;
                () = interrupts.next() => {
                    let text = self.progress.erase();
                    self.output.talk_text(&text);
                    self.interrupted = true;
                    if !work.interrupt(self.output) {
                        break;
                    }
                }
                line = self.lines.next() => {
                    if !self.hear_what_is_there(line, says) {
                        self.again(says).await?;
                    }
                }
                () = work.changed() => {}
                _ = tick.tick() => {
                    if work.summary().is_none() {
                        self.look_for_a_collector().await;
                    }
                    self.draw(work);
                }
            }
        }
        work.end().await;
        self.hear_the_rest(says).await;
        self.write_told();
        let interrupted = self.interrupted;
        let (handed_over, namespaces) = (self.hand_over(work).await, self.namespaces().await);
        Ok(End { handed_over, namespaces, ..self.ended(work, interrupted) })
    }

    fn ended(mut self, work: &Work, interrupted: bool) -> End {
        let event = self.event(work);
        if interrupted {
            let text = self.progress.erase();
            self.output.talk_text(&text);
        } else {
            let text = self.progress.end(&event);
            self.output.talk_text(&text);
        }
        End {
            gone: self.total - self.left.len(),
            left: self.left,
            seen: self.seen,
            interrupted,
            nobody_collects: self.collector.is_free == Some(true),
            handed_over: 0,
            tombstones: self.place.tombstones,
            namespaces: Vec::new(),
            unheard: self.unheard,
        }
    }

    fn is_over(&mut self, work: &Work, interrupted: bool) -> bool {
        let quiet = self.moved.elapsed();
        let all_gone = self.left.is_empty() && self.until == Until::Gone;
        if !interrupted && !all_gone && self.deadline.is_some_and(|at| Instant::now() >= at) {
            return true;
        }
        // If another process has the lease, the collector here only stands by, and what it says does not count.
        let own = |summary: &Summary| interrupted || summary.acts || summary.other.is_none();
        match work.summary().filter(own) {
            Some(_) if interrupted => work.is_finished(),
            Some(summary) => {
                let up_to_date = summary.idle && summary.revision >= self.seen.snapshot().revision();
                if all_gone {
                    // The collector has still to write its last records.
                    return up_to_date || work.is_finished() || quiet >= BOOKS;
                }
                let has_seen_all = up_to_date && quiet >= QUIET;
                if has_seen_all && summary.calls == 0 && self.is_refused() {
                    return true;
                }
                let soon = summary.next.is_some_and(|next| next <= now() + SOON);
                if self.place.foreign {
                    let hopeless = has_seen_all && self.waits_for_people();
                    return work.is_finished()
                        || (summary.calls == 0 && !soon && (hopeless || self.is_stalled()));
                }
                // A write that the server refuses is retried for ever: the end of that is not waited for.
                let refused = quiet >= IDLE && summary.calls == 0 && !summary.blockers.is_empty();
                work.is_finished() || (has_seen_all && !soon) || refused
            }
            None if all_gone || (quiet >= QUIET && self.is_refused()) => true,
            None if self.place.foreign => self.is_stalled(),
            None => {
                let over = self.saved || self.standing.is_stuck(now() + SOON);
                (over && quiet >= QUIET_ON_A_SERVER)
                    || (quiet >= IDLE && self.standing.is_idle(now() + SOON))
                    || (quiet >= ABANDONED && self.collector.is_free == Some(true))
            }
        }
    }

    /// Whether all objects that are left wait for calls that a class or the settings refuse: retries do not help.
    fn is_refused(&self) -> bool {
        let snapshot = self.seen.snapshot();
        let refused = |uid: &Uid| snapshot.get(uid).is_some_and(|life| self.standing.refused.contains(&life));
        !self.left.is_empty() && self.left.keys().all(refused)
    }

    /// Reads the collector's lease, if nothing has happened for a while on a server of ours.
    async fn look_for_a_collector(&mut self) {
        if !self.place.foreign && self.moved.elapsed() >= ABANDONED {
            self.collector.look(&self.place.resources).await;
        }
    }

    /// Updates the blockers. It takes longer the more objects are doomed: the pause is 20 times the last duration.
    fn look(&mut self) {
        let begin = Instant::now();
        if begin < self.next_look {
            return;
        }
        let (snapshot, rules) = (self.seen.snapshot(), &self.rules);
        let mut judgement = follow_deletions(snapshot, Roots::All, &[], rules);
        judgement.merge_candidates(follow_candidates(snapshot, rules));
        self.standing = self.seen.standing(&judgement);
        self.saved = !self.goes_on(&judgement);
        self.next_look = Instant::now() + (begin.elapsed() * 20).max(DRAW);
    }

    /// Whether any object that is left is doomed, or has an absent owner: its end may have been missed by the feed.
    fn goes_on(&self, judgement: &Detection) -> bool {
        let snapshot = self.seen.snapshot();
        let absent = |(_, owner): (Uid, Ownership)| matches!(owner, Ownership::Absent { .. });
        let dies = |life| judgement.is_doomed(life) || snapshot.owner_uids(life).any(absent);
        self.left.keys().filter_map(|uid| snapshot.get(uid)).any(dies)
    }

    fn draw(&mut self, work: &Work) {
        self.look();
        let event = self.event(work);
        // Short deletions are not drawn at all.
        if self.started.elapsed() > DRAW * 3 && !self.left.is_empty() {
            let text = self.progress.show(&event);
            self.output.talk_text(&text);
        }
    }

    fn event(&self, work: &Work) -> Event {
        let gone = self.total - self.left.len();
        let elapsed = self.started.elapsed();
        let here = Here { names: self.names, now: now() };
        // The collector here knows blockers that no object shows, such as a write that the server refuses.
        let told = work.summary().map(|summary| summary.blockers).unwrap_or_default();
        let seen = &self.standing.blockers;
        let mut waiting = here.waiting(if seen.is_empty() { &told } else { seen });
        waiting.extend(self.standing.under_way.iter().map(|(life, what)| Waiting {
            label: match self.seen.snapshot().contains(*life) {
                true => self.names.of(self.seen.snapshot(), *life),
                false => String::new(),
            },
            what: what.clone(),
            since: self.moved.elapsed(),
        }));
        waiting.retain(|wait| !wait.label.is_empty());
        if waiting.is_empty()
            && let Some((label, what)) = work.hindrance()
        {
            waiting.push(Waiting { label, what, since: self.moved.elapsed() });
        }
        let waves = self.waves.values().copied().max().unwrap_or(0);
        let wave = self.left.keys().filter_map(|uid| self.waves.get(uid)).copied().min().unwrap_or(waves);
        Event {
            doomed: self.total,
            gone,
            rate: if elapsed.as_secs_f64() > 1.0 { gone as f64 / elapsed.as_secs_f64() } else { 0.0 },
            wave: (wave, waves),
            waiting,
            elapsed,
        }
    }
}

/// Seconds since 1970.
pub(crate) fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_secs()).unwrap_or(i64::MAX)
}
