//! The program of the last run, where the new one does not know the classes of all that is to be destroyed: it destroys
//! that, with the survivors as the incoming model has them, and what its handlers change in them goes into that model.
//!
//! ```text
//! incoming ─► survivors as the old program knows them ─► destroy ─► store, with a note of what changed
//!     └─────► incoming with these changes ─► the new program
//! ```
//!
//! The note is in the record of the environment, so a run that is killed in between loses nothing.

use std::collections::{BTreeMap, BTreeSet};

use sexton_model::environment::ChangedProperties;

use super::OpenError;
use super::open::{Ask, source_of};
use crate::lua::{Host, Program};
use crate::model::{Dependency, HEADER, Model, ModelObject};
use crate::world::{ObjectId, World};

/// Whether some of what is to be destroyed has classes that the new program does not know.
///
/// # Errors
/// If the new program cannot be loaded, or the incoming model does not fit it: nothing is destroyed for its sake then.
pub(super) fn is_needed(
    ask: &Ask,
    incoming: &Model,
    before: &Model,
    removed: &[ObjectId],
) -> Result<bool, OpenError> {
    let world = declared(ask)?;
    let unknown = before.only(removed).objects.iter().any(|object| world.class(&object.class).is_none());
    let fits = if unknown && ask.model.is_some() { incoming.import(&world).map(drop) } else { Ok(()) };
    world.close();
    fits?;
    Ok(unknown)
}

/// A world with the classes of the new program.
fn declared(ask: &Ask) -> Result<World, OpenError> {
    let world = World::new();
    let host = Host { limits: ask.limits.clone(), ..Host::default() };
    Program::load(&world, &source_of(&ask.program), host)?.check_entry()?;
    Ok(world)
}

/// The stored objects; those that the incoming model has as well are as it says, as far as the old program's classes,
/// which are those of `world`, declare it.
pub(super) fn survivors(world: &World, incoming: &Model, before: &Model) -> Model {
    let now: BTreeMap<&ObjectId, &ModelObject> = incoming.objects.iter().map(|one| (&one.id, one)).collect();
    let mut all = before.clone();
    for object in all.objects.iter_mut().filter(|object| !object.destroyed) {
        let Some(now) = now.get(&object.id).filter(|now| now.class == object.class) else { continue };
        object.properties.clone_from(&now.properties);
        object.properties.retain(|name, _| is_persistable(world, &object.class, name));
        object.owner.clone_from(&now.owner);
        object.dependencies.clone_from(&now.dependencies);
    }
    all
}

/// Notes what handlers changed in objects of a model: their properties, and [`HEADER`] for their subscriptions.
pub(super) fn note(changed: &mut ChangedProperties, before: &Model, now: &Model) {
    let known: BTreeMap<&ObjectId, &ModelObject> = before.objects.iter().map(|one| (&one.id, one)).collect();
    for object in &now.objects {
        if let Some(known) = known.get(&object.id) {
            note_object(changed, known, object);
        }
    }
}

/// The same for one object.
pub(super) fn note_object(changed: &mut ChangedProperties, known: &ModelObject, object: &ModelObject) {
    let names = object.properties.keys().chain(known.properties.keys());
    let value = |object: &ModelObject, name: &str| object.properties.get(name).cloned().unwrap_or_default();
    let differs = |name: &&String| value(object, name.as_str()) != value(known, name.as_str());
    let mut names: BTreeSet<String> = names.filter(differs).cloned().collect();
    if sorted(&object.dependencies) != sorted(&known.dependencies) {
        names.insert(HEADER.to_owned());
    }
    if !names.is_empty() {
        changed.entry(object.id.to_string()).or_default().extend(names);
    }
}

fn sorted(dependencies: &[Dependency]) -> Vec<&Dependency> {
    let mut sorted: Vec<&Dependency> = dependencies.iter().collect();
    sorted.sort_by(|a, b| a.target.cmp(&b.target));
    sorted
}

/// Puts what handlers of the old program changed into the incoming model, as it is stored. Objects that they created
/// come with it; references to objects of classes that the new program does not know are left out.
///
/// # Errors
/// If the new program cannot be loaded.
pub(super) fn keep(
    ask: &Ask,
    incoming: &mut Model,
    before: &Model,
    changed: &ChangedProperties,
) -> Result<(), OpenError> {
    if changed.is_empty() || ask.model.is_none() {
        return Ok(());
    }
    let world = declared(ask)?;
    let stored: BTreeMap<&ObjectId, &ModelObject> = before.objects.iter().map(|one| (&one.id, one)).collect();
    let mut ids: BTreeSet<ObjectId> = incoming.ids().cloned().collect();
    let is_unknown = |id: &ObjectId| stored.get(id).is_none_or(|object| world.class(&object.class).is_none());
    let mut referred: Vec<ObjectId> = Vec::new();
    for object in &mut incoming.objects {
        let (Some(names), Some(stored)) = (changed.get(object.id.as_str()), stored.get(&object.id)) else {
            continue;
        };
        if names.contains(HEADER) {
            object.dependencies.clone_from(&stored.dependencies);
            object.dependencies.retain(|one| ids.contains(&one.target));
        }
        for name in names.iter().filter(|name| is_persistable(&world, &object.class, name)) {
            let mut value = stored.properties.get(name).cloned().unwrap_or_default();
            value.forget(&|id| !ids.contains(id) && is_unknown(id));
            value.visit(&mut |id| referred.push(id.clone()));
            object.properties.insert(name.clone(), value);
        }
    }
    while let Some(id) = referred.pop() {
        let Some(object) = stored.get(&id).filter(|_| !ids.contains(&id)) else { continue };
        let mut object = (*object).clone();
        for value in object.properties.values_mut() {
            value.forget(&|id| !ids.contains(id) && is_unknown(id));
            value.visit(&mut |id| referred.push(id.clone()));
        }
        ids.insert(id.clone());
        incoming.lenient.insert(id);
        incoming.objects.push(object);
    }
    world.close();
    Ok(())
}

fn is_persistable(world: &World, class: &str, property: &str) -> bool {
    let class = world.class(class);
    class.as_ref().and_then(|class| class.property(property)).is_some_and(|one| one.usage.is_persistable())
}
