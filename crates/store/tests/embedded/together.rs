//! What is committed together is on disk together: all of it or nothing, whenever the process is killed.

use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Command, Stdio};

use sexton_store::{At, Engine, KeyRange, Op, Transaction};

use crate::script::{LITTLE, block_on, long, open};

const DIR: &str = "SEXTON_TEST_TOGETHER_DIR";
const MEMBERS: usize = 2_000;

/// Every round writes its number to all keys, in one call but in transactions of their own.
fn round(number: u64) -> Vec<Transaction> {
    let put = |at| Op::Put {
        key: format!("k{at:04}").into_bytes().into(),
        value: number.to_string().into_bytes().into(),
    };
    (0..MEMBERS).map(|at| Transaction { guards: Vec::new(), ops: vec![put(at)] }).collect()
}

/// Not a test by itself: what the killed process does.
#[test]
fn child() {
    let Some(dir) = std::env::var_os(DIR).map(PathBuf::from) else { return };
    block_on(async {
        let engine = open(&dir, LITTLE).unwrap();
        let mut out = std::io::stdout();
        for number in engine.head().await.unwrap().get() / MEMBERS as u64 + 1.. {
            assert!(engine.commit_all(round(number)).await.iter().all(Result::is_ok));
            // The parent is gone when this fails.
            if writeln!(out, "\nack {number}").and_then(|()| out.flush()).is_err() {
                return;
            }
        }
    });
}

#[test]
fn all_or_nothing_of_it_is_there() {
    let dir = tempfile::tempdir().unwrap();
    for turn in 0..if long() { 60 } else { 6 } {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["together::child", "--exact", "--nocapture", "--test-threads=1"])
            .env(DIR, dir.path())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
        let acks =
            lines.filter_map(|line| line.strip_prefix("ack ").and_then(|text| text.parse::<u64>().ok()));
        let acked = acks.take(1 + turn % 3).last().expect("the child writes on until it is killed");
        child.kill().unwrap();
        child.wait().unwrap();
        block_on(async {
            let engine = open(dir.path(), LITTLE).unwrap();
            let page = engine.range(&KeyRange::all(), At::Latest, None).await.unwrap();
            assert_eq!(page.entries.len(), MEMBERS);
            assert!(page.entries.windows(2).all(|pair| pair[0].1.value == pair[1].1.value), "turn {turn}");
            let done: u64 = String::from_utf8_lossy(&page.entries[0].1.value).parse().unwrap();
            assert!(done >= acked, "turn {turn}: {acked} was acknowledged, {done} is there");
            assert_eq!(page.revision.get(), done * MEMBERS as u64);
        });
    }
}
