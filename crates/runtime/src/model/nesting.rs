//! Where each object is nested in an exported model: a breadth-first walk from the root over persistable properties.
//!
//! ```text
//! root ─► a ─► b      order:   root a c b
//! root ─► c ─► b      homes:   a in root, c in root,
//! c owns b                     b in c: its owner refers to it (without that: in a, the first that refers to it)
//! ```

use hashbrown::HashMap;

use crate::world::{Object, ObjectKey, Store, StoredValue};

/// The reachable objects, and the object that each is nested in.
pub(super) struct Nesting {
    /// The objects in the order of the walk. The same objects give the same order.
    pub(super) order: Vec<ObjectKey>,
    /// The position of each object in `order`.
    pub(super) numbers: HashMap<ObjectKey, usize>,
    /// For each object in `order`, the position of the object that it is nested in: its owner if that refers to it
    /// directly, else the first object that refers to it.
    pub(super) homes: Vec<usize>,
}

impl Nesting {
    pub(super) fn new(store: &Store, root: ObjectKey, masks: &[Vec<bool>]) -> Nesting {
        let (mut order, mut first) = (vec![root], vec![0]);
        let mut numbers = HashMap::from([(root, 0)]);
        let mut by_owner: Vec<Option<usize>> = vec![None];
        let mut at = 0;
        while at < order.len() {
            let from = order[at];
            let mut found = |key: ObjectKey| {
                let Some(object) = store.get(key) else { return };
                let number = *numbers.entry(key).or_insert_with(|| {
                    order.push(key);
                    first.push(at);
                    by_owner.push(None);
                    order.len() - 1
                });
                if object.owner == Some(from) {
                    by_owner[number] = Some(at);
                }
            };
            if let Some(object) = store.get(from) {
                fields(object, masks).for_each(|(_, field)| field.visit(&mut found));
            }
            at += 1;
        }
        let homes = first.into_iter().zip(by_owner).map(|(first, owner)| owner.unwrap_or(first)).collect();
        Nesting { order, numbers, homes }
    }
}

/// The persistable fields of an object, each with its field index.
pub(super) fn fields<'a>(
    object: &'a Object,
    masks: &'a [Vec<bool>],
) -> impl Iterator<Item = (usize, &'a StoredValue)> {
    let mask = masks.get(object.class as usize).map_or(&[][..], Vec::as_slice);
    let kept = object.fields.iter().enumerate().zip(mask).filter(|(_, persistable)| **persistable);
    kept.map(|(field, _)| field)
}
