//! Lists come in pages, and survive that the server forgets their beginning.
#![allow(clippy::unwrap_used, reason = "a test may end so")]

use std::convert::Infallible;

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::Full;
use kube::client::Body;
use serde_json::{Value, json};
use sexton_client::connect::in_process;
use sexton_client::resources::ListAsk;
use sexton_client::{Kinds, Place, Resources};

/// A server with one kind, whose second page is always forgotten.
fn answer(uri: &str) -> (u16, Value) {
    let item = |name: &str| json!({"metadata": {"name": name}});
    if uri.contains("/configmaps") && uri.contains("continue=") {
        return (
            410,
            json!({"kind": "Status", "apiVersion": "v1", "reason": "Expired", "message": "old", "code": 410}),
        );
    }
    let page = json!({"kind": "ConfigMapList", "apiVersion": "v1", "metadata": {"continue": "t"}, "items": [item("a")]});
    let whole = json!({"kind": "ConfigMapList", "apiVersion": "v1", "metadata": {"resourceVersion": "7"}, "items": [item("a"), item("b")]});
    match uri {
        "/api" => (200, json!({"versions": ["v1"]})),
        "/apis" => (200, json!({"groups": [{"name": "down.example", "versions": [{"version": "v1"}]}]})),
        "/api/v1" => {
            let status = json!({"name": "configmaps/status", "kind": "ConfigMap"});
            let kind = json!({"name": "configmaps", "kind": "ConfigMap", "namespaced": true, "verbs": ["list"], "shortNames": ["cm"]});
            (200, json!({"resources": [kind, status]}))
        }
        uri if uri.contains("/configmaps") => (200, if uri.contains("limit=") { page } else { whole }),
        _ => (503, json!("upstream is down")),
    }
}

fn resources() -> Resources {
    Resources::new(in_process(tower::service_fn(|request: Request<Body>| async move {
        let (code, body) = answer(&request.uri().to_string());
        let response = Response::builder().status(code).body(Full::new(Bytes::from(body.to_string())));
        Ok::<_, Infallible>(response.unwrap())
    })))
}

#[tokio::test]
async fn a_list_that_expires_between_pages_is_read_again_in_one_piece() {
    let resources = resources();
    let kinds = Kinds::discover(resources.client()).await.unwrap();
    let place = Place::new(kinds.resolve("cm").unwrap(), Some("default"));
    let listed = resources.list(&place, &ListAsk::default()).await.unwrap();
    assert_eq!((listed.found.len(), listed.version.as_str(), listed.more), (2, "7", false));
    assert_eq!(listed.found[0]["kind"], "ConfigMap");
}

#[tokio::test]
async fn a_group_that_does_not_answer_hides_no_other() {
    let kinds = Kinds::discover(resources().client()).await.unwrap();
    assert_eq!(kinds.all.len(), 1);
    assert_eq!(kinds.unread[0].0, "down.example/v1");
}
