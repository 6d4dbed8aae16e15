//! The requester, and what is remembered of it: a deletion writes its requester onto the object, and a removal at once
//! tells it to the readers that hear of it soon.
//!
//! It must not know how a requester proved its identity.

use std::borrow::Cow;
use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::{Map, Value};
use sexton_model::Document;
use sexton_model::bulk::{Action, Annotations, Item};
use sexton_model::marks::DELETED_BY;

use super::Api;

/// As many removals are remembered: far more than happen before a feed has told of them.
const REMEMBERED: usize = 10_000;

/// The requester. Cloning shares the memory.
#[derive(Debug, Clone, Default)]
pub(super) struct Asker {
    /// Empty if it is not known.
    user: Arc<str>,
    removals: Arc<Mutex<Removals>>,
}

/// The requesters of the latest removals, by the uid of the object. Forgets the oldest first.
#[derive(Debug, Default)]
struct Removals {
    by: HashMap<Arc<str>, Arc<str>>,
    order: VecDeque<Arc<str>>,
    /// The same person removes many.
    last: Arc<str>,
}

impl Removals {
    fn remember(&mut self, uid: &str, user: &Arc<str>) {
        if user.is_empty() {
            // An unknown requester is better than a wrong one, whose own attempt failed.
            self.by.remove(uid);
            return;
        }
        let uid: Arc<str> = uid.into();
        if self.by.insert(uid.clone(), user.clone()).is_none() {
            self.order.push_back(uid);
        }
        while self.order.len() > REMEMBERED {
            if let Some(oldest) = self.order.pop_front() {
                self.by.remove(&oldest);
            }
        }
    }

    fn user(&mut self, name: &str) -> Arc<str> {
        if *self.last != *name {
            self.last = name.into();
        }
        self.last.clone()
    }
}

impl Api {
    /// The same verbs on behalf of a user. An empty name means that the requester is not known.
    #[must_use]
    pub fn asked_by(&self, user: &str) -> Api {
        let asker = Asker { user: user.into(), removals: self.asker.removals.clone() };
        Api { asker, ..self.clone() }
    }

    /// Writes the requester into a document that becomes terminating, unless it says so already.
    pub(super) fn sign_mark(&self, document: &mut Document) {
        if self.asker.user.is_empty() {
            return;
        }
        let annotations =
            document.metadata_mut().entry("annotations").or_insert_with(|| Value::Object(Map::new()));
        if annotations.is_null() {
            *annotations = Value::Object(Map::new());
        }
        if let Some(annotations) = annotations.as_object_mut() {
            annotations.entry(DELETED_BY).or_insert_with(|| (*self.asker.user).into());
        }
    }

    /// The same as an annotation, if the requester is known.
    pub(super) fn signature(&self) -> Option<(&'static str, &str)> {
        (!self.asker.user.is_empty()).then(|| (DELETED_BY, &*self.asker.user))
    }

    /// Remembers the requester of a removal that is about to happen. Before the removal: watches tell of it at once.
    pub(super) fn sign_removal(&self, uid: &str) {
        self.removals().remember(uid, &self.asker.user);
    }

    /// The annotations of a deletion. The collector names the requester itself, because deletions follow from earlier
    /// ones, and has proved that it is the collector; so does a part of this process, which knows the user. Any other
    /// client is the requester itself, whatever it says.
    pub(super) fn signed<'a>(&self, annotations: &'a Annotations, proved: bool) -> Cow<'a, Annotations> {
        let trusted = proved || self.claim.is_in_process();
        if trusted || self.asker.user.is_empty() || !annotations.contains_key(DELETED_BY) {
            return Cow::Borrowed(annotations);
        }
        let mut signed = annotations.clone();
        signed.insert(DELETED_BY.to_owned(), Some(self.asker.user.to_string()));
        Cow::Owned(signed)
    }

    /// The same for one of many removals in a request. It may name its requester itself; a terminating object names its
    /// requester already.
    pub(super) fn sign_item(&self, item: &Item, uid: &str, marked: bool, proved: bool) {
        let Action::Delete { annotations, .. } = &item.action else { return };
        match self.signed(annotations, proved).get(DELETED_BY) {
            Some(Some(user)) => {
                let mut removals = self.removals();
                let user = removals.user(user);
                removals.remember(uid, &user);
            }
            _ if !marked => self.sign_removal(uid),
            _ => {}
        }
    }

    /// The requester of the removal of an object, if that was lately.
    pub(super) fn who_removed(&self, uid: &str) -> Option<String> {
        self.removals().by.get(uid).map(|user| (**user).to_owned())
    }

    fn removals(&self) -> std::sync::MutexGuard<'_, Removals> {
        self.asker.removals.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_memory_is_bounded_and_the_latest_word_counts() {
        let mut removals = Removals::default();
        let (ada, bob, nobody): (Arc<str>, Arc<str>, Arc<str>) = ("ada".into(), "bob".into(), "".into());
        for number in 0..REMEMBERED + 5 {
            removals.remember(&number.to_string(), &ada);
        }
        assert_eq!((removals.by.len(), removals.order.len()), (REMEMBERED, REMEMBERED));
        assert!(!removals.by.contains_key("4") && removals.by.contains_key("5"));
        removals.remember("5", &bob);
        assert_eq!(&*removals.by["5"], "bob");
        removals.remember("5", &nobody);
        assert!(!removals.by.contains_key("5"));
        for _ in 0..3 {
            removals.remember("5", &ada);
            removals.remember("5", &nobody);
        }
        assert!(removals.order.len() <= REMEMBERED);
    }
}
