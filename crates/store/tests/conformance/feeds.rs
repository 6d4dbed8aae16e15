//! Feeds: every later change once and in order, or a clear "too late".

use std::sync::Arc;

use sexton_store::feed::ChangeFeed;
use sexton_store::{At, Change, Engine, KeyRange, ReadError, Revision};

use crate::world::{commit, delete, put, text};

type Any = Arc<dyn Engine>;

/// Reads on until everything up to `upto` was delivered to a feed whose range has a change there.
pub async fn read_upto(feed: &mut Box<dyn ChangeFeed>, upto: Revision) -> Vec<Arc<Change>> {
    let mut found = Vec::new();
    while feed.seen() < upto {
        let batch = feed.next().await.unwrap();
        assert_eq!(batch.seen, feed.seen());
        assert!(batch.changes.iter().all(|change| change.revision <= batch.seen));
        found.extend(batch.changes);
    }
    found
}

fn revisions(changes: &[Arc<Change>]) -> Vec<u64> {
    changes.iter().map(|change| change.revision.get()).collect()
}

/// EXT-19: a watch resumes from any revision.
pub async fn every_change_once_and_in_order_from_any_revision(engine: Any) {
    for number in 0..30 {
        commit(&engine, [put(&format!("k{}", number % 4), "v"), delete("k1"), put("x", "y")]).await;
    }
    let head = engine.head().await.unwrap();
    for after in 0..head.get() {
        let mut feed = engine.changes(KeyRange::all(), Revision::new(after)).await.unwrap();
        let found = read_upto(&mut feed, head).await;
        assert_eq!(revisions(&found), (after + 1..=head.get()).collect::<Vec<_>>());
    }
}

pub async fn a_feed_waits_for_what_comes(engine: Any) {
    let mut feed = engine.changes(KeyRange::all(), Revision::NONE).await.unwrap();
    let reader = tokio::spawn(async move { read_upto(&mut feed, Revision::new(500)).await });
    for number in 0..250 {
        commit(&engine, [put("a", &number.to_string()), put("b", "")]).await;
    }
    assert_eq!(revisions(&reader.await.unwrap()), (1..=500).collect::<Vec<_>>());
}

pub async fn a_feed_can_be_resumed(engine: Any) {
    for number in 0..10 {
        commit(&engine, [put("a", &number.to_string())]).await;
    }
    let mut feed = engine.changes(KeyRange::all(), Revision::new(4)).await.unwrap();
    let first = feed.next().await.unwrap();
    let seen = feed.seen();
    drop(feed);
    commit(&engine, [put("a", "later")]).await;
    let mut again = engine.changes(KeyRange::all(), seen).await.unwrap();
    let mut found = revisions(&first.changes);
    found.extend(revisions(&read_upto(&mut again, Revision::new(11)).await));
    assert_eq!(found, (5..=11).collect::<Vec<_>>());
}

pub async fn a_feed_shows_its_range_only(engine: Any) {
    let mut feed = engine.changes(KeyRange::prefix("mine/"), Revision::NONE).await.unwrap();
    // More foreign changes than are looked at in one go.
    for round in 0..3_000_u32 {
        let other: Vec<_> = (0..2).map(|n| put(&format!("other/{n}"), "")).collect();
        engine.commit(sexton_store::Transaction { guards: vec![], ops: other }).await.unwrap();
        if round % 1000 == 0 {
            commit(&engine, [put("mine/a", &round.to_string())]).await;
        }
    }
    let last = commit(&engine, [delete("mine/a")]).await;
    let found = read_upto(&mut feed, last).await;
    assert!(found.iter().all(|change| text(&change.key) == "mine/a"));
    let values: Vec<_> = found.iter().map(|change| change.after.as_ref().map(|v| text(v))).collect();
    assert_eq!(values, [Some("0".into()), Some("1000".into()), Some("2000".into()), None]);
}

/// EXT-19: a removal comes with the last object.
pub async fn changes_carry_what_was_there_before(engine: Any) {
    let created = commit(&engine, [put("a", "1")]).await;
    let updated = commit(&engine, [put("a", "2")]).await;
    let removed = commit(&engine, [delete("a")]).await;
    let mut feed = engine.changes(KeyRange::all(), Revision::NONE).await.unwrap();
    let found = read_upto(&mut feed, removed).await;
    assert_eq!(found[0].before, None);
    let before = |at: usize| found[at].before.as_ref().map(|entry| (entry.revision, text(&entry.value)));
    assert_eq!(before(1), Some((created, "1".into())));
    assert_eq!(before(2), Some((updated, "2".into())));
    assert_eq!(found[2].after, None);
    assert_eq!(found[2].entry(), None);
    assert_eq!(found[1].entry().map(|entry| entry.revision), Some(updated));
}

pub async fn a_dropped_wait_loses_nothing(engine: Any) {
    let mut feed = engine.changes(KeyRange::all(), Revision::NONE).await.unwrap();
    let mut found = Vec::new();
    for number in 0..100 {
        // The wait is begun and dropped, before and while something happens.
        tokio::select! {
            biased;
            batch = feed.next() => found.extend(batch.unwrap().changes),
            () = std::future::ready(()) => {}
        }
        let writing = commit(&engine, vec![put("a", &number.to_string())]);
        tokio::select! {
            _ = writing => {}
            batch = feed.next() => found.extend(batch.unwrap().changes),
        }
    }
    // A commit whose caller went away happens all the same; one more is sure to be the last.
    let last = commit(&engine, [put("b", "")]).await;
    found.extend(read_upto(&mut feed, last).await);
    assert_eq!(revisions(&found), (1..=last.get()).collect::<Vec<_>>());
}

pub async fn a_slow_reader_is_told_when_it_is_too_late(engine: Any) {
    let mut slow = engine.changes(KeyRange::all(), Revision::NONE).await.unwrap();
    for number in 0..10 {
        commit(&engine, [put("a", &number.to_string())]).await;
    }
    engine.compact(Revision::new(5)).await.unwrap();
    let error = slow.next().await.unwrap_err();
    assert_eq!(error, ReadError::Compacted { asked: Revision::NONE, oldest: Revision::new(5) });
    // It stays so: nothing is skipped in silence.
    assert!(slow.next().await.is_err());
    let mut fresh = engine.changes(KeyRange::all(), Revision::new(5)).await.unwrap();
    assert_eq!(revisions(&read_upto(&mut fresh, Revision::new(10)).await), [6, 7, 8, 9, 10]);
}

pub async fn a_slow_reader_blocks_nobody(engine: Any) {
    let stalled: Vec<_> = futures_of_feeds(&engine).await;
    for number in 0..500 {
        commit(&engine, [put("a", &number.to_string())]).await;
    }
    assert!(engine.get(b"a", At::Latest).await.unwrap().is_some());
    for mut feed in stalled {
        let found = read_upto(&mut feed, Revision::new(500)).await;
        assert_eq!(found.len(), 500);
    }
}

async fn futures_of_feeds(engine: &Any) -> Vec<Box<dyn ChangeFeed>> {
    let mut feeds = Vec::new();
    for _ in 0..20 {
        feeds.push(engine.changes(KeyRange::all(), Revision::NONE).await.unwrap());
    }
    feeds
}

pub async fn a_feed_ends_when_the_engine_is_closed(engine: Any) {
    let mut behind = engine.changes(KeyRange::all(), Revision::NONE).await.unwrap();
    let head = commit(&engine, [put("a", "1")]).await;
    let mut waiting = engine.changes(KeyRange::all(), head).await.unwrap();
    let waiter = tokio::spawn(async move { waiting.next().await.map(drop) });
    tokio::task::yield_now().await;
    engine.close().await;
    assert!(matches!(waiter.await.unwrap(), Err(ReadError::Unavailable(_))));
    // What was committed before is still delivered.
    assert_eq!(revisions(&behind.next().await.unwrap().changes), [1]);
    assert!(matches!(behind.next().await, Err(ReadError::Unavailable(_))));
}
