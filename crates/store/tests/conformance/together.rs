//! Many transactions committed together.

use std::sync::Arc;

use sexton_store::{At, CommitError, Engine, Guard, KeyRange, Op, Revision, Transaction};

use crate::feeds::read_upto;
use crate::world::{absent, at, commit, content, delete, pairs, put, text};

type Any = Arc<dyn Engine>;

fn transaction(guards: impl Into<Vec<Guard>>, ops: impl Into<Vec<Op>>) -> Transaction {
    Transaction { guards: guards.into(), ops: ops.into() }
}

pub async fn each_stands_or_falls_alone(engine: Any) {
    let head = commit(&engine, [put("a", "1")]).await;
    let outcomes = engine
        .commit_all(vec![
            transaction([absent("a")], [put("b", "never")]),
            transaction([at("a", head)], [put("b", "2"), put("c", "3")]),
            transaction([at("c", head), absent("x")], [delete("a")]),
            transaction([], [delete("nothing")]),
        ])
        .await;
    let revisions: Vec<_> =
        outcomes.iter().map(|outcome| outcome.clone().map(|done| done.revision)).collect();
    let refused = || Err(CommitError::Conflict { guard: 0 });
    let second = Revision::new(head.get() + 2);
    assert_eq!(revisions, [refused(), Ok(second), refused(), Ok(second)]);
    assert_eq!(content(&engine, At::Latest).await, pairs(&[("a", "1"), ("b", "2"), ("c", "3")]));
}

pub async fn later_ones_see_what_earlier_ones_wrote(engine: Any) {
    let next = |number: u64| Revision::new(number);
    let outcomes = engine
        .commit_all(vec![
            transaction([absent("a")], [put("a", "1")]),
            transaction([absent("a")], [put("a", "never")]),
            transaction([at("a", next(1))], [put("a", "2")]),
            transaction([at("a", next(2))], [delete("a")]),
            transaction([absent("a")], [put("b", "end")]),
        ])
        .await;
    assert_eq!(outcomes.iter().map(Result::is_ok).collect::<Vec<_>>(), [true, false, true, true, true]);
    assert_eq!(content(&engine, At::Latest).await, pairs(&[("b", "end")]));
}

/// Asked for earlier is committed earlier, whoever waits for it first.
pub async fn who_asks_first_comes_first(engine: Any) {
    let step = |number: u64| {
        let guard = if number == 0 { absent("a") } else { at("a", Revision::new(number)) };
        vec![transaction([guard], [put("a", &number.to_string())])]
    };
    let mut under_way = Vec::new();
    for number in 0..20 {
        let mut asked = engine.commit_all(step(number));
        let early = match futures::poll!(&mut asked) {
            std::task::Poll::Ready(done) => Some(done),
            std::task::Poll::Pending => None,
        };
        under_way.push((asked, early));
    }
    for (asked, early) in under_way.into_iter().rev() {
        let done = if let Some(done) = early { done } else { asked.await };
        assert!(done.iter().all(Result::is_ok), "{done:?}");
    }
    assert_eq!(content(&engine, At::Latest).await, pairs(&[("a", "19")]));
}

/// Others write all the while; the revisions of one call are nevertheless without a gap, and no reader sees a part.
pub async fn nothing_comes_in_between(engine: Any) {
    const MEMBERS: usize = 3_000;
    let writer = |name: &'static str| {
        let engine = engine.clone();
        tokio::spawn(async move {
            for round in 0..3 {
                let put = |number| transaction([], [put(&format!("{name}{number:04}"), &round.to_string())]);
                let outcomes = engine.commit_all((0..MEMBERS).map(put).collect()).await;
                let revisions: Vec<u64> =
                    outcomes.into_iter().map(|done| done.unwrap().revision.get()).collect();
                assert!(revisions.windows(2).all(|pair| pair[1] == pair[0] + 1));
            }
        })
    };
    let writers = [writer("a"), writer("b")];
    while !writers.iter().all(|writer| writer.is_finished()) {
        let page = engine.range(&KeyRange::prefix("a"), At::Latest, None).await.unwrap();
        assert!([0, MEMBERS].contains(&page.entries.len()));
        assert!(page.entries.windows(2).all(|pair| pair[0].1.value == pair[1].1.value));
        tokio::task::yield_now().await;
    }
    for writer in writers {
        writer.await.unwrap();
    }
    let head = engine.head().await.unwrap();
    let mut feed = engine.changes(KeyRange::all(), Revision::NONE).await.unwrap();
    let changes = read_upto(&mut feed, head).await;
    let first: Vec<String> = changes.iter().map(|change| text(&change.key)[..1].to_owned()).collect();
    assert!(first.chunks(MEMBERS).all(|chunk| chunk.iter().all(|name| *name == chunk[0])));
}

pub async fn none_and_nothing(engine: Any) {
    assert!(engine.commit_all(Vec::new()).await.is_empty());
    assert_eq!(engine.commit_all(vec![Transaction::default()]).await.len(), 1);
    engine.close().await;
    let outcomes = engine.commit_all(vec![Transaction::default(); 3]).await;
    assert_eq!(outcomes, vec![Err(CommitError::Closed); 3]);
    assert!(engine.with_term(crate::world::tag("#x"), 1).await.is_err());
}
