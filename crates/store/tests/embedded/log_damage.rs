//! Damage of the write-ahead log: what a crash leaves behind is repaired, acknowledged commits are not dropped in
//! silence.

use std::path::Path;

use sexton_store::Retention;

use crate::script::{block_on, fast_dir, long, open, run, verify};

pub const COMMITS: u64 = 40;

/// The files of a store as a crash leaves them: everything since the start is in the log.
pub fn crashed() -> (Vec<u8>, Vec<u8>) {
    // When all of the log was moved while nothing was written, it begins again, and ends with what does not count any
    // more. On a busy machine that may happen several times.
    let once = (0..100).map(|_| crashed_once()).find(|(_, log)| is_of_one_piece(log));
    once.expect("a log that did not begin again")
}

/// Whether all frames carry the salt of the log's head.
fn is_of_one_piece(log: &[u8]) -> bool {
    log[32..].chunks_exact(4120).all(|frame| frame[8..16] == log[16..24])
}

fn crashed_once() -> (Vec<u8>, Vec<u8>) {
    let dir = fast_dir();
    block_on(async {
        let engine = open(dir.path(), Retention::default()).unwrap();
        run(&engine, 0, COMMITS).await;
        // Reading the file here releases the database's locks in this process. Nobody else is there to mind.
        let read = |name: &str| std::fs::read(dir.path().join(name)).unwrap();
        (read("store.db"), read("store.db-wal"))
    })
}

/// How many commits are served; `None` when the store refuses to open.
fn served(dir: &Path, file: &[u8], log: &[u8], what: &str) -> Option<u64> {
    let _ = std::fs::remove_file(dir.join("store.db-shm"));
    // What is missed because of the note is shown in `loss.rs`.
    let _ = std::fs::remove_file(dir.join("head"));
    std::fs::write(dir.join("store.db"), file).unwrap();
    std::fs::write(dir.join("store.db-wal"), log).unwrap();
    match open(dir, Retention::default()) {
        Ok(engine) => Some(block_on(verify(&engine))),
        Err(error) => {
            assert!(error.to_string().contains("damaged"), "{what}: {error}");
            None
        }
    }
}

#[test]
fn the_log_of_a_crash_is_replayed() {
    let ((file, log), dir) = (crashed(), fast_dir());
    assert_eq!(served(dir.path(), &file, &log, "undamaged"), Some(COMMITS));
}

/// Only damage at the very end looks like an interrupted commit; one more is lost with its mark (see `wal.rs`).
#[test]
fn flipped_bytes() {
    let ((file, log), dir) = (crashed(), fast_dir());
    let step = if long() { 13 } else { 509 };
    let mut refused = 0;
    for at in (0..log.len()).filter(|at| at % step == 0 || (at.saturating_sub(32)) % 4120 < 2 || *at < 32) {
        let mut bytes = log.clone();
        bytes[at] ^= 1 << (at % 8);
        let mark = 32 + at.saturating_sub(32) / 4120 * 4120 + 4;
        let erased = log[mark..][..4] != [0; 4] && bytes[mark..][..4] == [0; 4];
        match served(dir.path(), &file, &bytes, &format!("byte {at}")) {
            None => refused += 1,
            Some(done) => {
                let allowed = if erased { 2 } else { 1 };
                assert!(done + allowed >= COMMITS, "byte {at}: only {done} commits are left");
            }
        }
    }
    assert!(refused > 0);
}

/// A log that ends early is what a crash leaves: whole commits are served, in order, never a part of one.
#[test]
fn cut_off_logs() {
    let ((file, log), dir) = (crashed(), fast_dir());
    let mut last = 0;
    for length in (1..=log.len()).step_by(if long() { 97 } else { 1531 }) {
        let done = served(dir.path(), &file, &log[..length], &format!("cut to {length}")).unwrap();
        assert!(done >= last);
        last = done;
    }
    assert!(last > COMMITS / 2);
}

/// An interrupted commit: its pages reached the disk in any order, or not at all.
#[test]
fn a_torn_last_commit_is_cut_off() {
    let ((file, log), dir) = (crashed(), fast_dir());
    let frames = (log.len() - 32) / 4120;
    // From the last but one commit mark on, everything belongs to the last commit.
    let marks: Vec<usize> = (0..frames).filter(|frame| log[32 + frame * 4120 + 4..][..4] != [0; 4]).collect();
    let last_begins = marks[marks.len() - 2] + 1;
    for torn in last_begins..frames {
        // With its header, and without: then the commit mark is there, but not what it speaks of.
        for from in [0, 24] {
            let mut bytes = log.clone();
            bytes[32 + torn * 4120 + from..][..4000].fill(0);
            let done = served(dir.path(), &file, &bytes, &format!("frame {torn} torn from {from}"));
            assert_eq!(done, Some(COMMITS - 1), "frame {torn} of {frames}, from {from}");
        }
    }
}

/// The last frame of the last commit but one: what is behind it proves that it was acknowledged, even though only one
/// whole commit is left there.
#[test]
fn a_damaged_commit_mark_is_refused() {
    let ((file, log), dir) = (crashed(), fast_dir());
    let frames = (log.len() - 32) / 4120;
    let marks: Vec<usize> = (0..frames).filter(|frame| log[32 + frame * 4120 + 4..][..4] != [0; 4]).collect();
    let start = 32 + marks[marks.len() - 2] * 4120;
    // Page number, salt, checksum, content.
    for at in [0, 3, 8, 15, 16, 23, 24, 2000, 4119] {
        let mut bytes = log.clone();
        bytes[start + at] ^= 0x10;
        assert_eq!(served(dir.path(), &file, &bytes, "a flipped bit"), None, "byte {at} of the frame");
    }
}
