//! Previews: garbage is detected, planned and verified as in a session, but no code is called and nothing is recorded.

use hashbrown::HashSet;
use sexton_lifecycle::NodeId;

use super::plan::ObjectPlan;
use super::{CollectError, Doomed, GcState, HeldBack, Permit, Preview, Scope, detect};
use crate::world::{Handle, ObjectKey};

/// What a session would destroy now. Objects that destructors would turn into garbage are not in it.
pub(super) async fn preview(gc: &GcState, scope: Scope) -> Result<Preview, CollectError> {
    let world = &gc.world;
    (gc.settings.settle)();
    let found = detect::garbage(world, &scope);
    let mut preview = Preview { scope: world.read(|store| store.live_count()), ..Preview::default() };
    let mut held: HashSet<ObjectKey> = HashSet::new();
    let handles = found.iter().filter_map(|key| world.handle(*key));
    let kept: Vec<Handle> = handles.filter(|object| gc.settings.recorder.is_stored(object)).collect();
    if !kept.is_empty() {
        let permits = gc.settings.recorder.permits(&kept).await?;
        for (object, permit) in kept.iter().zip(permits) {
            if let Permit::Refused(reason) = permit {
                held.insert(object.key());
                let (id, class, name) = (object.id(), object.class().shared_name(), object.name());
                preview.held.push(HeldBack { id, class, name, reason });
            }
        }
    }
    let plan = ObjectPlan::new(world, &found, &scope)?;
    let order = plan.destroyable(world, &held);
    for (life, wave) in &order {
        let Some(object) = plan.object(*life).and_then(|key| world.handle(key)) else { continue };
        preview.doomed.push(Doomed {
            id: object.id(),
            class: object.class().shared_name(),
            name: object.name(),
            reasons: plan.reasons(world, *life),
            wave: *wave,
        });
    }
    let gone: HashSet<NodeId> = order.into_iter().map(|(life, _)| life).collect();
    preview.waiting = plan.waiting(world, &gone, |key| held.contains(&key));
    preview.dropped = plan.dropped(world);
    preview.digest = plan.lifecycle_plan.digest.clone();
    Ok(preview)
}
