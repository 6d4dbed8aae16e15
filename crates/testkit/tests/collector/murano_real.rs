//! The main steps once more with methods that are real: programs that write a file, and a service on this machine.

use std::path::Path;
use std::sync::{Arc, Mutex};

use axum::{Router, routing};
use serde_json::{Value, json};
use sexton_testkit::{Collecting, World};
use tempfile::TempDir;

use crate::common::{CLASSES, delete, hears, left, make, make_with, metadata};

/// Nobody needs so long, however busy the machine is.
const DEADLINE: u64 = 120;

/// A script that notes phase and name of the object, and then does what a test wants.
fn script(dir: &TempDir, then: &str) -> Value {
    let log = dir.path().join("log");
    let text = format!(
        "read -r call; \
         phase=$(printf %s \"$call\" | sed 's/.*\"phase\":\"\\([a-z]*\\)\".*/\\1/'); \
         echo \"$phase $SEXTON_IDEMPOTENCY_KEY\" >> '{}'; {then}",
        log.display()
    );
    json!({"exec": {"argv": ["/bin/sh", "-c", text]}, "deadlineSeconds": DEADLINE})
}

fn log(dir: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(dir.join("log")).unwrap_or_default();
    text.lines().map(|line| line.split(' ').next().unwrap().to_owned()).collect()
}

async fn class(world: &World, spec: Value) {
    let mut spec = spec;
    spec["for"] = json!({"kind": "ConfigMap"});
    world.create(CLASSES, &json!({"metadata": {"name": "cm"}, "spec": spec})).await.expect(201);
}

/// REQ-MUR-1, REQ-MUR-2, REQ-MUR-56, REQ-MUR-90: programs.
#[tokio::test]
async fn programs_are_run_in_order() {
    let (world, dir) = (World::new().await, tempfile::tempdir().unwrap());
    let done = script(&dir, "echo '{\"verdict\":\"done\",\"output\":\"freed\"}'");
    class(&world, json!({"destroy": done, "handlers": {"gone": script(&dir, "")}})).await;
    make_with(&world, "a", &[], hears(&["b"])).await;
    make(&world, "b", &[]).await;
    let mut collecting = Collecting::real(&world);
    delete(&world, "configmaps/b", "").await;
    collecting.settled(&world).await;
    assert_eq!(log(dir.path()), ["warning", "notifying", "destroying", "destroyed"]);
    assert_eq!(left(&world).await, ["a"]);
    let tombstone = world.get("/apis/sexton.dev/v1/tombstones").await.json["items"][0]["spec"].clone();
    assert_eq!(
        (&tombstone["outcome"], &tombstone["outputs"]["destroy"]),
        (&json!("destroyed"), &json!("freed"))
    );
}

/// EXT-25: a program that fails, that says nonsense, or that does not end in time has destroyed nothing.
#[tokio::test]
async fn programs_that_fail_destroy_nothing() {
    for (then, reason) in
        [("echo broken >&2; exit 3", "broken"), ("echo '{\"verdict\":\"perhaps\"}'", "verdict")]
    {
        assert_eq!(destroys_nothing(then, DEADLINE, reason).await, ["destroying"], "{then}");
    }
    // On a machine that is too busy for it to begin in time it is given more.
    for deadline in [1, 5, 25] {
        let noted = destroys_nothing("sleep 600", deadline, "second").await;
        if !noted.is_empty() {
            assert_eq!(noted, ["destroying"]);
            return;
        }
    }
    panic!("it never began");
}

/// Runs a destruction that fails for a reason; gives back what the program noted.
async fn destroys_nothing(then: &str, deadline: u64, reason: &str) -> Vec<String> {
    let (world, dir) = (World::new().await, tempfile::tempdir().unwrap());
    let mut method = script(&dir, then);
    method["deadlineSeconds"] = json!(deadline);
    class(&world, json!({"destroy": method, "retry": {"limit": 0}})).await;
    make(&world, "b", &[]).await;
    let mut collecting = Collecting::real(&world);
    delete(&world, "configmaps/b", "").await;
    let summary = collecting.until(|summary| !summary.blockers.is_empty()).await;
    let found = &summary.blockers[0].reason;
    assert!(found.contains("failed too often") && found.contains(reason), "{then}: {found}");
    assert_eq!(left(&world).await, ["b"]);
    assert!(metadata(&world, "b").await["annotations"]["sexton.dev/destroyed"].is_null());
    log(dir.path())
}

/// A service that answers from a list and remembers what it was told.
#[derive(Clone, Default)]
struct Service {
    told: Arc<Mutex<Vec<(String, String, String)>>>,
    answers: Arc<Mutex<Vec<Value>>>,
}

impl Service {
    async fn start(&self) -> String {
        let service = self.clone();
        let answer = move |headers: http::HeaderMap, body: String| async move {
            let call: Value = serde_json::from_str(&body).unwrap();
            let word = |name: &str| headers[name].to_str().unwrap().to_owned();
            let phase = call["phase"].as_str().unwrap().to_owned();
            service.told.lock().unwrap().push((phase, word("idempotency-key"), word("sexton-epoch")));
            let next = service.answers.lock().unwrap().pop();
            next.unwrap_or_else(|| json!({"verdict": "done"})).to_string()
        };
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/hook", listener.local_addr().unwrap());
        let routes = Router::new().route("/hook", routing::post(answer));
        tokio::spawn(async move { axum::serve(listener, routes).await.unwrap() });
        url
    }

    fn phases(&self) -> Vec<String> {
        self.told.lock().unwrap().iter().map(|(phase, _, _)| phase.clone()).collect()
    }
}

/// REQ-MUR-90, REQ-MUR-99: services.
#[tokio::test]
async fn services_are_called_in_order() {
    let (world, service) = (World::new().await, Service::default());
    let method = json!({"http": {"url": service.start().await}, "deadlineSeconds": DEADLINE});
    class(&world, json!({"destroy": method, "handlers": {"gone": method}})).await;
    make_with(&world, "a", &[], hears(&["b"])).await;
    make(&world, "b", &[]).await;
    let mut collecting = Collecting::real(&world);
    delete(&world, "configmaps/b", "").await;
    collecting.settled(&world).await;
    assert_eq!(service.phases(), ["warning", "notifying", "destroying", "destroyed"]);
    assert_eq!(left(&world).await, ["a"]);
    let told = service.told.lock().unwrap().clone();
    assert!(told.iter().all(|(_, key, epoch)| key.len() == 32 && epoch == "1"), "{told:?}");
}

/// REQ-MUR-92: a service that says no to an orphan's end saves it.
#[tokio::test]
async fn a_service_can_cancel() {
    let (world, service) = (World::new().await, Service::default());
    service.answers.lock().unwrap().push(json!({"verdict": "veto", "reason": "mine"}));
    let method = json!({"http": {"url": service.start().await}});
    class(&world, json!({"handlers": {"gone": method}})).await;
    make_with(&world, "a", &[], hears(&["b"])).await;
    make(&world, "b", &[("gone", "never-was")]).await;
    let mut collecting = Collecting::real(&world);
    collecting.settled(&world).await;
    assert_eq!(service.phases(), ["warning"]);
    assert!(metadata(&world, "b").await["deletionTimestamp"].is_null());
}

/// EXT-25: nobody at home is a failure that is repeated, and never a destruction.
#[tokio::test]
async fn a_service_that_is_down_is_asked_again() {
    let (world, service) = (World::new().await, Service::default());
    // A port that is given to nobody who asks for any: one that was free before may be somebody's by now.
    let nowhere = "http://127.0.0.1:1/hook";
    let method = |url: &str| json!({"http": {"url": url}, "deadlineSeconds": DEADLINE});
    class(&world, json!({"destroy": method(nowhere)})).await;
    make(&world, "b", &[]).await;
    let mut collecting = Collecting::real(&world);
    delete(&world, "configmaps/b", "").await;
    collecting.until(|summary| !summary.blockers.is_empty()).await;
    assert_eq!(left(&world).await, ["b"]);
    // It moved. The class says where, and the next attempt finds it.
    let moved = json!({"spec": {"destroy": method(&service.start().await)}});
    world.merge(&format!("{CLASSES}/cm"), &moved).await.expect(200);
    collecting.until(|summary| summary.doomed == 0 && summary.idle).await;
    assert_eq!(left(&world).await, Vec::<String>::new());
    assert_eq!(service.phases(), ["destroying"]);
}
