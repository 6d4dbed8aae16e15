//! Damage of the file is noticed or harmless: wrong content is never served, and nothing panics.

use std::path::Path;

use sexton_store::embedded::OpenError;
use sexton_store::local::LocalEngine;
use sexton_store::{Engine, Retention, Revision};

use crate::script::{self, Map, block_on, content, fast_dir, long, open, run};

const COMMITS: u64 = 120;

/// A closed store, part of it folded, with some free pages. Its bytes.
pub fn healthy() -> Vec<u8> {
    let dir = fast_dir();
    block_on(async {
        let engine = open(dir.path(), Retention::default()).unwrap();
        run(&engine, 0, COMMITS).await;
        engine.compact(Revision::new(33)).await.unwrap();
        engine.close().await;
    });
    std::fs::read(dir.path().join("store.db")).unwrap()
}

/// Opens these bytes as a store.
fn open_bytes(dir: &Path, bytes: &[u8]) -> Result<LocalEngine, OpenError> {
    for suffix in ["-wal", "-shm"] {
        let _ = std::fs::remove_file(dir.join(format!("store.db{suffix}")));
    }
    std::fs::write(dir.join("store.db"), bytes).unwrap();
    open(dir, Retention::default())
}

/// Whether the damage was noticed; what is served must be right.
fn noticed(dir: &Path, bytes: &[u8], expected: &Map, what: &str) -> bool {
    match open_bytes(dir, bytes) {
        Ok(engine) => {
            block_on(async {
                assert_eq!(content(&engine).await, *expected, "{what}");
                assert_eq!(script::verify(&engine).await, COMMITS, "{what}");
            });
            false
        }
        Err(error) => {
            assert!(error.to_string().contains("store.db"), "{what}: {error}");
            true
        }
    }
}

#[test]
fn flipped_bytes() {
    let (good, dir) = (healthy(), fast_dir());
    let expected = script::states(COMMITS).pop().unwrap().1;
    assert!(!noticed(dir.path(), &good, &expected, "undamaged"));
    let (mut flips, mut found) = (0, 0);
    // Pages begin with structure, so the first bytes of each are all tried.
    let step = if long() { 5 } else { 61 };
    let offsets = (0..good.len()).filter(|at| at % 4096 < 24 || at % step == 0);
    for at in offsets {
        for mask in [0xff, 1 << (at % 8)] {
            let mut bytes = good.clone();
            bytes[at] ^= mask;
            flips += 1;
            found += u32::from(noticed(dir.path(), &bytes, &expected, &format!("byte {at} ^ {mask:#x}")));
        }
    }
    println!("{found} of {flips} flips noticed, the others were harmless");
    assert!(found * 3 > flips, "only {found} of {flips} flips were noticed: is the file mostly empty?");
}

#[test]
fn cut_off_files() {
    let (good, dir) = (healthy(), fast_dir());
    let expected = script::states(COMMITS).pop().unwrap().1;
    let step = if long() { 127 } else { 1021 };
    for length in (0..good.len()).step_by(step).chain((0..good.len()).step_by(4096)) {
        let cut = noticed(dir.path(), &good[..length], &expected, &format!("cut to {length}"));
        assert!(cut, "cut to {length} was not noticed");
    }
}

/// Pages that were never written, written twice, or written to each other's place.
#[test]
fn misplaced_pages() {
    let (good, dir) = (healthy(), fast_dir());
    let expected = script::states(COMMITS).pop().unwrap().1;
    let pages = good.len() / 4096;
    for page in 0..pages {
        let other = (page + 1) % pages;
        let (here, there) = (page * 4096, other * 4096);
        let mut zeroed = good.clone();
        zeroed[here..here + 4096].fill(0);
        noticed(dir.path(), &zeroed, &expected, &format!("page {page} zeroed"));
        let mut twice = good.clone();
        twice.copy_within(here..here + 4096, there);
        noticed(dir.path(), &twice, &expected, &format!("page {page} also at {other}"));
        let mut swapped = twice;
        swapped[here..here + 4096].copy_from_slice(&good[there..there + 4096]);
        noticed(dir.path(), &swapped, &expected, &format!("pages {page} and {other} swapped"));
    }
}

/// Somebody edits the tables by hand.
#[test]
fn edited_tables() {
    let (good, dir) = (healthy(), fast_dir());
    for edit in [
        "UPDATE state SET value = x'00' WHERE revision = (SELECT max(revision) FROM state)",
        "DELETE FROM state WHERE revision = (SELECT min(revision) FROM state)",
        "DELETE FROM journal WHERE first = (SELECT min(first) FROM journal)",
        "DELETE FROM journal WHERE first = (SELECT max(first) FROM journal)",
        "DELETE FROM journal WHERE first = (SELECT first FROM journal ORDER BY first LIMIT 1 OFFSET 3)",
        "DELETE FROM journal",
        "UPDATE journal SET at_ms = at_ms + 1 WHERE first = (SELECT max(first) FROM journal)",
        "UPDATE journal SET batch = 'text'",
        "UPDATE meta SET compacted = compacted + 1",
        "UPDATE meta SET head = head - 1",
        "DELETE FROM meta",
        "DROP TABLE state",
        "ALTER TABLE journal ADD COLUMN more",
    ] {
        std::fs::write(dir.path().join("store.db"), &good).unwrap();
        let shell = rusqlite::Connection::open(dir.path().join("store.db")).unwrap();
        assert_ne!(shell.execute(edit, []).unwrap(), usize::MAX);
        shell.close().unwrap();
        let error = open(dir.path(), Retention::default()).unwrap_err();
        assert!(matches!(error, OpenError::Corrupt { .. }), "{edit}: {error}");
        assert!(error.to_string().contains("restore a backup"), "{error}");
    }
}
