//! Terms: what values carry, as guards and readers see it.

use std::sync::Arc;

use sexton_store::{CommitError, Engine, Op};

use crate::world::{absent, commit, delete, only_with, put, tag, tagged, try_commit, unused, used};

type Any = Arc<dyn Engine>;

pub async fn a_term_is_used_while_a_value_carries_it(engine: Any) {
    assert!(try_commit(&engine, [used("#x")], [put("c", "")]).await.is_err());
    try_commit(&engine, [unused("#x")], [put("a", "1 #x")]).await.unwrap();
    try_commit(&engine, [used("#x")], [put("c", "")]).await.unwrap();
    let refused = try_commit(&engine, [absent("b"), unused("#x")], [put("b", "#x")]).await;
    assert_eq!(refused, Err(CommitError::Conflict { guard: 1 }));
    commit(&engine, [put("b", "#x #y")]).await;
    commit(&engine, [delete("a")]).await;
    assert!(try_commit(&engine, [unused("#x")], [put("c", "")]).await.is_err());
    commit(&engine, [delete("b")]).await;
    try_commit(&engine, [unused("#x"), unused("#y")], [put("c", "")]).await.unwrap();
}

pub async fn replacing_and_removing_drop_terms(engine: Any) {
    commit(&engine, [put("a", "#x #y")]).await;
    commit(&engine, [put("a", "#y #z #z")]).await;
    assert_eq!((tagged(&engine, "#x").await, tagged(&engine, "#y").await), (vec![], vec!["a".to_owned()]));
    assert_eq!(tagged(&engine, "#z").await, ["a"]);
    // Several times within one commit.
    commit(&engine, [put("a", "#x"), delete("a"), put("a", "#w"), put("b", "#x"), delete("b")]).await;
    for word in ["#x", "#y", "#z"] {
        assert!(tagged(&engine, word).await.is_empty(), "{word}");
    }
    assert_eq!(tagged(&engine, "#w").await, ["a"]);
    commit(&engine, [delete("a"), delete("a")]).await;
    try_commit(&engine, [unused("#w"), unused("#x")], [put("c", "")]).await.unwrap();
}

pub async fn keys_of_a_term_come_in_order(engine: Any) {
    let ops: Vec<Op> = (0..50).rev().map(|number| put(&format!("k{number:02}"), "#x")).collect();
    commit(&engine, ops).await;
    assert_eq!(tagged(&engine, "#x").await.len(), 50);
    let first = engine.with_term(tag("#x"), 3).await.unwrap();
    assert_eq!(first.iter().map(|key| &key[..]).collect::<Vec<_>>(), [b"k00", b"k01", b"k02"]);
    assert!(engine.with_term(tag("#x"), 0).await.unwrap().is_empty());
    commit(&engine, [delete("k01")]).await;
    assert_eq!(tagged(&engine, "#x").await[..2], ["k00", "k02"]);
}

pub async fn some_users_of_a_term_are_excused(engine: Any) {
    let tries = async |guard| try_commit(&engine, [guard], []).await.is_ok();
    assert!(tries(only_with("#x", &[])).await && tries(only_with("#x", &["#a"])).await);
    commit(&engine, [put("a", "#a #x"), put("b", "#b #x")]).await;
    assert!(!tries(only_with("#x", &["#a"])).await);
    assert!(tries(only_with("#x", &["#a", "#b"])).await);
    assert!(tries(only_with("#x", &["#b", "#c", "#a"])).await);
    // Twice the same excuse is one.
    assert!(!tries(only_with("#x", &["#a", "#a"])).await);
    // Another value in the same place has no excuse.
    commit(&engine, [put("b", "#other #x")]).await;
    assert!(!tries(only_with("#x", &["#a", "#b"])).await);
    // What is already different in the same batch counts as it is by then.
    let transaction = |guards, ops| sexton_store::Transaction { guards, ops };
    let outcomes = engine
        .commit_all(vec![
            transaction(vec![], vec![put("b", "#b")]),
            transaction(vec![only_with("#x", &["#a"])], vec![delete("a")]),
            transaction(vec![only_with("#x", &["#a"])], vec![put("c", "#x")]),
            transaction(vec![only_with("#x", &["#a", "#b"])], vec![]),
        ])
        .await;
    assert_eq!(outcomes.iter().map(Result::is_ok).collect::<Vec<_>>(), [true, true, true, false]);
    // An excuse that came in the same batch is one, until it is gone again.
    let marked = || only_with("#life", &["#marked"]);
    commit(&engine, [put("life", "#life")]).await;
    let outcomes = engine
        .commit_all(vec![
            transaction(vec![marked()], vec![]),
            transaction(vec![], vec![put("life", "#life #marked")]),
            transaction(vec![marked()], vec![]),
            transaction(vec![], vec![put("life", "#life")]),
            transaction(vec![marked()], vec![]),
            transaction(vec![], vec![put("other", "#marked")]),
            transaction(vec![marked()], vec![]),
        ])
        .await;
    let held: Vec<bool> = outcomes.iter().map(Result::is_ok).collect();
    assert_eq!(held, [false, true, true, true, false, true, false]);
}

pub async fn guards_see_the_terms_of_earlier_transactions(engine: Any) {
    let transaction = |guard, op| sexton_store::Transaction { guards: vec![guard], ops: vec![op] };
    commit(&engine, [put("child", "#parent")]).await;
    let outcomes = engine
        .commit_all(vec![
            transaction(unused("#parent"), delete("parent")),
            transaction(unused("#child"), delete("child")),
            transaction(unused("#parent"), put("last", "#parent")),
            transaction(unused("#parent"), delete("last")),
        ])
        .await;
    let held: Vec<bool> = outcomes.iter().map(Result::is_ok).collect();
    assert_eq!(held, [false, true, true, false]);
    assert_eq!(tagged(&engine, "#parent").await, ["last"]);
}

pub async fn a_refused_commit_adds_no_terms(engine: Any) {
    commit(&engine, [put("a", "#x")]).await;
    try_commit(&engine, [absent("a")], [put("b", "#y"), delete("a")]).await.unwrap_err();
    assert_eq!((tagged(&engine, "#x").await, tagged(&engine, "#y").await), (vec!["a".to_owned()], vec![]));
}
