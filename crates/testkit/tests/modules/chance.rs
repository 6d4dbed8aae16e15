//! Deployments by chance: sealed ones, dry ones, parts, failed ones and dead ones, in any order. Whatever came before,
//! what is left after a sealed deployment and its sweep is what it put.

use std::collections::BTreeSet;

use proptest::collection::{btree_set, vec};
use proptest::prelude::*;
use sexton_collector::modules::Deployment;
use sexton_testkit::World;

use crate::common::*;

/// How a deployment goes.
#[derive(Debug, Clone, Copy)]
enum Way {
    Whole,
    Dry,
    /// Only the first document.
    Part,
    /// It dies in a write of this number, if it has so many.
    Dies(usize, Fate),
    /// A write of this number is refused.
    Fails(usize),
}

fn way() -> impl Strategy<Value = Way> {
    let dies = (1..16_usize, prop_oneof![Just(Fate::Hangs), Just(Fate::HangsAfter)]);
    prop_oneof![
        2 => Just(Way::Whole),
        1 => Just(Way::Dry),
        1 => Just(Way::Part),
        3 => dies.prop_map(|(number, fate)| Way::Dies(number, fate)),
        2 => (1..16_usize).prop_map(Way::Fails),
    ]
}

/// Deploys, one way or another. Nobody may be accused who was put, and nobody at all without a seal.
async fn deploy(world: &World, id: &str, names: &BTreeSet<u8>, way: Way) {
    let names: Vec<String> = names.iter().map(|name| format!("m{name}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let mut deployment = Deployment { allow_empty: true, ..shop(id, maps(&names)) };
    let line = match way {
        Way::Whole => Line::new(world, |_, _| Fate::Passes),
        Way::Dry => {
            deployment.dry_gc = true;
            Line::new(world, |_, _| Fate::Passes)
        }
        Way::Part => {
            deployment.only = Some(BTreeSet::from([0]));
            Line::new(world, |_, _| Fate::Passes)
        }
        Way::Dies(number, fate) => Line::at_write(world, number, fate),
        Way::Fails(number) => Line::at_write(world, number, Fate::Fails(503)),
    };
    let modules = over(world, line.client(), id).await;
    let plan = modules.plan(&deployment).await.unwrap();
    let before = accused(world).await;
    tokio::select! {
        _ = modules.deploy(&plan, &|_| ()) => {}
        () = line.hangs() => {}
    }
    let sealed = record_of(world).await == id;
    let new = |name: &&String| !before.contains(name) && names.contains(&name.as_str());
    assert!(!accused(world).await.iter().any(|name| new(&name)), "somebody was put and accused in one go");
    if !sealed || matches!(way, Way::Dry | Way::Part) {
        // A dry one takes back what was said before.
        let new = accused(world).await.into_iter().find(|name| !before.contains(name));
        assert_eq!(new, None, "{way:?}: swept without a seal");
    }
    // Whoever died leaves a lease behind.
    world.nature().pass(31);
}

async fn record_of(world: &World) -> String {
    let record = world.get("/apis/sexton.dev/v1/modules/shop").await;
    record.text_at("status.sealed.deploymentId").to_owned()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// REQ-CLD-5, REQ-CLD-6, REQ-CLD-24, EXT-2, EXT-3: whatever happened before, the next sealed deployment converges.
    #[test]
    fn whatever_came_before(
        rounds in vec((btree_set(0..6_u8, 0..5), way(), any::<bool>()), 0..6),
        last in btree_set(0..6_u8, 1..5),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let world = World::new().await;
            stray(&world, "bystander", serde_json::json!({})).await;
            for (number, (names, way, collects)) in rounds.into_iter().enumerate() {
                deploy(&world, &format!("d{number}"), &names, way).await;
                if collects {
                    collect(&world).await;
                }
            }
            deploy(&world, "last", &last, Way::Whole).await;
            collect(&world).await;
            let mut expected: Vec<String> = last.iter().map(|name| format!("m{name}")).collect();
            expected.insert(0, "bystander".into());
            assert_eq!(left(&world).await, expected);
        });
    }
}
