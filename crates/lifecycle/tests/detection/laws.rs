//! Laws: the order of events does not matter, and a judgement is what the rules say.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use sexton_lifecycle::{DetectionSettings, Observation, Roots, Snapshot, follow_deletions};

use super::naive::{Expected, Naive};
use crate::common::{Event, apply, detect_all, empty, event, render};

/// The objects of random worlds. Two namespaces, things in none, and namespaces themselves.
const LIVES: [&str; 12] = [
    "ns/a", "ns/b", "node/n", "node/m", "app/x", "app/y", "app/z", "vm/x", "vm/y", "disk/x", "app/b/x",
    "vm/b/x",
];
/// What references may name: objects, absent ones, ones of unknown kinds, and objects under wrong names.
const OTHERS: [&str; 5] = ["app/never", "mystery/m", "disk/x=app/x", "vm/q=node/n", "app/b/x"];

fn state() -> impl Strategy<Value = &'static str> {
    prop_oneof![
        6 => Just(""),
        1 => Just("held"),
        1 => Just("protected"),
        1 => Just("records orphan"),
        1 => Just("deleted cascade"),
        1 => Just("deleted cascade approved"),
        2 => Just("deleted foreground"),
        1 => Just("deleted foreground approved"),
        1 => Just("deleted background"),
        1 => Just("deleted orphan"),
    ]
}

/// What an object looks like at one time.
fn look(name: &'static str) -> impl Strategy<Value = String> {
    let owner = prop_oneof![4 => prop::sample::select(&LIVES[2..]), 1 => prop::sample::select(&OTHERS[..])];
    (prop::collection::btree_set(owner, 0..4), state()).prop_map(move |(owners, state)| {
        let owners: Vec<&str> = owners.into_iter().collect();
        match owners.len() {
            0 => format!("{name} {state}"),
            _ => format!("{name} <- {} {state}", owners.join(", ")),
        }
    })
}

/// The history of one object: up to two observations, and perhaps its removal. Empty sometimes.
fn history(name: &'static str) -> impl Strategy<Value = Vec<String>> {
    (prop::collection::vec(look(name), 0..3), prop::bool::weighted(0.2)).prop_map(move |(mut looks, gone)| {
        if gone && !looks.is_empty() {
            looks.push(format!("gone {name}"));
        }
        looks
    })
}

/// A line of the language of worlds, and its revision.
type Line = (u64, String);

/// All events of a world. The same object's events have ascending revisions.
fn history_of_all() -> impl Strategy<Value = Vec<Line>> {
    let all: Vec<_> = LIVES.iter().map(|name| history(name)).collect();
    all.prop_map(|all| {
        let lines = all.into_iter().flatten();
        lines.enumerate().map(|(at, line)| (at as u64 + 1, line.trim().to_owned())).collect()
    })
}

/// The same events in another order, some of them twice. Only a removal comes after the last news of its object,
/// as in every feed.
fn shuffled(events: Vec<Line>) -> impl Strategy<Value = (Vec<Line>, Vec<Line>)> {
    let twice = prop::collection::vec(prop::bool::weighted(0.2), events.len());
    twice.prop_flat_map(move |twice| {
        let again = events.iter().zip(twice).filter(|(_, twice)| *twice).map(|(event, _)| event.clone());
        let all: Vec<Line> = events.iter().cloned().chain(again).collect();
        (Just(events.clone()), Just(all).prop_shuffle().prop_map(news_before_removals))
    })
}

fn news_before_removals(mut events: Vec<Line>) -> Vec<Line> {
    for at in 0..events.len() {
        if let Some(name) = events[at].1.strip_prefix("gone ").map(str::to_owned) {
            let is_news = |event: &Line| event.1.split(' ').next() == Some(&name);
            let last = events.iter().filter(|event| is_news(event)).map(|event| event.0).max();
            let known = events[..at].iter().any(|event| is_news(event) && Some(event.0) == last);
            if !known
                && let Some(news) = events.iter().position(|event| is_news(event) && Some(event.0) == last)
            {
                events.swap(at, news);
            }
        }
    }
    events
}

fn events_of(lines: &[Line]) -> Vec<Event> {
    lines.iter().map(|(revision, line)| event(line, *revision)).collect()
}

fn snapshot_of(lines: &[Line]) -> Snapshot {
    let mut snapshot = empty();
    events_of(lines).into_iter().for_each(|event| drop(apply(&mut snapshot, event)));
    snapshot
}

fn said(snapshot: &Snapshot) -> Expected {
    let detection = detect_all(snapshot);
    let uid = |node| snapshot.uid(node).0;
    let policy = |policy| match format!("{policy:?}").as_str() {
        "Cascade" => "Cascade",
        "Foreground" => "Foreground",
        "Orphan" => "Orphan",
        _ => "Background",
    };
    let strip = |owners: &Vec<sexton_model::Uid>| owners.iter().map(|owner| owner.0.clone()).collect();
    Expected {
        doomed: detection.doomed.values().map(|found| (uid(found.node), policy(found.policy))).collect(),
        strips: detection.strips.iter().map(|one| (uid(one.node), strip(&one.owners))).collect(),
        held: detection.exclusions.iter().map(|exclusion| uid(exclusion.node)).collect(),
        unknown: detection
            .unresolved
            .iter()
            .map(|one| (uid(one.node), one.reference.uid.0.clone()))
            .collect(),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    /// A judgement does not depend on the order of events, on stale ones, or on repeated ones.
    #[test]
    fn the_order_of_events_does_not_matter((plain, mixed) in history_of_all().prop_flat_map(shuffled)) {
        let (a, b) = (snapshot_of(&plain), snapshot_of(&mixed));
        prop_assert_eq!(render(&a, &detect_all(&a)), render(&b, &detect_all(&b)));
    }

    /// A judgement is the least set that is closed under the rules.
    #[test]
    fn detections_are_what_the_rules_say(events in history_of_all()) {
        let snapshot = snapshot_of(&events);
        prop_assert_eq!(said(&snapshot), Naive::new(&events_of(&events)).judge());
    }

    /// Following one terminating object after the other dooms no object that following all does not.
    #[test]
    fn scopes_are_parts(events in history_of_all()) {
        let snapshot = snapshot_of(&events);
        let all = detect_all(&snapshot);
        let nodes: Vec<_> = snapshot.nodes().collect();
        let gone: Vec<_> = snapshot.removed_owners().collect();
        let some = follow_deletions(&snapshot, Roots::Only { nodes: &nodes, removed: &gone }, &[], &DetectionSettings::default());
        let doomed: BTreeSet<_> = some.doomed.keys().collect();
        prop_assert!(doomed.is_subset(&all.doomed.keys().collect()));
        for node in nodes {
            let one = follow_deletions(&snapshot, Roots::Only { nodes: &[node], removed: &[] }, &[], &DetectionSettings::default());
            prop_assert!(one.doomed.keys().all(|node| all.is_doomed(*node)));
        }
    }

    /// REQ-KRK-49, REQ-KRK-56: every index says what a look at everything would say.
    #[test]
    fn indexes_are_what_a_full_look_says((_, events) in history_of_all().prop_flat_map(shuffled)) {
        let snapshot = snapshot_of(&events);
        let naive = Naive::new(&events_of(&events)).nodes;
        let seen: BTreeMap<String, &Observation> = naive.iter().map(|(uid, seen)| (uid.clone(), seen)).collect();
        let words = |nodes: Vec<_>| -> BTreeSet<String> {
            nodes.into_iter().map(|node| snapshot.uid(node).0).collect()
        };
        let full = |test: &dyn Fn(&Observation) -> bool| -> BTreeSet<String> {
            seen.values().filter(|seen| test(seen)).map(|seen| seen.uid.0.clone()).collect()
        };
        prop_assert_eq!(words(snapshot.nodes().collect()), full(&|_| true));
        prop_assert_eq!(words(snapshot.terminating().collect()), full(&|seen| seen.terminating_since.is_some()));
        let misses = |seen: &Observation| seen.owners.iter().any(|owner| !naive.contains_key(&owner.uid.0));
        prop_assert_eq!(words(snapshot.nodes_with_absent_owners().into_iter().collect()), full(&misses));
        for namespace in ["a", "b"] {
            let inside = |seen: &Observation| seen.key.namespace == namespace;
            prop_assert_eq!(words(snapshot.members(namespace).collect()), full(&inside));
        }
        prop_assert_eq!(words(snapshot.instances("example.com", "App").collect()), full(&|seen| seen.kind == "App"));
        for name in LIVES.iter().chain(&["app/never", "mystery/m"]) {
            let uid = crate::common::uid(name);
            let names = |seen: &Observation| seen.owners.iter().any(|owner| owner.uid == uid);
            prop_assert_eq!(words(snapshot.dependents_of(&uid).collect()), full(&names));
            let found = snapshot.get(&uid);
            prop_assert_eq!(found.is_some(), naive.contains_key(&uid.0));
            if let Some(node) = found {
                prop_assert_eq!(snapshot.find(&snapshot.key(node)), Some(node));
                prop_assert_eq!(snapshot.revision_of(node), naive[&uid.0].revision);
                let owners: Vec<_> = snapshot.owners(node).into_iter().map(|(owner, _)| owner).collect();
                prop_assert_eq!(&owners, &naive[&uid.0].owners);
            }
        }
    }
}
