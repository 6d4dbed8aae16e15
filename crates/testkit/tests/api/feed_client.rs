//! The feed as our own client reads it: what a follower believes is what is stored, across ends and gaps.

use std::collections::BTreeMap;
use std::sync::Arc;

use futures::StreamExt;
use serde_json::json;
use sexton_client::Resources;
use sexton_client::resources::FeedError;
use sexton_model::Revision;
use sexton_model::feed::{FeedObject, Line};
use sexton_testkit::World;
use sexton_testkit::things::config_map;

/// What a follower believes: revisions by uid, and how far it has come.
#[derive(Debug, Default)]
struct Belief {
    lives: BTreeMap<String, u64>,
    seen: Option<Revision>,
}

impl Belief {
    fn take(&mut self, line: Line) {
        let revision =
            |object: &FeedObject| -> Revision { object.object.metadata.resource_version.parse().unwrap() };
        match line {
            Line::Kinds { .. } => {}
            Line::Added(object) | Line::Modified(object) => {
                let revision = revision(&object);
                self.lives.insert(object.object.metadata.uid, revision.get());
                self.seen = self.seen.map(|seen| seen.max(revision));
            }
            Line::Deleted(object) => {
                self.seen = self.seen.map(|_| revision(&object));
                assert!(self.lives.remove(&object.object.metadata.uid).is_some(), "{object:?}");
            }
            Line::Synced { resource_version } | Line::Bookmark { resource_version } => {
                self.seen = Some(resource_version.parse().unwrap());
            }
            Line::Error { object } => panic!("{object}"),
        }
    }
}

/// EXT-19: a follower that is cut off again and again, and goes on from where it was, believes what is stored.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_follower_that_is_cut_off_misses_nothing() {
    let world = Arc::new(World::new().await);
    let writer = tokio::spawn({
        let world = world.clone();
        async move {
            for round in 0..120 {
                let name = format!("a{round}");
                world.create("configmaps", &config_map(&name)).await.expect(201);
                if round % 2 == 0 {
                    let path = format!("configmaps/{name}");
                    world.delete(&path, &json!({"propagationPolicy": "Background"})).await.expect(200);
                }
            }
        }
    });
    let resources = Resources::new(world.kube());
    let mut belief = Belief::default();
    // Each connection is dropped after a few lines, whatever is still in it.
    for _ in 0..20 {
        let mut lines = resources.changes(belief.seen).await.unwrap();
        let mut left = 7;
        while left > 0 || belief.seen.is_none() {
            belief.take(lines.next().await.unwrap().unwrap());
            left -= 1;
        }
    }
    writer.await.unwrap();
    let head = world.head().await;
    let mut lines = resources.changes(belief.seen).await.unwrap();
    while belief.seen.is_none_or(|seen| seen.get() < head) {
        belief.take(lines.next().await.unwrap().unwrap());
    }
    let mut stored: Vec<u64> = world.dump().await.iter().map(|(_, revision, _)| revision.get()).collect();
    let mut believed: Vec<u64> = belief.lives.into_values().collect();
    stored.sort_unstable();
    believed.sort_unstable();
    assert_eq!(believed, stored);
}

/// What the server forgot is an error of its own, so that a follower begins again.
#[tokio::test]
async fn a_forgotten_version_is_told_apart() {
    let world = World::new().await;
    world.compact().await;
    let resources = Resources::new(world.kube());
    assert!(matches!(resources.changes(Some(Revision::new(1))).await.err(), Some(FeedError::TooOld(_))));
    assert!(matches!(resources.changes(Some(Revision::new(9))).await.err(), Some(FeedError::Refused(_))));
}
