//! What is stored and what comes in, as objects of the program that runs: the new one, or the stored one.

use std::collections::BTreeSet;

use hashbrown::HashSet;

use super::{OpenError, predecessor};
use crate::model::Model;
use crate::world::{Handle, ObjectId, ObjectKey, World};

/// What is to be destroyed before the deployment.
pub(super) struct Going<'a> {
    /// All of it.
    pub(super) removed: &'a [ObjectId],
    /// The part that an interrupted run had begun to destroy, although the model contains it.
    pub(super) begun: &'a BTreeSet<ObjectId>,
}

/// What was brought in.
pub(super) struct Imported {
    /// The object from which all others are reached, unless it goes.
    pub(super) root: Option<Handle>,
    /// Objects that came with the model and were never stored.
    pub(super) fresh: Vec<ObjectId>,
    /// For the stored program: its objects as they were brought in.
    pub(super) survivors: Option<Model>,
    /// What leads nowhere, in words.
    pub(super) dangling: Vec<String>,
}

/// Brings everything into the world of a program. `predecessor`: it is the stored program, and its objects are as the
/// incoming model has them; where its classes do not take that, as they are stored.
pub(super) fn import(
    world: &World,
    (incoming, before): (&Model, &Model),
    going: &Going<'_>,
    predecessor: bool,
) -> Result<Imported, OpenError> {
    if !predecessor {
        let fresh = before.removed_since(incoming);
        let (root, dangling) = create(world, (incoming, before), going, &fresh)?;
        return Ok(Imported { root, fresh, survivors: None, dangling });
    }
    let mut survivors = predecessor::survivors(world, incoming, before);
    let mut created = create(world, (&survivors, before), going, &[]);
    if created.is_err() {
        survivors = before.clone();
        created = create(world, (before, before), going, &[]);
    }
    let (root, _) = created?;
    Ok(Imported { root, fresh: Vec::new(), survivors: Some(survivors), dangling: Vec::new() })
}

/// Creates the objects: what is in both models is one object, as it comes in. What is not to be destroyed does not
/// refer to objects that an interrupted run had begun to destroy: the stored model is older than that.
fn create(
    world: &World,
    (incoming, before): (&Model, &Model),
    going: &Going<'_>,
    fresh: &[ObjectId],
) -> Result<(Option<Handle>, Vec<String>), OpenError> {
    let Going { removed, begun } = going;
    let mut all = incoming.clone();
    let known: BTreeSet<&ObjectId> = incoming.ids().collect();
    let missing: Vec<ObjectId> = removed.iter().filter(|id| !known.contains(id)).cloned().collect();
    let gone = before.only(&missing);
    all.lenient.extend(gone.lenient);
    all.objects.extend(gone.objects);
    let imported = all.import(world)?;
    let fresh: BTreeSet<&ObjectId> = fresh.iter().collect();
    for object in imported.objects.iter().filter(|object| !fresh.contains(&object.id())) {
        world.assume_initialized(object);
    }
    if !begun.is_empty() {
        let find = |id: &ObjectId| world.find(id).map(|object| object.key());
        let gone: HashSet<ObjectKey> = begun.iter().filter_map(find).collect();
        let doomed: HashSet<ObjectKey> = removed.iter().filter_map(find).collect();
        world.forget_references(&|key| gone.contains(&key), &|key| !doomed.contains(&key));
    }
    let root = imported.root.clone().filter(|root| !removed.contains(&root.id()));
    if let Some(root) = &root {
        world.set_root(root);
    }
    let words = imported.dangling.iter().map(|one| format!("{}: {} ({})", one.path, one.why, one.target));
    Ok((root, words.collect()))
}
