//! Removal of destroyed objects from the world, once no live object and no handle refers to them. No code is called.

use sexton_lifecycle::detect::reachable;

use super::{detect, subscribe};
use crate::world::{ObjectId, ObjectKey, World};

/// Removes unreferenced destroyed objects and returns how many there were. Live objects always stay, reachable or not,
/// and so does everything that they refer to.
pub(super) fn sweep(world: &World) -> usize {
    let over = world.read(|store| store.len() - store.live_count());
    if over == 0 {
        return 0;
    }
    let mut roots = detect::roots_and_handles(world);
    world.visit_statics(&mut |key| roots.push(key.slot));
    let gone: Vec<(ObjectKey, ObjectId, u32)> = world.read(|store| {
        let alive = store.objects().filter(|(_, object)| !object.is_inert()).map(|(key, _)| key.slot);
        let reached = reachable(&detect::AllReferences(store), roots.into_iter().chain(alive));
        let gone = store.objects().filter(|(key, object)| object.is_inert() && !reached.contains(key.slot));
        gone.map(|(key, object)| (key, object.id.clone(), object.class)).collect()
    });
    world.write(|store| {
        for (key, ..) in &gone {
            subscribe::end(store, *key);
            drop(store.remove(*key));
        }
    });
    let observer = world.observer();
    for (_, id, class) in &gone {
        if let Some(class) = world.class_number(*class) {
            observer.freed(id, class.name());
        }
    }
    gone.len()
}
