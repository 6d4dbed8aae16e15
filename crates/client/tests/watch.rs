//! A watch loses nothing: not when a connection ends, and not when the server has forgotten the past.
#![allow(clippy::unwrap_used, reason = "a test may end so")]

use std::convert::Infallible;
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use futures::StreamExt;
use http::{Request, Response};
use http_body_util::Full;
use kube::client::Body;
use serde_json::{Value, json};
use sexton_client::connect::in_process;
use sexton_client::resources::{Event, WatchAsk};
use sexton_client::{Place, Resources, ServedKind};
use sexton_model::GroupResource;

/// What the server answers, one after the other: the words of the request that must be there, a code and a body.
type Script = Vec<(&'static str, u16, String)>;

fn resources(script: Script) -> Resources {
    let script = Arc::new(Mutex::new(script.into_iter()));
    Resources::new(in_process(tower::service_fn(move |request: Request<Body>| {
        let next = script.lock().unwrap().next();
        async move {
            let (words, code, body) = next.unwrap_or(("", 403, json!({"kind": "Status"}).to_string()));
            assert!(request.uri().to_string().contains(words), "{} has no {words}", request.uri());
            let response = Response::builder().status(code).body(Full::new(Bytes::from(body)));
            Ok::<_, Infallible>(response.unwrap())
        }
    })))
}

fn place() -> Place {
    let kind = ServedKind {
        resource: GroupResource::new("", "configmaps"),
        version: "v1".into(),
        preferred: true,
        kind: "ConfigMap".into(),
        singular: "configmap".into(),
        short_names: Vec::new(),
        categories: Vec::new(),
        namespaced: true,
        verbs: Vec::new(),
    };
    Place::new(&kind, Some("default"))
}

fn object(name: &str, uid: &str, version: u32) -> Value {
    json!({"kind": "ConfigMap", "apiVersion": "v1",
        "metadata": {"name": name, "namespace": "default", "uid": uid, "resourceVersion": version.to_string()}})
}

fn list(version: u32, items: &[Value]) -> String {
    let metadata = json!({"resourceVersion": version.to_string()});
    json!({"kind": "ConfigMapList", "apiVersion": "v1", "metadata": metadata, "items": items}).to_string()
}

fn line(word: &str, object: &Value) -> String {
    json!({"type": word, "object": object}).to_string() + "\n"
}

/// All events, as words.
async fn told(script: Script) -> Vec<String> {
    let mut events = resources(script).watch(place(), WatchAsk::default());
    let mut told = Vec::new();
    while let Some(Ok(event)) = events.next().await {
        told.push(match event {
            Event::Object { change, object, .. } => {
                format!("{} {}", change.word(), object["metadata"]["name"])
            }
            Event::Listed => "listed".into(),
            Event::Columns(_) => "columns".into(),
        });
    }
    told
}

#[tokio::test]
async fn a_watch_goes_on_from_the_last_version() {
    let gone =
        json!({"kind": "Status", "apiVersion": "v1", "status": "Failure", "message": "bye", "code": 403});
    let script = vec![
        ("configmaps?limit=500", 200, list(5, &[object("a", "1", 3)])),
        ("resourceVersion=5", 200, line("MODIFIED", &object("a", "1", 6)) + "{\"type\":\"ADD"),
        ("resourceVersion=6", 200, line("BOOKMARK", &json!({"metadata": {"resourceVersion": "9"}}))),
        ("resourceVersion=9", 200, line("DELETED", &object("a", "1", 10)) + &line("ERROR", &gone)),
    ];
    assert_eq!(told(script).await, ["ADDED \"a\"", "listed", "MODIFIED \"a\"", "DELETED \"a\""]);
}

#[tokio::test]
async fn what_was_missed_is_told_after_the_past_was_forgotten() {
    let expired =
        json!({"kind": "Status", "apiVersion": "v1", "reason": "Expired", "message": "too old", "code": 410});
    let before = [
        object("changed", "1", 1),
        object("gone", "2", 2),
        object("new-life", "3", 3),
        object("same", "4", 4),
    ];
    let after = [
        object("changed", "1", 8),
        object("came", "5", 9),
        object("new-life", "6", 7),
        object("same", "4", 4),
    ];
    let script = vec![
        ("limit=500", 200, list(5, &before)),
        ("resourceVersion=5", 410, expired.to_string()),
        ("limit=500", 200, list(9, &after)),
        (
            "resourceVersion=9",
            403,
            json!({"kind": "Status", "apiVersion": "v1", "message": "no", "code": 403}).to_string(),
        ),
    ];
    let told = told(script).await;
    assert_eq!(
        told[..5],
        ["ADDED \"changed\"", "ADDED \"gone\"", "ADDED \"new-life\"", "ADDED \"same\"", "listed"]
    );
    let missed = [
        "MODIFIED \"changed\"",
        "ADDED \"came\"",
        "DELETED \"new-life\"",
        "ADDED \"new-life\"",
        "DELETED \"gone\"",
    ];
    assert_eq!(told[5..], missed);
}
