//! The order in which candidates are destroyed: a plan made and verified by `sexton_lifecycle`, with its nodes mapped
//! back to objects.

use hashbrown::{HashMap, HashSet};
use sexton_lifecycle::detect::{self, Cause, Detection};
use sexton_lifecycle::plan::{self, Group, Plan, PlanProgress, Relation, Step};
use sexton_lifecycle::{DetectionSettings, NodeId};

use super::snapshot::SnapshotBuilder;
use super::{CollectError, DroppedOwnership, Reason, Scope, Waiting};
use crate::world::{ObjectId, ObjectKey, Store, World};

/// At most this many blockers are named for a waiting object.
const MAX_NAMED_BLOCKERS: usize = 10;

/// The verified plan for a set of candidates, and the mapping from its nodes to objects in memory.
pub(super) struct ObjectPlan {
    pub(super) lifecycle_plan: Plan,
    judgement: Detection,
    /// The object of each node.
    lives: HashMap<NodeId, ObjectKey>,
    scope: Scope,
}

impl ObjectPlan {
    /// Plans the destruction of candidates (given in creation order) and verifies the plan.
    ///
    /// # Errors
    /// [`CollectError::Plan`] if the plan does not pass verification.
    pub(super) fn new(
        world: &World,
        candidates: &[ObjectKey],
        scope: &Scope,
    ) -> Result<ObjectPlan, CollectError> {
        let there = |key: &ObjectKey| world.read(|store| store.get(*key).is_some());
        let candidates: Vec<ObjectKey> = candidates.iter().copied().filter(there).collect();
        let snapshot = world.read(|store| SnapshotBuilder::new(store, &candidates).snapshot());
        // A new snapshot numbers its nodes in the order in which they were put.
        let lives: HashMap<NodeId, ObjectKey> = snapshot.nodes().zip(candidates.iter().copied()).collect();
        let found: Vec<NodeId> = snapshot.nodes().take(candidates.len()).collect();
        let settings = DetectionSettings::default();
        let judgement = match scope {
            Scope::Unreachable | Scope::NotPersistable => {
                detect::doom_unreachable(&snapshot, &found, &settings)
            }
            Scope::Removed(_) => detect::doom_removed(&snapshot, &found, &settings),
        };
        let plan = plan::make(&snapshot, &judgement);
        plan::verify(&snapshot, &judgement, &plan).map_err(|flaws| {
            let texts: Vec<String> = flaws.iter().take(3).map(ToString::to_string).collect();
            CollectError::Plan(texts.join("; "))
        })?;
        Ok(ObjectPlan { lifecycle_plan: plan, judgement, lives, scope: scope.clone() })
    }

    /// The object of a node; none for relay nodes.
    pub(super) fn object(&self, life: NodeId) -> Option<ObjectKey> {
        self.lives.get(&life).copied()
    }

    /// The members of a group in the order in which they are destroyed: dependents before their owners, then in
    /// creation order. In a circle of destruction dependencies every two members depend on each other, so ownership
    /// decides.
    pub(super) fn members<'p>(&self, world: &World, group: &'p Group) -> Vec<&'p Step> {
        let mut members: Vec<&Step> = group.members.iter().collect();
        if members.len() > 1 {
            let owners = |step: &&Step| {
                let key = self.object(step.node);
                world.read(|store| key.map_or(0, |key| owners_of(store, key).count()))
            };
            members.sort_by_cached_key(|step| std::cmp::Reverse(owners(step)));
        }
        members
    }

    /// Why an object is destroyed.
    pub(super) fn reasons(&self, world: &World, life: NodeId) -> Vec<Reason> {
        let owner = match self.judgement.doomed.get(&life).map(|finding| &finding.cause) {
            Some(Cause::OwnerDoomed { owner }) => self.id(world, *owner),
            _ => None,
        };
        std::iter::once(self.scope.reason()).chain(owner.map(Reason::FollowsOwner)).collect()
    }

    /// The ownerships that the plan does not respect, because a destruction dependency demands the opposite order.
    pub(super) fn dropped(&self, world: &World) -> Vec<DroppedOwnership> {
        let owners = self.lifecycle_plan.dropped.iter().filter(|edge| edge.relation == Relation::Owner);
        let dropped = |edge: &plan::DroppedEdge| {
            Some(DroppedOwnership { owned: self.id(world, edge.first)?, owner: self.id(world, edge.second)? })
        };
        owners.filter_map(dropped).collect()
    }

    /// The nodes that can be destroyed if some objects are refused, in order, each with its wave: all but the refused
    /// objects and those that have to come after them.
    pub(super) fn destroyable(&self, world: &World, refused: &HashSet<ObjectKey>) -> Vec<(NodeId, usize)> {
        let mut progress = PlanProgress::new(&self.lifecycle_plan);
        let (mut ready, mut gone, mut wave) = (progress.ready().collect::<Vec<_>>(), Vec::new(), 0);
        while !ready.is_empty() {
            let mut next = Vec::new();
            for group in ready {
                let is_refused =
                    |step: &Step| self.object(step.node).is_none_or(|key| refused.contains(&key));
                if group.members.iter().any(is_refused) {
                    continue;
                }
                for step in self.members(world, group) {
                    gone.push((step.node, wave));
                    next.extend(progress.set_gone(step.node));
                }
            }
            ready = next;
            wave += 1;
        }
        gone
    }

    /// The planned objects that are still alive because of others, each with its blockers. `gone` are the destroyed
    /// nodes; `own_reason` says which objects are alive for a reason of their own (refused, or a call failed) and are
    /// left out.
    pub(super) fn waiting(
        &self,
        world: &World,
        gone: &HashSet<NodeId>,
        own_reason: impl Fn(ObjectKey) -> bool,
    ) -> Vec<Waiting> {
        let mut waiting = Vec::new();
        if gone.len() == self.lifecycle_plan.len() {
            return waiting;
        }
        let mut through: HashMap<NodeId, Vec<NodeId>> = HashMap::new();
        for barrier in &self.lifecycle_plan.barriers {
            let before = barrier.before.iter().copied().find(|life| !gone.contains(life));
            for life in barrier.after.iter().filter(|life| !gone.contains(*life)) {
                through.entry(*life).or_default().extend(before);
            }
        }
        for group in self.lifecycle_plan.groups() {
            for step in group.members.iter().filter(|step| !gone.contains(&step.node)) {
                let Some(key) = self.object(step.node).filter(|key| !own_reason(*key)) else { continue };
                let mates = group.members.iter().map(|mate| mate.node).filter(|mate| *mate != step.node);
                let before = step.after.iter().copied().chain(mates);
                let before = before.chain(through.remove(&step.node).unwrap_or_default());
                let after = before.filter(|life| !gone.contains(life)).take(MAX_NAMED_BLOCKERS);
                let after: Vec<ObjectId> = after.filter_map(|life| self.id(world, life)).collect();
                let named =
                    world.read(|store| store.get(key).map(|object| (object.id.clone(), object.class)));
                let Some((id, class)) = named else { continue };
                let class = world.class_number(class).map_or_else(|| "?".into(), |class| class.shared_name());
                let name = world.handle(key).and_then(|object| object.name());
                waiting.push(Waiting { id, class, name, after });
            }
        }
        waiting
    }

    fn id(&self, world: &World, life: NodeId) -> Option<ObjectId> {
        let key = self.object(life)?;
        world.read(|store| store.get(key).map(|object| object.id.clone()))
    }
}

/// The owner of an object, the owner of that owner, and so on. A circle of owners ends where it closes.
fn owners_of(store: &Store, key: ObjectKey) -> impl Iterator<Item = ObjectKey> {
    let mut seen: HashSet<ObjectKey> = HashSet::from([key]);
    let owner = |key: &ObjectKey| store.get(*key).and_then(|object| object.owner);
    std::iter::successors(owner(&key), move |key| owner(key)).take_while(move |key| seen.insert(*key))
}

/// Whether one object owns another, directly or through other objects.
pub(super) fn owns(world: &World, owner: ObjectKey, owned: ObjectKey) -> bool {
    world.read(|store| owners_of(store, owned).any(|key| key == owner))
}
