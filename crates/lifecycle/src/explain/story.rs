//! An explanation in words: a headline, lines with commands, and a footer.

use sexton_model::time;

use super::{
    Blocker, DoomedDetails, Explanation, Naming, PeerState, Remedy, Status, SubscriptionPeer, Subscriptions,
    SurvivingDetails, Wait, phrases,
};
use crate::detect::Detector;

/// An explanation in words.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Story {
    /// The name of the object.
    pub subject: String,
    /// Its status; a sentence that continues after the subject.
    pub headline: String,
    /// What blocks it and what it waits for, or what keeps it.
    pub lines: Vec<Line>,
    /// Progress, the next retry, what would doom it.
    pub footer: Vec<String>,
}

/// A line of a story.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Line {
    /// The depth of its indentation, from 0.
    pub depth: usize,
    /// The object or blocker.
    pub text: String,
    /// Details about it. May be empty.
    pub detail: String,
    /// Commands that change it.
    pub commands: Vec<SuggestedCommand>,
}

/// A command that the user may run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SuggestedCommand {
    /// Its purpose.
    pub purpose: String,
    /// The command line.
    pub command: String,
    /// What the user should know before running it. May be empty.
    pub note: String,
}

/// Puts an explanation into words, at a moment in seconds since 1970.
pub fn story(explanation: &Explanation, naming: &Naming, now: i64) -> Story {
    let mut story = match &explanation.status {
        Status::Doomed(details) => of_dying(details, &naming.name(&explanation.subject), naming, now),
        Status::Surviving(details) => of_living(details, naming, now),
    };
    story.lines.extend(of_subscriptions(explanation, naming));
    story.subject = naming.name(&explanation.subject);
    story.footer.extend(explanation.note.clone());
    story
}

fn of_dying(details: &DoomedDetails, subject: &str, naming: &Naming, now: i64) -> Story {
    let mut lines: Vec<Line> = details.blockers.iter().map(|one| line_of(one, 0, naming, now)).collect();
    let mut above = vec![subject.to_owned()];
    for wait in &details.waits {
        above.truncate(wait.depth + 1);
        let name = naming.name(&wait.object);
        lines.extend(of_wait(wait, &name, above.last().map_or("", String::as_str), naming, now));
        above.push(name);
    }
    let headline = headline(details, naming, Some(now));
    Story { headline, lines, footer: progress(details, now), ..Story::default() }
}

/// The headline of a doomed object. Without `now` it has no times, so it does not change as time passes.
pub(super) fn headline(details: &DoomedDetails, naming: &Naming, now: Option<i64>) -> String {
    let mut headline = match (details.is_destroyed, details.terminating_since) {
        (true, _) => "is destroyed and about to go",
        (false, Some(_)) => "is being destroyed",
        (false, None) => "is going to be destroyed",
    }
    .to_owned();
    for (place, step) in details.chain.iter().enumerate() {
        if step.omitted > 0 {
            headline.push_str(&format!(", … {} more", step.omitted));
        }
        let sign = if place == 0 { ": " } else { ", " };
        headline.push_str(&format!("{sign}{} {}", step.link, naming.name(&step.object)));
    }
    let mut facts = Vec::new();
    let ago = |at: i64| Some(format!(", {} ago", time::age(now? - at)));
    let asked = details.requested.and_then(|(at, _)| ago(at)).unwrap_or_default();
    if let Some((by, because)) = &details.candidate {
        facts.push(format!("{by}: {because}"));
    }
    match (details.detector, &details.requester) {
        (_, by) if details.candidate.is_some() => {
            facts.extend(by.as_ref().map(|by| format!("asked for by {by}")))
        }
        (Detector::Orphaned, None) => facts.push("found without owners".to_owned()),
        (_, Some(by)) => facts.push(format!("deleted by {by}{asked}")),
        (_, None) => facts.push(format!("deleted{asked}")),
    }
    let known = details.requested.map_or(Some(details.policy), |(_, policy)| policy);
    // Without `now` the sentence is written when the deletion begins, so the policy of the finding is that of the
    // request.
    let policy = known.or_else(|| now.is_none().then_some(details.policy));
    facts.push(match policy {
        Some(policy) => format!("policy {}", phrases::policy(policy)),
        None => "policy background, or one that is carried out already".to_owned(),
    });
    facts.extend(details.approved.as_ref().map(|digest| format!("approved plan {digest}")));
    facts.extend(details.collection.as_ref().map(|name| format!("collection {name}")));
    facts.extend(details.stage.map(|stage| phrases::stage(stage).to_owned()));
    format!("{headline} ({})", facts.join(", "))
}

fn of_wait(wait: &Wait, name: &str, above: &str, naming: &Naming, now: i64) -> Vec<Line> {
    let text = match wait.between {
        0 => format!("waits for {name}"),
        between => format!("… and {between} more, the last for {name}"),
    };
    let mut line = Line { depth: wait.depth, text, ..Line::default() };
    if let [only] = &wait.blockers[..] {
        let blocker = line_of(only, wait.depth, naming, now);
        (line.detail, line.commands) = (blocker.text, blocker.commands);
        if !blocker.detail.is_empty() {
            line.detail = format!("{}, {}", line.detail, blocker.detail);
        }
        return vec![line];
    }
    if wait.between == 0 {
        line.detail = phrases::wait_reason(wait.reason, above);
    }
    if let Some(stage) = wait.stage.filter(|_| wait.blockers.is_empty()) {
        line.detail = format!("{}; {}", line.detail, phrases::stage(stage));
    }
    let below = wait.blockers.iter().map(|one| line_of(one, wait.depth + 1, naming, now));
    std::iter::once(line).chain(below).collect()
}

fn line_of(blocker: &Blocker, depth: usize, naming: &Naming, now: i64) -> Line {
    let since = blocker.since.map(|since| format!("for {}", time::age(now - since)));
    Line {
        depth,
        text: blocker.text(naming),
        detail: since.unwrap_or_default(),
        commands: suggested(&blocker.remedies, naming),
    }
}

fn suggested(remedies: &[Remedy], naming: &Naming) -> Vec<SuggestedCommand> {
    let command = |remedy: &Remedy| SuggestedCommand {
        purpose: remedy.purpose().to_owned(),
        command: remedy.command(naming),
        note: remedy.note().to_owned(),
    };
    remedies.iter().map(command).collect()
}

fn progress(details: &DoomedDetails, now: i64) -> Vec<String> {
    let mut facts = Vec::new();
    facts.extend(details.progress.map(|done| format!("{} of {} are gone", done.gone, done.doomed)));
    match details.predecessor_count {
        0 => {}
        1 => facts.push("1 has to go before it".to_owned()),
        count => facts.push(format!("{count} have to go before it")),
    }
    if details.omitted > 0 {
        facts.push(format!("{} more of them are not shown", details.omitted));
    }
    facts
        .extend(details.next_attempt.map(|next| format!("the next attempt is in {}", time::age(next - now))));
    if facts.is_empty() { Vec::new() } else { vec![format!("{}.", facts.join("; "))] }
}

fn of_living(details: &SurvivingDetails, naming: &Naming, now: i64) -> Story {
    let owners: Vec<String> = details.owners.iter().map(|owner| owner.text(naming, now)).collect();
    let mut facts = match (&owners[..], &details.orphan) {
        ([], _) => vec!["nothing owns it".to_owned()],
        ([only], None) => vec![format!("owned by {only}")],
        (all, None) => vec![format!("{} owners", all.len())],
        (_, Some(_)) => vec!["none of its owners exists".to_owned()],
    };
    facts.extend(details.manager.as_ref().map(|manager| format!("belongs to the module {manager}")));
    facts.push(match details.protected.as_deref() {
        None => "protected: no".to_owned(),
        Some("true") => "protected: yes".to_owned(),
        Some(reason) => format!("protected: {reason}"),
    });
    let listed = if owners.len() == 1 && details.orphan.is_none() { Vec::new() } else { owners };
    let line = |text: String| Line { text, ..Line::default() };
    let mut lines: Vec<Line> = listed.into_iter().map(|owner| line(format!("owned by {owner}"))).collect();
    lines.extend(details.exclusions.iter().map(|excluded| {
        let waiting = excluded.blocks.as_ref().map(|object| format!("{} waits for it", naming.name(object)));
        let commands = suggested(&excluded.remedies, naming);
        Line {
            detail: waiting.unwrap_or_default(),
            commands,
            ..line(phrases::excluded("spared: it", &excluded.why))
        }
    }));
    lines.extend(details.loses.iter().map(|owner| Line {
        detail: "that goes without it".to_owned(),
        ..line(format!("loses its reference to {}", naming.name(owner)))
    }));
    let headline = format!("lives: {}.", facts.join(", "));
    Story { headline, lines, footer: end(details, naming, now), ..Story::default() }
}

/// The subscriptions of an object. Of a doomed one only those to survivors: all others are among what it waits for.
fn of_subscriptions(explanation: &Explanation, naming: &Naming) -> Vec<Line> {
    let Subscriptions { to, more_to, by, more_by } = &explanation.subscriptions;
    let line = |word: &str, one: &SubscriptionPeer, detail: &str| {
        let handler = one.handler.as_ref().map(|handler| format!("; handler {handler}"));
        Line {
            text: format!("{word} {}", naming.name(&one.object)),
            detail: format!("{detail}{}", handler.unwrap_or_default()),
            ..Line::default()
        }
    };
    let counted = |more: usize, word: &str| {
        let text = format!("{word} {more} more");
        (more > 0).then_some(Line { text, ..Line::default() })
    };
    if let Status::Doomed(_) = explanation.status {
        let alive = to.iter().filter(|one| one.state == PeerState::Lives);
        return alive.map(|one| line("subscribed to", one, "lives on, and is not waited for")).collect();
    }
    let mut lines: Vec<Line> = Vec::new();
    for one in to {
        let detail = match one.state {
            PeerState::Absent => "does not exist",
            PeerState::Lives => "goes first, if both are deleted",
            PeerState::Doomed => "that is being destroyed",
        };
        lines.push(line("subscribed to", one, detail));
    }
    lines.extend(counted(*more_to, "subscribed to"));
    for one in by {
        let detail = match one.state {
            PeerState::Doomed => "that is being destroyed",
            PeerState::Lives | PeerState::Absent => "goes last, if both are deleted",
        };
        lines.push(line("subscriber", one, detail));
    }
    lines.extend(counted(*more_by, "subscribers:"));
    lines
}

fn end(details: &SurvivingDetails, naming: &Naming, now: i64) -> Vec<String> {
    let mut footer = Vec::new();
    if let (Some(orphan), None) = (&details.orphan, &details.protected) {
        let grace = orphan.grace.map(|grace| format!(" after a grace of {}", time::age(grace)));
        let due = orphan.due.map(|due| format!(", in {}", time::age(due - now)));
        let (grace, due) = (grace.unwrap_or_default(), due.unwrap_or_default());
        footer.push(format!("It is an orphan and is collected{grace}{due}, unless an owner turns up."));
    }
    let conditions: Vec<String> = details.doomed_if.iter().map(|one| one.text(naming)).collect();
    if !conditions.is_empty() {
        let begin = if details.protected.is_some() { "Unprotected it" } else { "It" };
        footer.push(format!("{begin} would die if: {}.", conditions.join(" · ")));
    }
    footer
}
