//! What the server needs to know of a stored resource without reading its JSON.
//!
//! It must not know how facts and text stand beside each other.

use std::ops::Range;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::delete_options::ORPHAN_FINALIZER;
use crate::document::Document;
use crate::subscription::{self, Subscription, Target};
use crate::term::{Term, Terms};
use crate::time;

/// What is known of a stored resource without parsing its text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Facts<'a> {
    /// Where the metadata object stands in the text, braces included.
    metadata: (u32, u32),
    /// The uid.
    pub uid: &'a str,
    /// Creation, in seconds since 1970.
    pub created: i64,
    /// When it became terminating, in seconds since 1970.
    pub deleted: Option<i64>,
    /// Labels, sorted by key.
    #[serde(borrow)]
    pub labels: Vec<(&'a str, &'a str)>,
    /// Finalizers.
    pub finalizers: Vec<&'a str>,
    /// The uids of the owners.
    pub owners: Vec<&'a str>,
    /// What it subscribes to; empty for what was stored in the first version. Kept behind the other facts.
    #[serde(skip)]
    pub subscriptions: Vec<Subscribed<'a>>,
}

/// To what a resource subscribes, as far as it decides over a removal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Subscribed<'a> {
    /// One object, by uid; the resource's own if it subscribes to itself.
    Life(&'a str),
    /// Any object with this key.
    Slot {
        /// Empty for the core group.
        group: &'a str,
        /// The kind's name.
        kind: &'a str,
        /// As written, else the resource's own.
        namespace: &'a str,
        /// The name.
        name: &'a str,
        /// The namespace was not written, so the target may as well be cluster-scoped: only a reader that knows all
        /// kinds could tell.
        implied: bool,
    },
}

impl Facts<'_> {
    /// What the resource is and which objects it refers to, each once.
    pub fn terms(&self) -> Terms {
        let mut terms = Terms::new();
        terms.push(Term::uid(self.uid));
        if self.deleted.is_some() && !self.finalizers.contains(&ORPHAN_FINALIZER) {
            terms.push(Term::marked(self.uid));
        }
        terms.extend(self.owners.iter().map(|uid| Term::owner(uid)));
        for subscription in &self.subscriptions {
            match *subscription {
                Subscribed::Life(uid) => terms.push(Term::subscription_uid(uid)),
                Subscribed::Slot { group, kind, namespace, name, implied } => {
                    terms.push(Term::subscription_slot(group, kind, namespace, name));
                    if implied {
                        terms.push(Term::subscription_slot(group, kind, "", name));
                    }
                }
            }
        }
        terms.sort_unstable();
        terms.dedup();
        terms
    }

    /// The value of a label.
    pub fn label(&self, key: &str) -> Option<&str> {
        self.labels.iter().find(|(name, _)| *name == key).map(|(_, value)| *value)
    }

    /// Says where the metadata stand.
    pub(super) fn place(&mut self, metadata: Range<usize>) {
        let offset = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
        self.metadata = (offset(metadata.start), offset(metadata.end));
    }

    pub(crate) fn metadata(&self) -> Range<usize> {
        self.metadata.0 as usize..self.metadata.1 as usize
    }
}

/// Appends the facts of a document whose metadata stand in this place of the text.
pub(super) fn write(document: &Document, metadata: Range<usize>, bytes: Vec<u8>) -> Vec<u8> {
    let bytes = append(&facts_of(document, metadata), bytes);
    let subscriptions = subscriptions_of(document);
    append(&subscribed(&subscriptions, document), bytes)
}

pub(super) fn append(facts: &impl Serialize, bytes: Vec<u8>) -> Vec<u8> {
    match postcard::to_extend(facts, bytes) {
        Ok(bytes) => bytes,
        // Writing plain data to a growing buffer has no way to fail.
        Err(error) => unreachable!("cannot encode facts: {error}"),
    }
}

/// Where the metadata stand, which is the first of the facts.
pub(super) fn place(bytes: &[u8]) -> postcard::Result<(usize, usize)> {
    let ((start, end), _) = postcard::take_from_bytes::<(u32, u32)>(bytes)?;
    Ok((start as usize, end as usize))
}

/// Reads facts, in the first version without subscriptions.
pub(super) fn read(bytes: &[u8], with_subscriptions: bool) -> postcard::Result<Facts<'_>> {
    let (mut facts, rest): (Facts<'_>, _) = postcard::take_from_bytes(bytes)?;
    if with_subscriptions {
        facts.subscriptions = postcard::from_bytes(rest)?;
    }
    Ok(facts)
}

fn facts_of(document: &Document, metadata: Range<usize>) -> Facts<'_> {
    let fields = document.metadata();
    let seconds = |field: &str| fields.get(field).and_then(Value::as_str).and_then(time::parse);
    let labels = fields.get("labels").and_then(Value::as_object);
    let mut facts = Facts {
        metadata: (0, 0),
        uid: document.uid(),
        created: seconds("creationTimestamp").unwrap_or(0),
        deleted: seconds("deletionTimestamp"),
        labels: labels
            .into_iter()
            .flatten()
            .filter_map(|(key, value)| Some((key.as_str(), value.as_str()?)))
            .collect(),
        finalizers: document.finalizers(),
        owners: document.owner_references().iter().filter_map(|owner| owner.get("uid")?.as_str()).collect(),
        // Written apart, because they do not stand in the document as such.
        subscriptions: Vec::new(),
    };
    facts.place(metadata);
    facts
}

/// The subscriptions that a document declares; an annotation that cannot be read declares none.
fn subscriptions_of(document: &Document) -> Vec<Subscription> {
    let annotations = document.metadata().get("annotations");
    subscription::declared(|name| annotations?.get(name)?.as_str()).subscriptions
}

fn subscribed<'a>(subscriptions: &'a [Subscription], document: &'a Document) -> Vec<Subscribed<'a>> {
    let one = |subscription: &'a Subscription| match (&subscription.target, &subscription.uid) {
        (Target::Own, _) => Subscribed::Life(document.uid()),
        (Target::Named { .. }, Some(uid)) => Subscribed::Life(uid),
        (Target::Named { group, kind, namespace, name }, None) => Subscribed::Slot {
            group,
            kind,
            namespace: namespace.as_deref().unwrap_or(document.namespace()),
            name,
            implied: namespace.is_none(),
        },
    };
    subscriptions.iter().map(one).collect()
}
