//! A store that is opened again is the same store.

use sexton_store::{At, Engine, KeyRange, Op, ReadError, Retention, Revision, Transaction};

use crate::script::{LITTLE, block_on, open, run, verify};

/// Closed, or dropped without being closed: state, revision and history are kept.
#[test]
fn everything_is_kept() {
    let dir = tempfile::tempdir().unwrap();
    block_on(async {
        for round in 0..6 {
            let engine = open(dir.path(), Retention::default()).unwrap();
            assert_eq!(verify(&engine).await, round * 20);
            run(&engine, round * 20, (round + 1) * 20).await;
            let head = engine.head().await.unwrap();
            // Nothing was forgotten: the whole history is there.
            assert_eq!(engine.size().1 as u64, head.get());
            if round % 2 == 0 {
                engine.close().await;
            }
        }
    });
}

/// Reads at older revisions work after a restart, as far as history is kept.
#[test]
fn older_revisions_can_be_read_after_a_restart() {
    let dir = tempfile::tempdir().unwrap();
    block_on(async {
        let engine = open(dir.path(), Retention::default()).unwrap();
        run(&engine, 0, 50).await;
        engine.compact(Revision::new(20)).await.unwrap();
        let head = engine.head().await.unwrap();
        let mut before = Vec::new();
        for revision in (20..=head.get()).map(Revision::new) {
            before.push(engine.range(&KeyRange::all(), At::Exactly(revision), None).await.unwrap().entries);
        }
        drop(engine);
        let engine = open(dir.path(), Retention::default()).unwrap();
        for (revision, entries) in (20..=head.get()).map(Revision::new).zip(before) {
            let found = engine.range(&KeyRange::all(), At::Exactly(revision), None).await.unwrap();
            assert_eq!(found.entries, entries, "at {revision}");
        }
        let error = engine.get(b"n", At::Exactly(Revision::new(19))).await.unwrap_err();
        assert!(matches!(error, ReadError::Compacted { oldest, .. } if oldest == Revision::new(20)));
    });
}

/// With little history, folding goes on while writing and when idle; restarts in between change nothing.
#[test]
fn folded_stores_are_the_same() {
    let dir = tempfile::tempdir().unwrap();
    block_on(async {
        for round in 0..5 {
            let engine = open(dir.path(), LITTLE).unwrap();
            assert_eq!(verify(&engine).await, round * 300);
            run(&engine, round * 300, (round + 1) * 300).await;
            if round % 2 == 1 {
                // Part of a row: revisions of one commit are folded one by one.
                let head = engine.head().await.unwrap().get();
                for back in (0..12).rev() {
                    engine.compact(Revision::new(head - back)).await.unwrap();
                }
            }
        }
    });
}

/// A commit of which a part is folded: history begins behind that part, also after a restart.
#[test]
fn a_commit_that_is_folded_in_part() {
    let dir = tempfile::tempdir().unwrap();
    block_on(async {
        let engine = open(dir.path(), Retention::default()).unwrap();
        let put = |key: &[u8]| Op::Put { key: key.into(), value: key.into() };
        let ops = vec![put(b"a"), put(b"b"), put(b"c")];
        engine.commit(Transaction { guards: Vec::new(), ops }).await.unwrap();
        engine.compact(Revision::new(2)).await.unwrap();
        drop(engine);
        let engine = open(dir.path(), Retention::default()).unwrap();
        let mut feed = engine.changes(KeyRange::all(), Revision::new(2)).await.unwrap();
        let found = feed.next().await.unwrap().changes;
        assert_eq!(found.iter().map(|change| change.revision.get()).collect::<Vec<_>>(), [3]);
        assert!(engine.changes(KeyRange::all(), Revision::new(1)).await.is_err(), "that is forgotten");
    });
}
