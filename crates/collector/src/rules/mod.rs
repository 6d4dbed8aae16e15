//! Standing rules: search for orphans and leftovers at the start, by interval, and when an owner is created or
//! deleted.
//!
//! ```text
//! feed ─► desk ─► keeper ─► look: candidates, then owners ─► verdicts ─► accuse ─► (the collector deletes)
//!                    └────► status of the rule, condition of the owners
//! ```
//!
//! The desk turns lines of the feed into hints; the keeper, a task of its own, searches. A search only writes
//! accusations as annotations. It must not know how anything is destroyed: the collector decides about accusations
//! like about any other candidate, and checks their evidence again with each deletion.

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

/// The most hints that wait. If there are more, everything is searched instead.
const HINTS: usize = 1_024;

/// A change that may matter to a rule.
#[derive(Debug)]
enum Hint {
    /// A rule was created, changed or deleted.
    Rules,
    /// An owner of this name was created or deleted, or an object that is labelled with it was deleted.
    Name {
        /// The rule, by its uid.
        rule: String,
        namespace: String,
        name: String,
    },
}

/// A rule for leftovers, as far as it decides which changes are worth a hint.
#[derive(Debug)]
struct Watched {
    uid: String,
    leftover: Leftover,
    kinds: Vec<KindName>,
}

/// The collector's end of the rules: passes on hints and the epoch of the lease. The task ends when this is dropped.
#[derive(Debug)]
pub(crate) struct Desk {
    turn: watch::Sender<Option<Epoch>>,
    hints: mpsc::Sender<Hint>,
    missed: Arc<AtomicBool>,
    watched: watch::Receiver<Arc<Vec<Watched>>>,
    _work: JoinSet<()>,
}

impl Desk {
    /// Starts the task. It does nothing before there is an epoch.
    pub(crate) fn start(means: Means) -> Desk {
        let (turn, turns) = watch::channel(None);
        let (hints, hinted) = mpsc::channel(HINTS);
        let (tell, watched) = watch::channel(Arc::default());
        let missed = Arc::new(AtomicBool::new(false));
        let mut work = JoinSet::new();
        work.spawn(Keeper::new(means, turns, hinted, missed.clone(), tell).run());
        Desk { turn, hints, missed, watched, _work: work }
    }

    /// Sets the epoch under which this collector acts; `None` if another one does.
    pub(crate) fn turn(&self, epoch: Option<&Epoch>) {
        self.turn.send_if_modified(|known| {
            let other = known.as_ref() != epoch;
            if other {
                *known = epoch.cloned();
            }
            other
        });
    }

    /// Makes hints of a line of the feed. A hint that is lost is made up for by the next complete search.
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
