//! A disk that is full to the last block is freed by deleting, without a restart.

use std::io::Write;
use std::path::Path;

use sexton_store::embedded::{self, Options};
use sexton_store::local::LocalEngine;
use sexton_store::{At, CommitError, Engine, KeyRange, Op, Transaction};

use crate::script::block_on;
use crate::small::Small;

/// What a step of a deletion begins with in these tests.
const TERMINATING: &[u8] = b"terminating";
/// By how many bytes such a step makes an object larger.
const MARK: usize = 200;
/// What is committed together while the disk is being filled.
const TOGETHER_BYTES: usize = 64 << 10;

fn open(dir: &Path) -> LocalEngine {
    let urgent = |_: &[u8], value: &[u8]| value.starts_with(TERMINATING);
    embedded::open(dir, Options { urgent: Some(urgent), ..Options::default() }).unwrap()
}

fn key(number: usize) -> std::sync::Arc<[u8]> {
    format!("k{number:06}").into_bytes().into()
}

fn put(number: usize, value: Vec<u8>) -> Transaction {
    Transaction { guards: vec![], ops: vec![Op::Put { key: key(number), value: value.into() }] }
}

fn create(number: usize, size: usize) -> Transaction {
    put(number, vec![number as u8; size])
}

fn mark(number: usize, size: usize) -> Transaction {
    let mut value = TERMINATING.to_vec();
    value.resize(size + MARK, number as u8);
    put(number, value)
}

fn remove(number: usize) -> Transaction {
    Transaction { guards: vec![], ops: vec![Op::Delete { key: key(number) }] }
}

/// Makes objects until one is refused; then another program takes what is left. Gives how many there are.
async fn fill(engine: &LocalEngine, disk: &Path, size: usize) -> usize {
    let mut count = 0;
    let mut together = TOGETHER_BYTES.div_ceil(size);
    loop {
        let batch = (count..count + together).map(|number| create(number, size)).collect();
        match engine.commit_all(batch).await.pop() {
            Some(Ok(_)) => count += together,
            Some(Err(CommitError::Full(_))) if together > 1 => together = 1,
            Some(Err(CommitError::Full(_))) => break,
            other => panic!("{other:?}"),
        }
    }
    let mut ballast = std::fs::File::create(disk.join("ballast")).unwrap();
    while ballast.write_all(&[1; 512]).is_ok() {}
    assert!(matches!(engine.commit(create(count, size)).await, Err(CommitError::Full(_))));
    count
}

async fn count(engine: &LocalEngine) -> usize {
    engine.count(&KeyRange::all(), At::Latest).await.unwrap()
}

/// Every number below `count` once, in an order that has nothing to do with that of their making.
fn scattered(count: usize) -> impl Iterator<Item = usize> {
    let divides =
        |one: usize, other: usize| (2..=one).any(|by| one.is_multiple_of(by) && other.is_multiple_of(by));
    let step = (count / 3 + 1..).find(|step| !divides(*step, count)).unwrap_or(1);
    (0..count).map(move |at| at * step % count)
}

/// As many as before can be made again, about, although the other program still has what it took.
async fn expect_writable(engine: &LocalEngine, size: usize, before: usize) {
    let again: Vec<usize> = (0..before * 2 / 3).collect();
    for numbers in again.chunks(TOGETHER_BYTES.div_ceil(size)) {
        let batch = numbers.iter().map(|number| create(*number, size)).collect();
        assert!(engine.commit_all(batch).await.iter().all(Result::is_ok));
    }
    assert_eq!(count(engine).await, again.len());
}

#[test]
fn scattered_numbers_are_all_numbers() {
    for count in [1, 2, 3, 10, 97, 1000] {
        let mut all: Vec<usize> = scattered(count).collect();
        all.sort_unstable();
        assert_eq!(all, (0..count).collect::<Vec<_>>());
    }
}

/// One by one, in any order: every object can be removed, and then there is space for others.
#[test]
fn everything_can_be_removed_one_by_one() {
    for size in [2_500, 200_000, 3 << 20] {
        let Some(small) = Small::mount(16) else { return };
        block_on(async {
            let engine = open(&small.path().join("data"));
            let made = fill(&engine, small.path(), size).await;
            for number in scattered(made) {
                engine
                    .commit(remove(number))
                    .await
                    .unwrap_or_else(|error| panic!("{number} of {made}: {error}"));
            }
            assert_eq!(count(&engine).await, 0);
            expect_writable(&engine, size, made).await;
        });
    }
}

/// Many in one transaction.
#[test]
fn everything_can_be_removed_at_once() {
    let Some(small) = Small::mount(16) else { return };
    block_on(async {
        let engine = open(&small.path().join("data"));
        let made = fill(&engine, small.path(), 1_500).await;
        let ops = (0..made).map(|number| Op::Delete { key: key(number) }).collect();
        engine.commit(Transaction { guards: vec![], ops }).await.unwrap();
        assert_eq!(count(&engine).await, 0);
        expect_writable(&engine, 1_500, made).await;
    });
}

/// Objects become terminating before they are removed, which makes them larger: as many of them as there is space for.
/// Those can be removed, and then it is the turn of others.
#[test]
fn steps_of_deletions_never_use_up_what_removals_need() {
    steps_in_order(30_000, |made| (0..made).collect());
    steps_in_order(60_000, |made| scattered(made).collect());
}

fn steps_in_order(size: usize, order: fn(usize) -> Vec<usize>) {
    let Some(small) = Small::mount(8) else { return };
    block_on(async {
        let engine = open(&small.path().join("data"));
        let made = fill(&engine, small.path(), size).await;
        let (mut left, mut rounds) = (order(made), 0);
        while !left.is_empty() {
            rounds += 1;
            let mut marked = 0;
            for number in &left {
                match engine.commit(mark(*number, size)).await {
                    Ok(_) => marked += 1,
                    Err(CommitError::Full(_)) => break,
                    Err(other) => panic!("{other}"),
                }
            }
            // What does not even get that far can still be removed as it is.
            for number in left.drain(..marked.max(1)) {
                engine.commit(remove(number)).await.unwrap();
            }
        }
        println!("{made} objects of {size} bytes in {rounds} rounds");
        assert_eq!(count(&engine).await, 0);
        expect_writable(&engine, size, made).await;
    });
}

/// What is refused takes nothing along that would have freed space.
#[test]
fn removals_beside_refused_writes() {
    let Some(small) = Small::mount(16) else { return };
    block_on(async {
        let engine = open(&small.path().join("data"));
        let made = fill(&engine, small.path(), 30_000).await;
        for number in 0..20 {
            // Too large for what is freed, again and again.
            let large = create(made + number, 15 << 20);
            let (refused, removed) = tokio::join!(engine.commit(large), engine.commit(remove(number)));
            assert!(matches!(refused, Err(CommitError::Full(_))), "{refused:?}");
            removed.unwrap();
        }
        assert_eq!(count(&engine).await, made - 20);
    });
}

/// Restarts in between: opening needs no space that is not there, and the space put aside is still there.
#[test]
fn restarts_on_a_full_disk() {
    let Some(small) = Small::mount(16) else { return };
    let dir = small.path().join("data");
    block_on(async {
        let engine = open(&dir);
        let made = fill(&engine, small.path(), 3_000).await;
        drop(engine);
        let mut ballast =
            std::fs::OpenOptions::new().append(true).open(small.path().join("ballast")).unwrap();
        for number in 0..made {
            if number % (made / 10) == 0 {
                while ballast.write_all(&[1; 512]).is_ok() {}
                let engine = open(&dir);
                assert_eq!(count(&engine).await, made - number);
                engine.commit(remove(number)).await.unwrap();
            }
            if number % (made / 10) == 1 {
                let engine = open(&dir);
                let last = (number + made / 10 - 1).min(made);
                for number in number..last {
                    engine.commit(remove(number)).await.unwrap();
                }
            }
        }
        assert_eq!(count(&open(&dir)).await, 0);
    });
}

/// Readers of the history go on although the journal no longer has it.
#[test]
fn feeds_go_on() {
    let Some(small) = Small::mount(16) else { return };
    block_on(async {
        let engine = open(&small.path().join("data"));
        let mut feed = engine.changes(KeyRange::all(), sexton_store::Revision::NONE).await.unwrap();
        let made = fill(&engine, small.path(), 5_000).await;
        for number in 0..made {
            engine.commit(remove(number)).await.unwrap();
        }
        let mut next = 1;
        while next <= 2 * made as u64 {
            for change in feed.next().await.unwrap().changes {
                assert_eq!(change.revision.get(), next);
                next += 1;
            }
        }
    });
}
