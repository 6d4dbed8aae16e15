//! Large answers are compressed for those who say that they understand it, and for nobody else.

use std::io::Read as _;

use flate2::read::GzDecoder;
use http::Request;
use serde_json::{Value, json};
use sexton_testkit::World;
use sexton_testkit::call::Answer;
use tower::ServiceExt;

fn unpacked(answer: &Answer) -> Option<Value> {
    if answer.headers.get("content-encoding")? != "gzip" {
        return None;
    }
    assert!(answer.headers.get_all("vary").iter().any(|value| value == "Accept-Encoding"));
    let mut text = String::new();
    GzDecoder::new(answer.text.as_slice()).read_to_string(&mut text).unwrap();
    Some(serde_json::from_str(&text).unwrap())
}

#[tokio::test]
async fn large_lists_and_objects() {
    let world = World::new().await;
    world.fill("configmaps", 10_000).await;
    world.create("secrets", &json!({"metadata": {"name": "small"}})).await.expect(201);
    let large = json!({"metadata": {"name": "large"}, "data": {"a": "x".repeat(200 << 10)}});
    world.create("configmaps", &large).await.expect(201);
    let ask = async |path: &str, encoding: &str| {
        let call = world.call("GET", path).header("accept-encoding", encoding);
        call.send().await.expect(200)
    };
    for path in ["configmaps", "configmaps/large", "configmaps?limit=5000"] {
        let (plain, packed) = (ask(path, "identity").await, ask(path, "gzip").await);
        assert!(packed.text.len() * 5 < plain.text.len());
        assert_eq!(unpacked(&packed), Some(plain.json), "{path}");
    }
    // What is small, or was not asked for by name, is as it is.
    for (path, encoding) in [
        ("secrets", "gzip"),
        ("secrets/small", "gzip"),
        ("/apis", "gzip"),
        ("configmaps", "*"),
        ("configmaps", "gzip;q=0"),
    ] {
        let plain = ask(path, encoding).await;
        assert_eq!(unpacked(&plain), None, "{path} {encoding}");
        assert!(plain.json.is_object());
    }
}

/// What goes on is never held back by a compressor.
#[tokio::test]
async fn watches_are_not_compressed() {
    let world = World::new().await;
    world.fill("configmaps", 3000).await;
    for path in [
        "/api/v1/namespaces/default/configmaps?watch=1&resourceVersion=0&timeoutSeconds=1",
        "/apis/sexton.dev/v1/changes?timeoutSeconds=1",
    ] {
        let response = world.call("GET", path).header("accept-encoding", "gzip").raw().await;
        assert_eq!(response.headers().get("content-encoding"), None);
    }
}

/// Our own client reads answers as they are, and does not ask for anything else.
#[tokio::test]
async fn our_client_does_not_ask_for_it() {
    let world = World::new().await;
    let plain = |request: Request<kube::client::Body>| {
        assert_eq!(request.headers().get("accept-encoding"), None);
        request
    };
    let client = kube::Client::new(world.router().map_request(plain), "default");
    let kinds = sexton_client::kinds::Kinds::discover(&client).await.unwrap();
    assert!(kinds.resolve("configmaps").is_ok());
}
