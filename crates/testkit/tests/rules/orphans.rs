//! The orphan scan: what it condemns, what it leaves alone, and how it tells.

use serde_json::{Value, json};
use sexton_client::Resources;
use sexton_collector::rules::{Ask, scan};
use sexton_lifecycle::rules::Verdict;
use sexton_model::rule::Targets;
use sexton_testkit::line::{Fate, Line};

use crate::common::*;

fn everything() -> Ask {
    Ask {
        kinds: Targets::All,
        selector: String::new(),
        namespaces: Vec::new(),
        min_age: 60,
        leftover: None,
        name: None,
        all: true,
    }
}

async fn service(world: &sexton_testkit::World, name: &str, owners: Value, annotations: Value) {
    let document = json!({"metadata": {"name": name, "ownerReferences": owners, "annotations": annotations,
        "labels": {"rss-operator-managed": "true"}}});
    world.create(SERVICES, &document).await.expect(201);
}

/// EXT-20: who has no owner is never touched, and neither is who is young, protected, owned, or in doubt.
#[tokio::test]
async fn only_proved_orphans_die() {
    let world = world().await;
    let living = cluster(&world, "alive").await;
    let (nobody, alive) = (reference("a", "nobody"), reference("alive", &living));
    let unknown = json!({"apiVersion": "nowhere.example.com/v1", "kind": "Thing", "name": "x", "uid": "y"});
    let wrong_kind = json!({"apiVersion": "v1", "kind": "ConfigMap", "name": "alive", "uid": living});
    service(&world, "orphan", json!([nobody]), json!({"sexton.dev/protect": "false"})).await;
    service(&world, "ownerless", json!([]), json!({})).await;
    service(&world, "owned", json!([nobody, alive]), json!({})).await;
    service(&world, "doubtful", json!([nobody, unknown]), json!({})).await;
    service(&world, "misled", json!([wrong_kind]), json!({})).await;
    service(&world, "protected", json!([nobody]), json!({"sexton.dev/protect": "true"})).await;
    world.nature().pass(120);
    service(&world, "young", json!([nobody]), json!({})).await;
    world.create(RULES, &orphaned(json!({}))).await.expect(201);
    let mut collector = collect(&world);
    left(&world, SERVICES, &["doubtful", "misled", "owned", "ownerless", "protected", "young"]).await;
    collector.settled(&world).await;
    let status = says(&world, |status| status["scope"] == 7).await;
    let wanted =
        json!({"orphan": 1, "unknown": 2, "tooYoung": 1, "protected": 1, "owned": 1, "ownerless": 1});
    assert_eq!(status["counts"], wanted);
    let of = |name: &str| {
        let found = status["found"].as_array().unwrap().iter();
        found
            .filter(|one| one["object"] == format!("service/{name}"))
            .map(|one| &one["verdict"])
            .next()
            .cloned()
    };
    assert_eq!((of("misled"), of("young")), (Some(json!("UNKNOWN")), Some(json!("TOO_YOUNG"))));
}

/// EXT-20: an owner that comes while the scan is under way is seen, because owners are looked at after what they own; and
/// an owner that comes after that stops the accusation, because its absence is asked for again with the write.
#[tokio::test]
async fn absence_is_proved_again_with_the_accusation() {
    let world = world().await;
    gone(&world, "a").await;
    let resources = Resources::new(world.kube());
    let now = sexton_collector::Clock::now(world.nature());
    let found = scan(&resources, &everything(), now).await.unwrap();
    let condemned: Vec<_> = found.condemned().collect();
    assert_eq!(condemned.len(), 2);
    // The dead do not come back; but whoever gives one of them another owner has saved it.
    let other = cluster(&world, "b").await;
    let saved = json!({"metadata": {"ownerReferences": [reference("b", &other)]}});
    world.merge("services/a-svc-old", &saved).await.expect(200);
    let charge = sexton_collector::rules::Charge {
        accuser: sexton_model::accusation::Accuser::Orphaned,
        by: "a test".into(),
        collection: "orphans-test".into(),
        initiator: None,
    };
    let done = sexton_collector::rules::accuse(&resources, None, &condemned, &charge).await.unwrap();
    assert_eq!((done.accused.len(), done.refused.len()), (1, 1), "{done:?}");
    assert!(done.refused[0].0.contains("service/a-svc-old"), "{done:?}");
}

/// EXT-22: a kind that cannot be asked for is told of, and the others are collected nevertheless.
#[tokio::test]
async fn one_kind_that_cannot_be_listed_does_not_keep_the_others() {
    let world = world().await;
    gone(&world, "a").await;
    let kinds = json!([{"group": "nowhere.example.com", "kind": "Thing"}, {"kind": "Service"}]);
    world.create(RULES, &orphaned(json!({"kinds": kinds}))).await.expect(201);
    let _collector = collect(&world);
    left(&world, SERVICES, &[]).await;
    let status = says(&world, |status| status["error"].is_string()).await;
    assert_eq!(status["error"], "the server does not serve Thing.nowhere.example.com");
    assert_eq!(names(&world, SETS).await, ["rss-a-old"], "that kind is not in the rule");
}

/// EXT-20: where the kind of the owners cannot be listed, no owner is known to be gone.
#[tokio::test]
async fn owners_that_cannot_be_listed_are_not_gone() {
    let world = world().await;
    gone(&world, "a").await;
    let now = sexton_collector::Clock::now(world.nature());
    let found = scan(&Resources::new(world.kube()), &everything(), now).await.unwrap();
    assert_eq!(found.condemned().count(), 2);
    for code in [403, 500] {
        let line = Line::new(&world, move |request, _| {
            let lists = request.uri().path().ends_with("/replicationclusters");
            if lists { Fate::Fails(code) } else { Fate::Passes }
        });
        let found = scan(&Resources::new(line.client()), &everything(), now).await.unwrap();
        assert_eq!(found.condemned().count(), 0, "{code}");
    }
}

/// EXT-23: the interval is validated, the first scan is at the start, and then one at every interval (REQ-RSS-18).
#[tokio::test]
async fn at_the_start_and_then_at_every_interval() {
    let world = world().await;
    let refused = world.create(RULES, &orphaned(json!({"interval": "0s"}))).await;
    assert_eq!(refused.code, 422);
    assert!(refused.json["message"].as_str().unwrap().contains("from 1s to 1d"), "{:?}", refused.json);
    world.create(RULES, &orphaned(json!({"interval": "5m"}))).await.expect(201);
    let _collector = collect(&world);
    let first = says(&world, |status| status["scope"] == 0).await;
    assert_eq!(first["nextScan"], "2026-11-15T20:05:00Z");
    equip(&world, "a", "nobody", "old").await;
    world.nature().pass(300);
    // The clock of this world stands still, so whoever sleeps until then has to be woken to look at it.
    world
        .merge(&format!("{RULES}/rss"), &json!({"metadata": {"labels": {"look": "again"}}}))
        .await
        .expect(200);
    let second = says(&world, |status| status["scope"] == 2).await;
    assert_eq!((&second["lastScan"], &second["counts"]["orphan"]), (&first["nextScan"], &json!(2)));
    assert_eq!(second["nextScan"], "2026-11-15T20:10:00Z");
    left(&world, SERVICES, &[]).await;
}

/// EXT-23: a rule that reports is a dry run: it tells, and nobody is touched.
#[tokio::test]
async fn a_report_touches_nobody() {
    let world = world().await;
    gone(&world, "a").await;
    world.create(RULES, &orphaned(json!({"mode": "report"}))).await.expect(201);
    let mut collector = collect(&world);
    let status = says(&world, |status| status["counts"]["orphan"] == 2).await;
    assert!(status["accused"].is_null());
    collector.settled(&world).await;
    for path in [format!("{SETS}/rss-a-old"), "services/a-svc-old".to_owned()] {
        let found = world.get(&path).await.document(200);
        assert!(found["metadata"]["annotations"]["sexton.dev/accused"].is_null(), "{found:#}");
    }
}

/// Too much at once is held, and it is said what to type; with another limit it is taken.
#[tokio::test]
async fn too_much_at_once_is_held() {
    let world = world().await;
    for number in 0..6 {
        gone(&world, &format!("c{number}")).await;
    }
    world.create(RULES, &orphaned(json!({}))).await.expect(201);
    let mut collector = collect(&world);
    let status = says(&world, |status| status["held"].is_string()).await;
    let held = status["held"].as_str().unwrap();
    assert!(held.starts_with("held: 12 of 12 would be destroyed"), "{held}");
    assert!(
        held.contains("sexton orphans --collect --kinds statefulset.apps,service -l 'rss-operator-managed=true' --max-delete 12"),
        "{held}"
    );
    collector.settled(&world).await;
    assert_eq!(names(&world, SETS).await.len(), 6);
    world.merge(&format!("{RULES}/rss"), &json!({"spec": {"maxDelete": "100%"}})).await.expect(200);
    left(&world, SETS, &[]).await;
    left(&world, SERVICES, &[]).await;
}

/// REQ-RSS-11: all kinds can be looked at, our own records excepted.
#[tokio::test]
async fn all_kinds_are_looked_at() {
    let world = world().await;
    gone(&world, "a").await;
    let resources = Resources::new(world.kube());
    let now = sexton_collector::Clock::now(world.nature());
    let found = scan(&resources, &everything(), now).await.unwrap();
    let orphans: Vec<String> = found.condemned().map(sexton_collector::rules::Found::label).collect();
    assert_eq!(orphans, ["service/a-svc-old", "statefulset.apps/rss-a-old"]);
    assert!(found.troubles.is_empty() && found.counts[&Verdict::Ownerless] >= 4, "{found:?}");
}
