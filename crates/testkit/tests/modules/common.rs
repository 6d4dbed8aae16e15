//! Short ways to deploy documents into a world, and to break what passes between a deployment and its server.

use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use sexton_client::Resources;
use sexton_collector::modules::{
    DeployError, Deployed, Deployment, Event, ModulePlan, Modules, PlanError, Source, Tools,
};
use sexton_model::module::ModuleSpec;
pub(crate) use sexton_testkit::line::{Fate, Line};
use sexton_testkit::{Collecting, World};

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
    Modules::open(tools(world, client, holder)).await.unwrap()
}

/// The same for a process that has the world for itself.
pub(crate) async fn alone(world: &World, holder: &str) -> Modules {
    Modules::open(Tools { alone: true, ..tools(world, world.kube(), holder) }).await.unwrap()
}

fn tools(world: &World, client: kube::Client, holder: &str) -> Tools {
    let resources = Resources::new(client);
    let gateway = Arc::new(resources.clone());
    let clock = world.shared_nature();
    Tools {
        resources,
        gateway,
        clock,
        by: "ada".into(),
        holder: holder.into(),
        alone: false,
        allowance: None,
    }
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
    let source =
        |(at, value)| Source { origin: format!("file-{at}.yaml:1"), file: format!("file-{at}.yaml"), value };
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
