//! A fixed sequence of commits: whoever knows how many of them happened knows everything a store must hold.

use std::collections::BTreeMap;
use std::path::Path;

use sexton_store::embedded::{self, OpenError, Options};
use sexton_store::local::LocalEngine;
use sexton_store::{At, Engine, KeyRange, Op, ReadError, Retention, Revision, Transaction};

pub type Map = BTreeMap<Vec<u8>, (u64, Vec<u8>)>;

/// Little is kept, so that folding goes on all the time.
pub const LITTLE: Retention =
    Retention { age: std::time::Duration::from_secs(600), bytes: 1 << 20, changes: 40 };

pub fn open(dir: &Path, retention: Retention) -> Result<LocalEngine, OpenError> {
    embedded::open(dir, Options { retention, ..Options::default() })
}

/// The commit of this number: counts itself, writes some keys, removes some.
pub fn commit(number: u64) -> Transaction {
    let mut ops = vec![put("n".into(), number.to_string().into_bytes())];
    for step in 0..number % 4 {
        let place = (number * 31 + step * 17) % 23;
        let key = format!("ns\0k{place:02}");
        if (number + step).is_multiple_of(3) {
            ops.push(Op::Delete { key: key.into_bytes().into() });
        } else {
            let length = (number * 131 + step) % 1500;
            ops.push(put(key, vec![number as u8; length as usize]));
        }
    }
    Transaction { guards: Vec::new(), ops }
}

fn put(key: String, value: Vec<u8>) -> Op {
    Op::Put { key: key.into_bytes().into(), value: value.into() }
}

/// The states after each commit, up to and including commit `last`; the first one is empty. With their revisions.
pub fn states(last: u64) -> Vec<(u64, Map)> {
    let (mut map, mut revision) = (Map::new(), 0);
    let mut states = vec![(0, Map::new())];
    for number in 1..=last {
        for op in commit(number).ops {
            match op {
                Op::Put { key, value } => {
                    revision += 1;
                    map.insert(key.to_vec(), (revision, value.to_vec()));
                }
                Op::Delete { key } => revision += u64::from(map.remove(&key[..]).is_some()),
            }
        }
        states.push((revision, map.clone()));
    }
    states
}

/// Runs the commits after `done`, up to and including `last`.
pub async fn run(engine: &LocalEngine, done: u64, last: u64) {
    for number in done + 1..=last {
        engine.commit(commit(number)).await.unwrap();
    }
}

pub async fn content(engine: &LocalEngine) -> Map {
    let page = engine.range(&KeyRange::all(), At::Latest, None).await.unwrap();
    page.entries
        .iter()
        .map(|(key, entry)| (key.to_vec(), (entry.revision.get(), entry.value.to_vec())))
        .collect()
}

/// How many commits a store holds.
pub fn commits(content: &Map) -> u64 {
    content.get(&b"n"[..]).map_or(0, |(_, value)| String::from_utf8_lossy(value).parse().unwrap())
}

/// Checks that the store holds exactly the first so many commits, and that its history is whole. Gives their number.
pub async fn verify(engine: &LocalEngine) -> u64 {
    let found = content(engine).await;
    let done = commits(&found);
    let (head, expected) = states(done).pop().unwrap();
    assert_eq!(found, expected, "after {done} commits");
    assert_eq!(engine.head().await.unwrap().get(), head);
    verify_history(engine, head, &expected).await;
    done
}

/// The oldest readable state plus the changes since must be the latest state.
async fn verify_history(engine: &LocalEngine, head: u64, expected: &Map) {
    loop {
        match replay(engine, head).await {
            Ok(map) => return assert_eq!(map, *expected),
            // Folding goes on meanwhile; there is an end to what it can fold.
            Err(ReadError::Compacted { .. }) => tokio::task::yield_now().await,
            Err(other) => panic!("{other}"),
        }
    }
}

async fn replay(engine: &LocalEngine, head: u64) -> Result<Map, ReadError> {
    let (_, kept, _) = engine.size();
    let oldest = Revision::new(head - kept as u64);
    let page = engine.range(&KeyRange::all(), At::Exactly(oldest), None).await?;
    let entries = page.entries.iter();
    let mut map: Map =
        entries.map(|(key, entry)| (key.to_vec(), (entry.revision.get(), entry.value.to_vec()))).collect();
    let mut feed = engine.changes(KeyRange::all(), oldest).await?;
    let mut next = oldest.get() + 1;
    while next <= head {
        for change in feed.next().await?.changes {
            assert_eq!(change.revision.get(), next);
            next += 1;
            let before = map.remove(&change.key[..]);
            let told = change.before.as_ref().map(|entry| (entry.revision.get(), entry.value.to_vec()));
            assert_eq!(told, before);
            if let Some(value) = &change.after {
                map.insert(change.key.to_vec(), (change.revision.get(), value.to_vec()));
            }
        }
    }
    Ok(map)
}

/// Mutations are many; memory is faster than a disk.
pub fn fast_dir() -> tempfile::TempDir {
    tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap()
}

/// Whether the long form of a test was asked for.
pub fn long() -> bool {
    std::env::var_os("SEXTON_LONG").is_some()
}

pub fn block_on<T>(work: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(work)
}
