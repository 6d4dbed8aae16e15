//! Decides when a blocker is reported: once it has lasted for a moment, then less and less often.
//!
//! Pure: time is an argument. It must not know what the messages are about.

use std::collections::BTreeMap;
use std::time::Duration;

use super::said::{Reason, Said};

/// The pause before a blocker is reported again; it doubles each time.
const AGAIN: Duration = Duration::from_secs(60);
/// The longest such pause: shorter than Events are usually kept.
const LONGEST: Duration = Duration::from_secs(30 * 60);

/// A blocker, with its message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Pending {
    /// Identifies the blocker of its object, whatever the message is.
    pub(crate) what: String,
    /// How often it failed. Each failure is reported at once.
    pub(crate) failures: u32,
    pub(crate) said: Said,
}

#[derive(Debug)]
struct Wait {
    pending: Pending,
    due: Duration,
    pause: Duration,
}

/// All blockers. Times are durations since a fixed moment.
#[derive(Debug)]
pub(crate) struct Waits {
    moment: Duration,
    open: BTreeMap<(String, Reason, String), Wait>,
}

impl Waits {
    pub(crate) fn new(moment: Duration) -> Waits {
        Waits { moment, open: BTreeMap::new() }
    }

    /// Replaces the blockers: these exist now, and no others.
    pub(crate) fn update(&mut self, all: Vec<Pending>, now: Duration) {
        let mut before = std::mem::take(&mut self.open);
        for pending in all {
            let key = (pending.said.about.uid.clone(), pending.said.reason, pending.what.clone());
            let wait = match before.remove(&key) {
                Some(known) if known.pending.failures >= pending.failures => Wait { pending, ..known },
                Some(known) => Wait { pending, due: now, ..known },
                None if pending.failures > 0 => Wait { pending, due: now, pause: AGAIN },
                None => Wait { pending, due: now + self.moment, pause: AGAIN },
            };
            self.open.insert(key, wait);
        }
    }

    /// The messages that are due.
    pub(crate) fn take_due(&mut self, now: Duration) -> Vec<Said> {
        let mut said = Vec::new();
        for wait in self.open.values_mut().filter(|wait| wait.due <= now) {
            said.push(wait.pending.said.clone());
            wait.due = now + wait.pause;
            wait.pause = (wait.pause * 2).min(LONGEST);
        }
        said
    }

    /// The next moment at which a message is due.
    pub(crate) fn due(&self) -> Option<Duration> {
        self.open.values().map(|wait| wait.due).min()
    }
}

#[cfg(test)]
mod tests {
    use super::super::said::Involved;
    use super::*;

    fn pending(uid: &str, failures: u32) -> Pending {
        let about = Involved { uid: uid.into(), ..Involved::default() };
        let said = Said::new(about, String::new(), Reason::Blocked, "x");
        Pending { what: "finalizer".into(), failures, said }
    }

    const fn secs(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    #[test]
    fn a_moment_is_waited_and_then_less_and_less_is_said() {
        let mut waits = Waits::new(secs(2));
        waits.update(vec![pending("a", 0)], secs(0));
        assert!(waits.take_due(secs(1)).is_empty());
        assert_eq!((waits.due(), waits.take_due(secs(2)).len()), (Some(secs(2)), 1));
        // That the same is said to be there again changes nothing.
        waits.update(vec![pending("a", 0)], secs(3));
        assert_eq!((waits.due(), waits.take_due(secs(62)).len()), (Some(secs(62)), 1));
        assert_eq!(waits.due(), Some(secs(182)));
        let (mut now, mut count) = (secs(182), 0);
        while now < secs(24 * 3600) {
            count += waits.take_due(now).len();
            now = waits.due().unwrap();
        }
        assert!((45..60).contains(&count), "about every half hour: {count}");
    }

    #[test]
    fn what_is_gone_within_the_moment_is_never_said() {
        let mut waits = Waits::new(secs(2));
        waits.update(vec![pending("a", 0), pending("b", 0)], secs(0));
        waits.update(vec![pending("b", 0)], secs(1));
        assert_eq!(waits.take_due(secs(5)), [pending("b", 0).said]);
        waits.update(Vec::new(), secs(6));
        assert_eq!(waits.due(), None);
    }

    #[test]
    fn every_failure_is_said_at_once() {
        let mut waits = Waits::new(secs(2));
        waits.update(vec![pending("a", 1)], secs(0));
        assert_eq!(waits.take_due(secs(0)).len(), 1);
        waits.update(vec![pending("a", 1)], secs(1));
        assert_eq!(waits.take_due(secs(1)).len(), 0);
        waits.update(vec![pending("a", 2)], secs(3));
        assert_eq!(waits.take_due(secs(3)).len(), 1);
    }
}
