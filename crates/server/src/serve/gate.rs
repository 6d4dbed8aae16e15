//! What stands between the sockets and the routes: closed while starting up, open while serving.

use std::convert::Infallible;
use std::sync::Arc;

use arc_swap::ArcSwapOption;
use axum::Router;
use axum::body::Body;
use http::{Request, Response};
use sexton_model::Status;
use tower::ServiceExt;

use crate::api::Api;
use crate::http::refuse;

/// A door that is opened once the routes are there. Cloning shares it.
#[derive(Debug, Clone, Default)]
pub struct Gate {
    behind: Arc<ArcSwapOption<(Router, Api)>>,
}

impl Gate {
    /// Lets requests through to the routes from now on.
    pub fn open(&self, router: Router, api: Api) {
        self.behind.store(Some(Arc::new((router, api))));
    }

    /// Ends what would never end by itself.
    pub(super) fn close(&self) {
        if let Some(behind) = self.behind.load().as_deref() {
            behind.1.end_watches();
        }
    }

    /// Answers a request.
    pub async fn answer(&self, request: Request<Body>) -> Result<Response<Body>, Infallible> {
        match self.behind.load().as_deref() {
            Some((router, _)) => router.clone().oneshot(request).await,
            None if matches!(request.uri().path(), "/livez" | "/healthz") => {
                Ok(Response::new(Body::from("ok")))
            }
            None => Ok(refuse(&Status::unavailable("the server is starting up").into())),
        }
    }
}
