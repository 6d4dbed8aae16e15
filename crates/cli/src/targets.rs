//! Which objects are meant by the words `KIND`, `KIND NAME…`, `KIND,KIND`, `KIND/NAME…` and `KIND/NAMESPACE/NAME…`.

use sexton_client::kinds::Word;
use sexton_client::{Kinds, Place, ServedKind};

use crate::failure::Failure;

/// All objects of a kind, or one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Wanted {
    /// The kind.
    pub(crate) kind: ServedKind,
    /// The namespace, if it was typed with the name.
    pub(crate) namespace: Option<String>,
    /// `None` means all that the selectors allow.
    pub(crate) name: Option<String>,
}

impl Wanted {
    /// Where it is, if nothing else is said about the namespace.
    pub(crate) fn place(&self, usual: Option<&str>) -> Place {
        Place::new(&self.kind, self.namespace.as_deref().or(usual))
    }
}

/// Reads the words of a command.
pub(crate) fn read(kinds: &Kinds, words: &[String]) -> Result<Vec<Wanted>, Failure> {
    let Some((first, rest)) = words.split_first() else {
        return Err(Failure::new("which kind?").next("see all kinds", "sexton kinds"));
    };
    if first.contains('/') {
        return words.iter().map(|word| with_name(kinds, word)).collect();
    }
    if let Some(mixed) = rest.iter().find(|word| word.contains('/')) {
        let what = format!("{first:?} is a kind, so {mixed:?} must be a name, and names have no slash");
        return Err(Failure::new(what).next("name each kind", format!("{first}/NAME {mixed}")));
    }
    let mut wanted = Vec::new();
    for word in first.split(',').filter(|word| !word.is_empty()) {
        let category = kinds.category(word);
        let meant = if category.is_empty() { vec![kinds.resolve(word)?] } else { category };
        for kind in meant {
            match rest {
                [] => wanted.push(Wanted { kind: kind.clone(), namespace: None, name: None }),
                names => {
                    wanted.extend(names.iter().map(|name| Wanted {
                        kind: kind.clone(),
                        namespace: None,
                        name: Some(name.clone()),
                    }));
                }
            }
        }
    }
    Ok(wanted)
}

/// One object, as `KIND/NAME` or `KIND/NAMESPACE/NAME`.
pub(crate) fn with_name(kinds: &Kinds, text: &str) -> Result<Wanted, Failure> {
    let malformed = || Failure::new(format!("{text:?} is not of the form KIND/NAME or KIND/NAMESPACE/NAME"));
    let Word { kind, name: Some(name) } = Word::from(text) else { return Err(malformed()) };
    let (namespace, name) = match name.split_once('/') {
        Some((namespace, name)) => (Some(namespace.to_owned()), name.to_owned()),
        None => (None, name),
    };
    if name.is_empty() || name.contains('/') || namespace.as_deref() == Some("") {
        return Err(malformed());
    }
    let kind = kinds.resolve(&kind)?.clone();
    if namespace.is_some() && !kind.namespaced {
        return Err(Failure::new(format!("{text:?}: {} live in no namespace", kind.resource.resource)));
    }
    Ok(Wanted { kind, namespace, name: Some(name) })
}

/// Whether a word names an object by itself.
pub(crate) fn is_whole(word: &str) -> bool {
    word.contains('/') || word == "self"
}

/// The one object that is meant by `KIND/NAME` or `KIND NAME`, as one word.
pub(crate) fn one(words: &[String]) -> Result<String, Failure> {
    match several(words)?.as_slice() {
        [one] => Ok(one.clone()),
        _ => Err(Failure::new("one object is meant").next("for example", "KIND/NAME, or KIND NAME")),
    }
}

/// The objects that are meant by `KIND/NAME…` or `KIND NAME…`, each as one word.
pub(crate) fn several(words: &[String]) -> Result<Vec<String>, Failure> {
    match words {
        [kind, names @ ..] if !is_whole(kind) && !names.is_empty() => names
            .iter()
            .map(|name| match is_whole(name) {
                false => Ok(format!("{kind}/{name}")),
                true => Err(Failure::new(format!(
                    "{kind:?} is a kind, so {name:?} must be a name, and names have no slash"
                ))),
            })
            .collect(),
        words => Ok(words.to_vec()),
    }
}

/// Two objects, each `KIND/NAME` or `KIND NAME`, each as one word.
pub(crate) fn two(words: &[String]) -> Result<[String; 2], Failure> {
    let (mut found, mut kind) = (Vec::new(), None);
    for word in words {
        match kind.take() {
            None if is_whole(word) => found.push(word.clone()),
            None => kind = Some(word),
            Some(kind) => found.push(format!("{kind}/{word}")),
        }
    }
    <[String; 2]>::try_from(found).ok().filter(|_| kind.is_none()).ok_or_else(|| {
        Failure::new("two objects are meant")
            .next("for example", "KIND/NAME KIND/NAME, or KIND NAME KIND NAME")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        text.split(' ').map(str::to_owned).collect()
    }

    #[test]
    fn kind_and_name_may_be_two_words() {
        for text in ["cm/a", "cm a"] {
            assert_eq!(one(&words(text)).unwrap(), "cm/a");
        }
        assert_eq!(several(&words("cm a b")).unwrap(), ["cm/a", "cm/b"]);
        assert_eq!(several(&words("cm/a vm/x/b")).unwrap(), ["cm/a", "vm/x/b"]);
        assert!(one(&words("cm a b")).is_err() && several(&words("cm a vm/b")).is_err());
        for text in ["vm/a cm/b", "vm a cm/b", "vm/a cm b", "vm a cm b"] {
            assert_eq!(two(&words(text)).unwrap(), ["vm/a", "cm/b"], "{text}");
        }
        assert_eq!(two(&words("vm a self")).unwrap(), ["vm/a", "self"]);
        assert!(two(&words("vm/a")).is_err() && two(&words("vm/a cm")).is_err());
    }
}
