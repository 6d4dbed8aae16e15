//! Who is garbage: what the roots do not reach, over all properties or over persistable ones.

use std::hint::black_box;

use sexton_lifecycle::detect::{ReachableSet, References, reachable};
use sexton_lifecycle::graph::Vertex;

use super::Scope;
use crate::world::{ObjectKey, Store, Stored, World};

/// Everybody who is garbage, in the order of their births.
pub(super) fn garbage(world: &World, scope: &Scope) -> Vec<ObjectKey> {
    match scope {
        Scope::Unreachable => unreached(world, &everywhere(world)),
        Scope::NotPersistable => unreached(world, &persistable(world)),
        Scope::Removed(ids) => world.read(|store| {
            let mut found: Vec<(u64, ObjectKey)> = Vec::with_capacity(ids.len());
            for key in ids.iter().filter_map(|id| store.find(id)) {
                let alive = store.get(key).filter(|object| !object.is_over());
                found.extend(alive.map(|object| (object.birth, key)));
            }
            by_birth(found)
        }),
    }
}

/// What roots, statics and handles reach over any property.
pub(super) fn everywhere(world: &World) -> ReachableSet {
    let mut roots = held(world);
    world.visit_statics(&mut |key| roots.push(key.slot));
    world.read(|store| reachable(&Every(store), roots.into_iter()))
}

/// What the roots reach over persistable properties.
fn persistable(world: &World) -> ReachableSet {
    let roots = world.root_keys();
    let masks = masks(world);
    world.read(|store| {
        let graph = Persistable { store, masks: &masks };
        reachable(&graph, roots.into_iter().map(|key| key.slot))
    })
}

/// What roots and statics reach over any property; whatever is in somebody's hands does not count.
pub(super) fn without_handles(world: &World) -> ReachableSet {
    let mut roots: Vec<Vertex> = world.root_keys().into_iter().map(|key| key.slot).collect();
    world.visit_statics(&mut |key| roots.push(key.slot));
    world.read(|store| reachable(&Every(store), roots.into_iter()))
}

/// The roots, and what somebody has a handle to.
pub(super) fn held(world: &World) -> Vec<Vertex> {
    let mut roots: Vec<Vertex> = world.root_keys().into_iter().map(|key| key.slot).collect();
    world.handle_counts(|counts| {
        let held = (0..).zip(counts).filter(|(_, count)| **count > 0);
        roots.extend(held.map(|(slot, _): (Vertex, _)| slot));
    });
    roots
}

fn unreached(world: &World, reached: &ReachableSet) -> Vec<ObjectKey> {
    world.read(|store| {
        let garbage =
            store.objects().filter(|(key, object)| !reached.contains(key.slot) && !object.is_over());
        by_birth(garbage.map(|(key, object)| (object.birth, key)).collect())
    })
}

fn by_birth(mut found: Vec<(u64, ObjectKey)>) -> Vec<ObjectKey> {
    found.sort_unstable();
    found.dedup();
    found.into_iter().map(|(_, key)| key).collect()
}

/// For each class which fields of its objects are persistable.
pub(crate) fn masks(world: &World) -> Vec<Vec<bool>> {
    let mask = |class: &crate::world::Class| {
        class.properties().map(|(_, property)| property.usage.is_persistable()).collect()
    };
    world.classes().iter().map(mask).collect()
}

/// All references.
pub(super) struct Every<'a>(pub(super) &'a Store);

impl References for Every<'_> {
    fn count(&self) -> usize {
        self.0.slots()
    }

    /// Objects lie anywhere in memory, and so do their fields: fetching one after the other is mostly waiting.
    fn prepare(&self, next: &[Vertex]) {
        let lengths = next.iter().map(|node| self.0.at(*node).map_or(0, |object| object.fields.len()));
        black_box(lengths.sum::<usize>());
        let first = |node: &Vertex| self.0.at(*node).and_then(|object| object.fields.first());
        let empty = next.iter().filter(|node| first(node) == Some(&Stored::Null));
        black_box(empty.count());
    }

    fn visit(&self, from: Vertex, found: &mut impl FnMut(Vertex)) {
        if let Some(object) = self.0.at(from) {
            object.visit_references(&mut |key| found(key.slot));
        }
    }
}

/// Those of persistable properties.
struct Persistable<'a> {
    store: &'a Store,
    masks: &'a [Vec<bool>],
}

impl References for Persistable<'_> {
    fn count(&self) -> usize {
        self.store.slots()
    }

    fn visit(&self, from: Vertex, found: &mut impl FnMut(Vertex)) {
        let Some(object) = self.store.at(from) else { return };
        let Some(mask) = self.masks.get(object.class as usize) else { return };
        let kept = object.fields.iter().zip(mask).filter(|(_, persistable)| **persistable);
        kept.for_each(|(field, _): (&Stored, _)| field.visit(&mut |key| found(key.slot)));
    }
}
