//! Following lives to their end: on a server by its feed, on the embedded store with a collector in this process.
//!
//! It destroys nothing and decides nothing: it waits, tells how far it is, and knows when waiting is of no use.

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

/// So often what is drawn is drawn again.
const DRAW: Duration = Duration::from_millis(120);
/// A try that comes within this is waited for.
const SOON: i64 = 10;
/// Nothing happened for so long, and something is in the way: it stays there. Others on a server may need a moment.
const QUIET: Duration = Duration::from_millis(300);
const QUIET_ON_A_SERVER: Duration = Duration::from_secs(5);
/// Nothing happened for so long, and nothing is in the way that could be seen from here: whoever collects has its reasons,
/// for example that somebody who was warned said no.
const IDLE: Duration = Duration::from_secs(30);
/// Nothing happened for so long, nothing is in the way, and nobody collects.
const ABANDONED: Duration = Duration::from_secs(3);
/// So long the collector may take to write down that all is over.
const BOOKS: Duration = Duration::from_secs(2);

/// Where to follow.
#[derive(Debug, Clone)]
pub(crate) struct Where {
    pub(crate) gateway: Arc<dyn Gateway>,
    pub(crate) resources: Resources,
    /// Whether it is a cluster of another make, where controllers work that are not seen from here.
    pub(crate) foreign: bool,
    /// Whether tombstones can be kept there.
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

/// When it is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Until {
    /// All of them are gone.
    Gone,
    /// The collector of this process has nothing left to do.
    Idle,
}

/// Lives on their way.
pub(crate) struct Follow<'a> {
    pub(crate) place: Where,
    pub(crate) until: Until,
    pub(crate) names: &'a Names,
    pub(crate) output: &'a Output,
    seen: Seen,
    /// Over once it broke off: it may not be asked again then.
    lines: Fuse<Lines>,
    /// Who is still there, and what it is called.
    left: BTreeMap<Uid, String>,
    /// All of them, the only ones whose blockers are of interest.
    rules: DetectionSettings,
    /// When to stop waiting, whatever is left.
    deadline: Option<Instant>,
    total: usize,
    waves: BTreeMap<Uid, usize>,
    progress: Progress,
    started: Instant,
    /// When something happened last.
    moved: Instant,
    standing: Standing,
    /// Nobody of those who are left is on the way out any more: somebody saved them.
    saved: bool,
    next_look: Instant,
    broken: u32,
    collector: CollectorLease,
    /// Ctrl-C was pressed.
    interrupted: bool,
    /// Said, but not written yet.
    told: String,
    /// That nobody listens any more is no reason to stop in the middle.
    unheard: Result<(), Failure>,
}

impl<'a> Follow<'a> {
    /// The world as it is seen now.
    pub(crate) fn seen(&self) -> &Seen {
        &self.seen
    }

    /// Begins to follow. The lives are named with the wave in which each goes, from 1.
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

    /// Whom to follow: uid, label and wave.
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

    /// Does something that has to come to its end, such as marking what was approved. Ctrl-C meanwhile stops the work that
    /// follows; pressed again, it breaks off.
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

    /// Stops waiting after this long.
    pub(crate) fn wait_at_most(&mut self, timeout: Option<Duration>) {
        self.deadline = timeout.and_then(|timeout| Instant::now().checked_add(timeout));
    }

    /// Waits until it is over.
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
        // Where somebody else has the lease, it is their work.
        let own = |summary: &Summary| interrupted || summary.acts || summary.other.is_none();
        match work.summary().filter(own) {
            Some(_) if interrupted => work.is_finished(),
            Some(summary) => {
                let up_to_date = summary.idle && summary.revision >= self.seen.snapshot().revision();
                if all_gone {
                    // The collector has its books to close.
                    return up_to_date || work.is_finished() || quiet >= BOOKS;
                }
                let has_seen_all = up_to_date && quiet >= QUIET;
                if has_seen_all && summary.calls == 0 && self.is_refused() {
                    return true;
                }
                let soon = summary.next.is_some_and(|next| next <= now() + SOON);
                if self.place.foreign {
                    return work.is_finished() || (summary.calls == 0 && !soon && self.is_stalled());
                }
                // What a server refuses is tried again and again.
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

    /// Whether everything that is left waits for a class or for settings to be changed.
    fn is_refused(&self) -> bool {
        let snapshot = self.seen.snapshot();
        let refused = |uid: &Uid| snapshot.get(uid).is_some_and(|life| self.standing.refused.contains(&life));
        !self.left.is_empty() && self.left.keys().all(refused)
    }

    /// Whether a collector is at work. Asked when nothing has happened for a while.
    async fn look_for_a_collector(&mut self) {
        if !self.place.foreign && self.moved.elapsed() >= ABANDONED {
            self.collector.look(&self.place.resources).await;
        }
    }

    /// What is in the way. Looking for it costs as much as there is to die, so of much it is looked at less often.
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

    /// Whether anybody who is left is still on the way out. Owners can be gone without anybody having seen them go.
    fn goes_on(&self, judgement: &Detection) -> bool {
        let snapshot = self.seen.snapshot();
        let absent = |(_, owner): (Uid, Ownership)| matches!(owner, Ownership::Absent { .. });
        let dies = |life| judgement.is_doomed(life) || snapshot.owner_uids(life).any(absent);
        self.left.keys().filter_map(|uid| snapshot.get(uid)).any(dies)
    }

    fn draw(&mut self, work: &Work) {
        self.look();
        let event = self.event(work);
        // What is over in a moment need not be drawn.
        if self.started.elapsed() > DRAW * 3 && !self.left.is_empty() {
            let text = self.progress.show(&event);
            self.output.talk_text(&text);
        }
    }

    fn event(&self, work: &Work) -> Event {
        let gone = self.total - self.left.len();
        let elapsed = self.started.elapsed();
        let here = Here { names: self.names, now: now() };
        // Whoever works on it knows more than can be seen: for example that the server refuses something.
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
            && let Some(trouble) = work.summary().and_then(|summary| summary.trouble)
        {
            waiting.push(Waiting { label: "the store".into(), what: trouble, since: self.moved.elapsed() });
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
