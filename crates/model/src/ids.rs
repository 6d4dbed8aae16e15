//! Identifiers: a revision, a key, an object reference.
//!
//! Objects with the same [`Key`] can exist one after the other; a [`Life`] is exactly one of them: key and uid. What is
//! destroyed is always a [`Life`], never whatever has the key by then.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// A point in the store's single sequence of changes. Clients see it as `resourceVersion`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Revision(u64);

impl Revision {
    /// Before the first change; also "does not exist".
    pub const NONE: Revision = Revision(0);

    /// A revision from its number.
    pub const fn new(number: u64) -> Revision {
        Revision(number)
    }

    /// The number.
    pub const fn get(self) -> u64 {
        self.0
    }

    /// The revision after this one.
    #[must_use]
    pub const fn next(self) -> Revision {
        Revision(self.0 + 1)
    }
}

impl fmt::Display for Revision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The text is not a revision.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("not a resource version: {0:?}")]
pub struct BadRevision(pub String);

impl FromStr for Revision {
    type Err = BadRevision;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        // `u64::from_str` accepts a leading plus sign, which no server ever hands out.
        match text.parse() {
            Ok(number) if !text.starts_with('+') => Ok(Revision(number)),
            _ => Err(BadRevision(text.to_owned())),
        }
    }
}

/// A kind as the API addresses it: group and plural resource name.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct GroupResource {
    /// Empty for the core group.
    pub group: String,
    /// The plural, as in the URL.
    pub resource: String,
}

impl GroupResource {
    /// From its two words.
    pub fn new(group: impl Into<String>, resource: impl Into<String>) -> GroupResource {
        GroupResource { group: group.into(), resource: resource.into() }
    }
}

impl fmt::Display for GroupResource {
    /// The form that error messages use: `configmaps`, `deployments.apps`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.resource)?;
        if !self.group.is_empty() {
            write!(f, ".{}", self.group)?;
        }
        Ok(())
    }
}

/// Kind, namespace and name of an object. Different objects can have the same key, one after the other.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key {
    /// What kind of thing.
    pub kind: GroupResource,
    /// Empty for cluster-scoped kinds.
    pub namespace: String,
    /// The name, unique within kind and namespace.
    pub name: String,
}

/// Separates the words of an encoded key: sorts before every character that a word can contain.
const SEPARATOR: u8 = 0;

impl Key {
    /// The key as ordered bytes: all of a kind together, all of a namespace together within it.
    pub fn encode(&self) -> Vec<u8> {
        let mut bytes = prefix(&self.kind, Some(&self.namespace));
        bytes.extend_from_slice(self.name.as_bytes());
        bytes
    }

    /// The inverse of [`Key::encode`].
    pub fn decode(bytes: &[u8]) -> Option<Key> {
        let mut words = bytes.splitn(4, |byte| *byte == SEPARATOR).map(|word| std::str::from_utf8(word).ok());
        let (group, resource) = (words.next()??, words.next()??);
        let (namespace, name) = (words.next()??, words.next()??);
        Some(Key {
            kind: GroupResource::new(group, resource),
            namespace: namespace.into(),
            name: name.into(),
        })
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.namespace.is_empty() {
            write!(f, "{}/{}", self.kind, self.name)
        } else {
            write!(f, "{}/{}/{}", self.kind, self.namespace, self.name)
        }
    }
}

/// The bytes that all keys of a kind begin with, or of a kind in one namespace.
pub fn prefix(kind: &GroupResource, namespace: Option<&str>) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(kind.group.len() + kind.resource.len() + 32);
    for word in [kind.group.as_str(), kind.resource.as_str()].into_iter().chain(namespace) {
        bytes.extend_from_slice(word.as_bytes());
        bytes.push(SEPARATOR);
    }
    bytes
}

/// The namespace and the name at the end of an encoded key, without copying.
pub fn place(encoded: &[u8]) -> Option<(&str, &str)> {
    let mut words = encoded.rsplitn(3, |byte| *byte == SEPARATOR).map(|word| std::str::from_utf8(word).ok());
    let name = words.next()??;
    Some((words.next()??, name))
}

/// The plural of the kind in an encoded key, without copying; `None` for what is not the key of a resource.
pub fn resource(encoded: &[u8]) -> Option<&str> {
    let mut words = encoded.split(|byte| *byte == SEPARATOR);
    let resource = std::str::from_utf8(words.nth(1)?).ok()?;
    (words.count() == 2).then_some(resource)
}

/// The identity of one object, given once by the server and never again.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Uid(pub String);

impl fmt::Display for Uid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A reference to one object: key and uid, so never a successor of the same name.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Life {
    /// The key.
    pub key: Key,
    /// Which of the objects that have this key one after the other.
    pub uid: Uid,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_round_trip_and_sort_by_namespace() {
        let key = |namespace: &str, name: &str| Key {
            kind: GroupResource::new("apps", "deployments"),
            namespace: namespace.into(),
            name: name.into(),
        };
        for (namespace, name) in [("", "a"), ("default", "web"), ("a-b", "x.y")] {
            let encoded = key(namespace, name).encode();
            assert_eq!(Key::decode(&encoded), Some(key(namespace, name)));
            assert_eq!(place(&encoded), Some((namespace, name)));
            assert_eq!(resource(&encoded), Some("deployments"));
        }
        assert!(key("a", "z").encode() < key("a-b", "a").encode());
        assert!(key("a", "z").encode().starts_with(&prefix(&key("a", "z").kind, Some("a"))));
    }

    #[test]
    fn revisions_are_plain_numbers() {
        assert_eq!("42".parse(), Ok(Revision::new(42)));
        for bad in ["", "-1", "+1", "1.5", "x", "99999999999999999999"] {
            assert!(bad.parse::<Revision>().is_err(), "{bad}");
        }
    }
}
