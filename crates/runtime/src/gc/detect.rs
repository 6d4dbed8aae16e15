//! Which objects are garbage: those not reachable from the roots, over all properties or over persistable ones.

use std::hint::black_box;

use sexton_lifecycle::detect::{ReachableSet, References, reachable};
use sexton_lifecycle::graph::Vertex;

use super::Scope;
use crate::world::{ObjectKey, Store, StoredValue, World};

/// All garbage objects under a scope, in creation order.
pub(super) fn garbage(world: &World, scope: &Scope) -> Vec<ObjectKey> {
    match scope {
        Scope::Unreachable => garbage_outside(world, &reachable_from_anywhere(world)),
        Scope::NotPersistable => garbage_outside(world, &reachable_persistably(world)),
        Scope::Removed(ids) => world.read(|store| {
            let mut found: Vec<(u64, ObjectKey)> = Vec::with_capacity(ids.len());
            for key in ids.iter().filter_map(|id| store.find(id)) {
                let alive = store.get(key).filter(|object| !object.is_inert());
                found.extend(alive.map(|object| (object.sequence, key)));
            }
            by_sequence(found)
        }),
    }
}

/// Everything reachable from roots, static properties and handles, over any property.
pub(super) fn reachable_from_anywhere(world: &World) -> ReachableSet {
    let mut roots = roots_and_handles(world);
    world.visit_statics(&mut |key| roots.push(key.slot));
    world.read(|store| reachable(&AllReferences(store), roots.into_iter()))
}

/// Everything reachable from the roots over persistable properties.
fn reachable_persistably(world: &World) -> ReachableSet {
    let roots = world.root_keys();
    let masks = masks(world);
    world.read(|store| {
        let graph = PersistableReferences { store, masks: &masks };
        reachable(&graph, roots.into_iter().map(|key| key.slot))
    })
}

/// Everything reachable from roots and static properties over any property. Handles are not roots here.
pub(super) fn reachable_without_handles(world: &World) -> ReachableSet {
    let mut roots: Vec<Vertex> = world.root_keys().into_iter().map(|key| key.slot).collect();
    world.visit_statics(&mut |key| roots.push(key.slot));
    world.read(|store| reachable(&AllReferences(store), roots.into_iter()))
}

/// The slots of roots and of objects with at least one handle.
pub(super) fn roots_and_handles(world: &World) -> Vec<Vertex> {
    let mut roots: Vec<Vertex> = world.root_keys().into_iter().map(|key| key.slot).collect();
    world.handle_counts(|counts| {
        let held = (0..).zip(counts).filter(|(_, count)| **count > 0);
        roots.extend(held.map(|(slot, _): (Vertex, _)| slot));
    });
    roots
}

fn garbage_outside(world: &World, reached: &ReachableSet) -> Vec<ObjectKey> {
    world.read(|store| {
        let garbage =
            store.objects().filter(|(key, object)| !reached.contains(key.slot) && !object.is_inert());
        by_sequence(garbage.map(|(key, object)| (object.sequence, key)).collect())
    })
}

fn by_sequence(mut found: Vec<(u64, ObjectKey)>) -> Vec<ObjectKey> {
    found.sort_unstable();
    found.dedup();
    found.into_iter().map(|(_, key)| key).collect()
}

/// For each class number, a mask over the fields of its objects: whether each is persistable.
pub(crate) fn masks(world: &World) -> Vec<Vec<bool>> {
    let mask = |class: &crate::world::Class| {
        class.properties().map(|(_, property)| property.usage.is_persistable()).collect()
    };
    world.classes().iter().map(mask).collect()
}

/// The graph of all references in a store.
pub(super) struct AllReferences<'a>(pub(super) &'a Store);

impl References for AllReferences<'_> {
    fn count(&self) -> usize {
        self.0.slots()
    }

    /// Touches the next objects and their first fields, so that the processor fetches them at the same time: objects
    /// lie scattered in memory, and visiting them one by one is mostly waiting for memory.
    fn prepare(&self, next: &[Vertex]) {
        let lengths = next.iter().map(|node| self.0.at(*node).map_or(0, |object| object.fields.len()));
        black_box(lengths.sum::<usize>());
        let first = |node: &Vertex| self.0.at(*node).and_then(|object| object.fields.first());
        let empty = next.iter().filter(|node| first(node) == Some(&StoredValue::Null));
        black_box(empty.count());
    }

    fn visit(&self, from: Vertex, found: &mut impl FnMut(Vertex)) {
        if let Some(object) = self.0.at(from) {
            object.visit_references(&mut |key| found(key.slot));
        }
    }
}

/// The graph of references in persistable properties.
struct PersistableReferences<'a> {
    store: &'a Store,
    masks: &'a [Vec<bool>],
}

impl References for PersistableReferences<'_> {
    fn count(&self) -> usize {
        self.store.slots()
    }

    fn visit(&self, from: Vertex, found: &mut impl FnMut(Vertex)) {
        let Some(object) = self.store.at(from) else { return };
        let Some(mask) = self.masks.get(object.class as usize) else { return };
        let kept = object.fields.iter().zip(mask).filter(|(_, persistable)| **persistable);
        kept.for_each(|(field, _): (&StoredValue, _)| field.visit(&mut |key| found(key.slot)));
    }
}
