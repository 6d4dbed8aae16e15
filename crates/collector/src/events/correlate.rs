//! Limits what is written: equal messages are counted in one Event, similar ones are combined, and there is a rate
//! limit.
//!
//! Pure: time is an argument. It must not know how Events are written.

use std::hash::{DefaultHasher, Hash, Hasher};

use super::forgetful::Forgetful;
use super::said::{Involved, Reason, Said, Series};

/// The limits.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    /// The most different messages of one object and reason; further ones are combined into one Event.
    pub(crate) similar: usize,
    /// After this many seconds without a message, they are told apart again.
    pub(crate) window: i64,
    /// The most Events of one object at once, and the seconds after which one more is allowed.
    pub(crate) object: (u32, i64),
    /// The same for all objects together.
    pub(crate) all: (u32, i64),
    /// The most objects and series that are remembered.
    pub(crate) memory: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Limits { similar: 10, window: 600, object: (25, 300), all: (100, 1), memory: 4_096 }
    }
}

/// A write that is due.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Telling {
    pub(crate) series: Series,
    /// Whether the series was never written before.
    pub(crate) new: bool,
}

/// The messages so far, as far as they are remembered.
#[derive(Debug)]
pub(crate) struct Correlator {
    limits: Limits,
    series: Forgetful<(Involved, Reason, Option<String>), (Series, bool)>,
    similar: Forgetful<(Involved, Reason), Similar>,
    objects: Forgetful<Involved, Bucket>,
    all: Bucket,
}

/// The messages of one object and reason that have Events of their own.
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

    /// Counts a message at a time in seconds since 1970; returns the write that is due, if the rate limit allows one.
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
        // A message that is not written now is counted, and is in the number of the next write.
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

/// A token bucket, measured in seconds: each use takes as many as it needs to refill.
#[derive(Debug, Default)]
struct Bucket {
    used: i64,
    at: i64,
}

impl Bucket {
    /// Whether one more use is allowed.
    fn has_room(&mut self, (burst, refill): (u32, i64), now: i64) -> bool {
        self.used = self.used.saturating_sub(now.saturating_sub(self.at).max(0)).max(0);
        self.at = now;
        self.used <= refill.saturating_mul(i64::from(burst) - 1)
    }

    fn take(&mut self, (_, refill): (u32, i64)) {
        self.used = self.used.saturating_add(refill);
    }
}
