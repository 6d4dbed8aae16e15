//! The feed over all kinds and the bulk verb, from the client's side: what the server says is what the caller hears.
#![allow(clippy::unwrap_used, reason = "a test may end so")]

use std::convert::Infallible;

use bytes::Bytes;
use futures::stream::{self, StreamExt};
use http::{Request, Response};
use http_body_util::{Full, StreamBody};
use kube::client::Body;
use serde_json::{Value, json};
use sexton_client::Resources;
use sexton_client::connect::in_process;
use sexton_client::resources::{BulkError, FeedError};
use sexton_model::Revision;
use sexton_model::bulk::{Bulk, Outcome};
use sexton_model::feed::Line;

/// A server that answers one request, which must contain these words.
fn server(words: &'static str, code: u16, body: String) -> Resources {
    Resources::new(in_process(tower::service_fn(move |request: Request<Body>| {
        let body = body.clone();
        async move {
            assert!(format!("{} {}", request.method(), request.uri()).contains(words), "{}", request.uri());
            let response = Response::builder().status(code).body(Full::new(Bytes::from(body)));
            Ok::<_, Infallible>(response.unwrap())
        }
    })))
}

fn refusal(code: u16, reason: &str) -> Value {
    json!({"kind": "Status", "apiVersion": "v1", "status": "Failure", "message": "no", "reason": reason, "code": code})
}

fn lines(values: &[Value]) -> String {
    values.iter().map(|value| value.to_string() + "\n").collect()
}

#[tokio::test]
async fn lines_are_told_until_the_server_ends() {
    let object = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "uid": "u", "resourceVersion": "8", "selfLink": "x"}});
    let body = lines(&[
        json!({"type": "KINDS", "kinds": [{"group": "", "version": "v1", "resource": "configmaps", "kind": "ConfigMap", "namespaced": true}]}),
        json!({"type": "DELETED", "resource": "configmaps", "object": object, "by": "ada"}),
        json!({"type": "BOOKMARK", "resourceVersion": "9"}),
    ]);
    let resources =
        server("GET /apis/sexton.dev/v1/changes?resourceVersion=7", 200, body + "{\"type\":\"BOO");
    let told: Vec<Line> =
        resources.changes(Some(Revision::new(7))).await.unwrap().map(Result::unwrap).collect().await;
    let [Line::Kinds { kinds }, Line::Deleted(deleted), Line::Bookmark { resource_version }] = &told[..]
    else {
        panic!("{told:?}")
    };
    assert!(kinds[0].served);
    assert_eq!((deleted.by.as_deref(), deleted.object.metadata.uid.as_str()), (Some("ada"), "u"));
    assert_eq!(resource_version, "9");
}

#[tokio::test]
async fn the_end_says_why() {
    let body = lines(&[
        json!({"type": "SYNCED", "resourceVersion": "3"}),
        json!({"type": "ERROR", "object": refusal(410, "Expired")}),
        json!({"type": "BOOKMARK", "resourceVersion": "9"}),
    ]);
    let told: Vec<_> = server("changes", 200, body).changes(None).await.unwrap().collect().await;
    assert!(matches!(&told[..], [Ok(Line::Synced { .. }), Err(FeedError::TooOld(_))]), "{told:?}");
    let told: Vec<_> = server("changes", 200, "{}\n".into()).changes(None).await.unwrap().collect().await;
    assert!(matches!(&told[..], [Err(FeedError::Strange(_))]), "{told:?}");
    for (code, reason) in [(410, "Expired"), (404, "NotFound"), (504, "Timeout")] {
        let resources = server("changes", code, refusal(code, reason).to_string());
        let error = resources.changes(None).await.err().unwrap();
        match code {
            410 => assert!(matches!(error, FeedError::TooOld(_))),
            404 => assert!(matches!(error, FeedError::NotServed)),
            _ => assert!(matches!(error, FeedError::Refused(status) if status.code == code)),
        }
    }
}

/// A server that says nothing any more is called dead, not waited for.
#[tokio::test(start_paused = true)]
async fn silence_is_an_error() {
    let resources = Resources::new(in_process(tower::service_fn(|_: Request<Body>| async {
        let first = Bytes::from_static(b"{\"type\":\"BOOKMARK\",\"resourceVersion\":\"1\"}\n");
        let frames =
            stream::iter([Ok::<_, Infallible>(http_body::Frame::data(first))]).chain(stream::pending());
        Ok::<_, Infallible>(Response::new(StreamBody::new(frames)))
    })));
    let told: Vec<_> = resources.changes(None).await.unwrap().collect().await;
    assert!(matches!(&told[..], [Ok(Line::Bookmark { .. }), Err(FeedError::Silent)]), "{told:?}");
}

fn bulk() -> Bulk {
    let action = json!({"delete": {"policy": "Background"}});
    let item =
        json!({"resource": "configmaps", "namespace": "default", "name": "a", "uid": "u", "action": action});
    serde_json::from_value(json!({"items": [item]})).unwrap()
}

#[tokio::test]
async fn a_bulk_has_a_result_for_each_item() {
    let one = json!({"code": 200, "outcome": "removed", "resourceVersion": "8"});
    let good = server("POST /apis/sexton.dev/v1/bulk", 200, json!({"items": [one]}).to_string());
    assert_eq!(good.bulk(&bulk()).await.unwrap().items[0].outcome, Some(Outcome::Removed));
    let short = server("bulk", 200, json!({"items": []}).to_string());
    assert!(matches!(short.bulk(&bulk()).await, Err(BulkError::Strange(_))));
    let stale = server("bulk", 409, refusal(409, "StaleEpoch").to_string());
    assert!(matches!(stale.bulk(&bulk()).await, Err(BulkError::StaleEpoch(_))));
    let other = server("bulk", 404, refusal(404, "NotFound").to_string());
    assert!(matches!(other.bulk(&bulk()).await, Err(BulkError::NotServed)));
}
