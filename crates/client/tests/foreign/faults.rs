//! A server in this process behind something that answers in its place, cuts streams, and keeps silent.

use std::sync::{Arc, Mutex};

use bytes::Bytes;
use futures::StreamExt;
use futures::stream::{self, BoxStream};
use http::{Method, Request, Response};
use http_body::Frame;
use http_body_util::{BodyExt, StreamBody};
use kube::client::Body;
use serde_json::{Value, json};
use sexton_client::connect::in_process;
use sexton_testkit::World;
use tokio::sync::watch;
use tower::{BoxError, ServiceExt};

/// What happens to a request instead of being served.
#[derive(Debug, Clone)]
pub(crate) enum Fault {
    /// This code, with a `Status` that says nothing about an object.
    Code(u16),
    /// This answer.
    Json(Value),
    /// No answer at all.
    Silence,
}

struct Rule {
    method: Option<Method>,
    /// All of these are in the URI; one that begins with `=` is the URI.
    words: Vec<String>,
    fault: Fault,
    /// How often it still happens.
    left: usize,
}

struct State {
    rules: Mutex<Vec<Rule>>,
    cuts: watch::Sender<u64>,
    /// Requests that nobody answers.
    unanswered: watch::Sender<u64>,
    /// Bodies of DELETE requests.
    deletes: Mutex<Vec<Value>>,
    /// Leave finalizers alone that only our own server knows.
    like_kubernetes: Mutex<bool>,
}

/// The layer, from outside.
#[derive(Clone)]
pub(crate) struct Faults(Arc<State>);

type Answer = Response<StreamBody<BoxStream<'static, Result<Frame<Bytes>, BoxError>>>>;

impl Faults {
    /// A client that reaches the world only through the layer.
    pub(crate) fn over(world: &World) -> (Faults, kube::Client) {
        let state = State {
            rules: Mutex::default(),
            cuts: watch::Sender::new(0),
            unanswered: watch::Sender::new(0),
            deletes: Mutex::default(),
            like_kubernetes: Mutex::default(),
        };
        let (faults, router) = (Faults(Arc::new(state)), world.router());
        let layer = faults.clone();
        let client = in_process(tower::service_fn(move |request: Request<Body>| {
            let (layer, router) = (layer.clone(), router.clone());
            async move {
                let uri = request.uri().to_string();
                let is_watch = uri.contains("watch=true");
                let answer = match layer.fault(request.method(), &uri) {
                    Some(Fault::Code(code)) => said(
                        code,
                        &json!({"kind": "Status", "apiVersion": "v1",
                        "status": "Failure", "message": format!("injected {code}"), "reason": "", "code": code}),
                    ),
                    Some(Fault::Json(value)) => said(200, &value),
                    Some(Fault::Silence) => {
                        layer.0.unanswered.send_modify(|count| *count += 1);
                        std::future::pending().await
                    }
                    None => {
                        let cut = layer.0.cuts.subscribe();
                        let request = layer.read(request).await;
                        layer.cuttable(router.oneshot(request).await.unwrap(), is_watch, cut)
                    }
                };
                Ok::<Answer, BoxError>(answer)
            }
        }));
        (faults, client)
    }

    /// From now on this happens to requests whose URI has all the words.
    pub(crate) fn on(&self, words: &[&str], fault: Fault) {
        self.times(usize::MAX, None, words, fault);
    }

    /// The next requests with this method whose URI has all the words.
    pub(crate) fn times(&self, left: usize, method: Option<Method>, words: &[&str], fault: Fault) {
        let words = words.iter().map(|word| (*word).to_owned()).collect();
        self.0.rules.lock().unwrap().push(Rule { method, words, fault, left });
    }

    /// Waits until there is a request that nobody answers.
    pub(crate) async fn fall_silent(&self) {
        self.0.unanswered.subscribe().wait_for(|count| *count > 0).await.unwrap();
    }

    /// No faults any more.
    pub(crate) fn heal(&self) {
        self.0.rules.lock().unwrap().clear();
    }

    /// Ends all watches, in the middle of a line.
    pub(crate) fn cut(&self) {
        self.0.cuts.send_modify(|cuts| *cuts += 1);
    }

    /// A deletion in the background leaves our cascade finalizer alone from now on, and names without a domain are not
    /// taken as finalizers.
    pub(crate) fn act_like_kubernetes(&self) {
        *self.0.like_kubernetes.lock().unwrap() = true;
    }

    /// The policies of all deletions, dry runs included.
    pub(crate) fn policies(&self) -> Vec<Value> {
        self.0.deletes.lock().unwrap().iter().map(|body| body["propagationPolicy"].clone()).collect()
    }

    fn fault(&self, method: &Method, uri: &str) -> Option<Fault> {
        let mut rules = self.0.rules.lock().unwrap();
        let rule = rules.iter_mut().find(|rule| {
            rule.left > 0
                && rule.method.as_ref().is_none_or(|wanted| wanted == method)
                && rule.words.iter().all(|word| is_in(word, uri))
        })?;
        rule.left -= 1;
        Some(rule.fault.clone())
    }

    async fn read(&self, request: Request<Body>) -> Request<Body> {
        let like_kubernetes = *self.0.like_kubernetes.lock().unwrap();
        if request.method() != Method::DELETE && (request.method() != Method::PATCH || !like_kubernetes) {
            return request;
        }
        let (parts, body) = request.into_parts();
        let bytes = body.collect().await.unwrap().to_bytes();
        if parts.method == Method::PATCH {
            let sent: Value = serde_json::from_slice(&bytes).unwrap();
            let finalizers = sent["metadata"]["finalizers"].as_array().into_iter().flatten();
            for finalizer in finalizers.filter_map(Value::as_str) {
                let standard = matches!(finalizer, "orphan" | "foregroundDeletion" | "kubernetes");
                assert!(standard || finalizer.contains('/'), "a Kubernetes does not take {finalizer:?}");
            }
            return Request::from_parts(parts, Body::from(bytes));
        }
        let mut sent: Value = serde_json::from_slice(&bytes).unwrap();
        self.0.deletes.lock().unwrap().push(sent.clone());
        if like_kubernetes && sent["propagationPolicy"] == "Background" {
            sent.as_object_mut().unwrap().remove("propagationPolicy");
        }
        Request::from_parts(parts, Body::from(sent.to_string().into_bytes()))
    }

    fn cuttable<B>(&self, answer: Response<B>, is_watch: bool, mut cut: watch::Receiver<u64>) -> Answer
    where
        B: http_body::Body<Data = Bytes, Error: Into<BoxError>> + Send + 'static,
    {
        cut.mark_unchanged();
        answer.map(|body| {
            let data = Box::pin(body).into_data_stream();
            let data = data.map(|chunk| chunk.map(Frame::data).map_err(Into::into));
            if !is_watch {
                return StreamBody::new(data.boxed());
            }
            let half = stream::iter([Ok(Frame::data(Bytes::from_static(b"{\"type\":\"ADD")))]);
            let cut = async move { cut.changed().await.is_ok() };
            StreamBody::new(data.take_until(Box::pin(cut)).chain(half).boxed())
        })
    }
}

fn said(code: u16, value: &Value) -> Answer {
    let frames = stream::iter([Ok(Frame::data(Bytes::from(format!("{value}\n"))))]);
    Response::builder().status(code).body(StreamBody::new(frames.boxed())).unwrap()
}

fn is_in(word: &str, uri: &str) -> bool {
    word.strip_prefix('=').map_or_else(|| uri.contains(word), |whole| uri == whole)
}
