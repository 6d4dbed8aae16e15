//! Backups: consistent while others write, checked, never overwriting.

use std::sync::Arc;

use sexton_store::embedded::{BackupError, OpenError, backup};
use sexton_store::{Engine, Retention};

use crate::log_damage::{COMMITS, crashed};
use crate::script::{LITTLE, block_on, open, run, verify};

fn restore(copy: &std::path::Path) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    std::fs::copy(copy, dir.path().join("store.db")).unwrap();
    dir
}

/// The copy is a store of one moment, with its history, whatever was written meanwhile.
#[test]
fn a_copy_while_writing() {
    let (dir, out) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).build().unwrap();
    runtime.block_on(async {
        let engine = Arc::new(open(dir.path(), LITTLE).unwrap());
        run(&engine, 0, 100).await;
        let writer = tokio::spawn({
            let engine = engine.clone();
            async move { run(&engine, 100, 1500).await }
        });
        let mut last = 100;
        for number in 0..5 {
            let file = out.path().join(format!("copy-{number}.db"));
            let report = backup(dir.path(), &file).unwrap();
            assert_eq!(report.bytes, std::fs::metadata(&file).unwrap().len());
            let restored = open(restore(&file).path(), Retention::default()).unwrap();
            let done = verify(&restored).await;
            assert!(done >= last, "{done} after {last}");
            last = done;
            assert_eq!(report.revision, restored.head().await.unwrap());
            assert_eq!(report.objects, restored.size().0);
        }
        writer.await.unwrap();
        assert_eq!(verify(&engine).await, 1500);
    });
    let left: Vec<_> =
        std::fs::read_dir(out.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left.len(), 5, "{left:?}");
}

#[test]
fn a_copy_of_a_closed_store() {
    let dir = tempfile::tempdir().unwrap();
    block_on(async {
        let engine = open(dir.path(), Retention::default()).unwrap();
        run(&engine, 0, 50).await;
        engine.close().await;
    });
    let file = dir.path().join("copy.db");
    backup(dir.path(), &file).unwrap();
    let restored = open(restore(&file).path(), Retention::default()).unwrap();
    assert_eq!(block_on(verify(&restored)), 50);
    // The original opens as before.
    drop(restored);
    assert_eq!(block_on(verify(&open(dir.path(), Retention::default()).unwrap())), 50);
}

#[test]
fn nothing_is_overwritten_and_nothing_bad_is_kept() {
    let (dir, out) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let file = out.path().join("copy.db");
    assert!(matches!(backup(dir.path(), &file), Err(BackupError::NoStore { .. })));
    std::fs::write(dir.path().join("store.db"), crate::damage::healthy()).unwrap();
    std::fs::write(&file, "precious").unwrap();
    assert!(matches!(backup(dir.path(), &file), Err(BackupError::Exists { .. })));
    assert_eq!(std::fs::read(&file).unwrap(), b"precious");
    std::fs::remove_file(&file).unwrap();
    let shell = rusqlite::Connection::open(dir.path().join("store.db")).unwrap();
    shell.execute("DELETE FROM journal WHERE first = (SELECT max(first) FROM journal)", []).unwrap();
    drop(shell);
    assert!(matches!(backup(dir.path(), &file), Err(BackupError::Copy(_))));
    assert_eq!(std::fs::read_dir(out.path()).unwrap().count(), 0);
}

/// What cannot be opened is not copied as if it were good; what a crash left is.
#[test]
fn a_copy_of_a_crashed_store() {
    let (out, (db, mut log)) = (tempfile::tempdir().unwrap(), crashed());
    let copied = |log: &[u8], name: &str| {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("store.db"), &db).unwrap();
        std::fs::write(dir.path().join("store.db-wal"), log).unwrap();
        let outcome = backup(dir.path(), out.path().join(name));
        // The lock is free again, and nothing was changed: opening says the same.
        assert_eq!(open(dir.path(), Retention::default()).is_ok(), outcome.is_ok());
        outcome
    };
    copied(&log, "good.db").unwrap();
    let restored = open(restore(&out.path().join("good.db")).path(), Retention::default()).unwrap();
    assert_eq!(block_on(verify(&restored)), COMMITS);
    let middle = log.len() / 2;
    log[middle] ^= 1;
    let error = copied(&log, "bad.db").unwrap_err();
    assert!(matches!(error, BackupError::Store(OpenError::Corrupt { .. })), "{error}");
    assert_eq!(std::fs::read_dir(out.path()).unwrap().count(), 1);
}
