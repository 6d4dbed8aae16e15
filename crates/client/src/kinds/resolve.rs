//! Which kind a word means that a user typed.

use super::near::mistakes;
use super::{Kinds, ServedKind};

/// What was typed: a kind, perhaps with a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Word {
    /// `cm`, `ConfigMap`, `deployments.apps`.
    pub kind: String,
    /// What stands behind a slash.
    pub name: Option<String>,
}

impl From<&str> for Word {
    fn from(text: &str) -> Self {
        match text.split_once('/') {
            Some((kind, name)) => Word { kind: kind.to_owned(), name: Some(name.to_owned()) },
            None => Word { kind: text.to_owned(), name: None },
        }
    }
}

/// Why a word means no kind, or not one.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NoSuchKind {
    /// Nothing is called so.
    #[error("there is no kind {typed:?}")]
    Unknown {
        /// What was typed.
        typed: String,
        /// What may have been meant.
        near: Vec<String>,
        /// Groups that could not be asked and may have it.
        unread: Vec<String>,
    },
    /// More than one is called so.
    #[error("{typed:?} means more than one kind")]
    Ambiguous {
        /// What was typed.
        typed: String,
        /// What it can mean, in full.
        meanings: Vec<String>,
    },
}

impl Kinds {
    /// The kind that a word means: plural, singular, short name or kind, perhaps followed by `.group` or
    /// `.version.group`. A kind of the core group is meant before others of that name.
    ///
    /// # Errors
    /// Nothing, or more than one kind outside the core group, is called so.
    pub fn resolve(&self, typed: &str) -> Result<&ServedKind, NoSuchKind> {
        let bare: Vec<&ServedKind> = self.preferred().filter(|kind| is_called(kind, typed)).collect();
        let found = if bare.is_empty() { self.qualified(typed) } else { bare };
        let core = found.iter().find(|kind| kind.resource.group.is_empty());
        match (core, found.as_slice()) {
            (Some(kind), _) | (None, [kind]) => Ok(kind),
            (None, []) => Err(self.unknown(typed)),
            (None, many) => {
                let meanings = many.iter().map(|kind| kind.resource.to_string()).collect();
                Err(NoSuchKind::Ambiguous { typed: typed.to_owned(), meanings })
            }
        }
    }

    fn qualified(&self, typed: &str) -> Vec<&ServedKind> {
        let Some((word, rest)) = typed.split_once('.') else { return Vec::new() };
        let in_group: Vec<&ServedKind> =
            self.preferred().filter(|kind| is_called(kind, word) && kind.resource.group == rest).collect();
        if !in_group.is_empty() {
            return in_group;
        }
        let (version, group) = rest.split_once('.').unwrap_or((rest, ""));
        let same = |kind: &&ServedKind| kind.version == version && kind.resource.group == group;
        self.all.iter().filter(same).filter(|kind| is_called(kind, word)).collect()
    }

    fn unknown(&self, typed: &str) -> NoSuchKind {
        NoSuchKind::Unknown {
            typed: typed.to_owned(),
            near: self.near(typed).into_iter().map(|kind| kind.resource.resource.clone()).collect(),
            unread: self.unread.iter().map(|(group, _)| group.clone()).collect(),
        }
    }

    /// The kinds that may be meant by a word that means none, nearest first, at most three.
    pub fn near(&self, typed: &str) -> Vec<&ServedKind> {
        let word = typed.split('.').next().unwrap_or(typed);
        let mut found: Vec<(usize, &ServedKind)> = self
            .preferred()
            .filter_map(|kind| Some((names(kind).filter_map(|name| mistakes(word, name)).min()?, kind)))
            .collect();
        found.sort_by_key(|(mistakes, kind)| (*mistakes, kind.resource.clone()));
        found.into_iter().take(3).map(|(_, kind)| kind).collect()
    }
}

fn names(kind: &ServedKind) -> impl Iterator<Item = &String> {
    [&kind.resource.resource, &kind.singular, &kind.kind].into_iter().chain(&kind.short_names)
}

fn is_called(kind: &ServedKind, word: &str) -> bool {
    names(kind).any(|name| name.eq_ignore_ascii_case(word))
}

#[cfg(test)]
mod tests {
    use super::super::sample;
    use super::*;

    fn resolve(typed: &str) -> Result<String, NoSuchKind> {
        sample().resolve(typed).map(|kind| format!("{} {}", kind.resource, kind.version))
    }

    #[test]
    fn all_the_names_of_a_kind() {
        for typed in ["cm", "configmap", "configmaps", "ConfigMap", "CONFIGMAPS", "configmaps.v1"] {
            assert_eq!(resolve(typed).as_deref(), Ok("configmaps v1"), "{typed}");
        }
        for typed in ["deploy", "deployments.apps", "Deployment.apps", "deploy.v1.apps"] {
            assert_eq!(resolve(typed).as_deref(), Ok("deployments.apps v1"), "{typed}");
        }
        assert_eq!(resolve("deployments.v1beta1.apps").as_deref(), Ok("deployments.apps v1beta1"));
    }

    #[test]
    fn the_core_group_wins_and_others_must_be_named() {
        assert_eq!(resolve("events").as_deref(), Ok("events v1"));
        assert_eq!(resolve("events.events.k8s.io").as_deref(), Ok("events.events.k8s.io v1"));
        let ambiguous = resolve("box").unwrap_err();
        assert!(
            matches!(ambiguous, NoSuchKind::Ambiguous { meanings, .. } if meanings == ["boxes.a.io", "boxes.b.io"])
        );
        assert_eq!(resolve("box.b.io").as_deref(), Ok("boxes.b.io v1"));
    }

    #[test]
    fn unknown_words_get_suggestions() {
        let NoSuchKind::Unknown { near, .. } = resolve("confgmaps").unwrap_err() else { panic!() };
        assert_eq!(near, ["configmaps"]);
    }

    #[test]
    fn words_are_split_at_the_first_slash() {
        assert_eq!(Word::from("cm/a"), Word { kind: "cm".into(), name: Some("a".into()) });
        assert_eq!(Word::from("cm"), Word { kind: "cm".into(), name: None });
    }
}
