//! A process that is killed at any moment loses nothing that it acknowledged.

use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use sexton_store::Engine;

use crate::script::{self, LITTLE, block_on, long, open, verify};

const DIR: &str = "SEXTON_TEST_KILL_DIR";

/// Not a test by itself: what the killed process does. Prints the number of each acknowledged commit.
#[test]
fn child() {
    let Some(dir) = std::env::var_os(DIR).map(PathBuf::from) else { return };
    block_on(async {
        let engine = open(&dir, LITTLE).unwrap();
        let mut done = script::commits(&script::content(&engine).await);
        let mut out = std::io::stdout();
        loop {
            done += 1;
            engine.commit(script::commit(done)).await.unwrap();
            // The parent is gone when this fails.
            if writeln!(out, "\nack {done}").and_then(|()| out.flush()).is_err() {
                return;
            }
        }
    });
}

fn spawn(dir: &std::path::Path) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["kill::child", "--exact", "--nocapture", "--test-threads=1"])
        .env(DIR, dir)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

/// Waits for so many acknowledgements, kills, and gives the last acknowledged number.
fn kill_after(mut child: Child, acks: u64) -> u64 {
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
    let mut acked = || lines.find_map(|line| line.strip_prefix("ack ").and_then(|text| text.parse().ok()));
    let mut last: u64 = 0;
    for _ in 0..acks {
        last = acked().expect("the child writes on until it is killed");
    }
    child.kill().unwrap();
    // What it acknowledged until it died counts too.
    while let Some(number) = acked() {
        last = number;
    }
    child.wait().unwrap();
    last
}

/// Every acknowledged commit is there, none is there in part, revisions never go back, the history has no gap.
#[test]
fn nothing_acknowledged_is_lost() {
    let dir = tempfile::tempdir().unwrap();
    let mut head = 0;
    for round in 0..if long() { 100 } else { 10 } {
        let acked = kill_after(spawn(dir.path()), 20 + round * 7919 % 400);
        block_on(async {
            let engine = open(dir.path(), LITTLE).unwrap();
            let done = verify(&engine).await;
            assert!(done >= acked, "round {round}: {acked} was acknowledged, {done} is there");
            let now = engine.head().await.unwrap().get();
            assert!(now > head, "round {round}: revision {now} after {head}");
            head = now;
        });
    }
}
