//! Is it alive, is it ready, what is it, how is it doing.

use axum::body::Body;
use http::request::Parts;
use http::{HeaderValue, Response};
use serde_json::json;

use super::{App, refuse, respond};

/// Alive: the process answers.
pub(super) fn alive() -> Response<Body> {
    let mut response = Response::new(Body::from("ok"));
    let kind = HeaderValue::from_static("text/plain; charset=utf-8");
    response.headers_mut().insert(http::header::CONTENT_TYPE, kind);
    response
}

/// Ready: the store can be read.
pub(super) async fn ready(app: &App) -> Response<Body> {
    match app.api.store().engine().head().await {
        Ok(_) => alive(),
        Err(error) => refuse(&error.into()),
    }
}

/// What kubectl wants to know first. The minor is that of the Kubernetes whose conventions are followed.
pub(super) fn version() -> Response<Body> {
    respond::value(
        200,
        &json!({
            "major": "1", "minor": "32", "gitVersion": format!("v1.32.0+sexton-{}", env!("CARGO_PKG_VERSION")),
            "gitCommit": "", "gitTreeState": "clean", "buildDate": "1970-01-01T00:00:00Z",
            "goVersion": "", "compiler": "rustc",
            "platform": format!("{}/{}", std::env::consts::OS, std::env::consts::ARCH),
        }),
    )
}

const OPEN_METRICS: &str = "application/openmetrics-text";

/// For requesters that may ask anything, because it tells what there is. OpenMetrics for clients that accept it.
pub(super) fn metrics(app: &App, parts: &Parts) -> Response<Body> {
    if let Err(failure) = app.authentication.check(parts) {
        return refuse(&failure);
    }
    let accept = parts.headers.get(http::header::ACCEPT).and_then(|accept| accept.to_str().ok());
    let (text, kind) = match accept.is_some_and(|accept| accept.contains(OPEN_METRICS)) {
        true => (
            app.metrics.open_metrics(),
            HeaderValue::from_static("application/openmetrics-text; version=1.0.0; charset=utf-8"),
        ),
        false => (app.metrics.text(), HeaderValue::from_static("text/plain; version=0.0.4; charset=utf-8")),
    };
    let mut response = Response::new(Body::from(text));
    response.headers_mut().insert(http::header::CONTENT_TYPE, kind);
    response
}
