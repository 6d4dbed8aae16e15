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
mod flight;
mod flow;
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
mod seats;
mod table;
mod unserved;
mod watch_body;

pub use auth::{Authentication, Identity, TokenFileError, Tokens};
pub use metrics::{Durations, Metrics};
pub use seats::{Connection, RequestLimits};

use std::sync::Arc;
use std::time::Instant;

use axum::Router;
use axum::body::{Body, HttpBody as _};
use http::{Request, Response};

use crate::api::{Api, Failure};
use flight::Budget;
use offers::Offers;
use seats::Seats;

/// What the server's HTTP side needs.
#[derive(Debug)]
pub struct App {
    api: Api,
    authentication: Authentication,
    metrics: Metrics,
    seats: Seats,
    budget: Budget,
    offers: Offers,
}

impl App {
    /// The API behind it.
    pub fn api(&self) -> &Api {
        &self.api
    }

    /// The HTTP side of an API.
    pub fn new(api: Api, authentication: Authentication, limits: RequestLimits, metrics: Metrics) -> App {
        let (seats, budget) = (Seats::new(limits), Budget::default());
        seats.tell(&metrics);
        let read = budget.clone();
        let help = "Memory that large bodies and answers under way take, in bytes";
        metrics.gauge("bytes_in_flight", help, move || read.used() as i64);
        let flows = seats.flows.clone();
        let help = "Answers that were given up, because their clients stopped reading";
        metrics.counter("given_up_answers", help, move || flows.given_up());
        App { api, authentication, metrics, seats, budget, offers: Offers::default() }
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
        // Boxed: connections hold the future of their request in place, and would be some kilobytes larger each.
        _ => Box::pin(resources(app, request)).await,
    }
}

/// Everything under `/api`, `/apis` and `/openapi`, and whatever does not exist.
async fn resources(app: &Arc<App>, request: Request<Body>) -> Response<Body> {
    let started = Instant::now();
    let mut seen = metrics::Seen::default();
    let audit_id = audit::id(request.headers());
    let client = Client::of(&request);
    let mut response = match requests::dispatch(app, request, &mut seen).await {
        Ok(response) => charged(app, response, &seen, client),
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

/// What an answer needs to know of the client that it is for.
struct Client {
    version: http::Version,
    connection: Option<Connection>,
    unpacks: bool,
}

impl Client {
    fn of(request: &Request<Body>) -> Client {
        let connection = request.extensions().get::<Connection>().cloned();
        Client { version: request.version(), connection, unpacks: compress::wanted(request.headers()) }
    }
}

/// A large answer is charged until it is gone, and packed if it may be. What is served from one copy for all costs nothing.
fn charged(app: &App, response: Response<Body>, seen: &metrics::Seen, client: Client) -> Response<Body> {
    let bytes =
        response.body().size_hint().exact().and_then(|bytes| usize::try_from(bytes).ok()).unwrap_or(0);
    if bytes <= flight::LARGE_BYTES || seen.verb == "discover" {
        return response;
    }
    let mut charge = app.budget.begin();
    if let (Err(failure), "get") = (charge.grow(bytes), seen.verb) {
        // Of others: what is written is written, and to say something else about it would be wrong.
        return refuse(&failure);
    }
    let response = if client.unpacks && seen.verb == "get" { compress::large(response) } else { response };
    response.map(|body| app.seats.flows.watch(body, charge, client.version, client.connection))
}

/// A refusal as an answer.
pub(crate) fn refuse(failure: &Failure) -> Response<Body> {
    if failure.0.code >= 500 {
        tracing::warn!(code = failure.0.code, message = failure.0.message, "a request failed");
    }
    respond::status(&failure.0)
}
