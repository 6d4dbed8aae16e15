//! Hooks that hang, and calls that break off inside the collector: the hooks of other classes go on, and nothing stays under
//! way for ever.

use std::future::pending;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use serde_json::json;
use sexton_collector::Runner;
use sexton_collector::hooks::HookError;
use sexton_model::class::Method;
use sexton_model::hook::{Call, Verdict};
use sexton_testkit::collecting::quick;
use sexton_testkit::{Collecting, World};

use crate::common::{CLASSES, class, delete, left, make, pass};
use crate::murano::stage;

/// More than there are slots.
const HANGING: usize = 70;

async fn secret(world: &World, name: &str) {
    let document = json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": name}});
    world.create("secrets", &document).await.expect(201);
}

/// EXT-25: as many hooks of one class as there are slots, and more, hang; those of another class are called at once.
#[tokio::test]
async fn hanging_hooks_of_one_class_do_not_stop_another() {
    let (world, hooks) = stage().await;
    let method = json!({"exec": {"argv": ["/bin/true"]}});
    let spec = json!({"for": {"kind": "Secret"}, "destroy": method});
    world.create(CLASSES, &json!({"metadata": {"name": "secret"}, "spec": spec})).await.expect(201);
    for number in 0..HANGING {
        make(&world, &format!("hangs-{number}"), &[]).await;
        hooks.during(&format!("destroying destroy hangs-{number}"), pending());
    }
    secret(&world, "quick").await;
    let mut collecting = Collecting::scripted(&world, &hooks);
    for number in 0..HANGING {
        delete(&world, &format!("configmaps/hangs-{number}"), "").await;
    }
    collecting.until(|summary| summary.calls == HANGING).await;
    collecting.settled_but_for_calls(&world).await;
    let under_way = hooks.heard().len();
    assert!((1..HANGING).contains(&under_way), "{under_way} calls under way");
    delete(&world, "secrets/quick", "").await;
    hooks.called(under_way + 1).await;
    assert_eq!(hooks.heard().last().unwrap(), "destroying destroy quick");
    // And it comes to its end.
    collecting.until(|summary| summary.calls == HANGING).await;
}

/// A call that panics has failed: it is repeated after its pause, as its next attempt.
#[tokio::test]
async fn a_call_that_panics_is_a_failed_attempt() {
    let (world, hooks) = stage().await;
    make(&world, "a", &[]).await;
    hooks.during("destroying destroy a", async { panic!("a mistake of ours") });
    let mut collecting = Collecting::scripted(&world, &hooks);
    delete(&world, "configmaps/a", "").await;
    let summary = collecting.settled(&world).await;
    let reasons: Vec<&str> = summary.blockers.iter().map(|blocker| blocker.reason.as_str()).collect();
    let reason = "its destroy method failed: the call broke off inside the collector: a mistake of ours";
    assert_eq!(reasons, [reason]);
    assert_eq!(left(&world).await, ["a"]);
    pass(&world, 1).await;
    collecting.settled(&world).await;
    assert!(left(&world).await.is_empty());
    let attempts: Vec<u32> = hooks.calls().iter().map(|call| call.attempt).collect();
    assert_eq!(attempts, [1, 2]);
}

/// Says how long each call was allowed to take, and that this was not enough.
#[derive(Debug)]
struct TooSlow;

#[async_trait]
impl Runner for TooSlow {
    async fn call(&self, method: &Method, _: &Call) -> Result<Verdict, HookError> {
        Err(HookError::Deadline { after: method.deadline })
    }
}

/// A class may ask for a day; the collector allows what its operator says, and says so.
#[tokio::test]
async fn no_call_takes_longer_than_the_operator_allows() {
    let world = World::new().await;
    let method = json!({"exec": {"argv": ["/bin/true"]}, "deadlineSeconds": 86_400});
    class(&world, json!({"destroy": method})).await;
    make(&world, "a", &[]).await;
    let mut settings = quick("tests");
    settings.max_hook_time = Duration::from_secs(90);
    let mut collecting = Collecting::with(&world, settings, Arc::new(TooSlow));
    delete(&world, "configmaps/a", "").await;
    let summary = collecting.settled(&world).await;
    let reason = &summary.blockers[0].reason;
    assert!(reason.contains("no verdict within 90 seconds"), "{reason}");
    assert!(reason.contains("its class asks for 86400 seconds, and this collector allows 90"), "{reason}");
}
