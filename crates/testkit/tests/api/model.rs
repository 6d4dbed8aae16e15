//! The life of objects against a model small enough to be believed, in sixty lines.

use std::collections::BTreeMap;

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use serde_json::json;
use sexton_testkit::{Answer, World};

/// What somebody does.
#[derive(Debug, Clone)]
enum Step {
    Create(u8, Vec<u8>),
    /// Replaces the finalizers of others; those of policies stay where they are if the flag is set.
    Finalizers(u8, Vec<u8>, bool, bool),
    /// Writes data: a change that touches no finalizer.
    Touch(u8, u8),
    Delete(u8, Option<&'static str>, bool),
    Restart,
}

/// What should be there.
#[derive(Debug, Clone, PartialEq)]
struct Life {
    uid: String,
    finalizers: Vec<String>,
    marked: bool,
    data: u8,
}

/// The model: a map of lives. Each step says which code it must be answered with.
#[derive(Default)]
struct Model(BTreeMap<u8, Life>);

const POLICIES: [&str; 3] = ["cascade_deletion", "foregroundDeletion", "orphan"];

fn finalizers(marks: &[u8]) -> Vec<String> {
    let mut marks = marks.to_vec();
    marks.sort_unstable();
    marks.dedup();
    marks.iter().map(|mark| format!("example.com/f{mark}")).collect()
}

impl Model {
    fn create(&mut self, name: u8, marks: &[u8], uid: &str) -> u16 {
        if self.0.contains_key(&name) {
            return 409;
        }
        let life = Life { uid: uid.into(), finalizers: finalizers(marks), marked: false, data: 0 };
        self.0.insert(name, life);
        201
    }

    /// An update: refused if a marked object would gain a finalizer, a removal if it has none left.
    fn update(&mut self, name: u8, change: impl FnOnce(&mut Life)) -> u16 {
        let Some(life) = self.0.get_mut(&name) else { return 404 };
        let mut next = life.clone();
        change(&mut next);
        if life.marked && next.finalizers.iter().any(|finalizer| !life.finalizers.contains(finalizer)) {
            return 422;
        }
        if next.marked && next.finalizers.is_empty() {
            self.0.remove(&name);
        } else {
            *life = next;
        }
        200
    }

    fn delete(&mut self, name: u8, policy: Option<&str>, stale: bool) -> u16 {
        let Some(life) = self.0.get_mut(&name) else { return 404 };
        if stale {
            return 409;
        }
        let recorded =
            life.finalizers.iter().find(|finalizer| POLICIES.contains(&finalizer.as_str())).cloned();
        let wanted = match policy {
            Some("Background") => None,
            Some("Foreground") => Some("foregroundDeletion".to_owned()),
            Some("Orphan") => Some("orphan".to_owned()),
            _ => recorded.or(Some("cascade_deletion".to_owned())),
        };
        life.finalizers.retain(|name| !POLICIES.contains(&name.as_str()) || Some(name) == wanted.as_ref());
        life.finalizers.extend(wanted.filter(|wanted| !life.finalizers.contains(wanted)));
        life.marked = true;
        if life.finalizers.is_empty() {
            self.0.remove(&name);
        }
        200
    }
}

fn step() -> impl Strategy<Value = Step> {
    let name = 0..3_u8;
    let marks = proptest::collection::vec(0..3_u8, 0..3);
    let policy =
        prop_oneof![Just(None), Just(Some("Background")), Just(Some("Foreground")), Just(Some("Orphan"))];
    prop_oneof![
        4 => (name.clone(), marks.clone()).prop_map(|(name, marks)| Step::Create(name, marks)),
        5 => (name.clone(), marks, any::<bool>(), any::<bool>())
            .prop_map(|(name, marks, keep, put)| Step::Finalizers(name, marks, keep, put)),
        2 => (name.clone(), any::<u8>()).prop_map(|(name, data)| Step::Touch(name, data)),
        4 => (name, policy, prop::bool::weighted(0.2)).prop_map(|(name, policy, stale)| Step::Delete(name, policy, stale)),
        1 => Just(Step::Restart),
    ]
}

async fn finalizers_step(
    world: &World,
    model: &mut Model,
    name: u8,
    marks: &[u8],
    keep: bool,
    put: bool,
) -> (u16, Answer) {
    let kept = model.0.get(&name).map(|life| life.finalizers.clone()).unwrap_or_default();
    let mut wanted = finalizers(marks);
    wanted.extend(kept.into_iter().filter(|finalizer| keep && POLICIES.contains(&finalizer.as_str())));
    let path = format!("configmaps/n{name}");
    let answer = if put {
        let data = model.0.get(&name).map_or(0, |life| life.data);
        let body = json!({"metadata": {"name": format!("n{name}"), "finalizers": wanted}, "data": {"d": data.to_string()}});
        world.put(&path, &body).await
    } else {
        world.merge(&path, &json!({"metadata": {"finalizers": wanted}})).await
    };
    (model.update(name, |life| life.finalizers = wanted), answer)
}

async fn take(world: &World, model: &mut Model, step: &Step) {
    let path = |name: u8| format!("configmaps/n{name}");
    let (expected, answer) = match step {
        Step::Create(name, marks) => {
            let body = json!({"metadata": {"name": format!("n{name}"), "finalizers": finalizers(marks)}, "data": {"d": "0"}});
            let answer = world.create("configmaps", &body).await;
            (model.create(*name, marks, answer.text_at("metadata.uid")), answer)
        }
        Step::Finalizers(name, marks, keep, put) => {
            finalizers_step(world, model, *name, marks, *keep, *put).await
        }
        Step::Touch(name, data) => {
            let answer = world.merge(&path(*name), &json!({"data": {"d": data.to_string()}})).await;
            (model.update(*name, |life| life.data = *data), answer)
        }
        Step::Delete(name, policy, stale) => {
            let mut options = json!({});
            if let Some(policy) = policy {
                options["propagationPolicy"] = json!(policy);
            }
            if *stale {
                options["preconditions"] = json!({"uid": "uid-of-another-life"});
            }
            let answer = world.delete(&path(*name), &options).await;
            (model.delete(*name, *policy, *stale), answer)
        }
        Step::Restart => return,
    };
    assert_eq!(answer.code, expected, "{step:?}: {}", answer.json);
}

/// The present of the server as the model would say it.
async fn observe(world: &World) -> BTreeMap<u8, Life> {
    let listed = world.get("configmaps").await.expect(200);
    let life = |item: &serde_json::Value| {
        let metadata = &item["metadata"];
        let name = metadata["name"].as_str().unwrap()[1..].parse().unwrap();
        let list = metadata["finalizers"].as_array().cloned().unwrap_or_default();
        let finalizers = list.iter().map(|finalizer| finalizer.as_str().unwrap().to_owned()).collect();
        let life = Life {
            uid: metadata["uid"].as_str().unwrap().to_owned(),
            finalizers,
            marked: metadata["deletionTimestamp"].is_string(),
            data: item["data"]["d"].as_str().unwrap().parse().unwrap(),
        };
        (name, life)
    };
    listed.at("items").as_array().unwrap().iter().map(life).collect()
}

async fn case(steps: Vec<Step>, mut world: World, may_restart: bool) {
    let (mut model, mut head, mut uids) = (Model::default(), world.head().await, Vec::new());
    for step in &steps {
        if matches!(step, Step::Restart) && may_restart {
            world = world.restart().await;
        }
        let before = observe(&world).await;
        take(&world, &mut model, step).await;
        let after = observe(&world).await;
        assert_eq!(after, model.0, "after {step:?}");
        let now = world.head().await;
        assert_eq!(now > head, after != before, "versions grow exactly with changes: {step:?}");
        head = now;
        for (name, life) in &after {
            if before.get(name).is_none_or(|old| old.uid != life.uid) {
                assert!(!uids.contains(&life.uid), "a uid was given twice");
                uids.push(life.uid.clone());
            }
        }
    }
}

fn check(config: Config, embedded: bool) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let config = Config { failure_persistence: None, ..config };
    TestRunner::new(config)
        .run(&proptest::collection::vec(step(), 1..40), |steps| {
            runtime.block_on(async {
                let world = if embedded { World::embedded().await } else { World::new().await };
                case(steps, world, embedded).await;
            });
            Ok(())
        })
        .unwrap();
}

/// REQ-KRK-9, REQ-KRK-15, REQ-KRK-17, EXT-14, EXT-18: random lives follow the model.
#[test]
fn lives_follow_the_model() {
    check(Config::default(), false);
}

/// The same on disk, with restarts in between.
#[test]
fn lives_follow_the_model_across_restarts() {
    check(Config::with_cases(20), true);
}
