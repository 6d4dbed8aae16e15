//! What a collection would do: detected, ordered and proved like the real one, and nothing called.

use hashbrown::HashSet;
use sexton_lifecycle::NodeId;

use super::order::Trial;
use super::{CollectError, Doomed, HeldBack, Inner, Permit, Preview, Scope, detect};
use crate::world::{Handle, ObjectKey};

pub(super) async fn preview(gc: &Inner, scope: Scope) -> Result<Preview, CollectError> {
    let world = &gc.world;
    (gc.settings.settle)();
    let found = detect::garbage(world, &scope);
    let mut preview = Preview { scope: world.read(|store| store.alive()), ..Preview::default() };
    let mut held: HashSet<ObjectKey> = HashSet::new();
    let handles = found.iter().filter_map(|key| world.handle(*key));
    let kept: Vec<Handle> = handles.filter(|object| gc.settings.keeper.keeps(object)).collect();
    if !kept.is_empty() {
        let permits = gc.settings.keeper.held(&kept).await?;
        for (object, permit) in kept.iter().zip(permits) {
            if let Permit::Hold(reason) = permit {
                held.insert(object.key());
                let (id, class, name) = (object.id(), object.class().shared_name(), object.name());
                preview.held.push(HeldBack { id, class, name, reason });
            }
        }
    }
    let trial = Trial::new(world, &found, &scope)?;
    let order = trial.without(world, &held);
    for (life, wave) in &order {
        let Some(object) = trial.object(*life).and_then(|key| world.handle(key)) else { continue };
        preview.doomed.push(Doomed {
            id: object.id(),
            class: object.class().shared_name(),
            name: object.name(),
            reasons: trial.reasons(world, *life),
            wave: *wave,
        });
    }
    let gone: HashSet<NodeId> = order.into_iter().map(|(life, _)| life).collect();
    preview.waiting = trial.waiting(world, &gone, |key| held.contains(&key));
    preview.dropped = trial.dropped(world);
    preview.digest = trial.plan.digest.clone();
    Ok(preview)
}
