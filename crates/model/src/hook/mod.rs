//! What a method of a class is told, and what it answers.
//!
//! It must not know how the words travel, nor what follows from an answer.

mod allowance;
mod script;
mod verdict;

pub use allowance::{ALLOW_EXEC, ALLOW_HTTP, Allowance, AllowedHost, NoHost};
pub use script::{MAX_AROUND, ScriptAnswer, ScriptCall};
pub use verdict::{BadVerdict, Verdict};

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::class::API_VERSION;

/// How many of the doomed objects a call names; all of them are counted.
pub const MAX_DOOMED: usize = 1_000;

/// Where the destruction of an object stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Phase {
    /// It may be destroyed; handlers can object.
    Warning,
    /// It will be destroyed.
    Notifying,
    /// It is being destroyed.
    Destroying,
    /// It was destroyed.
    Destroyed,
}

impl Phase {
    /// In their order.
    pub const ALL: [Phase; 4] = [Phase::Warning, Phase::Notifying, Phase::Destroying, Phase::Destroyed];

    /// As it is written.
    pub fn word(self) -> &'static str {
        match self {
            Phase::Warning => "warning",
            Phase::Notifying => "notifying",
            Phase::Destroying => "destroying",
            Phase::Destroyed => "destroyed",
        }
    }
}

impl fmt::Display for Phase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

/// One object: its key and uid, so never a successor of the same name.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ObjectRef {
    /// Empty for the core group.
    #[serde(default)]
    pub group: String,
    /// The kind.
    pub kind: String,
    /// Empty for cluster-scoped kinds.
    #[serde(default)]
    pub namespace: String,
    /// The name.
    pub name: String,
    /// The uid.
    pub uid: String,
}

impl fmt::Display for ObjectRef {
    /// As a target of a subscription is written: `Vm.example.com/default/web-1`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.kind)?;
        for (before, word) in [('.', &self.group), ('/', &self.namespace)] {
            if !word.is_empty() {
                write!(f, "{before}{word}")?;
            }
        }
        write!(f, "/{}", self.name)
    }
}

/// What a method is told.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Call {
    /// `destroy`, or the name of the handler.
    pub method: String,
    /// Where the destruction of the object stands.
    pub phase: Phase,
    /// The collection in which it ends.
    pub session: String,
    /// Rises whenever another collector takes over: a hook that saw a higher one can refuse this call.
    pub epoch: i64,
    /// The same for every repetition of this call: a hook that has seen it need not do it again.
    pub idempotency_key: String,
    /// Counted from 1.
    pub attempt: u32,
    /// When the caller stops waiting for the answer.
    pub deadline: String,
    /// The doomed object, whole.
    pub object: Value,
    /// The subscriber that is notified, whole; only for handlers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subscriber: Option<Value>,
    /// What ends in the same collection, the first of it.
    pub doomed: Vec<ObjectRef>,
    /// How much ends in the same collection.
    pub doomed_count: usize,
    /// Whether it ends, for every uid that the object or the subscriber names.
    pub is_doomed: BTreeMap<String, bool>,
    /// For the same objects, whether each was destroyed: no method of it runs any more.
    #[serde(default)]
    pub is_destroyed: BTreeMap<String, bool>,
}

impl Call {
    /// Fills in what ends in the same collection: the first [`MAX_DOOMED`] by name, all by number.
    #[must_use]
    pub fn with_doomed(mut self, doomed: impl IntoIterator<Item = ObjectRef>) -> Call {
        let mut doomed = doomed.into_iter();
        self.doomed = doomed.by_ref().take(MAX_DOOMED).collect();
        self.doomed_count = self.doomed.len() + doomed.count();
        self
    }

    /// The document that the method gets.
    ///
    /// # Errors
    /// None that a document which came as JSON can cause.
    pub fn document(&self) -> Result<Vec<u8>, serde_json::Error> {
        #[derive(Serialize)]
        #[serde(rename_all = "camelCase")]
        struct Whole<'a> {
            api_version: &'a str,
            kind: &'a str,
            #[serde(flatten)]
            call: &'a Call,
        }
        serde_json::to_vec(&Whole { api_version: API_VERSION, kind: "HookCall", call: self })
    }
}

/// The key of a call: made of what the call is about, so that no crash can make another one.
pub fn idempotency_key(doomed: &str, phase: Phase, method: &str, callee: &str) -> String {
    let mut hash = Sha256::new();
    for word in [doomed, phase.word(), method, callee] {
        // With the length before each word, no two lists of words are the same bytes.
        hash.update((word.len() as u64).to_be_bytes());
        hash.update(word);
    }
    hash.finalize().iter().take(16).map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn call() -> Call {
        Call {
            method: "destroy".into(),
            phase: Phase::Destroying,
            session: "s".into(),
            epoch: 7,
            idempotency_key: idempotency_key("u", Phase::Destroying, "destroy", "u"),
            attempt: 1,
            deadline: "2026-11-15T20:00:00Z".into(),
            object: json!({"kind": "Vm"}),
            subscriber: None,
            doomed: Vec::new(),
            doomed_count: 0,
            is_doomed: BTreeMap::from([("u".into(), true)]),
            is_destroyed: BTreeMap::new(),
        }
    }

    fn life(number: usize) -> ObjectRef {
        let uid = format!("u{number}");
        ObjectRef { kind: "Vm".into(), name: "a".into(), uid, ..ObjectRef::default() }
    }

    #[test]
    fn the_document_says_what_it_is() {
        let document: Value = serde_json::from_slice(&call().document().unwrap()).unwrap();
        assert_eq!(
            (&document["apiVersion"], &document["kind"], &document["phase"], &document["isDoomed"]["u"]),
            (&json!("sexton.dev/v1"), &json!("HookCall"), &json!("destroying"), &json!(true))
        );
        assert_eq!(document.get("subscriber"), None);
        assert_eq!(serde_json::from_value::<Call>(document).unwrap(), call());
        for phase in Phase::ALL {
            assert_eq!(json!(phase), json!(phase.word()));
        }
    }

    #[test]
    fn many_doomed_objects_are_counted_and_the_first_named() {
        let few = call().with_doomed((0..3).map(life));
        assert_eq!((few.doomed.len(), few.doomed_count), (3, 3));
        let many = call().with_doomed((0..2_500).map(life));
        assert_eq!((many.doomed.len(), many.doomed_count), (MAX_DOOMED, 2_500));
    }

    #[test]
    fn keys_are_the_same_for_the_same_call_only() {
        let key = |words: [&str; 3], phase| idempotency_key(words[0], phase, words[1], words[2]);
        let all = [
            key(["a", "b", "c"], Phase::Warning),
            key(["a", "b", "c"], Phase::Destroyed),
            key(["ab", "", "c"], Phase::Warning),
            key(["a", "bc", ""], Phase::Warning),
        ];
        // Pinned: another release has to make the same ones.
        assert_eq!(all[0], "73b4ff469f447eb982b61db63efb0ca4");
        assert!(all.iter().all(|key| key.len() == 32));
        assert_eq!(all.iter().collect::<std::collections::BTreeSet<_>>().len(), all.len());
    }

    #[test]
    fn a_life_is_shown_as_a_target() {
        let named = ObjectRef { group: "example.com".into(), namespace: "default".into(), ..life(1) };
        assert_eq!(
            (life(1).to_string(), named.to_string()),
            ("Vm/a".into(), "Vm.example.com/default/a".into())
        );
    }
}
