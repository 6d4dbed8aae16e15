//! A disk that is full, and one that fails.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::SystemTime;

use sexton_store::journal::{Journal, JournalError, Recovered};
use sexton_store::local::LocalEngine;
use sexton_store::{
    At, Change, CommitError, Engine, Guard, KeyRange, Op, Retention, Term, Terms, Transaction,
};

use crate::script::{block_on, open};
use crate::small::Small;

fn put(number: usize) -> Transaction {
    let key = format!("k{number:05}").into_bytes().into();
    Transaction { guards: vec![], ops: vec![Op::Put { key, value: vec![number as u8; 30_000].into() }] }
}

/// Writes until the disk is full; gives the first number that was refused.
async fn fill(engine: &LocalEngine, from: usize) -> usize {
    for number in from.. {
        match engine.commit(put(number)).await {
            Ok(_) => {}
            Err(CommitError::Full(reason)) => {
                assert!(reason.contains("full"), "{reason}");
                return number;
            }
            Err(other) => panic!("{other}"),
        }
    }
    unreachable!()
}

async fn expect_numbers(engine: &LocalEngine, numbers: impl Iterator<Item = usize>) {
    let page = engine.range(&KeyRange::prefix("k"), At::Latest, None).await.unwrap();
    let found: Vec<String> =
        page.entries.iter().map(|(key, _)| String::from_utf8_lossy(key).into()).collect();
    assert_eq!(found, numbers.map(|number| format!("k{number:05}")).collect::<Vec<_>>());
    assert!(page.entries.iter().all(|(_, entry)| entry.value.len() == 30_000));
}

/// Writes fail, reads go on, nothing acknowledged is lost, and it works again when there is space.
#[test]
fn a_full_disk() {
    let Some(small) = Small::mount(16) else { return };
    let ballast = small.path().join("ballast");
    std::fs::write(&ballast, vec![1; 3 << 20]).unwrap();
    let dir = small.path().join("data");
    block_on(async {
        let engine = open(&dir, Retention::default()).unwrap();
        let full = fill(&engine, 0).await;
        assert!(full > 10, "{full}");
        for number in full..full + 20 {
            assert!(matches!(engine.commit(put(number)).await, Err(CommitError::Full(_))));
        }
        expect_numbers(&engine, 0..full).await;
        // Removing is possible although writing is not.
        let ops =
            (0..5).map(|number| Op::Delete { key: format!("k{number:05}").into_bytes().into() }).collect();
        engine.commit(Transaction { guards: vec![], ops }).await.unwrap();
        expect_numbers(&engine, 5..full).await;
        std::fs::remove_file(&ballast).unwrap();
        let more = fill(&engine, full).await;
        assert!(more > full);
        expect_numbers(&engine, 5..more).await;
        drop(engine);
        // The disk is full again: opening must work, and everything is there.
        let engine = open(&dir, Retention::default()).unwrap();
        expect_numbers(&engine, 5..more).await;
    });
}

/// A journal that fails when told to.
#[derive(Debug, Default)]
struct Failing {
    full: Arc<AtomicBool>,
    broken: Arc<AtomicBool>,
}

impl Journal for Failing {
    fn append(&mut self, _: &[Arc<Change>], _: SystemTime) -> Result<(), JournalError> {
        if self.full.load(Ordering::SeqCst) {
            return Err(JournalError::Full("no space".into()));
        }
        // Once is enough: after a failed sync, success proves nothing.
        if self.broken.swap(false, Ordering::SeqCst) {
            return Err(JournalError::Broken("sync failed".into()));
        }
        Ok(())
    }

    fn fold(&mut self, _: &[Arc<Change>]) -> Result<(), JournalError> {
        Ok(())
    }
}

#[tokio::test]
async fn after_a_failed_sync_the_store_is_read_only() {
    let journal = Failing::default();
    let (full, broken) = (journal.full.clone(), journal.broken.clone());
    let engine = LocalEngine::start(journal, Recovered::default(), Retention::default());
    let head = engine.commit(put(1)).await.unwrap().revision;
    full.store(true, Ordering::SeqCst);
    assert_eq!(engine.commit(put(2)).await, Err(CommitError::Full("no space".into())));
    full.store(false, Ordering::SeqCst);
    // No revision is lost to the failure.
    assert_eq!(engine.commit(put(2)).await.unwrap().revision, head.next());
    broken.store(true, Ordering::SeqCst);
    for _ in 0..3 {
        assert_eq!(engine.commit(put(3)).await, Err(CommitError::ReadOnly("sync failed".into())));
    }
    assert_eq!(engine.compact(head).await, Err(CommitError::ReadOnly("sync failed".into())));
    assert_eq!(engine.head().await.unwrap(), head.next());
    expect_numbers(&engine, 1..3).await;
    let mut feed = engine.changes(KeyRange::all(), head).await.unwrap();
    assert_eq!(feed.next().await.unwrap().changes.len(), 1);
}

/// What a refused batch would have changed counts for nobody.
#[tokio::test]
async fn a_refused_batch_leaves_no_terms() {
    let term = Term::new(*b"sixteen bytes...");
    let indexer = |value: &[u8]| {
        if value == b"marked" { Terms::from_slice(&[Term::new(*b"sixteen bytes...")]) } else { Terms::new() }
    };
    let journal = Failing::default();
    let full = journal.full.clone();
    let engine = LocalEngine::start_indexed(journal, Recovered::default(), Retention::default(), indexer);
    let write = |value: &[u8]| Op::Put { key: b"k"[..].into(), value: value.into() };
    let marking = Transaction { guards: vec![Guard::Unused { term }], ops: vec![write(b"marked")] };
    full.store(true, Ordering::SeqCst);
    let outcomes = engine.commit_all(vec![marking.clone(), marking.clone()]).await;
    // Even the second, whose guard failed only because of the first.
    assert_eq!(outcomes, vec![Err(CommitError::Full("no space".into())); 2]);
    assert!(engine.with_term(term, 1).await.unwrap().is_empty());
    full.store(false, Ordering::SeqCst);
    engine.commit(marking).await.unwrap();
    assert_eq!(engine.with_term(term, 1).await.unwrap().len(), 1);
}

/// Somebody left a transaction open in a SQLite shell: writes fail with a hint, and work again when it has ended.
#[test]
fn a_foreign_writer() {
    let dir = tempfile::tempdir().unwrap();
    block_on(async {
        let engine = open(dir.path(), Retention::default()).unwrap();
        let shell = rusqlite::Connection::open(dir.path().join("store.db")).unwrap();
        shell.execute_batch("BEGIN IMMEDIATE").unwrap();
        let Err(CommitError::Full(reason)) = engine.commit(put(1)).await else { panic!("committed") };
        assert!(reason.contains("sqlite3 shell"), "{reason}");
        shell.execute_batch("ROLLBACK").unwrap();
        engine.commit(put(1)).await.unwrap();
        expect_numbers(&engine, 1..2).await;
    });
}
