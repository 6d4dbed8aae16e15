//! What is told about lives: worlds in, stories out, both as text.

#![allow(missing_docs, unreachable_pub, clippy::unwrap_used)]

#[path = "../common/mod.rs"]
mod common;

mod dying;
mod living;
mod stuck;

use common::{Event, apply, empty, events, life};
use sexton_lifecycle::explain::{Explanation, Naming, Story, explain, story};
use sexton_lifecycle::plan::{self, Plan};
use sexton_lifecycle::{Judgement, Observation, Roots, Settings, Snapshot, judge};

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

pub fn judged(snapshot: &Snapshot) -> (Judgement, Plan) {
    let judgement = judge(snapshot, Roots::All, &[], &Settings::default());
    let plan = plan::make(snapshot, &judgement);
    plan::check(snapshot, &judgement, &plan).unwrap();
    (judgement, plan)
}

pub fn explained(snapshot: &Snapshot, word: &str) -> Explanation {
    let (judgement, plan) = judged(snapshot);
    explain(snapshot, &judgement, &plan, life(snapshot, word), NOW)
}

/// The story of a life as text: asides after a bar, what can be typed after a dollar.
pub fn told(explanation: &Explanation) -> String {
    let naming = Naming { namespace: "a".into(), groups: false };
    let Story { subject, headline, lines, footer } = story(explanation, &naming, NOW);
    let mut text = format!("{subject} {headline}\n");
    for line in lines {
        let indent = "  ".repeat(line.depth + 1);
        let aside = if line.aside.is_empty() { String::new() } else { format!(" | {}", line.aside) };
        text.push_str(&format!("{indent}{}{aside}\n", line.text));
        for typed in line.typed {
            let note = if typed.note.is_empty() { String::new() } else { format!(" ({})", typed.note) };
            text.push_str(&format!("{indent}  {} $ {}{note}\n", typed.purpose, typed.command));
        }
    }
    footer.iter().for_each(|line| text.push_str(&format!("{line}\n")));
    text
}

/// What is told about a life in a world.
pub fn why(text: &str, word: &str) -> String {
    told(&explained(&common::world(text), word))
}
