//! Many writers and readers at once.

use std::collections::BTreeSet;
use std::sync::Arc;

use sexton_store::{At, CommitError, Engine, KeyRange, Revision};

use crate::world::{absent, at, commit, content, put, text, try_commit};

type Any = Arc<dyn Engine>;

async fn winners(engine: &Any, round: usize, guard: sexton_store::Guard) -> usize {
    let tasks: Vec<_> = (0..8)
        .map(|writer| {
            let (engine, guard) = (engine.clone(), guard.clone());
            tokio::spawn(async move {
                try_commit(&engine, [guard], [put("a", &format!("{round}/{writer}"))]).await
            })
        })
        .collect();
    let mut won = 0;
    for task in tasks {
        match task.await.unwrap() {
            Ok(_) => won += 1,
            Err(error) => assert_eq!(error, CommitError::Conflict { guard: 0 }),
        }
    }
    won
}

pub async fn of_many_updates_at_one_revision_exactly_one_wins(engine: Any) {
    let mut revision = commit(&engine, [put("a", "")]).await;
    for round in 0..100 {
        assert_eq!(winners(&engine, round, at("a", revision)).await, 1);
        let entry = engine.get(b"a", At::Latest).await.unwrap().unwrap();
        assert_eq!(entry.revision, revision.next());
        revision = entry.revision;
    }
}

pub async fn of_many_creates_exactly_one_wins(engine: Any) {
    for round in 0..50 {
        assert_eq!(winners(&engine, round, absent("a")).await, 1);
        commit(&engine, [crate::world::delete("a")]).await;
    }
}

pub async fn no_increment_is_lost(engine: Any) {
    const WRITERS: usize = 8;
    const EACH: usize = 25;
    commit(&engine, [put("n", "0")]).await;
    let tasks: Vec<_> = (0..WRITERS)
        .map(|_| {
            let engine = engine.clone();
            tokio::spawn(async move {
                let mut revisions = Vec::new();
                while revisions.len() < EACH {
                    let entry = engine.get(b"n", At::Latest).await.unwrap().unwrap();
                    let next = text(&entry.value).parse::<usize>().unwrap() + 1;
                    let ops = [put("n", &next.to_string())];
                    if let Ok(revision) = try_commit(&engine, [at("n", entry.revision)], ops).await {
                        revisions.push(revision);
                    }
                }
                revisions
            })
        })
        .collect();
    let mut all = BTreeSet::new();
    for task in tasks {
        let revisions = task.await.unwrap();
        assert!(revisions.is_sorted());
        all.extend(revisions);
    }
    // Every acknowledged commit had a revision of its own, without a gap.
    assert_eq!(all, (2..=(WRITERS * EACH + 1) as u64).map(Revision::new).collect());
    assert_eq!(content(&engine, At::Latest).await, [("n".into(), (WRITERS * EACH).to_string())]);
}

/// Every commit moves one coin between two keys; whoever reads, at whatever moment, sees all coins.
pub async fn a_reader_never_sees_half_a_commit(engine: Any) {
    commit(&engine, [put("left", "100"), put("right", "0")]).await;
    let writer = tokio::spawn({
        let engine = engine.clone();
        async move {
            for moved in 1..=100 {
                let ops = [put("left", &(100 - moved).to_string()), put("right", &moved.to_string())];
                commit(&engine, ops).await;
            }
        }
    });
    while !writer.is_finished() {
        let page = engine.range(&KeyRange::all(), At::Latest, None).await.unwrap();
        let coins: u32 =
            page.entries.iter().map(|(_, entry)| text(&entry.value).parse::<u32>().unwrap()).sum();
        assert_eq!((page.entries.len(), coins), (2, 100), "at {}", page.revision);
        tokio::task::yield_now().await;
    }
    writer.await.unwrap();
}
