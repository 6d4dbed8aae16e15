//! Short ways to deploy documents into a world, and to break what passes between a deployment and its server.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::Body;
use http::{Request, Response};
use http_body_util::BodyExt;
use serde_json::{Value, json};
use sexton_client::Resources;
use sexton_collector::modules::{
    DeployError, Deployed, Deployment, Event, ModulePlan, Modules, PlanError, Source, Tools,
};
use sexton_model::module::ModuleSpec;
use sexton_testkit::{Collecting, World};
use tokio::sync::Notify;
use tower::ServiceExt;

pub(crate) const ACCUSED: &str = "sexton.dev/accused";
pub(crate) const DEPLOYMENT: &str = "sexton.dev/deployment-id";
pub(crate) const ORDER: &str = "sexton.dev/dependency-order";
pub(crate) const MANAGER: &str = "sexton.dev/manager";

/// The modules of a world.
pub(crate) async fn modules(world: &World) -> Modules {
    over(world, world.kube(), "tests-1").await
}

/// The same for another process, over a client of its own.
pub(crate) async fn over(world: &World, client: kube::Client, holder: &str) -> Modules {
    let resources = Resources::new(client);
    let gateway = Arc::new(resources.clone());
    let clock = world.shared_nature();
    Modules::open(Tools { resources, gateway, clock, by: "ada".into(), holder: holder.into() }).await.unwrap()
}

/// ConfigMaps of these names as documents.
pub(crate) fn maps(names: &[&str]) -> Vec<Source> {
    sources(names.iter().map(|name| map(name)))
}

pub(crate) fn map(name: &str) -> Value {
    json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": {"k": "v"}})
}

/// Documents, each in a file of its own.
pub(crate) fn sources(documents: impl IntoIterator<Item = Value>) -> Vec<Source> {
    let source = |(at, value)| Source { origin: format!("file-{at}.yaml:1"), value };
    documents.into_iter().enumerate().map(source).collect()
}

/// A deployment of the module `shop`.
pub(crate) fn shop(id: &str, documents: Vec<Source>) -> Deployment {
    Deployment::new(ModuleSpec::new("shop"), id, documents)
}

pub(crate) async fn plan(world: &World, deployment: &Deployment) -> Result<ModulePlan, PlanError> {
    modules(world).await.plan(deployment).await
}

/// Plans and deploys.
pub(crate) async fn try_apply(world: &World, deployment: &Deployment) -> Result<Deployed, DeployError> {
    let modules = modules(world).await;
    let plan = modules.plan(deployment).await.unwrap();
    modules.deploy(&plan, &|_| ()).await
}

/// Plans and deploys, and it works.
pub(crate) async fn apply(world: &World, deployment: &Deployment) -> Deployed {
    try_apply(world, deployment).await.unwrap()
}

/// ConfigMaps of these names are deployed as the whole module.
pub(crate) async fn apply_maps(world: &World, id: &str, names: &[&str]) -> Deployed {
    apply(world, &shop(id, maps(names))).await
}

/// Lets a collector do what there is to do.
pub(crate) async fn collect(world: &World) {
    Collecting::on(world).settled(world).await;
}

/// The names of all ConfigMaps.
pub(crate) async fn left(world: &World) -> Vec<String> {
    let listed = world.get("configmaps").await;
    let items = listed.json["items"].as_array().unwrap();
    items.iter().map(|item| item["metadata"]["name"].as_str().unwrap().to_owned()).collect()
}

/// Those of them that are accused.
pub(crate) async fn accused(world: &World) -> Vec<String> {
    let listed = world.get("configmaps").await;
    let items = listed.json["items"].as_array().unwrap().clone();
    let accused = items.iter().filter(|item| item["metadata"]["annotations"][ACCUSED].is_string());
    accused.map(|item| item["metadata"]["name"].as_str().unwrap().to_owned()).collect()
}

pub(crate) async fn annotation(world: &World, name: &str, annotation: &str) -> String {
    let object = world.get(&format!("configmaps/{name}")).await.document(200);
    object["metadata"]["annotations"][annotation].as_str().unwrap_or("").to_owned()
}

/// A ConfigMap that carries marks that no deployment put there.
pub(crate) async fn stray(world: &World, name: &str, metadata: Value) {
    let mut document = map(name);
    for (field, value) in metadata.as_object().unwrap() {
        document["metadata"][field] = value.clone();
    }
    world.create("configmaps", &document).await.expect(201);
}

pub(crate) async fn record(world: &World, name: &str) -> Value {
    world.get(&format!("/apis/sexton.dev/v1/modules/{name}")).await.document(200)
}

/// What was told.
#[derive(Debug, Default)]
pub(crate) struct Heard(Mutex<Vec<Event>>);

impl Heard {
    pub(crate) fn hear(&self, event: Event) {
        self.0.lock().unwrap().push(event);
    }

    /// Each as its first word, puts with their object.
    pub(crate) fn words(&self) -> Vec<String> {
        let word = |event: &Event| match event {
            Event::Put { object, .. } => format!("put {object}"),
            Event::Failed(failure) => format!("failed {}", failure.object),
            Event::Locked { .. } => "locked".to_owned(),
            Event::Intended { .. } => "intended".to_owned(),
            Event::Sealed { .. } => "sealed".to_owned(),
            Event::Accused { done, .. } => format!("accused {done}"),
            Event::Renumbered { count } => format!("renumbered {count}"),
            Event::NotSwept { .. } => "not swept".to_owned(),
        };
        self.0.lock().unwrap().iter().map(word).collect()
    }
}

/// What happens to a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fate {
    Passes,
    /// It never arrives, and nobody answers.
    Hangs,
    /// It is carried out, and nobody answers.
    HangsAfter,
    /// It is refused.
    Fails(u16),
}

/// Asked about every request, with the number of writes so far.
type Judge = dyn Fn(&Request<()>, usize) -> Fate + Send + Sync;

/// A way to the server on which requests can be lost.
#[derive(Clone)]
pub(crate) struct Line {
    router: Router,
    judge: Arc<Judge>,
    writes: Arc<AtomicUsize>,
    hung: Arc<Notify>,
    seen: Arc<Mutex<Vec<String>>>,
    /// A word that is taken out of all real writes, as a webhook could.
    stripped: Option<&'static str>,
}

impl Line {
    /// `judge` is asked about every request, with the number of writes so far, this one included. Dry runs are none.
    pub(crate) fn new(
        world: &World,
        judge: impl Fn(&Request<()>, usize) -> Fate + Send + Sync + 'static,
    ) -> Line {
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
    pub(crate) fn stripping(mut self, word: &'static str) -> Line {
        self.stripped = Some(word);
        self
    }

    /// The n-th write, counted from 1, meets this fate.
    pub(crate) fn at_write(world: &World, number: usize, fate: Fate) -> Line {
        Line::new(
            world,
            move |request, writes| {
                if is_write(request) && writes == number { fate } else { Fate::Passes }
            },
        )
    }

    pub(crate) fn client(&self) -> kube::Client {
        let line = self.clone();
        let service =
            tower::service_fn(move |request: Request<kube::client::Body>| line.clone().pass(request));
        kube::Client::new(service, "default")
    }

    /// Waits until a request hangs.
    pub(crate) async fn hangs(&self) {
        self.hung.notified().await;
    }

    /// How many writes there were.
    pub(crate) fn writes(&self) -> usize {
        self.writes.load(Ordering::SeqCst)
    }

    /// All requests, as method and path.
    pub(crate) fn seen(&self) -> Vec<String> {
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
