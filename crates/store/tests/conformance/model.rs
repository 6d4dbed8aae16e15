//! Random histories against the simplest thing that could be right: a map per revision.

use std::collections::BTreeMap;

use proptest::prelude::*;
use sexton_store::{At, CommitError, Guard, KeyRange, Op, ReadError, Revision, Transaction};

use crate::feeds::read_upto;
use crate::world::World;

type Map = BTreeMap<Vec<u8>, (u64, Vec<u8>)>;

/// Every state that ever was: the index is the revision.
struct Model {
    states: Vec<Map>,
    changes: Vec<(Vec<u8>, Option<Vec<u8>>)>,
    compacted: usize,
}

impl Model {
    fn head(&self) -> usize {
        self.states.len() - 1
    }

    fn holds(&self, guard: &Guard) -> bool {
        let now = &self.states[self.head()];
        match guard {
            Guard::At { key, revision } => now.get(&key[..]).map_or(0, |(at, _)| *at) == revision.get(),
            Guard::Empty { range } => !now.keys().any(|key| range.contains(key)),
            // Terms have a model of their own.
            Guard::Unused { .. } | Guard::Used { .. } | Guard::OnlyWith { .. } => true,
        }
    }

    fn commit(&mut self, transaction: &Transaction) -> Result<Revision, CommitError> {
        if let Some(guard) = transaction.guards.iter().position(|guard| !self.holds(guard)) {
            return Err(CommitError::Conflict { guard });
        }
        for op in &transaction.ops {
            let mut next = self.states[self.head()].clone();
            let revision = self.states.len() as u64;
            match op {
                Op::Put { key, value } => {
                    next.insert(key.to_vec(), (revision, value.to_vec()));
                    self.changes.push((key.to_vec(), Some(value.to_vec())));
                }
                Op::Delete { key } if next.remove(&key[..]).is_some() => {
                    self.changes.push((key.to_vec(), None));
                }
                Op::Delete { .. } => continue,
            }
            self.states.push(next);
        }
        Ok(Revision::new(self.head() as u64))
    }
}

#[derive(Debug, Clone)]
enum Step {
    Commit { guards: Vec<(u8, Option<usize>)>, ops: Vec<(u8, Option<u8>)> },
    Read { at: usize, prefix: u8, limit: usize },
    Feed { after: usize, prefix: Option<u8> },
    Compact { upto: usize },
    Restart,
}

fn any_step() -> impl Strategy<Value = Step> {
    let guard = (0..6_u8, proptest::option::of(0..40_usize));
    let op = (0..6_u8, proptest::option::weighted(0.7, any::<u8>()));
    prop_oneof![
        10 => (proptest::collection::vec(guard, 0..2), proptest::collection::vec(op, 0..5))
            .prop_map(|(guards, ops)| Step::Commit { guards, ops }),
        4 => (0..60_usize, 0..6_u8, 0..5_usize).prop_map(|(at, prefix, limit)| Step::Read { at, prefix, limit }),
        3 => (0..60_usize, proptest::option::of(0..6_u8)).prop_map(|(after, prefix)| Step::Feed { after, prefix }),
        1 => (0..60_usize).prop_map(|upto| Step::Compact { upto }),
        1 => Just(Step::Restart),
    ]
}

/// Keys share beginnings, so that ranges matter.
fn key(number: u8) -> Vec<u8> {
    [vec![b'k'; usize::from(number % 3)], vec![number / 3]].concat()
}

fn transaction(model: &Model, guards: &[(u8, Option<usize>)], ops: &[(u8, Option<u8>)]) -> Transaction {
    let guards = guards.iter().map(|(number, back)| match back {
        Some(0) => Guard::Empty { range: KeyRange::prefix(key(*number)) },
        // Mostly the right revision, sometimes another one.
        Some(back) => {
            let now = model.states[model.head()].get(&key(*number)).map_or(0, |(at, _)| *at);
            let revision = if *back < 30 { now } else { *back as u64 };
            Guard::At { key: key(*number).into(), revision: Revision::new(revision) }
        }
        None => Guard::At { key: key(*number).into(), revision: Revision::NONE },
    });
    let ops = ops.iter().map(|(number, value)| match value {
        Some(value) => Op::Put { key: key(*number).into(), value: vec![*value; usize::from(*value)].into() },
        None => Op::Delete { key: key(*number).into() },
    });
    Transaction { guards: guards.collect(), ops: ops.collect() }
}

fn expect_error(model: &Model, asked: usize) -> Option<ReadError> {
    let (head, oldest) = (Revision::new(model.head() as u64), Revision::new(model.compacted as u64));
    let revision = Revision::new(asked as u64);
    if asked > model.head() {
        Some(ReadError::Future { asked: revision, head })
    } else if asked < model.compacted {
        Some(ReadError::Compacted { asked: revision, oldest })
    } else {
        None
    }
}

async fn read(world: &World, model: &Model, at: usize, prefix: u8, limit: usize) {
    let range = KeyRange::prefix(key(prefix));
    let found = world.engine().range(&range, At::Exactly(Revision::new(at as u64)), Some(limit)).await;
    if let Some(error) = expect_error(model, at) {
        assert_eq!(found.unwrap_err(), error);
        return;
    }
    let page = found.unwrap();
    let expected: Vec<_> = model.states[at].iter().filter(|(key, _)| range.contains(key)).collect();
    assert_eq!(page.more, expected.len() > limit);
    let found =
        page.entries.iter().map(|(key, entry)| (key.to_vec(), (entry.revision.get(), entry.value.to_vec())));
    let expected = expected.into_iter().take(limit).map(|(key, value)| (key.clone(), value.clone()));
    assert_eq!(found.collect::<Vec<_>>(), expected.collect::<Vec<_>>());
}

async fn feed(world: &World, model: &Model, after: usize, prefix: Option<u8>) {
    let range = prefix.map_or(KeyRange::all(), |prefix| KeyRange::prefix(key(prefix)));
    let found = world.engine().changes(range.clone(), Revision::new(after as u64)).await;
    if let Some(error) = expect_error(model, after) {
        assert_eq!(found.map(drop).unwrap_err(), error);
        return;
    }
    let expected: Vec<_> = (after..model.head())
        .filter(|index| range.contains(&model.changes[*index].0))
        .map(|index| {
            let (key, value) = &model.changes[index];
            (index as u64 + 1, key.clone(), model.states[index].get(key).cloned(), value.clone())
        })
        .collect();
    let Some(last) = expected.last() else { return };
    let changes = read_upto(&mut found.unwrap(), Revision::new(last.0)).await;
    let found: Vec<_> = changes
        .iter()
        .map(|change| {
            let before = change.before.as_ref().map(|entry| (entry.revision.get(), entry.value.to_vec()));
            let after = change.after.as_ref().map(|value| value.to_vec());
            (change.revision.get(), change.key.to_vec(), before, after)
        })
        .collect();
    assert_eq!(found, expected);
}

async fn run(mut world: World, steps: &[Step]) {
    let mut model = Model { states: vec![Map::new()], changes: Vec::new(), compacted: 0 };
    for step in steps {
        match step {
            Step::Commit { guards, ops } => {
                let transaction = transaction(&model, guards, ops);
                let expected = model.commit(&transaction);
                let found = world.engine().commit(transaction).await.map(|committed| committed.revision);
                assert_eq!(found, expected);
            }
            Step::Read { at, prefix, limit } => read(&world, &model, *at, *prefix, *limit).await,
            Step::Feed { after, prefix } => feed(&world, &model, *after, *prefix).await,
            Step::Compact { upto } => {
                world.engine().compact(Revision::new(*upto as u64)).await.unwrap();
                model.compacted = model.compacted.max((*upto).min(model.head()));
            }
            Step::Restart => world.restart(),
        }
        let head = world.engine().head().await.unwrap();
        assert_eq!(head.get() as usize, model.head());
    }
    let head = model.head();
    read(&world, &model, head, 0, usize::MAX).await;
    feed(&world, &model, model.compacted, None).await;
}

fn block_on(world: World, steps: &[Step]) {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(run(world, steps));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn memory_is_like_the_model(steps in proptest::collection::vec(any_step(), 1..60)) {
        block_on(World::memory(), &steps);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn embedded_is_like_the_model(steps in proptest::collection::vec(any_step(), 1..60)) {
        block_on(World::embedded(), &steps);
    }
}
