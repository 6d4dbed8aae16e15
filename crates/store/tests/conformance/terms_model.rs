//! Random transactions with terms against the simplest thing that could be right: look at every value.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use sexton_store::{CommitError, Op, Transaction};

use crate::world::{World, delete, put, tagged, unused};

const WORDS: [&str; 4] = ["#a", "#b", "#c", "#d"];

#[derive(Debug, Clone)]
struct Attempt {
    unused: BTreeSet<usize>,
    /// Keys, and which words their new values have; `None` removes.
    writes: Vec<(u8, Option<BTreeSet<usize>>)>,
}

#[derive(Debug, Clone)]
enum Step {
    Alone(Attempt),
    Together(Vec<Attempt>),
    Restart,
}

fn any_step() -> impl Strategy<Value = Step> {
    let words = || proptest::collection::btree_set(0..WORDS.len(), 0..3);
    let write = (0..5_u8, proptest::option::weighted(0.7, words()));
    let guards = proptest::collection::btree_set(0..WORDS.len(), 0..2);
    let attempt = (guards, proptest::collection::vec(write, 0..4))
        .prop_map(|(unused, writes)| Attempt { unused, writes })
        .boxed();
    prop_oneof![
        5 => attempt.clone().prop_map(Step::Alone),
        5 => proptest::collection::vec(attempt, 0..6).prop_map(Step::Together),
        1 => Just(Step::Restart),
    ]
}

type Values = BTreeMap<String, BTreeSet<usize>>;

fn key(number: u8) -> String {
    format!("k{number}")
}

impl Attempt {
    fn transaction(&self) -> Transaction {
        let value = |words: &BTreeSet<usize>| words.iter().map(|at| WORDS[*at]).collect::<Vec<_>>().join(" ");
        let op = |(number, words): &(u8, Option<BTreeSet<usize>>)| -> Op {
            match words {
                Some(words) => put(&key(*number), &value(words)),
                None => delete(&key(*number)),
            }
        };
        let guards = self.unused.iter().map(|at| unused(WORDS[*at])).collect();
        Transaction { guards, ops: self.writes.iter().map(op).collect() }
    }

    fn apply(&self, values: &mut Values) -> Result<(), CommitError> {
        let used = |at: &usize| values.values().any(|words| words.contains(at));
        if let Some(guard) = self.unused.iter().position(used) {
            return Err(CommitError::Conflict { guard });
        }
        for (number, words) in &self.writes {
            match words {
                Some(words) => drop(values.insert(key(*number), words.clone())),
                None => drop(values.remove(&key(*number))),
            }
        }
        Ok(())
    }
}

async fn run(mut world: World, steps: &[Step]) {
    let mut values = Values::new();
    for step in steps {
        match step {
            Step::Alone(attempt) => {
                let found = world.engine().commit(attempt.transaction()).await.map(drop);
                assert_eq!(found, attempt.apply(&mut values));
            }
            Step::Together(attempts) => {
                let found =
                    world.engine().commit_all(attempts.iter().map(Attempt::transaction).collect()).await;
                let found: Vec<_> = found.into_iter().map(|outcome| outcome.map(drop)).collect();
                let expected: Vec<_> = attempts.iter().map(|attempt| attempt.apply(&mut values)).collect();
                assert_eq!(found, expected);
            }
            Step::Restart => world.restart(),
        }
        for (at, word) in WORDS.iter().enumerate() {
            let expected: Vec<&String> =
                values.iter().filter(|(_, words)| words.contains(&at)).map(|(key, _)| key).collect();
            assert_eq!(tagged(&world.engine(), word).await.iter().collect::<Vec<_>>(), expected, "{word}");
        }
    }
}

fn block_on(world: World, steps: &[Step]) {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(run(world, steps));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn terms_in_memory_are_like_the_model(steps in proptest::collection::vec(any_step(), 1..30)) {
        block_on(World::memory(), &steps);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn terms_on_disk_are_like_the_model(steps in proptest::collection::vec(any_step(), 1..30)) {
        block_on(World::embedded(), &steps);
    }
}
