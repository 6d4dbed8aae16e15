//! Bytes to verbs and back: paths, queries, bodies, negotiation, answers.
//!
//! Everything that is HTTP is here and nothing of it in [`crate::api`]. What a verb means is not decided here.

mod aggregated;
mod audit;
mod auth;
mod body;
mod compress;
mod discovery;
mod feed_body;
mod health;
mod list_body;
mod metrics;
mod negotiate;
mod offers;
mod openapi;
mod path;
mod protobuf;
mod query;
mod repeated;
mod requests;
mod respond;
mod reviews;
mod scale;
mod table;
mod unserved;
mod watch_body;

pub use auth::{Authentication, Identity, TokenFileError, Tokens};
pub use metrics::{Durations, Metrics};
pub use requests::RequestLimits;

use std::sync::Arc;
use std::time::Instant;

use axum::Router;
use axum::body::Body;
use http::{Request, Response};

use crate::api::{Api, Failure};
use offers::Offers;
use requests::Permits;

/// What the server's HTTP side needs.
#[derive(Debug)]
pub struct App {
    api: Api,
    authentication: Authentication,
    metrics: Metrics,
    permits: Permits,
    offers: Offers,
}

impl App {
    /// The API behind it.
    pub fn api(&self) -> &Api {
        &self.api
    }

    /// The HTTP side of an API.
    pub fn new(api: Api, authentication: Authentication, limits: RequestLimits, metrics: Metrics) -> App {
        App { api, authentication, metrics, permits: Permits::new(limits), offers: Offers::default() }
    }
}

/// The server's side of HTTP as a service, for callers in this process and for tests.
pub fn router(app: App) -> Router {
    let app = Arc::new(app);
    Router::new().fallback(move |request: Request<Body>| {
        let app = app.clone();
        async move { answer(&app, request).await }
    })
}

/// Answers a request: the same for a socket and for callers in this process. A plain match, because everything but a
/// handful of paths depends on which kinds are served.
pub async fn answer(app: &Arc<App>, request: Request<Body>) -> Response<Body> {
    match request.uri().path() {
        "/healthz" | "/livez" => health::alive(),
        "/readyz" => health::ready(app).await,
        // Clients that were generated ask for it with a slash.
        "/version" | "/version/" => health::version(),
        "/metrics" => health::metrics(app, &request.into_parts().0),
        _ => resources(app, request).await,
    }
}

/// Everything under `/api`, `/apis` and `/openapi`, and whatever does not exist.
async fn resources(app: &Arc<App>, request: Request<Body>) -> Response<Body> {
    let started = Instant::now();
    let mut seen = metrics::Seen::default();
    let audit_id = audit::id(request.headers());
    let mut response = match requests::dispatch(app, request, &mut seen).await {
        Ok(response) => response,
        Err(failure) => refuse(&failure),
    };
    app.metrics.observe(&seen, response.status().as_u16(), started.elapsed());
    tracing::debug!(
        verb = seen.verb,
        resource = seen.resource,
        user = seen.user,
        code = response.status().as_u16(),
        micros = started.elapsed().as_micros() as u64,
        audit = audit_id.to_str().unwrap_or_default(),
        "request"
    );
    response.headers_mut().insert(audit::AUDIT_ID, audit_id);
    response
}

/// A refusal as an answer.
pub(crate) fn refuse(failure: &Failure) -> Response<Body> {
    if failure.0.code >= 500 {
        tracing::warn!(code = failure.0.code, message = failure.0.message, "a request failed");
    }
    respond::status(&failure.0)
}
