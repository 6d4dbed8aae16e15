//! What follows a deleted owner, by policy.

use sexton_testkit::{Collecting, World};

use crate::common::{delete, left, make};

async fn family(world: &World) {
    let root = make(world, "root", &[]).await;
    let a = make(world, "a", &[("root", &root)]).await;
    let b = make(world, "b", &[("root", &root)]).await;
    make(world, "leaf", &[("a", &a), ("b", &b)]).await;
    make(world, "other", &[]).await;
}

/// REQ-KRK-16: without a policy everything that depends on it goes, and it goes last.
#[tokio::test]
async fn without_a_policy_everybody_follows() {
    let world = World::new().await;
    family(&world).await;
    let mut collecting = Collecting::on(&world);
    assert_eq!(delete(&world, "configmaps/root", "").await, 200);
    let summary = collecting.settled(&world).await;
    assert_eq!(left(&world).await, ["other"], "{summary:#?}");
}

#[tokio::test]
async fn every_policy_ends() {
    for (policy, expected) in [
        ("Background", vec!["other"]),
        ("Foreground", vec!["other"]),
        ("Orphan", vec!["a", "b", "leaf", "other"]),
    ] {
        let world = World::new().await;
        family(&world).await;
        let mut collecting = Collecting::on(&world);
        collecting.settled(&world).await;
        delete(&world, "configmaps/root", policy).await;
        let summary = collecting.settled(&world).await;
        assert_eq!(left(&world).await, expected, "{policy} {summary:#?}");
    }
}
