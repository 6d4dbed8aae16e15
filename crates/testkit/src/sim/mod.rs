//! Everything at once, by chance: a world, people, collectors and faults, driven by one number.
//!
//! A run is on one thread with time that passes only when nothing else can happen, so the same number leads to nearly
//! the same run. [`judge`] watches every commit and every call of a hook. After a while the weather clears, every
//! request and every hook is answered, and then everything that has to go must be gone.

pub mod chance;
pub mod crew;
pub mod ears;
pub mod engine;
mod handover;
pub mod hooks;
pub mod judge;
mod left;
pub mod life;
pub mod model;
mod order;
pub mod people;
pub mod sorts;
pub mod steps;
mod told;
pub mod wire;

use std::sync::{Arc, Mutex};
use std::time::Duration;

use sexton_collector::Clock;
use sexton_server::api::OwnerChecks;
use sexton_server::http::RequestLimits;
use sexton_store::{Engine, Retention, embedded, memory};
use tempfile::TempDir;

use crate::{FixedNature, World};
use chance::Chance;
use crew::Member;
use engine::Observed;
use hooks::Moods;
use judge::{Figures, Judge};
use people::People;
use wire::{Air, Weather};

/// After this a collector has looked at everything, whatever it heard.
const FULL_LOOK: Duration = Duration::from_secs(700);

/// What went wrong, and what led to it.
#[derive(Debug)]
pub struct Failure {
    /// The number of the run.
    pub seed: u64,
    /// What must not be.
    pub what: Vec<String>,
    /// The last steps.
    pub story: String,
}

/// A run under way.
struct Run {
    chance: Chance,
    nature: Arc<FixedNature>,
    world: Option<World>,
    engine: Arc<dyn Engine>,
    dir: Option<TempDir>,
    air: Arc<Air>,
    moods: Arc<Moods>,
    people: People,
    crew: Vec<Option<Member>>,
    /// Collectors that were told to end.
    leaving: Vec<Member>,
    alone: bool,
    grace: Duration,
}

/// Runs one number to its end. Needs a runtime of one thread whose time is paused.
///
/// # Errors
/// Something happened that must not, or did not happen that must.
pub async fn run(seed: u64) -> Result<Figures, Failure> {
    let mut run = Run::new(seed).await;
    let result = run.live().await;
    let judge = run.air.judge.lock().unwrap();
    match result {
        Ok(()) if std::env::var("SEXTON_SIM_STORY").is_ok() => {
            Err(Failure { seed, what: vec!["nothing".to_owned()], story: judge.story() })
        }
        Ok(()) => Ok(judge.figures.clone()),
        Err(what) => Err(Failure { seed, what, story: judge.story() }),
    }
}

fn open(dir: Option<&TempDir>) -> Arc<dyn Engine> {
    let terms = sexton_model::stored::terms;
    match dir {
        None => Arc::new(memory::open_indexed(Retention::default(), terms)),
        Some(dir) => {
            let options = embedded::Options { indexer: Some(terms), ..embedded::Options::default() };
            Arc::new(embedded::open(dir.path(), options).unwrap())
        }
    }
}

impl Run {
    async fn new(seed: u64) -> Run {
        let mut chance = Chance::new(seed);
        let judge: Arc<Mutex<Judge>> = Arc::default();
        judge.lock().unwrap().most =
            std::env::var("SEXTON_SIM_SHOWN").ok().and_then(|most| most.parse().ok());
        let nature: Arc<FixedNature> = Arc::default();
        nature.follow_time();
        let dir = chance.percent(4).then(|| tempfile::tempdir().unwrap());
        let engine: Arc<dyn Engine> = Arc::new(Observed::new(open(dir.as_ref()), judge.clone()));
        let world =
            World::on(engine.clone(), None, nature.clone(), OwnerChecks::Warn, RequestLimits::default())
                .await;
        let weather = Weather::of(&mut chance);
        let air = Arc::new(Air {
            router: Mutex::new(world.router()),
            weather: Mutex::new(weather),
            judge,
            chance: Mutex::new(chance.fork()),
        });
        let people = People::new(air.clone(), chance.fork());
        let moods = Arc::new(Moods::new(chance.fork(), nature.now()));
        let alone = chance.percent(60);
        let grace = Duration::from_secs(chance.one(&[0, 0, 5]));
        Run {
            chance,
            nature,
            world: Some(world),
            engine,
            dir,
            air,
            moods,
            people,
            crew: Vec::new(),
            leaving: Vec::new(),
            alone,
            grace,
        }
    }

    fn hire(&mut self, place: usize) {
        let number = self.chance.below(1 << 30) as usize;
        let (alone, grace) = (self.alone, self.grace);
        let hooks = self.chance.one(&[1, 2, 64]);
        let tombstones = self.chance.one(&[0, 3, 1_000]);
        let holder = if alone { "the only one".to_owned() } else { format!("collector {place} {number}") };
        let both = (&self.air, &self.moods);
        let member = Member::start(number, &holder, both, self.nature.clone(), |settings| {
            settings.orphan_grace = grace;
            settings.lease.inherits = alone;
            if alone {
                // Nothing but what it hears and what it waits for wakes it.
                settings.full_pass = FULL_LOOK * 1_000;
            }
            (settings.hooks_at_once, settings.tombstones) = (hooks, tombstones);
        });
        self.air.judge.lock().unwrap().note(format!("collector {place} begins as {number}"));
        self.crew[place] = Some(member);
    }

    async fn live(&mut self) -> Result<(), Vec<String>> {
        self.people.settle_in().await;
        self.crew.resize_with(if self.alone { 1 } else { 2 }, || None);
        for place in 0..self.crew.len() {
            self.hire(place);
        }
        let steps = 20 + self.chance.below(120);
        for _ in 0..steps {
            if self.chance.percent(93) {
                self.people.act().await;
            } else {
                self.disturb().await;
            }
            self.breathe().await;
            self.check()?;
        }
        self.end_well().await
    }

    fn check(&self) -> Result<(), Vec<String>> {
        let judge = self.air.judge.lock().unwrap();
        if !judge.violations.is_empty() {
            return Err(judge.violations.clone());
        }
        match self.crew.iter().flatten().any(Member::ended) {
            true => Err(vec!["a collector ended by itself".to_owned()]),
            false => Ok(()),
        }
    }

    async fn breathe(&mut self) {
        match self.chance.below(10) {
            0..4 => {}
            4 | 5 => {
                for _ in 0..self.chance.below(30) {
                    tokio::task::yield_now().await;
                }
            }
            6..8 => tokio::time::sleep(Duration::from_millis(self.chance.below(100))).await,
            8 => tokio::time::sleep(Duration::from_millis(self.chance.below(5_000))).await,
            _ => tokio::time::sleep(Duration::from_secs(self.chance.below(60))).await,
        }
    }

    /// Something happens to the collectors or to the server.
    async fn disturb(&mut self) {
        let place = self.chance.below(self.crew.len() as u64) as usize;
        match (self.chance.below(10), &self.crew[place]) {
            (0..4, Some(_)) => {
                let member = self.crew[place].take().unwrap();
                if self.chance.percent(30) {
                    self.air.judge.lock().unwrap().note(format!("collector {place} is told to end"));
                    self.air.count("ends");
                    member.drain();
                    self.leaving.push(member);
                } else {
                    self.air.judge.lock().unwrap().note(format!("collector {place} is killed"));
                    self.air.count("kills");
                    member.kill();
                }
                if self.chance.percent(60) {
                    self.hire(place);
                }
            }
            (_, None) => self.hire(place),
            (4..8, Some(member)) => {
                member.pause(!member.is_paused());
                self.air.count("pauses");
            }
            _ if self.dir.is_some() => self.restart().await,
            _ => {
                let head = self.engine.head().await.unwrap();
                self.engine.compact(head).await.unwrap();
                self.air.count("compactions");
            }
        }
    }

    async fn restart(&mut self) {
        self.air.count("restarts");
        self.air.judge.lock().unwrap().note("the server is started anew");
        self.engine.close().await;
        self.world.take();
        let inner = open(self.dir.as_ref());
        self.engine = Arc::new(Observed::new(inner, self.air.judge.clone()));
        let (engine, nature) = (self.engine.clone(), self.nature.clone());
        let world = World::on(engine, None, nature, OwnerChecks::Warn, RequestLimits::default()).await;
        *self.air.router.lock().unwrap() = world.router();
        self.world = Some(world);
    }

    /// The weather clears: first protected things stay, then nothing is protected, and all that has to go goes.
    async fn end_well(&mut self) -> Result<(), Vec<String>> {
        self.air.judge.lock().unwrap().note("the weather clears");
        *self.air.weather.lock().unwrap() = Weather::default();
        for place in 0..self.crew.len() {
            match &self.crew[place] {
                Some(member) => member.pause(false),
                None => self.hire(place),
            }
        }
        self.people.let_go(true).await;
        self.calm().await?;
        self.people.unprotect_all().await;
        let mut left = Vec::new();
        // An object that a veto deferred is a candidate once more after a while, and may be stuck then.
        for _ in 0..3 {
            self.help_all().await?;
            if !self.leaving.iter().all(Member::ended) {
                return Err(self.with_summaries(vec!["a collector was told to end and does not".to_owned()]));
            }
            // Records may be late: they are read again with every full look.
            tokio::time::sleep(FULL_LOOK).await;
            self.calm().await?;
            left = self.air.judge.lock().unwrap().left_over();
            if left.is_empty() {
                return self.hand_over().await;
            }
        }
        Err(self.with_summaries(left))
    }

    /// Helps until no destruction needs it any more.
    async fn help_all(&mut self) -> Result<(), Vec<String>> {
        for round in 0..15 {
            self.calm().await?;
            self.people.forget_unknown().await;
            self.people.let_go(true).await;
            if self.unblock(round).await {
                break;
            }
        }
        Ok(())
    }

    fn with_summaries(&self, mut left: Vec<String>) -> Vec<String> {
        for member in self.crew.iter().flatten() {
            left.push(format!("{:#?}", *member.summary.borrow()));
        }
        left
    }

    /// Helps all destructions that cannot go on alone. True if nothing is left over.
    async fn unblock(&mut self, round: usize) -> bool {
        let (stuck, left) = {
            let judge = self.air.judge.lock().unwrap();
            let journalled = judge.model.lives.values().filter(|life| life.journal().is_some());
            (journalled.cloned().collect::<Vec<life::Life>>(), judge.left_over())
        };
        for life in &stuck {
            let journal = life.journal().unwrap_or_default();
            let blocked = |pending: &serde_json::Value| {
                let block = &pending["block"];
                (block == "missing").then_some("force").or((!block.is_null()).then_some("retry"))
            };
            let open = journal["open"].as_object().into_iter().flatten();
            let waiting = open.filter_map(|(callee, pending)| Some((callee.clone(), blocked(pending)?)));
            let waiting: Vec<(String, &str)> = waiting.collect();
            if let Some((callee, want)) = waiting.get(round % waiting.len().max(1)) {
                self.people.request(life, want, Some(callee)).await;
            }
        }
        left.is_empty()
    }

    /// Waits until nothing happens any more for quite a while, or too long.
    async fn calm(&mut self) -> Result<(), Vec<String>> {
        for _ in 0..40 {
            let before = self.engine.head().await.unwrap();
            tokio::time::sleep(Duration::from_secs(30)).await;
            self.check()?;
            let idle = |member: &Member| member.summary.borrow().idle || !member.summary.borrow().acts;
            let all_idle = self.crew.iter().flatten().all(idle);
            let journalled = self.air.judge.lock().unwrap().busy();
            if self.engine.head().await.unwrap().get() <= before.get() + 20 && all_idle && !journalled {
                return Ok(());
            }
        }
        Ok(())
    }
}
