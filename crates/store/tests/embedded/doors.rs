//! Who may open what: locks, permissions, files that are not ours.

use sexton_store::embedded::{OpenError, announce};
use sexton_store::{Engine, Retention};

use crate::script::{block_on, open, run, verify};

#[test]
fn one_process_per_directory() {
    let dir = tempfile::tempdir().unwrap();
    let first = open(dir.path(), Retention::default()).unwrap();
    announce(dir.path(), "127.0.0.1:6443").unwrap();
    let error = open(dir.path(), Retention::default()).unwrap_err();
    let text = error.to_string();
    assert!(matches!(error, OpenError::Locked { .. }));
    for part in
        [&format!("process {}", std::process::id()), "since 20", "127.0.0.1:6443", "stop that process"]
    {
        assert!(text.contains(part), "{part:?} is not in {text:?}");
    }
    block_on(first.close());
    // Closed is closed, even though the value still exists.
    open(dir.path(), Retention::default()).unwrap();
}

#[cfg(unix)]
#[test]
fn only_the_owner_may_read() {
    use std::os::unix::fs::PermissionsExt;
    let base = tempfile::tempdir().unwrap();
    let dir = base.path().join("a").join("b");
    let engine = open(&dir, Retention::default()).unwrap();
    block_on(run(&engine, 0, 3));
    let mode = |path: &std::path::Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&dir), 0o700);
    for file in ["store.db", "store.db-wal", "store.db-shm", "lock"] {
        assert_eq!(mode(&dir.join(file)), 0o600, "{file}");
    }
}

fn refused(content: impl FnOnce(&std::path::Path)) -> OpenError {
    let dir = tempfile::tempdir().unwrap();
    content(&dir.path().join("store.db"));
    open(dir.path(), Retention::default()).unwrap_err()
}

#[test]
fn strange_files_are_refused() {
    let text = refused(|file| std::fs::write(file, "Dear diary, ".repeat(500)).unwrap());
    assert!(matches!(text, OpenError::NotAStore { .. }), "{text}");
    let empty = refused(|file| std::fs::write(file, "").unwrap());
    assert!(matches!(empty, OpenError::Corrupt { .. }), "{empty}");
    let foreign = refused(|file| {
        let other = rusqlite::Connection::open(file).unwrap();
        other.execute_batch("PRAGMA application_id = 7; CREATE TABLE state(a)").unwrap();
    });
    assert!(matches!(foreign, OpenError::Foreign { application_id: 7, .. }), "{foreign}");
    let alone = refused(|file| std::fs::write(file.with_file_name("store.db-wal"), "x").unwrap());
    assert!(matches!(alone, OpenError::Corrupt { .. }), "{alone}");
    let directory = refused(|file| std::fs::create_dir(file).unwrap());
    assert!(directory.to_string().contains("store.db"), "{directory}");
}

#[test]
fn other_formats_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    drop(open(dir.path(), Retention::default()).unwrap());
    let shell = rusqlite::Connection::open(dir.path().join("store.db")).unwrap();
    shell.execute_batch("PRAGMA user_version = 2").unwrap();
    drop(shell);
    let error = open(dir.path(), Retention::default()).unwrap_err();
    assert!(matches!(error, OpenError::Format { found: 2, supported: 1, .. }), "{error}");
}

/// A crash while a store is being made leaves nothing in the way.
#[test]
fn an_unfinished_new_store_is_no_obstacle() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("store.db.new"), "half").unwrap();
    let engine = open(dir.path(), Retention::default()).unwrap();
    assert_eq!(block_on(verify(&engine)), 0);
}

/// A person with a SQLite shell reads along while the store is in use, and does not disturb.
#[test]
fn people_can_read_along() {
    let dir = tempfile::tempdir().unwrap();
    block_on(async {
        let engine = open(dir.path(), Retention::default()).unwrap();
        let value = b"{\"kind\":\"Pod\"}\nbinary \x00\xff facts";
        let op = |key: &[u8]| sexton_store::Op::Put { key: key.into(), value: value[..].into() };
        let ops = vec![op(b"core\0pods\0default\0web-0"), op(b"plain"), op(b"cluster\0\0p")];
        engine.commit(sexton_store::Transaction { guards: vec![], ops }).await.unwrap();
        engine.compact(engine.head().await.unwrap()).await.unwrap();
        let shell = rusqlite::Connection::open(dir.path().join("store.db")).unwrap();
        let mut select =
            shell.prepare("SELECT key, revision, document FROM documents ORDER BY revision").unwrap();
        let rows: Vec<(String, i64, String)> = select
            .query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))
            .unwrap()
            .map(Result::unwrap)
            .collect();
        let document = String::from("{\"kind\":\"Pod\"}");
        let expected = [("core/pods/default/web-0", 1), ("plain", 2), ("cluster//p", 3)];
        assert_eq!(rows, expected.map(|(key, revision)| (key.to_owned(), revision, document.clone())));
        // A reader in the middle of its transaction does not hold up commits.
        shell.execute_batch("BEGIN; SELECT count(*) FROM journal").unwrap();
        for number in 1..200 {
            engine.commit(crate::script::commit(number)).await.unwrap();
        }
    });
}

/// While somebody reads one moment for long the log cannot be reused; what it took is given back afterwards.
#[test]
fn a_log_grown_by_a_reader_shrinks_again() {
    let dir = crate::script::fast_dir();
    let length = || std::fs::metadata(dir.path().join("store.db-wal")).unwrap().len();
    block_on(async {
        let engine = open(dir.path(), crate::script::LITTLE).unwrap();
        let fill = async |megabytes: u64| {
            for _ in 0..megabytes {
                let op = sexton_store::Op::Put { key: b"k"[..].into(), value: vec![7; 1 << 20].into() };
                engine.commit(sexton_store::Transaction { guards: vec![], ops: vec![op] }).await.unwrap();
            }
        };
        let reader = rusqlite::Connection::open(dir.path().join("store.db")).unwrap();
        reader.execute_batch("BEGIN; SELECT count(*) FROM journal").unwrap();
        fill(80).await;
        assert!(length() > 80 << 20, "{}", length());
        drop(reader);
        fill(40).await;
        assert!(length() <= 64 << 20, "{}", length());
    });
}
