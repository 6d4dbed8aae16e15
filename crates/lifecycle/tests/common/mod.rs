//! A small language for worlds, and judgements as text. For tests only.
//!
//! ```text
//! app/shop                                  an App in the namespace `a`
//! vm/b/web <- app/shop, disk/x              a Vm in `b` that names two owners
//! vm/web <- app/shop#2                      the second object in that slot
//! vm/web <- disk/x=app/shop                 says Disk x, but the uid is that of app/shop
//! app/shop deleted cascade by ada           also foreground, orphan, background (with another finalizer)
//! vm/web protected, held, approved          further words about an object
//! vm/web watches disk/x                     a subscription
//! gone app/shop by ada                      its removal is seen
//! ```
//!
//! A later line about an object replaces what the earlier one said: nothing is inherited.

#![allow(dead_code, missing_docs, unreachable_pub, clippy::unwrap_used)]

mod render;

use sexton_lifecycle::{Detection, DetectionSettings, Grace, NodeId, Observation, OwnerRef, Roots, Snapshot};
use sexton_model::feed::FeedKind;
use sexton_model::subscription::{Subscription, Target};
use sexton_model::{GroupResource, Key, Revision, Uid};

pub use render::render;

/// What happens to a snapshot.
#[derive(Debug, Clone, PartialEq)]
pub enum Event {
    Put(Box<Observation>),
    Gone(Uid, Revision, Option<String>),
}

/// Group, kind and plural of the words that stand for kinds, and whether they are in namespaces.
pub fn kind(word: &str) -> (&'static str, String, String, bool) {
    match word {
        "ns" => ("", "Namespace".into(), "namespaces".into(), false),
        "crd" => {
            let resource = "customresourcedefinitions";
            ("apiextensions.k8s.io", "CustomResourceDefinition".into(), resource.into(), false)
        }
        "node" => ("", "Node".into(), "nodes".into(), false),
        "event" => ("", "Event".into(), "events".into(), true),
        word => {
            let (first, rest) = word.split_at(1);
            ("example.com", format!("{}{rest}", first.to_uppercase()), format!("{word}s"), true)
        }
    }
}

/// All kinds that worlds have. `mystery` is none of them.
pub fn kinds() -> Vec<FeedKind> {
    let words = ["ns", "crd", "node", "event", "app", "vm", "disk", "net"];
    words
        .map(|word| {
            let (group, kind, resource, namespaced) = kind(word);
            FeedKind {
                group: group.into(),
                version: "v1".into(),
                resource,
                kind,
                namespaced,
                served: true,
                broken: None,
            }
        })
        .into()
}

/// The slot that a word names, without its object.
pub fn key(word: &str) -> Key {
    let word = word.split('#').next().unwrap();
    let parts: Vec<&str> = word.split('/').collect();
    let (group, _, resource, namespaced) = kind(parts[0]);
    let (namespace, name) = match parts[..] {
        [_, name] if namespaced => ("a", name),
        [_, name] => ("", name),
        [_, namespace, name] => (namespace, name),
        _ => panic!("not an object: {word:?}"),
    };
    Key { kind: GroupResource::new(group, resource), namespace: namespace.into(), name: name.into() }
}

/// The uid of an object: the word itself, with the namespace if it is not the usual one.
pub fn uid(word: &str) -> Uid {
    Uid(word.trim().to_owned())
}

fn owner(word: &str) -> OwnerRef {
    let (says, is) = word.trim().split_once('=').unwrap_or((word.trim(), word.trim()));
    let (group, kind, _, _) = kind(says.split('/').next().unwrap());
    let name = key(says).name;
    let (group, version) = (group.to_owned(), "v1".to_owned());
    OwnerRef { group, version, kind, name, uid: uid(is), is_controller: false, is_blocking: true }
}

fn target(word: &str) -> Subscription {
    let (group, kind, _, _) = kind(word.split('/').next().unwrap());
    let (group, kind) = (group.to_owned(), kind);
    let at = key(word);
    let target = Target::Named { group, kind, namespace: Some(at.namespace), name: at.name };
    Subscription { target, uid: None, handler: None, count: 1 }
}

/// One line.
pub fn event(line: &str, revision: u64) -> Event {
    let at = Revision::new(revision);
    let words: Vec<&str> = line.split_whitespace().collect();
    let by = words.iter().position(|word| *word == "by").map(|place| words[place + 1].to_owned());
    if words[0] == "gone" {
        return Event::Gone(uid(words[1]), at, by);
    }
    let (object, rest) = line.split_once(' ').unwrap_or((line, ""));
    let (_, name, _, _) = kind(object.split('/').next().unwrap());
    let mut seen = Observation::new(key(object), &name, "v1", uid(object), at);
    let (rest, owners) = match rest.trim().strip_prefix("<-") {
        // Owners come first and end where a word about the object begins.
        Some(list) => {
            let end = ["deleted", "protected", "held", "watches", "approved", "records"];
            let cut = end.iter().filter_map(|word| list.find(&format!(" {word}"))).min();
            let (list, rest) = list.split_at(cut.unwrap_or(list.len()));
            (rest, list)
        }
        None => (rest, ""),
    };
    seen.owners = owners.split(',').filter(|word| !word.trim().is_empty()).map(owner).collect();
    let words: Vec<&str> = rest.split([' ', ',']).filter(|word| !word.is_empty()).collect();
    for (place, word) in words.iter().enumerate() {
        let next = words.get(place + 1).copied();
        match *word {
            "deleted" => {
                seen.terminating_since = Some(revision as i64);
                let (finalizer, next) = match next.unwrap() {
                    "cascade" => ("cascade_deletion", 0),
                    "foreground" => ("foregroundDeletion", 0),
                    "orphan" => ("orphan", 0),
                    _ => ("example.com/hold", 0),
                };
                seen.finalizers.insert(next, finalizer.to_owned());
            }
            "held" => seen.finalizers.push("example.com/hold".into()),
            "records" => seen.finalizers.push(next.unwrap().into()),
            "protected" => seen.protect = Some("true".into()),
            "approved" => seen.approved = Some("digest".into()),
            "watches" => seen.subscriptions.push(target(next.unwrap())),
            "by" => seen.requester = next.map(str::to_owned),
            _ => {}
        }
    }
    Event::Put(Box::new(seen))
}

/// All lines, one revision after the other.
pub fn events(text: &str) -> Vec<Event> {
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with("//"));
    lines.enumerate().map(|(number, line)| event(line, number as u64 + 1)).collect()
}

pub fn apply(snapshot: &mut Snapshot, event: Event) -> Vec<NodeId> {
    match event {
        Event::Put(seen) => snapshot.put(*seen),
        Event::Gone(uid, at, by) => snapshot.remove(&uid, at, by.as_deref()),
    }
}

/// A snapshot in which everything was listed.
pub fn empty() -> Snapshot {
    let mut snapshot = Snapshot::new();
    snapshot.set_kinds(&kinds());
    snapshot.set_synced(true);
    snapshot
}

/// A world from text.
pub fn world(text: &str) -> Snapshot {
    let mut snapshot = empty();
    events(text).into_iter().for_each(|event| drop(apply(&mut snapshot, event)));
    snapshot
}

pub fn node(snapshot: &Snapshot, word: &str) -> NodeId {
    snapshot.get(&uid(word)).unwrap_or_else(|| panic!("{word} is not there"))
}

pub fn detect_all(snapshot: &Snapshot) -> Detection {
    sexton_lifecycle::follow_deletions(snapshot, Roots::All, &[], &DetectionSettings::default())
}

/// A grace that is over at once.
pub fn no_grace(since: &std::collections::BTreeMap<Uid, i64>) -> Grace<'_> {
    Grace { now: 0, period: 0, since }
}

/// Compares texts line by line, whatever their indentation.
#[track_caller]
pub fn expect(found: &str, expected: &str) {
    let lines = |text: &str| -> Vec<String> {
        text.lines().map(|line| line.trim().to_owned()).filter(|line| !line.is_empty()).collect()
    };
    let (found, expected) = (lines(found), lines(expected));
    assert!(found == expected, "found:\n  {}\nexpected:\n  {}", found.join("\n  "), expected.join("\n  "));
}

/// What follows in a world, as text.
#[track_caller]
pub fn judged(text: &str, expected: &str) {
    let snapshot = world(text);
    expect(&render(&snapshot, &detect_all(&snapshot)), expected);
}
