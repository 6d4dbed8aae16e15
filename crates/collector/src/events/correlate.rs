//! How often what is said is written: the same is counted, similar things are combined, and nobody is said too much of.
//!
//! Pure: it is told the time. It must not know how events are written.

use std::hash::{DefaultHasher, Hash, Hasher};

use super::forgetful::Forgetful;
use super::said::{Involved, Reason, Said, Series};

/// How much may be said.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    /// Different messages of one object and reason that are told apart; more are combined.
    pub(crate) similar: usize,
    /// After so many seconds without any of them they are told apart again.
    pub(crate) window: i64,
    /// Events of one object that may be written at once, and after how many seconds one more may be.
    pub(crate) object: (u32, i64),
    /// The same for all objects together.
    pub(crate) all: (u32, i64),
    /// So many objects and series are remembered.
    pub(crate) memory: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Limits { similar: 10, window: 600, object: (25, 300), all: (100, 1), memory: 4_096 }
    }
}

/// What is to be written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Telling {
    pub(crate) series: Series,
    /// Whether it was never written before.
    pub(crate) new: bool,
}

/// What was said, as far as it is remembered.
#[derive(Debug)]
pub(crate) struct Correlator {
    limits: Limits,
    series: Forgetful<(Involved, Reason, Option<String>), (Series, bool)>,
    similar: Forgetful<(Involved, Reason), Similar>,
    objects: Forgetful<Involved, Bucket>,
    all: Bucket,
}

/// The messages of one object and reason that are told apart.
#[derive(Debug, Default)]
struct Similar {
    messages: Vec<String>,
    last: i64,
}

impl Correlator {
    pub(crate) fn new(limits: Limits) -> Correlator {
        Correlator {
            series: Forgetful::new(limits.memory),
            similar: Forgetful::new(limits.memory),
            objects: Forgetful::new(limits.memory),
            all: Bucket::default(),
            limits,
        }
    }

    /// Takes in what is said now, in seconds since 1970; gives back what is to be written, if anything.
    pub(crate) fn hear(&mut self, said: &Said, now: i64) -> Option<Telling> {
        let apart = self.is_told_apart(said, now);
        let message = match apart {
            true => said.message.clone(),
            false => format!("(combined from similar events): {}", said.message),
        };
        let key = (said.about.clone(), said.reason, apart.then(|| said.message.clone()));
        let id = || {
            let mut hasher = DefaultHasher::new();
            (&key, now).hash(&mut hasher);
            hasher.finish()
        };
        let begin = || (Series { id: id(), first: now, last: now, count: 0, message: String::new() }, false);
        let (series, written) = self.series.entry(&key, begin);
        series.count = series.count.saturating_add(1);
        (series.last, series.message) = (now.max(series.last), message);
        // What is not written now is counted nevertheless, and told with the next.
        let Limits { object: each, all, .. } = self.limits;
        let object = self.objects.entry(&said.about, Bucket::default);
        if !object.has_room(each, now) || !self.all.has_room(all, now) {
            return None;
        }
        object.take(each);
        self.all.take(all);
        let new = !std::mem::replace(written, true);
        Some(Telling { series: series.clone(), new })
    }

    fn is_told_apart(&mut self, said: &Said, now: i64) -> bool {
        let similar = self.similar.entry(&(said.about.clone(), said.reason), Similar::default);
        if now.saturating_sub(similar.last) > self.limits.window {
            similar.messages.clear();
        }
        similar.last = now;
        if similar.messages.contains(&said.message) {
            return true;
        }
        let room = similar.messages.len() < self.limits.similar;
        if room {
            similar.messages.push(said.message.clone());
        }
        room
    }
}

/// Room for so many at once, which comes back by and by. Measured in seconds: each takes as many as it takes to come
/// back.
#[derive(Debug, Default)]
struct Bucket {
    used: i64,
    at: i64,
}

impl Bucket {
    /// Whether there is room for one more.
    fn has_room(&mut self, (burst, refill): (u32, i64), now: i64) -> bool {
        self.used = self.used.saturating_sub(now.saturating_sub(self.at).max(0)).max(0);
        self.at = now;
        self.used <= refill.saturating_mul(i64::from(burst) - 1)
    }

    fn take(&mut self, (_, refill): (u32, i64)) {
        self.used = self.used.saturating_add(refill);
    }
}
