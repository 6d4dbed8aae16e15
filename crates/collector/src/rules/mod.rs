//! Standing rules: looks for orphans and leftovers, at the start, by interval, and when an owner comes or goes.
//!
//! ```text
//! feed ─► desk ─► keeper ─► look: candidates, then owners ─► verdicts ─► accuse ─► (the collector does the rest)
//!                    └────► status of the rule, condition of the owners
//! ```
//!
//! Whoever looks only accuses. It must not know how anything is destroyed.

mod accuse;
mod candidates;
mod condition;
mod found;
mod keeper;
mod look;
mod nonsense;
mod status;

pub use accuse::{Accused, Charge, accuse};
pub use found::{Ask, Found, Scan};
pub use look::{scan, scan_counting};
pub use nonsense::nonsense;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use sexton_model::bulk::Epoch;
use sexton_model::feed::{FeedObject, Line};
use sexton_model::rule::{KindName, Leftover};
use tokio::sync::{mpsc, watch};
use tokio::task::JoinSet;

use crate::settings::Means;
use keeper::Keeper;

/// Hints that wait. When there are more, everything is looked at instead.
const HINTS: usize = 1_024;

/// Something happened that may matter to a rule.
#[derive(Debug)]
enum Hint {
    /// A rule was written or removed.
    Rules,
    /// An owner of this name came or went, or something that was labelled with it went.
    Name {
        /// The rule, by its uid.
        rule: String,
        namespace: String,
        name: String,
    },
}

/// A rule for leftovers, as far as it decides what is worth a hint.
#[derive(Debug)]
struct Watched {
    uid: String,
    leftover: Leftover,
    kinds: Vec<KindName>,
}

/// Where a collector tells those who look what it hears, and whether it is their turn. They end with it.
#[derive(Debug)]
pub(crate) struct Desk {
    turn: watch::Sender<Option<Epoch>>,
    hints: mpsc::Sender<Hint>,
    missed: Arc<AtomicBool>,
    watched: watch::Receiver<Arc<Vec<Watched>>>,
    _work: JoinSet<()>,
}

impl Desk {
    /// Starts those who look. They do nothing before it is their turn.
    pub(crate) fn start(means: Means) -> Desk {
        let (turn, turns) = watch::channel(None);
        let (hints, hinted) = mpsc::channel(HINTS);
        let (tell, watched) = watch::channel(Arc::default());
        let missed = Arc::new(AtomicBool::new(false));
        let mut work = JoinSet::new();
        work.spawn(Keeper::new(means, turns, hinted, missed.clone(), tell).run());
        Desk { turn, hints, missed, watched, _work: work }
    }

    /// Whose turn it is: ours under this epoch, or somebody else's.
    pub(crate) fn turn(&self, epoch: Option<&Epoch>) {
        self.turn.send_if_modified(|known| {
            let other = known.as_ref() != epoch;
            if other {
                *known = epoch.cloned();
            }
            other
        });
    }

    /// Something was heard. Only hints are made of it: whatever is missed is found when everything is looked at.
    pub(crate) fn hear(&self, line: &Line) {
        let (seen, gone) = match line {
            Line::Added(seen) => (seen, false),
            Line::Deleted(seen) => (seen, true),
            Line::Modified(seen) => {
                if is_rule(seen) {
                    self.hint(Hint::Rules);
                }
                return;
            }
            _ => return,
        };
        if is_rule(seen) {
            self.hint(Hint::Rules);
        }
        let watched = self.watched.borrow();
        if self.turn.borrow().is_none() || watched.is_empty() {
            return;
        }
        let (of, metadata) = (&seen.object, &seen.object.metadata);
        let group = of.api_version.rsplit_once('/').map_or("", |(group, _)| group);
        let is = |kind: &KindName| kind.kind == of.kind && kind.group == group;
        for rule in watched.iter() {
            let label = |key: &str| metadata.labels.get(key).map(String::as_str);
            let name = match () {
                () if is(&rule.leftover.owner) => Some(metadata.name.as_str()),
                () if gone && rule.kinds.iter().any(is) => rule.leftover.name_in(label),
                () => None,
            };
            if let Some(name) = name {
                let (namespace, name) = (metadata.namespace.clone(), name.to_owned());
                self.hint(Hint::Name { rule: rule.uid.clone(), namespace, name });
            }
        }
    }

    fn hint(&self, hint: Hint) {
        if self.hints.try_send(hint).is_err() {
            self.missed.store(true, Ordering::SeqCst);
        }
    }
}

fn is_rule(seen: &FeedObject) -> bool {
    seen.resource == "rules" && seen.object.api_version.starts_with("sexton.dev/")
}
