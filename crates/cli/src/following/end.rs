//! The result of [`Follow::run`](super::Follow::run): which objects are gone, which still exist and why, and the
//! commands to type about them.
//!
//! Causes come from `lifecycle::explain` on the last snapshot. This module only groups them, so that one cause that
//! blocks a thousand objects is explained once, and bounds how many are shown.

use std::collections::{BTreeMap, BTreeSet};

use sexton_collector::preview::World as Seen;
use sexton_lifecycle::explain::{self, Explanation, Naming, Obstacle, Status};
use sexton_lifecycle::{DetectionSettings, NodeId};
use sexton_model::Uid;

use super::now;
use crate::failure::{Exit, Failure};
use crate::output::Output;
use crate::output::style::count;
use crate::output::why::{self, Why};
use crate::settings::Settings;
use crate::showing::why as shown;

/// Explanations shown at most; the others are summed in one line.
const EXPLAINED: usize = 5;
/// Blocked objects that are explained in order to group them by cause; bounds the time on large deletions.
const COMPARED: usize = 500;
/// Objects named in one line; the rest is counted.
const NAMED: usize = 4;

/// How following ended.
pub(crate) struct End {
    pub(crate) gone: usize,
    /// Followed objects that still exist, with their labels.
    pub(crate) left: BTreeMap<Uid, String>,
    /// The last snapshot.
    pub(crate) seen: Seen,
    /// Whether Ctrl-C was pressed.
    pub(crate) interrupted: bool,
    /// Whether the work belongs to another process, and no process does it: the lease of the collector is free.
    pub(crate) nobody_collects: bool,
    /// Whether the target has the kind Tombstone.
    pub(crate) tombstones: bool,
    /// How many of the objects in `left` were handed over to the garbage collector of Kubernetes.
    pub(crate) handed_over: usize,
    /// What namespaces in `left` wait for, read from the whole objects: the snapshot has only their metadata.
    pub(crate) namespaces: Vec<Why>,
    /// Whether the lines about objects that are gone could be written to stdout.
    pub(crate) unheard: Result<(), Failure>,
}

impl End {
    /// The exit code: done, interrupted, partial if some objects are gone, held if none is.
    pub(crate) fn exit(&self) -> Exit {
        match (self.interrupted, self.left.is_empty(), self.gone) {
            (_, true, _) => Exit::Done,
            (true, false, _) => Exit::Interrupted,
            (false, false, 0) => Exit::Held,
            (false, false, _) => Exit::Partial,
        }
    }

    /// A sentence with the numbers of objects that are gone and left, for a command that Ctrl-C ended.
    pub(crate) fn interrupted_text(&self) -> String {
        let (gone, left) = (self.gone, self.left.len());
        format!("interrupted: {} of {} are gone, {} are left", count(gone), count(gone + left), count(left))
    }

    /// Explains why objects still exist: one entry per set of blockers, with the objects that have exactly these
    /// blockers; then a line with the objects that have none of their own. If no blocker is visible in the snapshot,
    /// explains some of the objects in `of` instead. Empty if the plan for the snapshot does not pass its check.
    pub(crate) fn explanations(&self, of: &[Uid], namespace: &str) -> Vec<Why> {
        let Ok((judgement, plan)) = self.seen.under_way(&DetectionSettings::default()) else {
            return Vec::new();
        };
        let (snapshot, now) = (self.seen.snapshot(), now());
        let explain = |life: NodeId| explain::explain(snapshot, &judgement, &plan, life, now);
        let standing = self.seen.standing(&judgement);
        let blocked: BTreeSet<NodeId> =
            standing.blockers.iter().filter_map(|one| snapshot.get(&Uid(one.object.uid.clone()))).collect();
        let causes = causes(blocked.iter().take(COMPARED).map(|life| explain(*life)));
        let told = Told { naming: shown::naming(namespace), now, tombstones: self.tombstones };
        if causes.is_empty() {
            let named = || of.iter().filter_map(|uid| snapshot.get(uid));
            // What was named may be gone before what follows it.
            let left = self.left.keys().filter_map(|uid| snapshot.get(uid));
            let left = left.filter(|_| named().next().is_none());
            return named().chain(left).take(EXPLAINED).map(|life| told.why(&explain(life))).collect();
        }
        let mut all: Vec<Why> = causes.iter().take(EXPLAINED).map(|cause| told.cause(cause)).collect();
        let others: Vec<String> =
            causes.iter().skip(EXPLAINED).flatten().map(|one| told.naming.name(&one.subject)).collect();
        all.extend(sum(&others, "in the way, too"));
        let is_blocked = |uid: &Uid| snapshot.get(uid).is_some_and(|life| blocked.contains(&life));
        let mut waiting: Vec<String> =
            self.left.iter().filter(|(uid, _)| !is_blocked(uid)).map(|(_, label)| label.clone()).collect();
        waiting.sort_unstable();
        all.extend(sum(&waiting, "still there"));
        all
    }
}

/// Groups the explanations of blocked objects by their blockers. Objects without a blocker of their own are left out.
fn causes(blocked: impl Iterator<Item = Explanation>) -> Vec<Vec<Explanation>> {
    let mut causes: Vec<(Vec<Obstacle>, Vec<Explanation>)> = Vec::new();
    for told in blocked {
        let Status::Doomed(dying) = &told.status else { continue };
        let what: Vec<Obstacle> = dying.blockers.iter().map(|blocker| cause(&blocker.obstacle)).collect();
        if what.is_empty() {
            continue;
        }
        match causes.iter_mut().find(|(known, _)| *known == what) {
            Some((_, same)) => same.push(told),
            None => causes.push((what, vec![told])),
        }
    }
    causes.into_iter().map(|(_, same)| same).collect()
}

/// A blocker without its number of failed attempts, so that two failing calls of one hook compare equal.
fn cause(what: &Obstacle) -> Obstacle {
    match what.clone() {
        Obstacle::Call { callee, subscriber, phase, block, error, .. } => {
            Obstacle::Call { callee, subscriber, phase, block, error, failures: 0 }
        }
        other => other,
    }
}

/// What turns explanations into text: names relative to a namespace, the time, and whether tombstones are possible.
struct Told {
    naming: Naming,
    now: i64,
    tombstones: bool,
}

impl Told {
    fn why(&self, told: &Explanation) -> Why {
        shown::why(explain::story(told, &self.naming, self.now), self.tombstones)
    }

    /// The explanation of the first object, with a last line that names the other objects that have the same blockers.
    fn cause(&self, same: &[Explanation]) -> Why {
        let [first, others @ ..] = same else { return Why::default() };
        let mut why = self.why(first);
        let others: Vec<String> = others.iter().map(|one| self.naming.name(&one.subject)).collect();
        if !others.is_empty() {
            why.footer.push(format!("the same is in the way of {}", named(&others)));
        }
        why
    }
}

/// A line about several objects. `None` if there are no objects.
fn sum(labels: &[String], what: &str) -> Option<Why> {
    let are = if labels.len() == 1 { "is" } else { "are" };
    let subject = format!("{} more {are} {what}: {}", count(labels.len()), named(labels));
    (!labels.is_empty()).then(|| Why { subject, ..Why::default() })
}

fn named(labels: &[String]) -> String {
    let more = match labels.len().saturating_sub(NAMED) {
        0 => String::new(),
        more => format!(" and {} more", count(more)),
    };
    format!("{}{more}", labels.iter().take(NAMED).map(String::as_str).collect::<Vec<_>>().join(", "))
}

/// Writes to stderr how many objects were handed over to the garbage collector of Kubernetes, if any were.
pub(crate) fn handed_over(end: &End, output: &Output) {
    let are = match end.handed_over {
        0 => return,
        1 => "1 is".to_owned(),
        many => format!("{many} are"),
    };
    output.talk(&format!("{are} left to the collector of Kubernetes, without a finalizer of Sexton"));
}

/// Writes to stderr why objects still exist: handed over, no collector at work, blockers, or what namespaces wait for.
pub(crate) fn report(end: &End, of: &[Uid], namespace: &str, settings: &Settings, output: &Output) {
    handed_over(end, output);
    if end.nobody_collects {
        output.talk("nobody collects there: what is marked waits until somebody does");
        output.suggest(&[("do it from here", format!("sexton collect{}", settings.target_flags()))]);
    }
    let mut explained = end.explanations(of, namespace);
    for more in &end.namespaces {
        match explained.iter_mut().find(|why| why.subject == more.subject) {
            Some(why) => {
                // The object itself says more of groups than its metadata.
                why.lines.retain(|line| !line.text.starts_with("the group "));
                why.lines.extend(more.lines.iter().cloned());
            }
            None => explained.push(more.clone()),
        }
    }
    for why in &explained {
        output.talk_text(&why::text(why, output.talk_style()));
    }
}
