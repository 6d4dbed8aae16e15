//! An accusation names an object as a candidate: a detector found that it may be garbage, and on which evidence. It is
//! an annotation of the object itself; the collector does the rest. Until the destruction is inevitable it can be taken
//! back.
//!
//! It must not know how garbage is found, nor what becomes of it.

use serde::{Deserialize, Serialize};

use crate::Policy;
use crate::text::cut;

/// Bytes of the texts for people.
const MAX_TEXT: usize = 512;

/// The sort of detector that names a candidate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Accuser {
    /// The sweep of a module: the object does not carry the mark of the sealed deployment.
    Unmarked,
    /// A rule that looks for objects whose owners are all absent.
    Orphaned,
    /// A rule that looks for what a former owner of a name left behind.
    Leftover,
    /// A program whose roots no longer reach the object.
    Unreachable,
    /// A model that no longer has the object.
    Removed,
}

/// What a detector says of a candidate. Equal for all candidates of one sweep, as far as they have it in common.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Accusation {
    /// Which sort of detector.
    pub accuser: Accuser,
    /// What the detector works for, as people name it: `Module/shop`.
    pub by: String,
    /// Why, in a few words: `not in the module since deployment 01J9`.
    pub because: String,
    /// The collection in which all of them end.
    pub collection: String,
    /// The requester, if there was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub initiator: Option<String>,
    /// The deployment mark that the object carried, if it carried one. An object that is put again carries another
    /// mark, and with that the accusation is void.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deployment: Option<String>,
    /// Uids of owners that do not exist. If the object names any other owner, the accusation is void.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub absent: Vec<String>,
    /// What becomes of dependents; without it they follow when they have no other owner.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub policy: Option<String>,
    /// How many members of the module are destroyed at the same time, if it says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parallel: Option<u32>,
    /// The uid of the candidate, where users could copy the annotation to another object.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uid: Option<String>,
}

/// Why a text is no accusation.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("not an accusation: {0}")]
pub struct NotAnAccusation(String);

impl Accusation {
    /// As it is written. What is for people is cut to a bearable length.
    pub fn encode(&self) -> String {
        let short =
            Accusation { by: cut(&self.by, MAX_TEXT), because: cut(&self.because, MAX_TEXT), ..self.clone() };
        serde_json::to_string(&short).unwrap_or_default()
    }

    /// Reads what is written.
    ///
    /// # Errors
    /// It is something else, or names a policy that there is not.
    pub fn decode(text: &str) -> Result<Accusation, NotAnAccusation> {
        let read: Accusation =
            serde_json::from_str(text).map_err(|error| NotAnAccusation(error.to_string()))?;
        if read.collection.is_empty() || read.by.is_empty() {
            return Err(NotAnAccusation("by and collection must be said".to_owned()));
        }
        match &read.policy {
            Some(policy) if Policy::named(policy).is_none() => {
                Err(NotAnAccusation(format!("there is no policy {policy:?}")))
            }
            _ => Ok(read),
        }
    }

    /// Whether it is about this object as it is now: the uid that is meant, with the same deployment mark, and, if it
    /// names absent owners, with no owner but these.
    pub fn holds_for<'a>(
        &self,
        uid: &str,
        deployment: Option<&str>,
        owners: impl IntoIterator<Item = &'a str>,
    ) -> bool {
        let meant = self.uid.as_deref().is_none_or(|meant| meant == uid);
        let same_owners = self.absent.is_empty()
            || owners.into_iter().all(|owner| self.absent.iter().any(|absent| absent == owner));
        meant && self.deployment.as_deref() == deployment && same_owners
    }

    /// What becomes of dependents.
    pub fn policy(&self) -> Policy {
        self.policy.as_deref().and_then(Policy::named).unwrap_or(Policy::Background)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn accusation() -> Accusation {
        Accusation {
            accuser: Accuser::Unmarked,
            by: "Module/shop".into(),
            because: "not in the module since deployment 2".into(),
            collection: "sweep-shop-2".into(),
            initiator: None,
            deployment: Some("1".into()),
            absent: Vec::new(),
            policy: None,
            parallel: None,
            uid: None,
        }
    }

    #[test]
    fn what_is_written_can_be_read() {
        let said = accusation();
        assert_eq!(Accusation::decode(&said.encode()), Ok(said.clone()));
        assert_eq!(said.policy(), Policy::Background);
        for other in ["", "{}", "true", r#"{"accuser":"nobody"}"#] {
            assert!(Accusation::decode(other).is_err(), "{other}");
        }
        let odd = Accusation { policy: Some("Sideways".into()), ..said };
        assert!(Accusation::decode(&odd.encode()).is_err());
    }

    /// REQ-CLD-2: an object that is put again gets another mark by that, and is no candidate any more.
    #[test]
    fn a_new_mark_or_a_new_owner_makes_it_void() {
        let said = accusation();
        assert!(said.holds_for("u", Some("1"), ["o"]));
        assert!(!said.holds_for("u", Some("2"), []) && !said.holds_for("u", None, []));
        let orphan = Accusation { absent: vec!["o".into()], ..said.clone() };
        assert!(orphan.holds_for("u", Some("1"), ["o"]) && !orphan.holds_for("u", Some("1"), ["o", "p"]));
        let meant = Accusation { uid: Some("u".into()), ..said };
        assert!(meant.holds_for("u", Some("1"), []) && !meant.holds_for("v", Some("1"), []));
    }
}
