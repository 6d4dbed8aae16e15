//! What stands between the sockets and the API: closed while starting up, open while serving.

use std::convert::Infallible;
use std::sync::Arc;

use arc_swap::ArcSwapOption;
use axum::body::Body;
use http::{Request, Response};
use sexton_model::Status;

use crate::http::{App, answer, refuse};

/// A door that is opened once there is something to answer with. Cloning shares it.
#[derive(Debug, Clone, Default)]
pub struct Gate {
    behind: Arc<ArcSwapOption<App>>,
}

impl Gate {
    /// Lets requests through from now on.
    pub fn open(&self, app: App) {
        self.behind.store(Some(Arc::new(app)));
    }

    /// Ends what would never end by itself.
    pub(super) fn close(&self) {
        if let Some(app) = self.behind.load().as_deref() {
            app.api().end_watches();
        }
    }

    /// Answers a request.
    pub async fn answer(&self, request: Request<Body>) -> Result<Response<Body>, Infallible> {
        match self.behind.load_full() {
            Some(app) => Ok(answer(&app, request).await),
            None if matches!(request.uri().path(), "/livez" | "/healthz") => {
                Ok(Response::new(Body::from("ok")))
            }
            None => Ok(refuse(&Status::unavailable("the server is starting up").into())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::{Api, OwnerChecks, RealNature};
    use crate::http::{Authentication, Metrics, RequestLimits};
    use sexton_store::{Retention, Store, memory};

    async fn ask(gate: &Gate, path: &str) -> (u16, bool) {
        let request = Request::get(path).body(Body::empty()).unwrap();
        let response = gate.answer(request).await.unwrap();
        (response.status().as_u16(), response.headers().contains_key("retry-after"))
    }

    /// Every connection has room for the future of an answer, and every request moves it.
    #[tokio::test]
    async fn the_future_of_an_answer_is_small() {
        const MAX_BYTES: usize = 1_024;
        let gate = Gate::default();
        let request = Request::get("/api/v1/configmaps").body(Body::empty()).unwrap();
        let answer = gate.answer(request);
        assert!(size_of_val(&answer) <= MAX_BYTES, "{} bytes", size_of_val(&answer));
        assert_eq!(answer.await.unwrap().status(), 503);
    }

    /// While starting up the answer is 503 and when to come back, never 404: that would be taken for absence.
    #[tokio::test]
    async fn closed_means_later_not_never() {
        let gate = Gate::default();
        for path in ["/api/v1/namespaces/default/configmaps/a", "/apis", "/readyz", "/nonsense"] {
            assert_eq!(ask(&gate, path).await, (503, true), "{path}");
        }
        assert_eq!(ask(&gate, "/livez").await, (200, false));
        let store =
            Store::new(Arc::new(memory::open_indexed(Retention::default(), sexton_model::stored::terms)));
        let api = Api::open(store, Arc::new(RealNature), OwnerChecks::Warn).await.unwrap();
        let limits = RequestLimits::default();
        gate.open(App::new(api, Authentication::InProcess, limits, Metrics::default()));
        assert_eq!(ask(&gate, "/readyz").await, (200, false));
        assert_eq!(ask(&gate, "/api/v1/namespaces/default/configmaps/a").await, (404, false));
    }
}
