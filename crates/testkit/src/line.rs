//! A way to a server on which requests can be lost: before they arrive, or before they are answered.

use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::Body;
use http::{Request, Response};
use http_body_util::BodyExt;
use serde_json::json;
use tokio::sync::Notify;
use tower::ServiceExt;

use crate::World;

/// What happens to a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// It arrives, and is answered.
    Passes,
    /// It never arrives, and there is no answer.
    Hangs,
    /// It is carried out, and there is no answer.
    HangsAfter,
    /// It is refused.
    Fails(u16),
}

/// Asked about every request, with the number of writes so far.
type Judge = dyn Fn(&Request<()>, usize) -> Fate + Send + Sync;

/// A way to the server on which requests can be lost.
#[derive(Clone)]
pub struct Line {
    router: Router,
    judge: Arc<Judge>,
    writes: Arc<AtomicUsize>,
    hung: Arc<Notify>,
    seen: Arc<Mutex<Vec<String>>>,
    /// A word that is taken out of all real writes, as a webhook could.
    stripped: Option<&'static str>,
}

impl fmt::Debug for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Line").field("writes", &self.writes()).finish_non_exhaustive()
    }
}

impl Line {
    /// `judge` is asked about every request, with the number of writes so far, this one included. Dry runs are none.
    pub fn new(world: &World, judge: impl Fn(&Request<()>, usize) -> Fate + Send + Sync + 'static) -> Line {
        Line {
            router: world.router(),
            judge: Arc::new(judge),
            writes: Arc::default(),
            hung: Arc::default(),
            seen: Arc::default(),
            stripped: None,
        }
    }

    /// Whatever is called so never arrives in a real write.
    #[must_use]
    pub fn stripping(mut self, word: &'static str) -> Line {
        self.stripped = Some(word);
        self
    }

    /// The n-th write, counted from 1, meets this fate.
    pub fn at_write(world: &World, number: usize, fate: Fate) -> Line {
        Line::new(
            world,
            move |request, writes| {
                if is_write(request) && writes == number { fate } else { Fate::Passes }
            },
        )
    }

    /// A client whose requests go over it.
    pub fn client(&self) -> kube::Client {
        let line = self.clone();
        let service =
            tower::service_fn(move |request: Request<kube::client::Body>| line.clone().pass(request));
        kube::Client::new(service, "default")
    }

    /// Waits until a request hangs.
    pub async fn hangs(&self) {
        self.hung.notified().await;
    }

    /// How many writes there were.
    pub fn writes(&self) -> usize {
        self.writes.load(Ordering::SeqCst)
    }

    /// All requests, as method and path.
    ///
    /// # Panics
    /// If another thread of the test did.
    pub fn seen(&self) -> Vec<String> {
        self.seen.lock().unwrap().clone()
    }

    async fn pass(self, request: Request<kube::client::Body>) -> Result<Response<Body>, tower::BoxError> {
        let (parts, body) = request.into_parts();
        let asked = Request::from_parts(parts.clone(), ());
        self.seen.lock().unwrap().push(format!("{} {}", asked.method(), asked.uri()));
        let mut number = self.writes.load(Ordering::SeqCst);
        if is_write(&asked) {
            number = self.writes.fetch_add(1, Ordering::SeqCst) + 1;
        }
        let fate = (self.judge)(&asked, number);
        if let Fate::Fails(code) = fate {
            let status = json!({
                "kind": "Status", "apiVersion": "v1", "status": "Failure", "code": code,
                "reason": "Broken", "message": "the test broke it",
            });
            let body = Body::from(status.to_string());
            return Ok(Response::builder()
                .status(code)
                .header("content-type", "application/json")
                .body(body)?);
        }
        if fate == Fate::Hangs {
            self.hung.notify_one();
            std::future::pending::<()>().await;
        }
        let body = match self.stripped.filter(|_| is_write(&asked)) {
            Some(word) => {
                let bytes = body.collect().await?.to_bytes();
                Body::from(String::from_utf8_lossy(&bytes).replace(word, "stripped.example.com/x"))
            }
            None => Body::new(body),
        };
        let answer = self.router.clone().oneshot(Request::from_parts(parts, body)).await?;
        if fate == Fate::HangsAfter {
            self.hung.notify_one();
            std::future::pending::<()>().await;
        }
        Ok(answer)
    }
}

fn is_write(request: &Request<()>) -> bool {
    request.method() != "GET" && !request.uri().query().unwrap_or("").contains("dryRun=All")
}
