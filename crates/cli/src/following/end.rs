//! How it ended: what is gone, what is still there, and what to type about that.

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

/// More explanations than this say nothing new.
const EXPLAINED: usize = 5;
/// Blocked objects that are looked at for their cause.
const COMPARED: usize = 500;
/// Objects that are named in one line.
const NAMED: usize = 4;

/// How it ended.
pub(crate) struct End {
    pub(crate) gone: usize,
    /// Who is still there.
    pub(crate) left: BTreeMap<Uid, String>,
    /// The world as it was then.
    pub(crate) seen: Seen,
    /// Somebody pressed Ctrl-C.
    pub(crate) interrupted: bool,
    /// It is somebody else's work, and there is nobody who does it.
    pub(crate) nobody_collects: bool,
    /// Whether tombstones can be kept there.
    pub(crate) tombstones: bool,
    /// How many of those who are still there were left to the collector of Kubernetes.
    pub(crate) handed_over: usize,
    /// What namespaces that are still there wait for, as the whole objects say.
    pub(crate) namespaces: Vec<Why>,
    /// Whether what was said of those who are gone could be written.
    pub(crate) unheard: Result<(), Failure>,
}

impl End {
    /// The exit code for it.
    pub(crate) fn exit(&self) -> Exit {
        match (self.interrupted, self.left.is_empty(), self.gone) {
            (_, true, _) => Exit::Done,
            (true, false, _) => Exit::Interrupted,
            (false, false, 0) => Exit::Held,
            (false, false, _) => Exit::Partial,
        }
    }

    /// How far it was when Ctrl-C was pressed.
    pub(crate) fn interrupted_text(&self) -> String {
        let (gone, left) = (self.gone, self.left.len());
        format!("interrupted: {} of {} are gone, {} are left", count(gone), count(gone + left), count(left))
    }

    /// Why objects that are still there are so: each cause once, with all objects that it is in the way of. Without a
    /// cause that can be seen, why some of the named ones are.
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
            let there = of.iter().filter_map(|uid| snapshot.get(uid)).take(EXPLAINED);
            return there.map(|life| told.why(&explain(life))).collect();
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

/// Explanations of blocked objects, those with the same things in the way together.
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

/// What is in the way, without how often it was tried.
fn cause(what: &Obstacle) -> Obstacle {
    match what.clone() {
        Obstacle::Call { callee, subscriber, phase, block, error, .. } => {
            Obstacle::Call { callee, subscriber, phase, block, error, failures: 0 }
        }
        other => other,
    }
}

/// How explanations are put into words.
struct Told {
    naming: Naming,
    now: i64,
    tombstones: bool,
}

impl Told {
    fn why(&self, told: &Explanation) -> Why {
        shown::why(explain::story(told, &self.naming, self.now), self.tombstones)
    }

    /// The explanation of one object, and which others have the same in their way.
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

/// A line about several objects; nothing if there are none.
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

/// Tells on stderr what was left to the collector of Kubernetes.
pub(crate) fn handed_over(end: &End, output: &Output) {
    let are = match end.handed_over {
        0 => return,
        1 => "1 is".to_owned(),
        many => format!("{many} are"),
    };
    output.talk(&format!("{are} left to the collector of Kubernetes, without a finalizer of Sexton"));
}

/// Tells on stderr why what is still there is so.
pub(crate) fn report(end: &End, of: &[Uid], namespace: &str, settings: &Settings, output: &Output) {
    handed_over(end, output);
    if end.nobody_collects {
        output.talk("nobody collects there: what is marked waits until somebody does");
        output.suggest(&[("do it from here", format!("sexton collect{}", settings.target_flags()))]);
    }
    for why in end.explanations(of, namespace).iter().chain(&end.namespaces) {
        output.talk_text(&why::text(why, output.talk_style()));
    }
}
