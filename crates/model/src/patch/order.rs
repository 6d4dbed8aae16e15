//! The order of a merged list: what the patch says first, then what the document had.
//!
//! It must not know what the items are; they come with a key.

use std::collections::HashMap;

use serde_json::Value;

/// An item of a merged list with its key, if it has one.
pub(super) type Keyed = (Option<String>, Value);

/// Puts the items named in `wanted` into that order, leaves the others in the order they have, and
/// merges the two rows by where their items stood in the document before (`stood`). Where that does not
/// tell, the items of the patch come first.
pub(super) fn arrange(merged: Vec<Keyed>, wanted: &[String], stood: &HashMap<String, usize>) -> Vec<Value> {
    let mut places: HashMap<&str, usize> = HashMap::with_capacity(wanted.len());
    for (at, key) in wanted.iter().enumerate() {
        places.entry(key).or_insert(at);
    }
    let place = |item: &Keyed| item.0.as_deref().and_then(|key| places.get(key).copied());
    let (mut patched, others): (Vec<Keyed>, Vec<Keyed>) =
        merged.into_iter().partition(|item| place(item).is_some());
    patched.sort_by_key(|item| place(item));

    let position = |item: &Keyed| item.0.as_ref().and_then(|key| stood.get(key).copied());
    let mut out = Vec::with_capacity(patched.len() + others.len());
    let mut patched = patched.into_iter().peekable();
    for other in others {
        while let Some(item) = patched.next_if(
            |item| !matches!((position(&other), position(item)), (Some(other), Some(item)) if other < item),
        ) {
            out.push(item.1);
        }
        out.push(other.1);
    }
    out.extend(patched.map(|item| item.1));
    out
}

/// Whether `part` is what is left of `whole` after leaving some out.
pub(super) fn is_subsequence(part: &[String], whole: &[String]) -> bool {
    let mut rest = whole.iter();
    part.iter().all(|key| rest.any(|other| other == key))
}
