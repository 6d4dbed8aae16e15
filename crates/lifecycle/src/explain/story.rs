//! An explanation in words, in the shape in which it is shown: a headline, a chain of lines, a last word.

use sexton_model::time;

use super::{
    Blocker, Dying, Explanation, Fate, Living, Naming, OtherSide, Remedy, Subscribed, Subscriptions, Wait,
    words,
};
use crate::detect::Detector;

/// What is told about a life.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Story {
    /// Whom it is about.
    pub subject: String,
    /// What is the matter with it; goes on after the subject.
    pub headline: String,
    /// From the subject to what it waits for in the end.
    pub lines: Vec<Line>,
    /// How far it is, what comes next, what would end it.
    pub footer: Vec<String>,
}

/// A link of the chain.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Line {
    /// How far from the subject; 0 is next to it.
    pub depth: usize,
    /// What.
    pub text: String,
    /// What there is to say about it.
    pub aside: String,
    /// What can be typed about it.
    pub typed: Vec<Typed>,
}

/// Something to type.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Typed {
    /// For what.
    pub purpose: String,
    /// The command.
    pub command: String,
    /// What to know before it is typed. May be empty.
    pub note: String,
}

/// Puts an explanation into words, at a moment in seconds since 1970.
pub fn story(told: &Explanation, naming: &Naming, now: i64) -> Story {
    let mut story = match &told.fate {
        Fate::Dies(dying) => of_dying(dying, &naming.name(&told.subject), naming, now),
        Fate::Lives(living) => of_living(living, naming, now),
    };
    story.lines.extend(of_subscriptions(told, naming));
    story.subject = naming.name(&told.subject);
    story.footer.extend(told.note.clone());
    story
}

fn of_dying(dying: &Dying, subject: &str, naming: &Naming, now: i64) -> Story {
    let mut lines: Vec<Line> = dying.blockers.iter().map(|one| line_of(one, 0, naming, now)).collect();
    let mut above = vec![subject.to_owned()];
    for wait in &dying.waits {
        above.truncate(wait.depth + 1);
        let name = naming.name(&wait.object);
        lines.extend(of_wait(wait, &name, above.last().map_or("", String::as_str), naming, now));
        above.push(name);
    }
    let headline = headline(dying, naming, Some(now));
    Story { headline, lines, footer: progress(dying, now), ..Story::default() }
}

/// What is the matter with a life that dies. Without a moment, nothing in it changes by time passing.
pub(super) fn headline(dying: &Dying, naming: &Naming, now: Option<i64>) -> String {
    let mut headline = match (dying.destroyed, dying.marked) {
        (true, _) => "is destroyed and about to go",
        (false, Some(_)) => "is being destroyed",
        (false, None) => "is going to be destroyed",
    }
    .to_owned();
    for (place, step) in dying.chain.iter().enumerate() {
        if step.omitted > 0 {
            headline.push_str(&format!(", … {} more", step.omitted));
        }
        let sign = if place == 0 { ": " } else { ", " };
        headline.push_str(&format!("{sign}{} {}", step.link, naming.name(&step.object)));
    }
    let mut facts = Vec::new();
    let ago = |at: i64| Some(format!(", {} ago", time::age(now? - at)));
    let asked = dying.asked.and_then(|(at, _)| ago(at)).unwrap_or_default();
    if let Some((by, because)) = &dying.accused {
        facts.push(format!("{by}: {because}"));
    }
    match (dying.detector, &dying.by) {
        (_, by) if dying.accused.is_some() => {
            facts.extend(by.as_ref().map(|by| format!("asked for by {by}")))
        }
        (Detector::Orphaned, None) => facts.push("found without owners".to_owned()),
        (_, Some(by)) => facts.push(format!("deleted by {by}{asked}")),
        (_, None) => facts.push(format!("deleted{asked}")),
    }
    let told = dying.asked.map_or(Some(dying.policy), |(_, policy)| policy);
    // What is said as soon as it begins is said before anything is carried out.
    let policy = told.or_else(|| now.is_none().then_some(dying.policy));
    facts.push(match policy {
        Some(policy) => format!("policy {}", words::policy(policy)),
        None => "policy background, or one that is carried out already".to_owned(),
    });
    facts.extend(dying.approved.as_ref().map(|digest| format!("approved plan {digest}")));
    facts.extend(dying.collection.as_ref().map(|name| format!("collection {name}")));
    facts.extend(dying.stage.map(|stage| words::stage(stage).to_owned()));
    format!("{headline} ({})", facts.join(", "))
}

fn of_wait(wait: &Wait, name: &str, above: &str, naming: &Naming, now: i64) -> Vec<Line> {
    let text = match wait.between {
        0 => format!("waits for {name}"),
        between => format!("… and {between} more, the last for {name}"),
    };
    let mut line = Line { depth: wait.depth, text, ..Line::default() };
    if let [only] = &wait.blockers[..] {
        let told = line_of(only, wait.depth, naming, now);
        (line.aside, line.typed) = (told.text, told.typed);
        if !told.aside.is_empty() {
            line.aside = format!("{}, {}", line.aside, told.aside);
        }
        return vec![line];
    }
    if wait.between == 0 {
        line.aside = words::before(wait.before, above);
    }
    if let Some(stage) = wait.stage.filter(|_| wait.blockers.is_empty()) {
        line.aside = format!("{}; {}", line.aside, words::stage(stage));
    }
    let below = wait.blockers.iter().map(|one| line_of(one, wait.depth + 1, naming, now));
    std::iter::once(line).chain(below).collect()
}

fn line_of(blocker: &Blocker, depth: usize, naming: &Naming, now: i64) -> Line {
    let since = blocker.since.map(|since| format!("for {}", time::age(now - since)));
    Line {
        depth,
        text: blocker.text(naming),
        aside: since.unwrap_or_default(),
        typed: typed(&blocker.clears, naming),
    }
}

fn typed(clears: &[Remedy], naming: &Naming) -> Vec<Typed> {
    let typed = |remedy: &Remedy| Typed {
        purpose: remedy.purpose().to_owned(),
        command: remedy.command(naming),
        note: remedy.note().to_owned(),
    };
    clears.iter().map(typed).collect()
}

fn progress(dying: &Dying, now: i64) -> Vec<String> {
    let mut facts = Vec::new();
    facts.extend(dying.progress.map(|done| format!("{} of {} are gone", done.gone, done.doomed)));
    match dying.waits_for {
        0 => {}
        1 => facts.push("1 has to go before it".to_owned()),
        count => facts.push(format!("{count} have to go before it")),
    }
    if dying.omitted > 0 {
        facts.push(format!("{} more of them are not shown", dying.omitted));
    }
    facts.extend(dying.next.map(|next| format!("the next attempt is in {}", time::age(next - now))));
    if facts.is_empty() { Vec::new() } else { vec![format!("{}.", facts.join("; "))] }
}

fn of_living(living: &Living, naming: &Naming, now: i64) -> Story {
    let owners: Vec<String> = living.owners.iter().map(|owner| owner.text(naming, now)).collect();
    let mut facts = match (&owners[..], &living.orphan) {
        ([], _) => vec!["nothing owns it".to_owned()],
        ([only], None) => vec![format!("owned by {only}")],
        (all, None) => vec![format!("{} owners", all.len())],
        (_, Some(_)) => vec!["none of its owners exists".to_owned()],
    };
    facts.extend(living.manager.as_ref().map(|manager| format!("belongs to the module {manager}")));
    facts.push(match living.protected.as_deref() {
        None => "protected: no".to_owned(),
        Some("true") => "protected: yes".to_owned(),
        Some(reason) => format!("protected: {reason}"),
    });
    let told = if owners.len() == 1 && living.orphan.is_none() { Vec::new() } else { owners };
    let line = |text: String| Line { text, ..Line::default() };
    let mut lines: Vec<Line> = told.into_iter().map(|owner| line(format!("owned by {owner}"))).collect();
    lines.extend(living.kept.iter().map(|kept| {
        let waiting = kept.holds_up.as_ref().map(|object| format!("{} waits for it", naming.name(object)));
        let typed = typed(&kept.clears, naming);
        Line { aside: waiting.unwrap_or_default(), typed, ..line(words::spared("spared: it", &kept.why)) }
    }));
    lines.extend(living.loses.iter().map(|owner| Line {
        aside: "that goes without it".to_owned(),
        ..line(format!("loses its reference to {}", naming.name(owner)))
    }));
    let headline = format!("lives: {}.", facts.join(", "));
    Story { headline, lines, footer: end(living, naming, now), ..Story::default() }
}

/// What an object subscribes to, and what subscribes to it. Of one that dies only what is not told by what it waits for.
fn of_subscriptions(told: &Explanation, naming: &Naming) -> Vec<Line> {
    let Subscriptions { to, more_to, by, more_by } = &told.subscriptions;
    let line = |word: &str, one: &Subscribed, aside: &str| {
        let handler = one.handler.as_ref().map(|handler| format!("; handler {handler}"));
        Line {
            text: format!("{word} {}", naming.name(&one.object)),
            aside: format!("{aside}{}", handler.unwrap_or_default()),
            ..Line::default()
        }
    };
    let counted = |more: usize, word: &str| {
        let text = format!("{word} {more} more");
        (more > 0).then_some(Line { text, ..Line::default() })
    };
    if let Fate::Dies(_) = told.fate {
        let alive = to.iter().filter(|one| one.state == OtherSide::Lives);
        return alive.map(|one| line("subscribed to", one, "lives on, and is not waited for")).collect();
    }
    let mut lines: Vec<Line> = Vec::new();
    for one in to {
        let aside = match one.state {
            OtherSide::Absent => "does not exist",
            OtherSide::Lives => "goes first, if both are deleted",
            OtherSide::Doomed => "that is being destroyed",
        };
        lines.push(line("subscribed to", one, aside));
    }
    lines.extend(counted(*more_to, "subscribed to"));
    for one in by {
        let aside = match one.state {
            OtherSide::Doomed => "that is being destroyed",
            OtherSide::Lives | OtherSide::Absent => "goes last, if both are deleted",
        };
        lines.push(line("subscriber", one, aside));
    }
    lines.extend(counted(*more_by, "subscribers:"));
    lines
}

fn end(living: &Living, naming: &Naming, now: i64) -> Vec<String> {
    let mut footer = Vec::new();
    if let (Some(orphan), None) = (&living.orphan, &living.protected) {
        let grace = orphan.grace.map(|grace| format!(" after a grace of {}", time::age(grace)));
        let due = orphan.due.map(|due| format!(", in {}", time::age(due - now)));
        let (grace, due) = (grace.unwrap_or_default(), due.unwrap_or_default());
        footer.push(format!("It is an orphan and is collected{grace}{due}, unless an owner turns up."));
    }
    let conditions: Vec<String> = living.dies_if.iter().map(|one| one.text(naming)).collect();
    if !conditions.is_empty() {
        let begin = if living.protected.is_some() { "Unprotected it" } else { "It" };
        footer.push(format!("{begin} would die if: {}.", conditions.join(" · ")));
    }
    footer
}
