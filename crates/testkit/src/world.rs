//! A world: engine, API and routes in this process.
//!
//! A new world holds the three permanent namespaces (`uid-1` to `uid-3`, versions 1 to 3), so the first object that a
//! test makes is `uid-4` with version 4.

use std::path::Path;
use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use http::{HeaderValue, Request};
use serde_json::{Value, json};
use sexton_model::lease::{COLLECTOR, COLLECTOR_NAMESPACE, LEASE_SECONDS, PROOF_DIGEST, PROOF_HEADER, Proof};
use sexton_model::stored;
use sexton_model::{Document, GroupResource, Key, Stored};
use sexton_server::api::{Api, OwnerChecks};
use sexton_server::http::{App, Authentication, Metrics, RequestLimits, router};
use sexton_store::engine::{Op, Transaction};
use sexton_store::{At, Engine, KeyRange, Retention, Revision, Store, embedded, memory};
use tempfile::TempDir;

use crate::call::{Answer, Call};
use crate::nature::FixedNature;
use crate::watch::Watch;

/// The first version that a test's own writes can get is one more than this.
pub const FIRST_FREE: u64 = 4;

/// An API in this process.
#[derive(Debug)]
pub struct World {
    nature: Arc<FixedNature>,
    engine: Arc<dyn Engine>,
    api: Api,
    router: Router,
    checks: OwnerChecks,
    limits: RequestLimits,
    /// The directory of the embedded engine; gone with the world.
    dir: Option<TempDir>,
}

impl World {
    /// A world in memory.
    pub async fn new() -> World {
        World::with(OwnerChecks::Warn, RequestLimits::default()).await
    }

    /// A world in memory that refuses references to owners that do not live.
    pub async fn strict() -> World {
        World::with(OwnerChecks::Strict, RequestLimits::default()).await
    }

    /// A world in memory with rules of its own.
    pub async fn with(checks: OwnerChecks, limits: RequestLimits) -> World {
        let engine = Arc::new(memory::open_indexed(Retention::default(), stored::terms));
        World::on(engine, None, Arc::default(), checks, limits).await
    }

    /// A world in memory that looks like any Kubernetes: nothing in it that only we have.
    pub async fn plain() -> World {
        let engine: Arc<dyn Engine> = Arc::new(memory::open_indexed(Retention::default(), stored::terms));
        let (nature, checks) = (Arc::<FixedNature>::default(), OwnerChecks::Warn);
        let api = Api::open_plain(Store::new(engine.clone()), nature.clone(), checks).await.unwrap();
        World::around(engine, api, None, nature, checks, RequestLimits::default())
    }

    /// A world on disk.
    pub async fn embedded() -> World {
        let dir = tempfile::tempdir().unwrap();
        let engine = open(dir.path());
        World::on(engine, Some(dir), Arc::default(), OwnerChecks::Warn, RequestLimits::default()).await
    }

    /// A world on disk in a directory of the test, which stays.
    pub async fn embedded_in(dir: &Path) -> World {
        World::on(open(dir), None, Arc::default(), OwnerChecks::Warn, RequestLimits::default()).await
    }

    pub(crate) async fn on(
        engine: Arc<dyn Engine>,
        dir: Option<TempDir>,
        nature: Arc<FixedNature>,
        checks: OwnerChecks,
        limits: RequestLimits,
    ) -> World {
        let api = Api::open(Store::new(engine.clone()), nature.clone(), checks).await.unwrap();
        World::around(engine, api, dir, nature, checks, limits)
    }

    fn around(
        engine: Arc<dyn Engine>,
        api: Api,
        dir: Option<TempDir>,
        nature: Arc<FixedNature>,
        checks: OwnerChecks,
        limits: RequestLimits,
    ) -> World {
        let app = App::new(api.clone(), Authentication::InProcess, limits, Metrics::default());
        World { nature, engine, api, router: router(app), checks, limits, dir }
    }

    /// Ends the server and starts another on the same directory.
    pub async fn restart(self) -> World {
        let World { nature, engine, dir, checks, limits, .. } = self;
        engine.close().await;
        let dir = dir.expect("only a world on disk can be restarted");
        let engine = open(dir.path());
        World::on(engine, Some(dir), nature, checks, limits).await
    }

    /// Time and chance, for a caller that keeps them.
    pub fn shared_nature(&self) -> Arc<FixedNature> {
        self.nature.clone()
    }

    /// Time and chance.
    pub fn nature(&self) -> &FixedNature {
        &self.nature
    }

    /// The verbs.
    pub fn api(&self) -> &Api {
        &self.api
    }

    /// The routes, for clients that bring their own way of calling.
    pub fn router(&self) -> Router {
        self.router.clone()
    }

    /// A client of another make on these routes.
    pub fn kube(&self) -> kube::Client {
        kube::Client::new(self.router(), "default")
    }

    /// The same world as a client of another process sees it.
    pub fn outside(&self) -> World {
        let (api, limits) = (self.api.clone(), self.limits);
        let app = App::new(api.clone(), Authentication::LoopbackOpen, limits, Metrics::default());
        let (nature, engine, checks) = (self.nature.clone(), self.engine.clone(), self.checks);
        World { nature, engine, api, router: router(app), checks, limits, dir: None }
    }

    /// The same world as the collector sees it: takes the lease, and each request proves it.
    pub async fn as_collector(&self) -> World {
        let epoch = self.collector_epoch().await;
        let proof: HeaderValue = epoch["proof"].as_str().unwrap().parse().unwrap();
        let prove = move |mut request: Request<Body>| {
            request.headers_mut().insert(PROOF_HEADER, proof.clone());
            std::future::ready(request)
        };
        let router = self.router().layer(axum::middleware::map_request(prove));
        let (nature, engine, api) = (self.nature.clone(), self.engine.clone(), self.api.clone());
        World { nature, engine, api, router, checks: self.checks, limits: self.limits, dir: None }
    }

    /// Takes the collector's lease away from its holder. Gives the epoch under which a bulk request is the collector's.
    pub async fn collector_epoch(&self) -> Value {
        const LEASES: &str = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases";
        let (proof, path) = (Proof::new("a secret of the tests"), format!("{LEASES}/{COLLECTOR}"));
        let held = self.get(&path).await;
        let transitions = held.json["spec"]["leaseTransitions"].as_i64().unwrap_or(0) + 1;
        let annotations = json!({PROOF_DIGEST: proof.digest()});
        let lease = json!({
            "metadata": {"name": COLLECTOR, "annotations": annotations},
            "spec": {"holderIdentity": "tests", "leaseTransitions": transitions, "leaseDurationSeconds": LEASE_SECONDS},
        });
        match held.code {
            404 => self.create(LEASES, &lease).await.expect(201),
            _ => self.merge(&path, &lease).await.expect(200),
        };
        json!({"namespace": COLLECTOR_NAMESPACE, "name": COLLECTOR, "holder": "tests",
            "transitions": transitions, "proof": proof.secret()})
    }

    /// Sets annotations of an object in `default`, past the API: what a collector wrote under its lease.
    pub async fn annotate(&self, plural: &str, name: &str, annotations: &[(&str, &str)]) {
        let kind = GroupResource::new("", plural);
        let key = Key { kind, namespace: "default".into(), name: name.to_owned() };
        let object = self.api.store().get(&key, At::Latest).await.unwrap().unwrap();
        let mut document = object.document().unwrap();
        for (name, value) in annotations {
            document.set_annotation(name, value);
        }
        let put = Op::Put { key: key.encode().into(), value: Stored::encode(&document).bytes().clone() };
        self.engine.commit(Transaction { guards: Vec::new(), ops: vec![put] }).await.unwrap();
    }

    /// The newest version.
    pub async fn head(&self) -> u64 {
        self.engine.head().await.unwrap().get()
    }

    /// Closes the store under the running server.
    pub async fn close_store(&self) {
        self.engine.close().await;
    }

    /// Forgets all history up to now.
    pub async fn compact(&self) {
        let head = self.engine.head().await.unwrap();
        self.engine.compact(head).await.unwrap();
    }

    /// Puts many objects of a core kind into the namespace `default`, past the API: a large world in little time.
    pub async fn fill(&self, plural: &str, count: usize) {
        let metadata =
            json!({"namespace": "default", "managedFields": [{"manager": "fill", "fieldsV1": {}}]});
        let mut document =
            Document::from_value(json!({"apiVersion": "v1", "kind": "Thing", "metadata": metadata})).unwrap();
        for chunk in (0..count).collect::<Vec<usize>>().chunks(5000) {
            let ops = chunk.iter().map(|number| {
                let (name, uid) = (format!("fill-{number:07}"), format!("fill-{plural}-{number}"));
                let key = Key {
                    kind: GroupResource::new("", plural),
                    namespace: "default".into(),
                    name: name.clone(),
                };
                document.set_or_remove("name", Some(name.into()));
                document.set_or_remove("uid", Some(uid.into()));
                Op::Put { key: key.encode().into(), value: Stored::encode(&document).bytes().clone() }
            });
            self.engine.commit(Transaction { guards: Vec::new(), ops: ops.collect() }).await.unwrap();
        }
    }

    /// Puts whole documents of a core kind into the namespace `default`, past the API: uids and owners are as they say.
    pub async fn fill_documents(&self, plural: &str, documents: impl IntoIterator<Item = Value>) {
        let mut ops = Vec::new();
        for mut document in documents {
            document["metadata"]["namespace"] = json!("default");
            let name = document["metadata"]["name"].as_str().unwrap().to_owned();
            let key = Key { kind: GroupResource::new("", plural), namespace: "default".into(), name };
            let value = Stored::encode(&Document::from_value(document).unwrap()).bytes().clone();
            ops.push(Op::Put { key: key.encode().into(), value });
            if ops.len() == 5000 {
                let ops = std::mem::take(&mut ops);
                self.engine.commit(Transaction { guards: Vec::new(), ops }).await.unwrap();
            }
        }
        self.engine.commit(Transaction { guards: Vec::new(), ops }).await.unwrap();
    }

    /// Everything that is stored, byte for byte: what a dry run must not change.
    pub async fn dump(&self) -> Vec<(Vec<u8>, Revision, Vec<u8>)> {
        let page = self.engine.range(&KeyRange::all(), At::Latest, None).await.unwrap();
        let entries = page.entries.into_iter();
        entries.map(|(key, entry)| (key.to_vec(), entry.revision, entry.value.to_vec())).collect()
    }

    /// Begins a request. A path without a leading slash is a core kind in the namespace `default`.
    pub fn call(&self, method: &str, path: &str) -> Call {
        Call::new(self.router(), method, path)
    }

    /// GET.
    pub async fn get(&self, path: &str) -> Answer {
        self.call("GET", path).send().await
    }

    /// POST of a document.
    pub async fn create(&self, path: &str, document: &Value) -> Answer {
        self.call("POST", path).json(document).send().await
    }

    /// PUT of a document.
    pub async fn put(&self, path: &str, document: &Value) -> Answer {
        self.call("PUT", path).json(document).send().await
    }

    /// PATCH with a merge patch.
    pub async fn merge(&self, path: &str, patch: &Value) -> Answer {
        self.call("MERGE", path).json(patch).send().await
    }

    /// DELETE with options in the body.
    pub async fn delete(&self, path: &str, options: &Value) -> Answer {
        self.call("DELETE", path).json(options).send().await
    }

    /// Begins a watch; `path` holds the query.
    pub async fn watch(&self, path: &str) -> Watch {
        Watch::begin(self.call("GET", path)).await
    }
}

fn open(dir: &Path) -> Arc<dyn Engine> {
    let options = embedded::Options {
        indexer: Some(stored::terms),
        urgent: Some(stored::is_deletion_step),
        ..embedded::Options::default()
    };
    Arc::new(embedded::open(dir, options).unwrap())
}
