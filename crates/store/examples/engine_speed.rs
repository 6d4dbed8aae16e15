//! Figures of the embedded engine on this machine: `cargo run --release -p sexton-store --example engine_speed [dir]`.
//!
//! Prints the cost of a bare sync, of single durable commits, of many writers at once, of deletes in batches, of
//! sustained load beyond the kept history, and of opening the store again.
#![allow(clippy::print_stdout, clippy::unwrap_used, missing_docs)]

use std::io::{Seek, Write};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use sexton_store::embedded::{self, Options};
use sexton_store::local::LocalEngine;
use sexton_store::{At, Engine, KeyRange, Op, Retention, Transaction};

const VALUE: usize = 1024;

fn main() {
    let base = std::env::args().nth(1).map_or_else(std::env::temp_dir, Into::into);
    let dir = tempfile::tempdir_in(base).unwrap();
    bare_sync(dir.path());
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    runtime.block_on(async {
        let engine = open(&dir.path().join("a"), Retention::default());
        single(&engine, "single, new store", 3_000).await;
        many(&engine, "64 writers", 64, 200_000).await;
        single(&engine, "single, after load", 10_000).await;
        deletes(&engine, 100_000).await;
        report(&engine, &dir.path().join("a"));
        drop(engine);
        reopen(&dir.path().join("a"));

        // Little history: folding has to keep up with the writers.
        let little = Retention { changes: 20_000, ..Retention::default() };
        let engine = open(&dir.path().join("b"), little);
        many(&engine, "64 writers, folding all the while", 64, 400_000).await;
        single(&engine, "single, folding meanwhile", 10_000).await;
        report(&engine, &dir.path().join("b"));
        let started = Instant::now();
        engine.compact(engine.head().await.unwrap()).await.unwrap();
        println!("{:36} {:.2?}", "compacting the rest", started.elapsed());
        drop(engine);
        reopen(&dir.path().join("b"));
    });
}

fn open(dir: &Path, retention: Retention) -> Arc<LocalEngine> {
    Arc::new(embedded::open(dir, Options { retention, ..Options::default() }).unwrap())
}

fn put(key: String, fill: u8) -> Transaction {
    let op = Op::Put { key: key.into_bytes().into(), value: vec![fill; VALUE].into() };
    Transaction { guards: Vec::new(), ops: vec![op] }
}

fn bare_sync(dir: &Path) {
    let mut file = std::fs::File::create(dir.join("bare")).unwrap();
    file.write_all(&vec![0; 16 << 20]).unwrap();
    file.sync_all().unwrap();
    file.rewind().unwrap();
    let mut times = Vec::new();
    for _ in 0..2000 {
        let started = Instant::now();
        file.write_all(&[7; 4096]).unwrap();
        file.sync_data().unwrap();
        times.push(started.elapsed());
    }
    print("write 4 KiB and sync", &mut times, None);
}

async fn single(engine: &Arc<LocalEngine>, name: &str, count: usize) {
    let mut times = Vec::new();
    let started = Instant::now();
    for number in 0..count {
        let one = Instant::now();
        engine.commit(put(format!("single/{number:07}"), 1)).await.unwrap();
        times.push(one.elapsed());
    }
    print(name, &mut times, Some(started.elapsed()));
}

async fn many(engine: &Arc<LocalEngine>, name: &str, writers: usize, total: usize) {
    let started = Instant::now();
    let tasks: Vec<_> = (0..writers)
        .map(|writer| {
            let engine = engine.clone();
            tokio::spawn(async move {
                let mut times = Vec::new();
                for number in 0..total / writers {
                    let one = Instant::now();
                    // Scattered over the key space, as names are.
                    let place = (number * writers + writer).wrapping_mul(0x9e37_79b9) & 0xffff_ffff;
                    engine.commit(put(format!("many/{place:08x}"), 2)).await.unwrap();
                    times.push(one.elapsed());
                }
                times
            })
        })
        .collect();
    let mut times = Vec::new();
    for task in tasks {
        times.extend(task.await.unwrap());
    }
    print(name, &mut times, Some(started.elapsed()));
}

async fn deletes(engine: &Arc<LocalEngine>, count: usize) {
    let page = engine.range(&KeyRange::prefix("many/"), At::Latest, Some(count)).await.unwrap();
    let mut times = Vec::new();
    let started = Instant::now();
    for chunk in page.entries.chunks(64) {
        let ops = chunk.iter().map(|(key, _)| Op::Delete { key: key.clone() }).collect();
        let one = Instant::now();
        engine.commit(Transaction { guards: Vec::new(), ops }).await.unwrap();
        times.push(one.elapsed());
    }
    let whole = started.elapsed();
    print("deletes, 64 per commit", &mut times, Some(whole));
    println!("{:36} {:>8.0}/s", "  deletes", page.entries.len() as f64 / whole.as_secs_f64());
}

fn report(engine: &LocalEngine, dir: &Path) {
    let figures = engine.figures();
    let batches = figures.batches.load(Ordering::Relaxed).max(1);
    let (keys, kept, weight) = engine.size();
    println!(
        "  {} changes in {batches} batches, {} us in the journal per batch, {} folded; {keys} keys, {kept} changes \
         kept ({} MiB); log {} MiB",
        figures.changes.load(Ordering::Relaxed),
        figures.journal_micros.load(Ordering::Relaxed) / batches,
        figures.folded.load(Ordering::Relaxed),
        weight >> 20,
        std::fs::metadata(dir.join("store.db-wal")).map_or(0, |log| log.len() >> 20),
    );
}

fn reopen(dir: &Path) {
    let size = |name: &str| std::fs::metadata(dir.join(name)).map_or(0, |meta| meta.len()) >> 20;
    let started = Instant::now();
    let engine = open(dir, Retention::default());
    println!(
        "{:36} {:.2?} for {} keys, {} changes of history; file {} MiB",
        "open",
        started.elapsed(),
        engine.size().0,
        engine.size().1,
        size("store.db"),
    );
}

fn print(name: &str, times: &mut [Duration], whole: Option<Duration>) {
    times.sort_unstable();
    let at = |part: f64| times[((times.len() - 1) as f64 * part) as usize];
    let whole = whole.unwrap_or_else(|| times.iter().sum());
    println!(
        "{name:36} {:>8.0}/s   p50 {:>8.2?}   p99 {:>8.2?}   p99.9 {:>8.2?}   max {:.2?}",
        times.len() as f64 / whole.as_secs_f64(),
        at(0.5),
        at(0.99),
        at(0.999),
        at(1.0),
    );
}
