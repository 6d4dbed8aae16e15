//! Which objects are meant by the words `KIND`, `KIND NAME…`, `KIND,KIND` and `KIND/NAME…`.

use sexton_client::kinds::Word;
use sexton_client::{Kinds, ServedKind};

use crate::failure::Failure;

/// All objects of a kind, or one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Wanted {
    /// The kind.
    pub(crate) kind: ServedKind,
    /// `None` means all that the selectors allow.
    pub(crate) name: Option<String>,
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
                [] => wanted.push(Wanted { kind: kind.clone(), name: None }),
                names => {
                    wanted.extend(
                        names.iter().map(|name| Wanted { kind: kind.clone(), name: Some(name.clone()) }),
                    );
                }
            }
        }
    }
    Ok(wanted)
}

fn with_name(kinds: &Kinds, text: &str) -> Result<Wanted, Failure> {
    match Word::from(text) {
        Word { kind, name: Some(name) } if !name.is_empty() && !name.contains('/') => {
            Ok(Wanted { kind: kinds.resolve(&kind)?.clone(), name: Some(name) })
        }
        _ => Err(Failure::new(format!("{text:?} is not of the form KIND/NAME"))),
    }
}
