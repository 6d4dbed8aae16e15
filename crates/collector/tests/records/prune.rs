//! Old records are deleted, the oldest first, and never those of unfinished collections.

use std::time::Duration;

use serde_json::json;
use sexton_collector::records::{Keep, Pruned};
use sexton_model::collection::Phase;
use sexton_model::hook::ObjectRef;
use sexton_model::tombstone::Tombstone;
use sexton_testkit::World;
use sexton_testkit::nature::START;

use crate::{collection, names, records};

const DAY: i64 = 86_400;

async fn bury(world: &World, uid: &str) {
    let object = ObjectRef { kind: "Vm".into(), name: "a".into(), uid: uid.into(), ..ObjectRef::default() };
    let stone = Tombstone { object, ..Tombstone::default() };
    world.create("/apis/sexton.dev/v1/tombstones", &stone.document().unwrap()).await.expect(201);
}

#[tokio::test]
async fn only_so_many_are_kept() {
    let world = World::new().await.as_collector().await;
    let records = records(&world, Keep { collections: 2, tombstones: 3, ..Keep::default() });
    records.write(&collection("still-running", Phase::Running)).await.unwrap();
    records.write(&collection("still-held", Phase::Held)).await.unwrap();
    for number in 0..5 {
        // The names say nothing about the order.
        records.finish(&collection(&format!("c-{}", 9 - number), Phase::Done), START + number).await.unwrap();
        bury(&world, &format!("t-{}", 9 - number)).await;
    }
    let pruned = records.prune(START + 10).await.unwrap();
    assert_eq!(pruned, Pruned { collections: 3, tombstones: 2, more: false });
    assert_eq!(names(&world, "collections").await, ["c-5", "c-6", "still-held", "still-running"]);
    assert_eq!(names(&world, "tombstones").await, ["t-5", "t-6", "t-7"]);
    assert_eq!(records.prune(START + 10).await.unwrap(), Pruned::default());
}

#[tokio::test]
async fn nothing_is_kept_for_longer_than_a_week() {
    let world = World::new().await.as_collector().await;
    let records = records(&world, Keep::default());
    records.write(&collection("running", Phase::Running)).await.unwrap();
    records.finish(&collection("old", Phase::Done), START).await.unwrap();
    bury(&world, "old").await;
    world.nature().pass(DAY);
    records.finish(&collection("new", Phase::Cancelled), START + DAY).await.unwrap();
    bury(&world, "new").await;
    assert_eq!(records.prune(START + 7 * DAY).await.unwrap(), Pruned::default());
    let pruned = records.prune(START + 7 * DAY + 1).await.unwrap();
    assert_eq!(pruned, Pruned { collections: 1, tombstones: 1, more: false });
    assert_eq!(names(&world, "collections").await, ["new", "running"]);
    assert_eq!(names(&world, "tombstones").await, ["new"]);
}

#[tokio::test]
async fn much_is_taken_away_in_bounded_steps() {
    let world = World::new().await.as_collector().await;
    let keep = Keep { collections: 0, tombstones: 0, at_a_time: 4, ..Keep::default() };
    let records = records(&world, keep);
    for number in 0..5 {
        bury(&world, &format!("t-{number}")).await;
        records.finish(&collection(&format!("c-{number}"), Phase::Done), START).await.unwrap();
    }
    let steps = [(4, 0, true), (1, 3, true), (0, 2, false)];
    for (collections, tombstones, more) in steps {
        let pruned = records.prune(START).await.unwrap();
        assert_eq!(pruned, Pruned { collections, tombstones, more });
    }
}

#[tokio::test]
async fn what_cannot_be_understood_is_left_alone() {
    let world = World::new().await.as_collector().await;
    let keep = Keep { collections: 0, max_age: Duration::ZERO, ..Keep::default() };
    let records = records(&world, keep);
    let strange = json!({"metadata": {"name": "strange"}, "spec": {"from": "the future"}});
    world.create("/apis/sexton.dev/v1/collections", &strange).await.expect(201);
    assert_eq!(records.prune(START + DAY).await.unwrap(), Pruned::default());
    assert!(records.find("strange").await.is_err());
}
