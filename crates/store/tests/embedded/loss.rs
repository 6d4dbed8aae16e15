//! A log that is lost, cut off or not the right one: whatever was acknowledged and is gone is missed when the store is
//! opened. Nothing is missed where nothing is gone.

use std::collections::BTreeMap;
use std::path::Path;

use sexton_store::embedded::{self, OpenError, RestoreError, backup};
use sexton_store::{Engine, Retention};

use crate::script::{block_on, fast_dir, long, open, run, verify};

const COMMITS: u64 = 40;
const FRAME: usize = 4120;

/// The files of a data directory.
type Image = BTreeMap<String, Vec<u8>>;

/// Reading the file releases the database's locks in this process. No other process is there to mind.
fn image(dir: &Path) -> Image {
    let names = ["store.db", "store.db-wal", "head"].into_iter();
    names.filter_map(|name| Some((name.to_owned(), std::fs::read(dir.join(name)).ok()?))).collect()
}

/// What a killed process leaves, after the first half of the commits and after all of them.
fn killed() -> (Image, Image) {
    let dir = fast_dir();
    block_on(async {
        let engine = open(dir.path(), Retention::default()).unwrap();
        run(&engine, 0, COMMITS / 2).await;
        let half = image(dir.path());
        run(&engine, COMMITS / 2, COMMITS).await;
        (half, image(dir.path()))
    })
}

fn lay_out(image: &Image) -> tempfile::TempDir {
    let dir = fast_dir();
    image.iter().for_each(|(name, bytes)| std::fs::write(dir.path().join(name), bytes).unwrap());
    dir
}

/// Opens the image: all commits are there, or it is refused in words that say what to do.
fn noticed(image: &Image, what: &str) -> bool {
    let dir = lay_out(image);
    match open(dir.path(), Retention::default()) {
        Ok(engine) => {
            assert_eq!(block_on(verify(&engine)), COMMITS, "{what}: a loss went unnoticed");
            false
        }
        Err(error) => {
            let text = error.to_string();
            assert!(text.contains("restore a backup") || text.contains("sexton backup"), "{what}: {text}");
            true
        }
    }
}

#[test]
fn what_a_killed_process_leaves_is_whole() {
    let (_, all) = killed();
    assert!(!noticed(&all, "nothing was touched"));
    // Without the note nothing can be missed; the log is there.
    let mut bare = all;
    bare.remove("head");
    assert!(!noticed(&bare, "the note is gone"));
}

#[test]
fn a_missing_log_is_noticed() {
    let (_, mut all) = killed();
    all.remove("store.db-wal");
    let dir = lay_out(&all);
    let error = open(dir.path(), Retention::default()).unwrap_err();
    assert!(matches!(error, OpenError::Lost { .. }), "{error}");
    // What is lost can be given up, in so many words, and only this once.
    std::fs::write(dir.path().join("accept-loss"), "").unwrap();
    drop(open(dir.path(), Retention::default()).unwrap());
    assert!(!dir.path().join("accept-loss").exists());
    drop(open(dir.path(), Retention::default()).unwrap());
    all.remove("store.db");
    assert!(noticed(&all, "nothing but the note is left"));
}

#[test]
fn a_log_cut_off_anywhere_is_noticed() {
    let (_, all) = killed();
    let log = &all["store.db-wal"];
    let frames = (log.len() - 32) / FRAME;
    let mut cut = all.clone();
    for frame in (0..frames).step_by(if long() { 1 } else { 3 }).chain([frames - 1]) {
        for within in [0, 1, FRAME - 1] {
            let length = 32 + frame * FRAME + within;
            cut.insert("store.db-wal".into(), log[..length].to_vec());
            let is_noticed = noticed(&cut, &format!("cut to {length}"));
            // What was moved into the file already may be missing in the log.
            assert!(is_noticed || frame < frames - 1, "cut to {length}");
        }
    }
}

/// Files of different moments, in all combinations.
#[test]
fn files_that_do_not_belong_together_are_noticed() {
    let (half, all) = killed();
    for (file, log) in [(&half, &half), (&half, &all), (&all, &half)] {
        let mut mixed = all.clone();
        mixed.insert("store.db".into(), file["store.db"].clone());
        mixed.insert("store.db-wal".into(), log["store.db-wal"].clone());
        noticed(&mixed, "an older file or log");
    }
    let mut older = half;
    older.insert("head".into(), all["head"].clone());
    assert!(noticed(&older, "both are older"));
}

/// `cp store.db` while a process writes.
#[test]
fn a_copy_of_the_file_alone_is_noticed() {
    let (_, all) = killed();
    let alone = Image::from([("store.db".into(), all["store.db"].clone())]);
    let dir = lay_out(&alone);
    let error = open(dir.path(), Retention::default()).unwrap_err();
    assert!(matches!(error, OpenError::Copied { .. }), "{error}");
    let (other, mut copy) = (fast_dir(), &alone["store.db"][..]);
    let error = embedded::restore(other.path().join("data"), &mut copy).unwrap_err();
    assert!(matches!(error, RestoreError::Bad { ref why } if why.contains("in use")), "{error}");
}

/// No alarm where nothing is lost: after a clean end without a log, with or without the note; and for a backup, into an
/// empty directory or one in which only the note of another store is left.
#[test]
fn no_false_alarms() {
    let dir = fast_dir();
    block_on(async {
        let engine = open(dir.path(), Retention::default()).unwrap();
        run(&engine, 0, COMMITS / 2).await;
        backup(dir.path(), dir.path().join("copy.db")).unwrap();
        run(&engine, COMMITS / 2, COMMITS).await;
        engine.close().await;
    });
    let mut closed = image(dir.path());
    assert!(!closed.contains_key("store.db-wal"));
    assert!(!noticed(&closed, "closed"));
    let note = closed.remove("head").unwrap();
    assert!(!noticed(&closed, "closed, without the note"));
    let restored = fast_dir();
    std::fs::write(restored.path().join("head"), note).unwrap();
    let copy = std::fs::read(dir.path().join("copy.db")).unwrap();
    embedded::restore(restored.path(), &mut &copy[..]).unwrap();
    assert_eq!(block_on(verify(&open(restored.path(), Retention::default()).unwrap())), COMMITS / 2);
}
