//! kube-rs, a client that somebody else wrote, on the routes of this process: reads, writes, patches.

use k8s_openapi::api::core::v1::ConfigMap;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::api::{
    Api, ApiResource, DeleteParams, DynamicObject, GroupVersionKind, ListParams, Patch, PatchParams,
    PostParams, Preconditions,
};
use kube::discovery::Discovery;
use kube::runtime::wait::{await_condition, conditions};
use kube::{Client, ResourceExt};
use serde_json::json;
use sexton_testkit::World;
use sexton_testkit::things::widgets;

fn config_map(name: &str) -> ConfigMap {
    serde_json::from_value(sexton_testkit::things::config_map(name)).unwrap()
}

fn code(error: kube::Error) -> u16 {
    match error {
        kube::Error::Api(status) => status.code,
        other => panic!("not an answer of the API: {other}"),
    }
}

/// Typed objects, all verbs.
#[tokio::test]
async fn typed_objects() {
    let world = World::new().await;
    let api: Api<ConfigMap> = Api::default_namespaced(world.kube());
    let made = api.create(&PostParams::default(), &config_map("a")).await.unwrap();
    assert_eq!(made.uid().unwrap(), "uid-4");
    assert_eq!(code(api.create(&PostParams::default(), &config_map("a")).await.unwrap_err()), 409);
    let mut next = api.get("a").await.unwrap();
    next.data.as_mut().unwrap().insert("n".into(), "1".into());
    let put = api.replace("a", &PostParams::default(), &next).await.unwrap();
    assert_eq!(put.resource_version().unwrap(), "5");
    assert_eq!(code(api.replace("a", &PostParams::default(), &next).await.unwrap_err()), 409);
    let patch = Patch::Merge(json!({"metadata": {"labels": {"l": "1"}}}));
    api.patch("a", &PatchParams::default(), &patch).await.unwrap();
    let patch = Patch::Strategic(json!({"data": {"n": null}}));
    api.patch("a", &PatchParams::default(), &patch).await.unwrap();
    let listed = api.list(&ListParams::default().labels("l=1").limit(1)).await.unwrap();
    assert_eq!(listed.items.iter().map(ResourceExt::name_any).collect::<Vec<_>>(), ["a"]);
    assert!(api.get_opt("nobody").await.unwrap().is_none());
    assert_eq!(code(api.get("nobody").await.unwrap_err()), 404);
}

/// REQ-KRK-11, REQ-KRK-13: what a client that names no policy gets, and what one gets that names one.
#[tokio::test]
async fn deletions() {
    let world = World::new().await;
    let api: Api<ConfigMap> = Api::default_namespaced(world.kube());
    for name in ["a", "b"] {
        api.create(&PostParams::default(), &config_map(name)).await.unwrap();
    }
    let stale = Preconditions { uid: Some("uid-99".into()), resource_version: None };
    let refused = api.delete("a", &DeleteParams::background().preconditions(stale)).await.unwrap_err();
    assert_eq!(code(refused), 409);
    let marked = api.delete("a", &DeleteParams::default()).await.unwrap().left().expect("an object");
    assert_eq!(marked.finalizers(), ["cascade_deletion"]);
    let dry = api.delete("b", &DeleteParams::foreground().dry_run()).await.unwrap();
    assert_eq!(dry.left().expect("an object").finalizers(), ["foregroundDeletion"]);
    let gone = api.delete("b", &DeleteParams::background()).await.unwrap().right().expect("a status");
    assert_eq!(gone.details.unwrap().uid, "uid-5");
    let all = api.delete_collection(&DeleteParams::background(), &ListParams::default()).await.unwrap();
    assert_eq!(all.left().expect("a list").items.len(), 1);
    assert!(api.list(&ListParams::default()).await.unwrap().items.is_empty());
}

async fn define(client: Client) -> Api<DynamicObject> {
    let definitions: Api<CustomResourceDefinition> = Api::all(client.clone());
    let definition = serde_json::from_value(widgets()).unwrap();
    definitions.create(&PostParams::default(), &definition).await.unwrap();
    let name = "widgets.demo.example.com";
    await_condition(definitions, name, conditions::is_crd_established()).await.unwrap();
    let kind = GroupVersionKind::gvk("demo.example.com", "v1", "Widget");
    let discovery = Discovery::new(client.clone()).run().await.unwrap();
    let (resource, capabilities) = discovery.resolve_gvk(&kind).expect("discovered");
    assert!(capabilities.supports_operation("deletecollection") && resource.plural == "widgets");
    Api::default_namespaced_with(client, &ApiResource::from_gvk_with_plural(&kind, "widgets"))
}

/// A kind defined a moment ago, found by discovery, written without its type.
#[tokio::test]
async fn dynamic_objects() {
    let world = World::new().await;
    let api = define(world.kube()).await;
    let widget: DynamicObject = serde_json::from_value(sexton_testkit::things::widget("w", 1)).unwrap();
    let made = api.create(&PostParams::default(), &widget).await.unwrap();
    assert_eq!(made.metadata.generation, Some(1));
    let status = Patch::Merge(json!({"status": {"ready": true}}));
    let patched = api.patch_status("w", &PatchParams::default(), &status).await.unwrap();
    assert_eq!(patched.data["status"]["ready"], true);
    let strategic = Patch::Strategic(json!({"spec": {"size": 2}}));
    assert_eq!(code(api.patch("w", &PatchParams::default(), &strategic).await.unwrap_err()), 415);
    let metadata = api.list_metadata(&ListParams::default()).await.unwrap();
    assert_eq!(metadata.items[0].name_any(), "w");
    assert_eq!(api.get_metadata("w").await.unwrap().uid(), made.uid());
}

/// Server-side apply creates, conflicts, is forced, and lets go.
#[tokio::test]
async fn server_side_apply() {
    let world = World::new().await;
    let api: Api<ConfigMap> = Api::default_namespaced(world.kube());
    let config = |value: &str| {
        Patch::Apply(
            json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "data": {"k": value}}),
        )
    };
    let one = PatchParams::apply("one");
    api.patch("a", &one, &config("1")).await.unwrap();
    let two = PatchParams::apply("two");
    let refused = api.patch("a", &two, &config("2")).await.unwrap_err();
    let kube::Error::Api(status) = refused else { panic!("{refused}") };
    assert_eq!((status.code, status.reason.as_str()), (409, "Conflict"));
    assert_eq!(status.details.unwrap().causes[0].reason, "FieldManagerConflict");
    let forced = api.patch("a", &two.force(), &config("2")).await.unwrap();
    assert_eq!(forced.data.as_ref().unwrap()["k"], "2");
    let empty = Patch::Apply(json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}}));
    let let_go = api.patch("a", &PatchParams::apply("two"), &empty).await.unwrap();
    assert!(let_go.data.is_none_or(|data| data.is_empty()));
}
