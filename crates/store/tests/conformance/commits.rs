//! Commits: guards, atomicity, the order of revisions.

use std::sync::Arc;

use sexton_store::{At, CommitError, Engine, KeyRange, Op, ReadError, Revision};

use crate::world::{absent, at, commit, content, delete, empty, pairs, put, text, try_commit};

type Any = Arc<dyn Engine>;

pub async fn guard_at_a_revision(engine: Any) {
    let first = commit(&engine, [put("a", "1")]).await;
    let second = try_commit(&engine, [at("a", first)], [put("a", "2")]).await.unwrap();
    assert!(second > first);
    let late = try_commit(&engine, [at("a", first)], [put("a", "3")]).await;
    assert_eq!(late, Err(CommitError::Conflict { guard: 0 }));
    commit(&engine, [delete("a")]).await;
    let gone = try_commit(&engine, [at("a", second)], [put("a", "3")]).await;
    assert_eq!(gone, Err(CommitError::Conflict { guard: 0 }));
}

pub async fn guard_of_absence(engine: Any) {
    let first = try_commit(&engine, [absent("a")], [put("a", "1")]).await.unwrap();
    assert_eq!(first, Revision::new(1));
    let again = try_commit(&engine, [absent("a")], [put("a", "2")]).await;
    assert_eq!(again, Err(CommitError::Conflict { guard: 0 }));
    commit(&engine, [delete("a")]).await;
    try_commit(&engine, [absent("a")], [put("a", "3")]).await.unwrap();
}

pub async fn guard_of_an_empty_range(engine: Any) {
    try_commit(&engine, [empty("dir/")], [put("dir/a", "1")]).await.unwrap();
    let refused = try_commit(&engine, [empty("dir/")], [put("x", "1")]).await;
    assert_eq!(refused, Err(CommitError::Conflict { guard: 0 }));
    // Neighbours do not count.
    try_commit(&engine, [empty("dir/b")], [put("x", "1")]).await.unwrap();
    commit(&engine, [delete("dir/a")]).await;
    try_commit(&engine, [empty("dir/")], [put("x", "2")]).await.unwrap();
}

pub async fn a_refused_commit_writes_nothing(engine: Any) {
    let head = commit(&engine, [put("a", "1")]).await;
    let ops = [put("b", "2"), delete("a"), put("c", "3")];
    try_commit(&engine, [at("a", head), absent("a")], ops).await.unwrap_err();
    assert_eq!(engine.head().await.unwrap(), head);
    assert_eq!(content(&engine, At::Latest).await, pairs(&[("a", "1")]));
}

pub async fn the_first_failing_guard_is_named(engine: Any) {
    let head = commit(&engine, [put("a", "1")]).await;
    let guards = [at("a", head), absent("b"), absent("a"), empty("a")];
    assert_eq!(try_commit(&engine, guards, [put("b", "")]).await, Err(CommitError::Conflict { guard: 2 }));
}

pub async fn guards_see_the_state_before_the_commit(engine: Any) {
    try_commit(&engine, [absent("a"), empty("a")], [put("a", "1"), put("ab", "2")]).await.unwrap();
    assert_eq!(content(&engine, At::Latest).await, pairs(&[("a", "1"), ("ab", "2")]));
}

pub async fn operations_get_revisions_in_order(engine: Any) {
    let before = engine.head().await.unwrap();
    let last = commit(&engine, [put("z", "1"), put("a", "2"), put("m", "3")]).await;
    assert_eq!(last.get(), before.get() + 3);
    let mut found = Vec::new();
    for key in ["z", "a", "m"] {
        found.push(engine.get(key.as_bytes(), At::Latest).await.unwrap().unwrap().revision.get());
    }
    assert_eq!(found, [before.get() + 1, before.get() + 2, before.get() + 3]);
}

pub async fn one_key_may_change_several_times_in_a_commit(engine: Any) {
    let last = commit(&engine, [put("a", "1"), delete("a"), put("a", "2"), put("a", "3")]).await;
    assert_eq!(last, Revision::new(4));
    let entry = engine.get(b"a", At::Latest).await.unwrap().unwrap();
    assert_eq!((entry.revision, text(&entry.value)), (last, "3".into()));
    let between = engine.get(b"a", At::Exactly(Revision::new(2))).await.unwrap();
    assert_eq!(between, None);
}

pub async fn deleting_what_is_absent_has_no_revision(engine: Any) {
    let head = commit(&engine, [put("a", "1")]).await;
    assert_eq!(commit(&engine, [delete("b")]).await, head);
    assert_eq!(commit(&engine, [delete("b"), put("c", "1"), delete("d")]).await, head.next());
    assert_eq!(engine.head().await.unwrap(), head.next());
}

pub async fn an_empty_commit_speaks_of_the_head(engine: Any) {
    assert_eq!(commit(&engine, []).await, Revision::NONE);
    let head = commit(&engine, [put("a", "1")]).await;
    assert_eq!(try_commit(&engine, [at("a", head)], []).await, Ok(head));
}

pub async fn odd_keys_and_values_survive(engine: Any) {
    let keys: [&[u8]; 5] = [b"", b"\0", b"\0\0", b"\xff\xff", "ü/\u{1F480}".as_bytes()];
    for key in keys {
        let ops = vec![Op::Put { key: key.into(), value: key.repeat(3).into() }];
        engine.commit(sexton_store::Transaction { guards: vec![], ops }).await.unwrap();
    }
    let page = engine.range(&KeyRange::all(), At::Latest, None).await.unwrap();
    let mut expected: Vec<&[u8]> = keys.to_vec();
    expected.sort_unstable();
    let found: Vec<&[u8]> = page.entries.iter().map(|(key, _)| &key[..]).collect();
    assert_eq!(found, expected);
    assert!(page.entries.iter().all(|(key, entry)| entry.value[..] == key.repeat(3)));
    let large: Vec<u8> = (0..3_000_000_u32).map(|number| number as u8).collect();
    let ops = vec![Op::Put { key: b"large"[..].into(), value: large.clone().into() }];
    engine.commit(sexton_store::Transaction { guards: vec![], ops }).await.unwrap();
    assert_eq!(engine.get(b"large", At::Latest).await.unwrap().unwrap().value[..], large[..]);
}

pub async fn after_close_everything_is_refused(engine: Any) {
    commit(&engine, [put("a", "1")]).await;
    engine.close().await;
    assert_eq!(try_commit(&engine, [], [put("b", "")]).await, Err(CommitError::Closed));
    assert_eq!(engine.compact(Revision::new(1)).await, Err(CommitError::Closed));
    assert!(matches!(engine.get(b"a", At::Latest).await, Err(ReadError::Unavailable(_))));
    assert!(matches!(engine.head().await, Err(ReadError::Unavailable(_))));
    assert!(engine.changes(KeyRange::all(), Revision::NONE).await.is_err());
    engine.close().await;
}
