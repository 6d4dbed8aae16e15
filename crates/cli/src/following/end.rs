//! How it ended: what is gone, what is still there, and what to type about that.

use std::collections::BTreeMap;

use sexton_collector::preview::World as Seen;
use sexton_lifecycle::Settings as Rules;
use sexton_lifecycle::explain;
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

    /// Why those of some lives that are still there are so.
    pub(crate) fn explanations(&self, of: &[Uid], namespace: &str, settings: &Settings) -> Vec<Why> {
        let Ok((judgement, plan)) = self.seen.under_way(&Rules::default()) else { return Vec::new() };
        let snapshot = self.seen.snapshot();
        let there = of.iter().filter_map(|uid| snapshot.get(uid)).take(EXPLAINED);
        let (now, naming) = (now(), shown::naming(namespace));
        there
            .map(|life| {
                let told = explain::explain(snapshot, &judgement, &plan, life, now);
                shown::why(explain::story(&told, &naming, now), self.tombstones, settings)
            })
            .collect()
    }
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
        output.talk(&format!("  do it from here   sexton collect{}", settings.target_flags()));
    }
    for why in end.explanations(of, namespace, settings).iter().chain(&end.namespaces) {
        output.talk_text(&why::text(why, output.talk_style()));
    }
}
