//! Large worlds: the cost grows with what is reached, and nothing recurses.

use std::time::{Duration, Instant};

use crate::common::{apply, detect_all, empty, event, node};
use sexton_lifecycle::{DetectionSettings, Roots, Snapshot, follow_deletions};

const MANY: u64 = 100_000;

fn put(snapshot: &mut Snapshot, line: &str, revision: u64) {
    apply(snapshot, event(line, revision));
}

fn chain() -> Snapshot {
    let mut snapshot = empty();
    put(&mut snapshot, "vm/n0", 1);
    for n in 1..MANY {
        put(&mut snapshot, &format!("vm/n{n} <- vm/n{}", n - 1), n + 1);
    }
    snapshot
}

/// Far above what it takes, so that a busy machine does not matter; far below what a square of the size would.
const BOUND: Duration = Duration::from_secs(60);

/// EXT-10: without recursion, however deep.
#[test]
fn deep_chains() {
    let mut snapshot = chain();
    for policy in ["cascade", "foreground"] {
        put(&mut snapshot, &format!("vm/n0 deleted {policy}"), MANY + 1);
        let begin = Instant::now();
        let detection = detect_all(&snapshot);
        println!("a chain of {MANY}, {policy}: {:?}", begin.elapsed());
        assert_eq!(detection.doomed.len() as u64, MANY);
        assert!(begin.elapsed() < BOUND);
    }
}

#[test]
fn wide_fans() {
    let mut snapshot = empty();
    put(&mut snapshot, "app/top deleted cascade", 1);
    for n in 1..MANY {
        put(&mut snapshot, &format!("vm/n{n} <- app/top"), n + 1);
    }
    let begin = Instant::now();
    assert_eq!(detect_all(&snapshot).doomed.len() as u64, MANY);
    println!("a fan of {MANY}: {:?}", begin.elapsed());
    // Removing them one by one does not look at the others.
    for n in 1..MANY {
        put(&mut snapshot, &format!("gone vm/n{n}"), MANY + n);
    }
    assert!(!snapshot.is_referenced(node(&snapshot, "app/top")));
    assert!(begin.elapsed() < BOUND);
}

/// REQ-KRK-52, REQ-KRK-60: dependents are found without looking at everything, and without any request.
#[test]
fn bystanders_cost_nothing() {
    let mut snapshot = chain();
    put(&mut snapshot, "app/shop deleted cascade", MANY + 1);
    put(&mut snapshot, "vm/web <- app/shop", MANY + 2);
    let begin = Instant::now();
    let shop = [node(&snapshot, "app/shop")];
    for _ in 0..2_000 {
        assert_eq!(detect_all(&snapshot).doomed.len(), 2);
        let roots = Roots::Only { nodes: &shop, removed: &[] };
        assert_eq!(follow_deletions(&snapshot, roots, &[], &DetectionSettings::default()).doomed.len(), 2);
    }
    println!("4,000 small judgements beside {MANY} others: {:?}", begin.elapsed());
    assert!(begin.elapsed() < BOUND);
}
