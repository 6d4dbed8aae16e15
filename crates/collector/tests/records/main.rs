//! Records against a real server in this process.
#![allow(clippy::unwrap_used, reason = "a test may end so")]

mod prune;
mod write;

use sexton_client::Resources;
use sexton_collector::records::{Keep, Records};
use sexton_model::collection::{Collection, Phase, Progress, Spec, trigger};
use sexton_testkit::World;

fn records(world: &World, keep: Keep) -> Records {
    Records::new(Resources::new(world.kube()), keep)
}

fn collection(name: &str, phase: Phase) -> Collection {
    Collection {
        name: name.into(),
        spec: Spec {
            trigger: trigger::DELETE.into(),
            started_at: "2026-11-15T20:00:00Z".into(),
            ..Spec::default()
        },
        status: Progress { phase, ..Progress::default() },
    }
}

/// The names of all records of a kind.
async fn names(world: &World, plural: &str) -> Vec<String> {
    let list = world.get(&format!("/apis/sexton.dev/v1/{plural}")).await.document(200);
    let items = list["items"].as_array().unwrap().iter();
    items.map(|item| item["metadata"]["name"].as_str().unwrap().to_owned()).collect()
}
