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
