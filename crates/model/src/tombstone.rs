//! What remains of an object that is gone: what it was, why it ended, and what its end left behind. Its size is
//! bounded.
//!
//! It must not know how objects are destroyed, nor read the clock.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::class::API_VERSION;
use crate::hook::ObjectRef;
use crate::text::{self, cut};

/// The kind's name.
pub const KIND: &str = "Tombstone";
/// The plural.
pub const RESOURCE: &str = "tombstones";
/// Links of the chain of causes.
pub const MAX_CAUSES: usize = 20;
/// Methods whose output is kept.
pub const MAX_OUTPUTS: usize = 16;
/// Bytes of each output.
pub const MAX_OUTPUT: usize = 4 << 10;
/// Owners, and subscriptions.
pub const MAX_REFERENCES: usize = 100;
/// Bytes of a text for people.
const MAX_TEXT: usize = 1 << 10;

/// How an object ended.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Outcome {
    /// Its class destroyed it.
    Destroyed,
    /// It went without further ado.
    #[default]
    Gone,
    /// A user gave it up: what it stood for may still exist.
    Abandoned,
}

/// What remains of an object.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Tombstone {
    /// The object.
    pub object: ObjectRef,
    /// Why it ended, in one line.
    pub reason: String,
    /// From the object itself up to what was asked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub causes: Vec<String>,
    /// The requester.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    /// The collection in which it ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub collection: Option<String>,
    /// How it ended.
    pub outcome: Outcome,
    /// What methods left behind, by their names.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub outputs: BTreeMap<String, String>,
    /// Outputs that are not kept.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub outputs_omitted: u64,
    /// Its owners, as `Vm.example.com/default/web-1`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub owners: Vec<String>,
    /// What it had subscribed to, written in the same way.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub subscriptions: Vec<String>,
    /// Its last document; the server puts it there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub document: Option<Value>,
    /// Whether the document was too large.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub document_omitted: bool,
    /// When it ended.
    pub destroyed_at: String,
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}

impl Tombstone {
    /// Reads the document of a tombstone.
    ///
    /// # Errors
    /// It is not one.
    pub fn read(document: &Value) -> Result<Tombstone, serde_json::Error> {
        Tombstone::deserialize(&document["spec"])
    }

    /// What goes with the write that removes the object.
    ///
    /// # Errors
    /// None in practice: everything in it can be written.
    pub fn spec(&self) -> Result<Value, serde_json::Error> {
        serde_json::to_value(self)
    }

    /// The whole document, named by the uid of the object: there is one for each.
    ///
    /// # Errors
    /// As for [`Tombstone::spec`].
    pub fn document(&self) -> Result<Value, serde_json::Error> {
        let metadata = json!({"name": self.object.uid});
        Ok(json!({"apiVersion": API_VERSION, "kind": KIND, "metadata": metadata, "spec": self.spec()?}))
    }

    /// The same within its bounds. The document has its bound from the server.
    #[must_use]
    pub fn bounded(mut self) -> Tombstone {
        text::shorten_texts(&mut self.causes, MAX_CAUSES, MAX_TEXT);
        text::shorten_texts(&mut self.owners, MAX_REFERENCES, MAX_TEXT);
        text::shorten_texts(&mut self.subscriptions, MAX_REFERENCES, MAX_TEXT);
        if let Some(first) = self.outputs.keys().nth(MAX_OUTPUTS).cloned() {
            self.outputs_omitted += self.outputs.split_off(&first).len() as u64;
        }
        self.outputs.values_mut().for_each(|output| *output = cut(output, MAX_OUTPUT));
        self.reason = cut(&self.reason, MAX_TEXT);
        [&mut self.by, &mut self.collection]
            .into_iter()
            .flatten()
            .for_each(|text| *text = cut(text, MAX_TEXT));
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn huge() -> Tombstone {
        let long = "ä".repeat(50_000);
        let many = || (0..300).map(|number| format!("{number} {long}")).collect();
        let object =
            ObjectRef { kind: "Vm".into(), name: "a".into(), uid: "u".into(), ..ObjectRef::default() };
        Tombstone {
            object,
            reason: long.clone(),
            causes: many(),
            by: Some(long.clone()),
            outputs: (0..30).map(|number| (format!("handler{number}"), long.clone())).collect(),
            owners: many(),
            subscriptions: many(),
            document: Some(json!({"kind": "Vm"})),
            ..Tombstone::default()
        }
    }

    #[test]
    fn what_does_not_fit_is_counted() {
        let small = huge().bounded();
        assert_eq!((small.causes.len(), small.causes.last().unwrap().as_str()), (20, "…and 281 more"));
        assert_eq!((small.outputs.len(), small.outputs_omitted), (16, 14));
        assert!(small.outputs.values().all(|output| output.len() <= MAX_OUTPUT));
        assert!(small.spec().unwrap().to_string().len() < 320 << 10);
        assert_eq!(small.clone().bounded(), small);
    }

    #[test]
    fn documents_are_read_as_written() {
        for stone in [huge(), Tombstone::default()] {
            assert_eq!(Tombstone::read(&stone.document().unwrap()).unwrap(), stone);
        }
        let mut strange = huge().document().unwrap();
        assert_eq!(strange["metadata"]["name"], "u");
        strange["spec"]["colour"] = json!("red");
        assert!(Tombstone::read(&strange).is_err());
    }
}
