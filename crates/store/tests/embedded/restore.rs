//! Restoring: all of a good copy into an empty directory, and nothing otherwise.

use std::path::Path;

use sexton_store::embedded::{OpenError, RestoreError, backup, restore};
use sexton_store::{Engine, Retention};

use crate::script::{block_on, open, run, verify};

/// A copy of a store in which so much has happened.
fn copy(commits: u64) -> Vec<u8> {
    let dir = tempfile::tempdir().unwrap();
    block_on(async {
        let engine = open(dir.path(), Retention::default()).unwrap();
        run(&engine, 0, commits).await;
        engine.close().await;
    });
    let file = dir.path().join("copy.db");
    backup(dir.path(), &file).unwrap();
    std::fs::read(file).unwrap()
}

fn files(dir: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(dir).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

#[test]
fn a_copy_becomes_a_store() {
    let parent = tempfile::tempdir().unwrap();
    let dir = parent.path().join("new/data");
    let copy = copy(50);
    let report = restore(&dir, &mut &copy[..]).unwrap();
    assert_eq!(report.bytes, copy.len() as u64);
    assert_eq!(files(&dir), ["lock", "store.db"]);
    let engine = open(&dir, Retention::default()).unwrap();
    assert_eq!(block_on(verify(&engine)), 50);
    let refused = restore(&dir, &mut &copy[..]).unwrap_err();
    assert!(matches!(refused, RestoreError::NotEmpty { ref found, .. } if found.starts_with("store.db")));
}

#[test]
fn what_is_there_is_left_alone() {
    let copy = copy(5);
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("notes.txt"), "precious").unwrap();
    let refused = restore(dir.path(), &mut &copy[..]).unwrap_err();
    assert!(refused.to_string().ends_with("is not empty: it holds notes.txt"), "{refused}");
    assert_eq!(files(dir.path()), ["notes.txt"]);
    std::fs::remove_file(dir.path().join("notes.txt")).unwrap();
    // A process that was killed while it restored leaves a draft, which is nobody's.
    std::fs::write(dir.path().join("store.db.77.part"), "half").unwrap();
    let held = std::fs::File::create(dir.path().join("lock")).unwrap();
    held.lock().unwrap();
    let refused = restore(dir.path(), &mut &copy[..]).unwrap_err();
    assert!(matches!(refused, RestoreError::Dir(OpenError::Locked { .. })), "{refused:?}");
    drop(held);
    restore(dir.path(), &mut &copy[..]).unwrap();
    assert_eq!(files(dir.path()), ["lock", "store.db"]);
}

/// Whatever is wrong with a copy is said, and a directory that was made for it is gone again.
#[test]
fn nothing_bad_is_restored() {
    let copy = copy(200);
    let parent = tempfile::tempdir().unwrap();
    let dir = parent.path().join("data");
    let bad = |bytes: &[u8]| {
        let refused = restore(&dir, &mut &bytes[..]).unwrap_err();
        assert!(matches!(refused, RestoreError::Bad { .. }), "{refused:?}");
        assert!(!dir.exists());
    };
    bad(b"");
    bad(b"nonsense");
    bad(&[0; 4096]);
    for part in 1..16 {
        bad(&copy[..copy.len() * part / 16]);
    }
    bad(&copy[..copy.len() - 1]);
    let mut refused = 0;
    for part in 0..32 {
        let mut damaged = copy.clone();
        let at = 100 + (damaged.len() - 200) * part / 32;
        let at = (at..damaged.len()).find(|at| damaged[*at].is_ascii_lowercase()).unwrap();
        damaged[at] ^= 0x15;
        match restore(&dir, &mut &damaged[..]) {
            Err(RestoreError::Bad { .. }) => {
                refused += 1;
                assert!(!dir.exists());
            }
            Err(other) => panic!("byte {at}: {other:?}"),
            // Only what holds no data may be anything, such as the view for people.
            Ok(_) => {
                assert_eq!(block_on(verify(&open(&dir, Retention::default()).unwrap())), 200, "byte {at}");
                std::fs::remove_dir_all(&dir).unwrap();
            }
        }
    }
    assert!(refused > 24, "{refused} of 32 were refused");
    restore(&dir, &mut &copy[..]).unwrap();
}
