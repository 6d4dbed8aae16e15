//! The collector against a naive model: reachability, the order of destruction, and export and import.

use std::collections::BTreeSet;

use proptest::prelude::*;
use sexton_runtime::gc::Report;
use sexton_runtime::model::{Model, ModelObject, export, gather};
use sexton_runtime::world::{Handle, NewObject, ObjectId, Value};

use crate::kit::Stage;

/// The properties that references are put into; the last one is private.
const PROPERTIES: [&str; 5] = ["in", "out", "inout", "runtime", "hidden"];
const PERSISTABLE: usize = 3;
const MOST: usize = 10;

/// A small world: numbers of objects, to be taken modulo how many there are.
#[derive(Debug, Clone)]
struct Small {
    count: usize,
    /// From, over which property, to.
    references: Vec<(usize, usize, usize)>,
    owners: Vec<Option<usize>>,
    /// The first depends on the second.
    subscriptions: Vec<(usize, usize)>,
    roots: Vec<usize>,
    handles: Vec<usize>,
}

fn small() -> impl Strategy<Value = Small> {
    let number = 0..MOST;
    (
        1..MOST,
        prop::collection::vec((number.clone(), 0..PROPERTIES.len(), number.clone()), 0..14),
        prop::collection::vec(prop::option::of(number.clone()), MOST),
        prop::collection::vec((number.clone(), number.clone()), 0..10),
        prop::collection::vec(number.clone(), 0..3),
        prop::collection::vec(number, 0..2),
    )
        .prop_map(|(count, references, owners, subscriptions, roots, handles)| {
            let within = |numbers: Vec<usize>| numbers.into_iter().map(|one| one % count).collect();
            let earlier =
                |(at, owner): (usize, Option<usize>)| owner.filter(|_| at > 0).map(|owner| owner % at.max(1));
            Small {
                count,
                references: references
                    .into_iter()
                    .map(|(from, over, to)| (from % count, over, to % count))
                    .collect(),
                owners: owners.into_iter().take(count).enumerate().map(earlier).collect(),
                subscriptions: subscriptions
                    .into_iter()
                    .map(|(caller, target)| (caller % count, target % count))
                    .collect(),
                roots: within(roots),
                handles: within(handles),
            }
        })
}

impl Small {
    /// What is reached from some, over the first so many kinds of properties.
    fn reached(&self, from: &[usize], kinds: usize) -> BTreeSet<usize> {
        let mut reached: BTreeSet<usize> = from.iter().copied().collect();
        loop {
            let new =
                self.references.iter().filter(|(from, over, _)| *over < kinds && reached.contains(from));
            let new: Vec<usize> = new.map(|(_, _, to)| *to).filter(|to| !reached.contains(to)).collect();
            if new.is_empty() {
                return reached;
            }
            reached.extend(new);
        }
    }

    /// The pairs over which edges lead, transitively.
    fn closure(&self, edges: impl Iterator<Item = (usize, usize)>) -> BTreeSet<(usize, usize)> {
        let mut all: BTreeSet<(usize, usize)> = edges.collect();
        for via in 0..self.count {
            for from in 0..self.count {
                for to in 0..self.count {
                    if all.contains(&(from, via)) && all.contains(&(via, to)) {
                        all.insert((from, to));
                    }
                }
            }
        }
        all
    }

    fn stage(&self) -> Stage {
        let mut stage = Stage::new();
        let mut objects: Vec<Handle> = Vec::new();
        for at in 0..self.count {
            let owner = self.owners[at].map(|owner| objects[owner].clone());
            let new = NewObject { id: Some(id(at)), owner, ..NewObject::default() };
            objects.push(stage.world.create("Node", new).unwrap());
        }
        for (over, name) in PROPERTIES.iter().enumerate() {
            for (at, object) in objects.iter().enumerate() {
                let to = self.references.iter().filter(|one| (one.0, one.1) == (at, over));
                let to: Vec<Value> = to.map(|(_, _, to)| Value::from(&objects[*to])).collect();
                match name {
                    _ if to.is_empty() => {}
                    &"hidden" => object.set_private(name, Value::List(to)).unwrap(),
                    name => object.set(name, Value::List(to)).unwrap(),
                }
            }
        }
        for (caller, target) in &self.subscriptions {
            stage.gc.subscribe(&objects[*caller], &objects[*target], Some("hear")).unwrap();
        }
        self.roots.iter().for_each(|root| stage.world.set_root(&objects[*root]));
        for held in &self.handles {
            stage.held.insert(held.to_string(), objects[*held].clone());
        }
        stage
    }
}

fn id(number: usize) -> ObjectId {
    ObjectId::new(&number.to_string()).unwrap()
}

fn numbers<'a>(ids: impl Iterator<Item = &'a ObjectId>) -> Vec<usize> {
    ids.map(|id| id.as_str().parse().unwrap()).collect()
}

/// What a model says of the objects that are reached, whatever the order and the places in a text.
fn said(model: Model, reached: &BTreeSet<usize>) -> Vec<ModelObject> {
    let mut objects = model.objects;
    for object in &mut objects {
        object.path.clear();
        object.dependencies.retain(|one| reached.contains(&numbers([&one.target].into_iter())[0]));
        object.dependencies.sort_by(|a, b| a.target.cmp(&b.target));
    }
    objects.sort_by(|a, b| a.id.cmp(&b.id));
    objects
}

fn run<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(future)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// REQ-MUR-41, REQ-MUR-44, REQ-MUR-45, REQ-MUR-49: exactly what is not reached over any property is destroyed.
    #[test]
    fn the_unreached_is_destroyed(small in small()) {
        let stage = small.stage();
        let report = run(stage.gc.collect()).unwrap();
        let from: Vec<usize> = small.roots.iter().chain(&small.handles).copied().collect();
        let alive = small.reached(&from, PROPERTIES.len());
        let left: BTreeSet<usize> = numbers(stage.world.objects().iter()).into_iter().collect();
        prop_assert_eq!(&left, &alive);
        prop_assert!(report.is_complete() && report.freed == small.count - alive.len());
    }

    /// REQ-MUR-40, REQ-MUR-7: after a deployment, exactly what the roots do not reach over persistable properties.
    #[test]
    fn the_unpersisted_is_destroyed(small in small()) {
        let stage = small.stage();
        let report = run(stage.gc.collect_persistable()).unwrap();
        let alive = small.reached(&small.roots, PERSISTABLE);
        let destroyed: BTreeSet<usize> = numbers(report.destroyed.iter().map(|one| &one.id)).into_iter().collect();
        prop_assert_eq!(destroyed, (0..small.count).filter(|one| !alive.contains(one)).collect::<BTreeSet<_>>());
    }

    /// REQ-MUR-21, REQ-MUR-22, REQ-MUR-23, REQ-MUR-24, REQ-MUR-25, EXT-24: the order of the comparator, made
    /// transitive. Dependencies hold always unless they are mutual; ownership holds unless something stronger forbids
    /// it.
    #[test]
    fn the_order_is_that_of_the_comparator(small in small()) {
        let stage = small.stage();
        let report: Report = run(stage.gc.collect()).unwrap();
        let order = numbers(report.destroyed.iter().map(|one| &one.id));
        let place = |one: usize| order.iter().position(|other| *other == one);
        let depends = small.closure(small.subscriptions.iter().copied());
        let owned = small.owners.iter().enumerate().filter_map(|(at, owner)| Some((at, (*owner)?)));
        let owned: BTreeSet<(usize, usize)> = small.closure(owned);
        // Pairs of objects of which the first has to go before the second, by a dependency or by ownership.
        let doomed = |pair: &(usize, usize)| place(pair.0).is_some() && place(pair.1).is_some();
        let hard = depends.iter().map(|(caller, target)| (*target, *caller));
        let before = small.closure(hard.chain(owned.iter().copied()).filter(doomed));
        for (caller, target) in depends.iter().filter(|pair| doomed(pair)) {
            if !depends.contains(&(*target, *caller)) {
                prop_assert!(place(*target) < place(*caller), "{} depends on {}: {:?}", caller, target, order);
            }
        }
        for (low, high) in owned.iter().filter(|pair| doomed(pair)) {
            let contradicted = before.contains(&(*high, *low));
            prop_assert!(place(*low) < place(*high) || contradicted, "{} owns {}: {:?}", high, low, order);
        }
    }

    /// REQ-MUR-35, REQ-MUR-65, EXT-27: what is written, read and written again is the same, and nothing that is
    /// reached is lost.
    #[test]
    fn models_come_back(small in small()) {
        let stage = small.stage();
        let Some(root) = small.roots.first() else { return Ok(()) };
        let root = stage.world.find(&id(*root)).unwrap();
        let text = export(&stage.world, Some(&root)).unwrap();
        let model = Model::parse(&text).unwrap();
        let reached = small.reached(&small.roots[..1], PERSISTABLE);
        prop_assert_eq!(numbers(model.ids()).into_iter().collect::<BTreeSet<_>>(), reached.clone());
        prop_assert_eq!(said(gather(&stage.world, &root), &reached), said(model.clone(), &reached));
        let again = Stage::new();
        let imported = model.import(&again.world).unwrap();
        prop_assert_eq!(&imported.dangling, &[]);
        prop_assert_eq!(export(&again.world, imported.root.as_ref()).unwrap(), text);
        for object in &imported.objects {
            let known = stage.world.find(&object.id()).unwrap();
            let owner = known.owner().map(|owner| owner.id());
            let kept = |id: &ObjectId| reached.contains(&numbers([id].into_iter())[0]);
            prop_assert_eq!(object.owner().map(|owner| owner.id()), owner.filter(kept));
            let mut known = stage.gc.subscriptions(&known);
            known.retain(|one| kept(&one.target));
            let mut now = again.gc.subscriptions(object);
            known.sort_by(|a, b| a.target.cmp(&b.target));
            now.sort_by(|a, b| a.target.cmp(&b.target));
            prop_assert_eq!(now, known);
        }
    }
}
