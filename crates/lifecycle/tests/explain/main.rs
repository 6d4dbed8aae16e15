//! What is told about objects: worlds in, stories out, both as text.

#![allow(missing_docs, unreachable_pub, clippy::unwrap_used)]

#[path = "../common/mod.rs"]
mod common;

mod doomed;
mod stuck;
mod surviving;

use common::{Event, apply, empty, events, node};
use sexton_lifecycle::explain::{Explanation, Naming, Story, explain, story};
use sexton_lifecycle::plan::{self, Plan};
use sexton_lifecycle::{Detection, DetectionSettings, Observation, Roots, Snapshot, follow_deletions};

/// The moment of all stories.
pub const NOW: i64 = 250;

/// A world from text, in which some objects have what the text cannot say.
pub fn world_with(text: &str, more: impl Fn(&str, &mut Observation)) -> Snapshot {
    let mut snapshot = empty();
    for mut event in events(text) {
        if let Event::Put(seen) = &mut event {
            let uid = seen.uid.0.clone();
            more(&uid, seen);
        }
        apply(&mut snapshot, event);
    }
    snapshot
}

pub fn judged(snapshot: &Snapshot) -> (Detection, Plan) {
    let detection = follow_deletions(snapshot, Roots::All, &[], &DetectionSettings::default());
    let plan = plan::make(snapshot, &detection);
    plan::verify(snapshot, &detection, &plan).unwrap();
    (detection, plan)
}

pub fn explained(snapshot: &Snapshot, word: &str) -> Explanation {
    let (detection, plan) = judged(snapshot);
    explain(snapshot, &detection, &plan, node(snapshot, word), NOW)
}

/// The story of an object as text: asides after a bar, what can be typed after a dollar.
pub fn told(explanation: &Explanation) -> String {
    let naming = Naming { namespace: "a".into(), groups: false };
    let Story { subject, headline, lines, footer } = story(explanation, &naming, NOW);
    let mut text = format!("{subject} {headline}\n");
    for line in lines {
        let indent = "  ".repeat(line.depth + 1);
        let aside = if line.detail.is_empty() { String::new() } else { format!(" | {}", line.detail) };
        text.push_str(&format!("{indent}{}{aside}\n", line.text));
        for typed in line.commands {
            let note = if typed.note.is_empty() { String::new() } else { format!(" ({})", typed.note) };
            text.push_str(&format!("{indent}  {} $ {}{note}\n", typed.purpose, typed.command));
        }
    }
    footer.iter().for_each(|line| text.push_str(&format!("{line}\n")));
    text
}

/// What is told about an object in a world.
pub fn why(text: &str, word: &str) -> String {
    told(&explained(&common::world(text), word))
}
