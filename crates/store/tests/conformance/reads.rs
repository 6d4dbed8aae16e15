//! Reads: ranges, pages, snapshots, older revisions.

use std::collections::BTreeMap;
use std::sync::Arc;

use sexton_store::{At, Engine, KeyRange, ReadError, Revision};

use crate::world::{commit, content, delete, pairs, put, text};

type Any = Arc<dyn Engine>;

pub async fn ranges_are_half_open_and_ordered(engine: Any) {
    commit(&engine, ["b/2", "a", "b/1", "b", "b0", "c"].map(|key| put(key, key))).await;
    let page = engine.range(&KeyRange::prefix("b/"), At::Latest, None).await.unwrap();
    let keys: Vec<String> = page.entries.iter().map(|(key, _)| text(key)).collect();
    assert_eq!(keys, ["b/1", "b/2"]);
    assert!(!page.more);
    let all = KeyRange::all();
    assert_eq!(engine.count(&all, At::Latest).await.unwrap(), 6);
    assert_eq!(engine.count(&KeyRange::prefix("b"), At::Latest).await.unwrap(), 4);
    assert_eq!(engine.count(&all.clone().after(b"b0"), At::Latest).await.unwrap(), 1);
    let exactly = engine.range(&all, At::Latest, Some(6)).await.unwrap();
    assert!(!exactly.more);
    let none = engine.range(&all, At::Latest, Some(0)).await.unwrap();
    assert!(none.more && none.entries.is_empty());
    // What lies behind the end of the range is nothing.
    let behind = KeyRange::prefix("b/").after(b"c");
    assert_eq!(engine.count(&behind, At::Latest).await.unwrap(), 0);
}

/// Pages at one revision show one moment, although others write between them.
pub async fn pages_belong_to_one_snapshot(engine: Any) {
    for number in 0..20 {
        commit(&engine, [put(&format!("k{number:02}"), "old")]).await;
    }
    let first = engine.range(&KeyRange::all(), At::Latest, Some(3)).await.unwrap();
    let (revision, mut seen, mut more) = (first.revision, first.entries, first.more);
    let mut round = 0;
    while more {
        round += 1;
        commit(&engine, [put(&format!("k{:02}", 19 - round), "new"), delete(&format!("k{round:02}"))]).await;
        commit(&engine, [put(&format!("k{round:02}x"), "new")]).await;
        let after = KeyRange::all().after(&seen.last().unwrap().0);
        let page = engine.range(&after, At::Exactly(revision), Some(3)).await.unwrap();
        assert_eq!(page.revision, revision);
        seen.extend(page.entries);
        more = page.more;
    }
    assert_eq!(seen.len(), 20);
    assert!(seen.iter().all(|(_, entry)| &entry.value[..] == b"old"));
}

pub async fn older_revisions_can_be_read(engine: Any) {
    let mut expected = vec![(Revision::NONE, BTreeMap::new())];
    let mut now = BTreeMap::new();
    for number in 0..60_u32 {
        let key = format!("k{}", number % 7);
        let revision = if number % 5 == 4 && now.remove(&key).is_some() {
            commit(&engine, [delete(&key)]).await
        } else {
            now.insert(key.clone(), number.to_string());
            commit(&engine, [put(&key, &number.to_string())]).await
        };
        expected.push((revision, now.clone()));
    }
    for (revision, state) in expected {
        let found: BTreeMap<_, _> = content(&engine, At::Exactly(revision)).await.into_iter().collect();
        assert_eq!(found, state, "at {revision}");
        let count = engine.count(&KeyRange::all(), At::Exactly(revision)).await.unwrap();
        assert_eq!(count, state.len());
    }
}

pub async fn compaction_forgets_the_past_only(engine: Any) {
    for number in 0..10 {
        commit(&engine, [put("a", &number.to_string())]).await;
    }
    // A snapshot that somebody pages through is forgotten too.
    engine.range(&KeyRange::all(), At::Exactly(Revision::new(3)), Some(0)).await.unwrap();
    engine.compact(Revision::new(6)).await.unwrap();
    for asked in (0..6).map(Revision::new) {
        let error = engine.get(b"a", At::Exactly(asked)).await.unwrap_err();
        assert_eq!(error, ReadError::Compacted { asked, oldest: Revision::new(6) });
        assert!(matches!(
            engine.changes(KeyRange::all(), asked).await.map(drop),
            Err(ReadError::Compacted { .. })
        ));
    }
    for revision in 6..=10 {
        let found = content(&engine, At::Exactly(Revision::new(revision))).await;
        assert_eq!(found, pairs(&[("a", &(revision - 1).to_string())]));
    }
    // Again, backwards and beyond the head: harmless.
    engine.compact(Revision::new(6)).await.unwrap();
    engine.compact(Revision::new(2)).await.unwrap();
    engine.compact(Revision::new(99)).await.unwrap();
    assert_eq!(content(&engine, At::Latest).await, pairs(&[("a", "9")]));
    assert_eq!(content(&engine, At::Exactly(Revision::new(10))).await, pairs(&[("a", "9")]));
    assert_eq!(commit(&engine, [put("a", "x")]).await, Revision::new(11));
}

pub async fn the_future_is_not_readable(engine: Any) {
    let head = commit(&engine, [put("a", "1")]).await;
    let asked = head.next();
    let expected = ReadError::Future { asked, head };
    assert_eq!(engine.get(b"a", At::Exactly(asked)).await.unwrap_err(), expected);
    assert_eq!(engine.changes(KeyRange::all(), asked).await.map(drop).unwrap_err(), expected);
    engine.changes(KeyRange::all(), head).await.unwrap();
}

pub async fn a_read_after_a_commit_sees_it(engine: Any) {
    for number in 0..200 {
        let revision = commit(&engine, [put("a", &number.to_string())]).await;
        let entry = engine.get(b"a", At::Latest).await.unwrap().unwrap();
        assert_eq!((entry.revision, text(&entry.value)), (revision, number.to_string()));
        assert_eq!(engine.head().await.unwrap(), revision);
    }
}
