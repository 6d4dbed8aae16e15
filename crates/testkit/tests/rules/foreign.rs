//! On a server without anything that only we have.

use std::sync::Arc;

use serde_json::json;
use sexton_client::foreign::{BulkOptions, FeedOptions};
use sexton_client::{ForeignGateway, Resources};
use sexton_collector::Means;
use sexton_collector::hooks::Hooks;
use sexton_collector::rules::{Ask, Charge, accuse, scan};
use sexton_model::accusation::Accuser;
use sexton_model::rule::Targets;
use sexton_testkit::{Collecting, World};

use crate::common::*;

/// A plain server has none of our kinds and verbs, in discovery or anywhere.
#[tokio::test]
async fn a_plain_server_looks_like_any_other() {
    let world = World::plain().await;
    for path in ["/apis/sexton.dev", "/apis/sexton.dev/v1", RULES, "/apis/sexton.dev/v1/changes"] {
        assert_eq!(world.get(path).await.code, 404, "{path}");
    }
    assert_eq!(world.create("/apis/sexton.dev/v1/bulk", &json!({"items": []})).await.code, 404);
    let groups = world.get("/apis").await.document(200);
    assert!(!groups.to_string().contains("sexton"), "{groups}");
    world.get("configmaps").await.expect(200);
}

/// Orphans are found, accused and collected with nothing but the public API: absence is looked up with each write, and
/// the answer says that this is the weaker guarantee.
#[tokio::test]
async fn orphans_are_collected_there_as_well() {
    let world = World::plain().await;
    define(&world, true).await;
    gone(&world, "a").await;
    let new = cluster(&world, "a").await;
    equip(&world, "a", &new, "new").await;
    let resources = Resources::new(world.kube());
    let gateway = Arc::new(ForeignGateway::new(world.kube(), FeedOptions::default(), BulkOptions::default()));
    let means = Means {
        gateway: gateway.clone(),
        resources: resources.clone(),
        runner: Arc::new(Hooks::new()),
        clock: world.shared_nature(),
    };
    let _collector = Collecting::of(means, by_rules());
    let ask = Ask {
        kinds: Targets::All,
        selector: "rss-operator-managed=true".into(),
        namespaces: Vec::new(),
        min_age: 60,
        leftover: None,
        name: None,
        all: false,
    };
    let now = sexton_collector::Clock::now(world.nature());
    let found = scan(&resources, &ask, now).await.unwrap();
    let condemned: Vec<_> = found.condemned().collect();
    assert_eq!((condemned.len(), found.scope), (2, 4));
    let (by, collection) = ("sexton orphans".to_owned(), "orphans-test".to_owned());
    let charge = Charge { accuser: Accuser::Orphaned, by, collection, initiator: None };
    let done = accuse(&*gateway, None, &condemned, &charge).await.unwrap();
    assert_eq!((done.accused.len(), done.refused.len()), (2, 0), "{done:?}");
    assert!(done.weaker.is_some(), "{done:?}");
    left(&world, SETS, &["rss-a-new"]).await;
    left(&world, SERVICES, &["a-svc-new"]).await;
}

/// Where somebody defined our kinds, rules are kept there, too: orphans at every look (REQ-RSS-9), and leftovers when the
/// name is taken again (REQ-RSS-13, EXT-21).
#[tokio::test]
async fn rules_are_kept_there_if_they_are_defined() {
    let world = World::plain().await;
    define(&world, true).await;
    let any = json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true});
    let definition = json!({
        "metadata": {"name": "rules.sexton.dev"},
        "spec": {"group": "sexton.dev", "scope": "Cluster", "names": {"plural": "rules", "kind": "Rule"},
            "versions": [{"name": "v1", "served": true, "storage": true, "subresources": {"status": {}},
                "schema": {"openAPIV3Schema": any}}]},
    });
    world.create(sexton_testkit::things::DEFINITIONS, &definition).await.expect(201);
    gone(&world, "a").await;
    // Only a server of ours holds names.
    world.create(RULES, &leftover(json!({"on": ["create"], "hold": true}))).await.expect(201);
    let gateway = Arc::new(ForeignGateway::new(world.kube(), FeedOptions::default(), BulkOptions::default()));
    let means = Means {
        gateway,
        resources: Resources::new(world.kube()),
        runner: Arc::new(Hooks::new()),
        clock: world.shared_nature(),
    };
    let _collector = Collecting::of(means, by_rules());
    says(&world, |status| status["scope"] == 2).await;
    let new = cluster(&world, "a").await;
    equip(&world, "a", &new, "new").await;
    until(&world, CLUSTERS, |cluster| condition(cluster) == Some("True")).await;
    assert_eq!(names(&world, SETS).await, ["rss-a-new"]);
    assert_eq!(names(&world, SERVICES).await, ["a-svc-new"]);
    let mut orphans = orphaned(json!({}));
    orphans["metadata"]["name"] = json!("orphans");
    gone(&world, "b").await;
    world.create(RULES, &orphans).await.expect(201);
    left(&world, SETS, &["rss-a-new"]).await;
    left(&world, SERVICES, &["a-svc-new"]).await;
}
