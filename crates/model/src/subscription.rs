//! Destruction dependencies: what an object wants to be told of, and to outlive.
//!
//! Written by people in an annotation, as YAML or JSON, or added by a command in another one. A subscription keeps neither
//! side alive.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::marks;

/// Longer texts are refused.
pub const MAX_BYTES: usize = 192 << 10;
/// More entries are refused.
pub const MAX_ENTRIES: usize = 1_000;

/// One target of an object's destruction dependencies.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Subscription {
    /// What is subscribed to.
    pub target: Target,
    /// Only the object with this uid; without it, any object with the name.
    pub uid: Option<String>,
    /// The method of the subscriber's class that hears of it.
    pub handler: Option<String>,
    /// As many unsubscribes as subscribes.
    pub count: u32,
}

/// What is subscribed to.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Target {
    /// The subscriber itself.
    Own,
    /// An object by its name.
    Named {
        /// Empty for the core group.
        group: String,
        /// The kind's name.
        kind: String,
        /// `None`: the subscriber's own namespace, or none for cluster-scoped kinds.
        namespace: Option<String>,
        /// The name.
        name: String,
    },
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Target::Named { group, kind, namespace, name } = self else { return f.write_str("self") };
        f.write_str(kind)?;
        if !group.is_empty() {
            write!(f, ".{group}")?;
        }
        if let Some(namespace) = namespace {
            write!(f, "/{namespace}")?;
        }
        write!(f, "/{name}")
    }
}

/// Why a text is not a list of subscriptions.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadSubscription {
    /// Not YAML of the right shape.
    #[error(
        "not a list of targets such as `- target: Vm.example.com/web-1` with optional uid, handler and count: {0}"
    )]
    Shape(String),
    /// A target that cannot be read.
    #[error("{0:?} is not a target: write Kind/name, Kind.group/name, Kind.group/namespace/name, or self")]
    Target(String),
    /// A count of nothing.
    #[error("the count of {0} must be at least 1")]
    Count(String),
    /// Too much of it.
    #[error("more than {MAX_ENTRIES} entries or {MAX_BYTES} bytes")]
    TooLong,
    /// The same target twice, in ways that do not agree.
    #[error("{0} is named twice with different handlers")]
    Twice(String),
}

impl Target {
    /// Reads `Kind[.group]/[namespace/]name` or `self`.
    ///
    /// # Errors
    /// If it is neither.
    pub fn parse(text: &str) -> Result<Target, BadSubscription> {
        let bad = || BadSubscription::Target(text.to_owned());
        if text == "self" {
            return Ok(Target::Own);
        }
        let words: Vec<&str> = text.split('/').collect();
        let (kind, namespace, name) = match *words {
            [kind, name] => (kind, None, name),
            [kind, namespace, name] => (kind, Some(namespace), name),
            _ => return Err(bad()),
        };
        let (kind, group) = kind.split_once('.').unwrap_or((kind, ""));
        if kind.is_empty() || name.is_empty() || namespace.is_some_and(str::is_empty) {
            return Err(bad());
        }
        Ok(Target::Named {
            group: group.into(),
            kind: kind.into(),
            namespace: namespace.map(Into::into),
            name: name.into(),
        })
    }
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    target: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    uid: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    handler: Option<String>,
    #[serde(default = "one", skip_serializing_if = "is_one")]
    count: u32,
}

fn one() -> u32 {
    1
}

fn is_one(count: &u32) -> bool {
    *count == 1
}

impl Entry {
    /// A target alone, or with more about it.
    fn read(value: Value) -> Result<Entry, BadSubscription> {
        match value {
            Value::String(target) => Ok(Entry { target, uid: None, handler: None, count: 1 }),
            Value::Object(_) => {
                serde_json::from_value(value).map_err(|error| BadSubscription::Shape(error.to_string()))
            }
            other => Err(BadSubscription::Shape(format!("{other} is neither a target nor a map with one"))),
        }
    }
}

/// Reads the annotation. Entries for the same target are one, their counts added.
///
/// # Errors
/// If the text is not such a list, see [`BadSubscription`].
pub fn parse(text: &str) -> Result<Vec<Subscription>, BadSubscription> {
    if text.len() > MAX_BYTES {
        return Err(BadSubscription::TooLong);
    }
    if text.trim().is_empty() {
        return Ok(Vec::new());
    }
    let read: Value =
        serde_saphyr::from_str(text).map_err(|error| BadSubscription::Shape(first_line(&error)))?;
    let entries = match read {
        Value::Array(entries) => entries,
        one => vec![one],
    };
    if entries.len() > MAX_ENTRIES {
        return Err(BadSubscription::TooLong);
    }
    let mut all: Vec<Subscription> = Vec::with_capacity(entries.len());
    for entry in entries {
        let entry = Entry::read(entry)?;
        if entry.count == 0 {
            return Err(BadSubscription::Count(entry.target));
        }
        let target = Target::parse(&entry.target)?;
        match all.iter_mut().find(|known| known.target == target && known.uid == entry.uid) {
            Some(known) if known.handler == entry.handler => {
                known.count = known.count.saturating_add(entry.count);
            }
            Some(_) => return Err(BadSubscription::Twice(entry.target)),
            None => {
                all.push(Subscription { target, uid: entry.uid, handler: entry.handler, count: entry.count })
            }
        }
    }
    Ok(all)
}

/// What an object subscribes to, by all of its annotations.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Declared {
    /// The subscriptions, one for each target.
    pub subscriptions: Vec<Subscription>,
    /// Annotations that cannot be read, and therefore declare nothing.
    pub unreadable: Vec<(&'static str, BadSubscription)>,
}

/// The subscriptions of an object: those of its document and those added by a command, as one list.
pub fn declared<'a>(annotation: impl Fn(&str) -> Option<&'a str>) -> Declared {
    let mut all = Declared::default();
    for name in [marks::DEPENDENCIES, marks::SUBSCRIPTIONS] {
        match annotation(name).map(parse).transpose() {
            Ok(found) => found.into_iter().flatten().for_each(|one| add(&mut all.subscriptions, one)),
            Err(bad) => all.unreadable.push((name, bad)),
        }
    }
    all
}

/// Adds a subscription to a list. Those to the same target are one, their counts added.
fn add(all: &mut Vec<Subscription>, more: Subscription) {
    match all.iter_mut().find(|known| known.target == more.target && known.uid == more.uid) {
        Some(known) => {
            known.count = known.count.saturating_add(more.count);
            known.handler = known.handler.take().or(more.handler);
        }
        None => all.push(more),
    }
}

fn first_line(error: &serde_saphyr::Error) -> String {
    error.to_string().lines().next().unwrap_or_default().to_owned()
}

/// Writes the annotation; nothing means that it is to be removed.
pub fn format(all: &[Subscription]) -> Option<String> {
    let entries: Vec<Entry> = all
        .iter()
        .map(|subscription| Entry {
            target: subscription.target.to_string(),
            uid: subscription.uid.clone(),
            handler: subscription.handler.clone(),
            count: subscription.count,
        })
        .collect();
    if entries.is_empty() { None } else { serde_json::to_string(&entries).ok() }
}

/// Counts one more subscription to a target. A handler replaces the one that was there.
pub fn subscribe(all: &mut Vec<Subscription>, target: Target, uid: Option<String>, handler: Option<String>) {
    match all.iter_mut().find(|known| known.target == target && known.uid == uid) {
        Some(known) => {
            known.count = known.count.saturating_add(1);
            known.handler = handler.or(known.handler.take());
        }
        None => all.push(Subscription { target, uid, handler, count: 1 }),
    }
}

/// Counts one less; says whether there was one. More unsubscribes than subscribes are harmless.
pub fn unsubscribe(all: &mut Vec<Subscription>, target: &Target, uid: Option<&str>) -> bool {
    let same = |known: &Subscription| {
        known.target == *target && (uid.is_none() || known.uid.is_none() || known.uid.as_deref() == uid)
    };
    let Some(at) = all.iter().position(same) else { return false };
    match all[at].count {
        0 | 1 => drop(all.remove(at)),
        _ => all[at].count -= 1,
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn people_may_write_it_short_or_long() {
        let long =
            "- target: Vm.example.com/web-1\n  handler: vmGone\n  count: 2\n- self\n- ConfigMap/other/c\n";
        let all = parse(long).unwrap();
        assert_eq!(all.len(), 3);
        assert_eq!((all[0].count, all[0].handler.as_deref()), (2, Some("vmGone")));
        assert_eq!(all[1].target, Target::Own);
        assert_eq!(all[2].target.to_string(), "ConfigMap/other/c");
        assert_eq!(parse(&format(&all).unwrap()).unwrap(), all);
        assert_eq!(parse("Vm/a").unwrap()[0].target.to_string(), "Vm/a");
        assert_eq!(parse(" \n").unwrap(), []);
    }

    #[test]
    fn nonsense_is_named() {
        for bad in
            ["- 7: x", "- target: ''", "- target: a/b/c/d", "- {target: Vm/a, count: 0}", "[", "- {x: y}"]
        {
            assert!(parse(bad).is_err(), "{bad}");
        }
        assert!(parse(&" ".repeat(MAX_BYTES + 1)).is_err());
        for (bad, why) in [
            ("- {target: Vm/a, handler: false}", "invalid type: boolean `false`, expected a string"),
            ("- {target: Vm/a, counts: 2}", "unknown field `counts`"),
            ("- 7", "7 is neither a target nor a map with one"),
        ] {
            let told = parse(bad).unwrap_err().to_string();
            assert!(told.contains(why), "{bad}: {told}");
        }
    }

    /// What a document says and what a command added count together, and one that cannot be read takes nothing from the other.
    #[test]
    fn both_annotations_count() {
        let of = |document: &'static str, added: &'static str| {
            declared(|name| Some(if name == marks::DEPENDENCIES { document } else { added }))
        };
        let both = of("[Vm/a, Vm/b]", "[{target: Vm/a, handler: gone}, Vm/c]");
        let shown: Vec<String> =
            both.subscriptions.iter().map(|one| format!("{} {}", one.target, one.count)).collect();
        assert_eq!(shown, ["Vm/a 2", "Vm/b 1", "Vm/c 1"]);
        assert_eq!(both.subscriptions[0].handler.as_deref(), Some("gone"));
        let half = of("[", "Vm/c");
        assert_eq!((half.subscriptions.len(), half.unreadable[0].0), (1, marks::DEPENDENCIES));
        assert_eq!(declared(|_| None), Declared::default());
    }

    /// REQ-MUR-55, REQ-MUR-60, REQ-MUR-61: counted per target; removing more than there are is harmless.
    #[test]
    fn subscriptions_are_counted() {
        let mut all = Vec::new();
        let target = Target::parse("Vm/a").unwrap();
        for _ in 0..3 {
            subscribe(&mut all, target.clone(), None, Some("gone".into()));
        }
        assert_eq!((all.len(), all[0].count), (1, 3));
        for left in [2, 1] {
            assert!(unsubscribe(&mut all, &target, None));
            assert_eq!(all[0].count, left);
        }
        assert!(unsubscribe(&mut all, &target, None));
        assert!(!unsubscribe(&mut all, &target, None));
        assert_eq!(format(&all), None);
    }
}
