//! What is refused before anything is written, and what the message says to do.

use serde_json::{Value, json};
use sexton_collector::modules::{DeployError, Deployment, PlanError, Refusal, Source, Sweep};
use sexton_testkit::World;

use crate::common::*;

async fn refusals(world: &World, deployment: &Deployment) -> Vec<Refusal> {
    let before = world.dump().await;
    let error = plan(world, deployment).await.unwrap_err();
    assert!(world.dump().await == before, "refused, and something was written");
    let PlanError::Refused(refusals) = error else { panic!("{error}") };
    refusals
}

/// EXT-8: two documents for one resource are refused, and both places are named.
#[tokio::test]
async fn a_duplicate_identity_is_refused() {
    let world = World::new().await;
    let mut again = map("a");
    again["metadata"]["namespace"] = json!("default");
    let found = refusals(&world, &shop("d1", sources([map("a"), map("b"), again]))).await;
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].to_string(), "file-2.yaml:1: ConfigMap/default/a: it is also in file-0.yaml:1");
}

/// EXT-1: a scope without the module's own manager is refused.
#[tokio::test]
async fn a_scope_of_others_is_refused() {
    let world = World::new().await;
    for scope in [json!({}), json!({"kind": "ConfigMap"}), json!({"manager": "other"})] {
        let mut deployment = shop("d1", maps(&["a"]));
        deployment.spec.scope = serde_json::from_value(scope.clone()).unwrap();
        assert!(matches!(plan(&world, &deployment).await, Err(PlanError::Scope(_))), "{scope}");
        let module = json!({"metadata": {"name": "shop"}, "spec": {"scope": scope}});
        world.create("/apis/sexton.dev/v1/modules", &module).await.expect(422);
    }
}

/// An empty module would sweep everything: it has to be meant.
#[tokio::test]
async fn an_empty_module_has_to_be_meant() {
    let world = World::new().await;
    apply_maps(&world, "d1", &["a", "b"]).await;
    let empty = shop("d2", Vec::new());
    assert!(matches!(plan(&world, &empty).await, Err(PlanError::Empty(_))));
    let deployed = apply(&world, &Deployment { allow_empty: true, ..empty }).await;
    assert_eq!(deployed.swept.accused.len(), 2);
    collect(&world).await;
    assert_eq!(left(&world).await, Vec::<String>::new());
}

/// What belongs to another module is refused, with both names and what to type.
#[tokio::test]
async fn what_belongs_to_another_module_is_refused() {
    let world = World::new().await;
    apply_maps(&world, "d1", &["a"]).await;
    let mut other = shop("d1", maps(&["a"]));
    other.spec = sexton_model::module::ModuleSpec::new("other");
    let found = refusals(&world, &other).await;
    assert_eq!(found[0].why, "it belongs to the module shop, not to other");
    assert_eq!(
        found[0].remedy.as_deref(),
        Some("sexton transfer configmap/a --namespace default --to other")
    );
}

/// Another tool's set is neither taken over nor swept.
#[tokio::test]
async fn apply_sets_of_other_tools_are_left_alone() {
    let world = World::new().await;
    let part = "applyset.kubernetes.io/part-of";
    let mut theirs = map("a");
    theirs["metadata"]["labels"] = json!({part: "set-1"});
    let found = refusals(&world, &shop("d1", sources([theirs]))).await;
    assert!(found[0].why.contains("ApplySet set-1"), "{found:?}");
    stray(&world, "b", json!({"labels": {part: "set-1"}})).await;
    let found = refusals(&world, &shop("d1", maps(&["b"]))).await;
    assert!(found[0].why.contains("ApplySet set-1"), "{found:?}");
    stray(&world, "c", json!({"labels": {part: "set-1", MANAGER: "shop"}})).await;
    let planned = plan(&world, &shop("d1", maps(&["a"]))).await.unwrap();
    assert_eq!((planned.victims.len(), planned.kept.len()), (0, 1));
    assert!(planned.kept[0].why.contains("ApplySet set-1"), "{:?}", planned.kept);
    apply_maps(&world, "d1", &["a"]).await;
    assert_eq!(accused(&world).await, Vec::<String>::new());
}

/// Owners are checked: a uid that does not exist would make the resource garbage from the first moment.
#[tokio::test]
async fn owners_have_to_exist() {
    let world = World::new().await;
    apply_maps(&world, "d1", &["owner"]).await;
    let uid = world.get("configmaps/owner").await.text_at("metadata.uid").to_owned();
    let owned = |uid: Value, name: &str| {
        let mut document = map("owned");
        let reference = json!({"apiVersion": "v1", "kind": "ConfigMap", "name": name, "uid": uid});
        document["metadata"]["ownerReferences"] = json!([reference]);
        document
    };
    for (reference, why) in [
        (owned(json!("nobody"), "owner"), "is named with the uid nobody"),
        (owned(json!("nobody"), "nothing"), "does not exist"),
        (owned(json!(""), "owner"), "without a uid"),
    ] {
        let found = refusals(&world, &shop("d2", sources([map("owner"), reference]))).await;
        assert!(found[0].why.contains(why) && found[0].origin == "file-1.yaml:1", "{found:?}");
    }
    let good = sources([owned(json!(uid), "owner"), map("owner")]);
    let planned = plan(&world, &shop("d2", good)).await.unwrap();
    let order: Vec<(&str, i64)> = planned.puts.iter().map(|put| (put.name.as_str(), put.order)).collect();
    assert_eq!(order, [("owner", 1), ("owned", 2)]);
}

fn owned_by(name: &str, uid: &str) -> Value {
    let mut owned = map(name);
    owned["metadata"]["ownerReferences"] =
        json!([{"apiVersion": "v1", "kind": "ConfigMap", "name": "owner", "uid": uid}]);
    owned
}

/// A document whose owner is swept would be put and destroyed in one go.
#[tokio::test]
async fn a_document_of_a_victim_is_refused() {
    let world = World::new().await;
    apply_maps(&world, "d1", &["owner"]).await;
    let uid = world.get("configmaps/owner").await.text_at("metadata.uid").to_owned();
    let owned = owned_by("owned", &uid);
    apply(&world, &shop("d2", sources([map("owner"), owned.clone()]))).await;
    let found = refusals(&world, &shop("d3", sources([owned]))).await;
    assert!(found[0].why.contains("would be destroyed together with ConfigMap/owner"), "{found:?}");
    // The same for one that is not there yet.
    let mut new = owned_by("new", &uid);
    let found = refusals(&world, &shop("d3", sources([new.clone()]))).await;
    assert!(found[0].why.contains("would be destroyed together with ConfigMap/owner"), "{found:?}");
    // With another owner it lives.
    stray(&world, "other", json!({})).await;
    let other = world.get("configmaps/other").await.text_at("metadata.uid").to_owned();
    let more = json!({"apiVersion": "v1", "kind": "ConfigMap", "name": "other", "uid": other});
    new["metadata"]["ownerReferences"].as_array_mut().unwrap().push(more);
    assert!(plan(&world, &shop("d3", sources([new]))).await.is_ok());
    // And so for a namespace that goes.
    let namespace = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "team"}});
    apply(&world, &shop("d4", sources([namespace, map("owner")]))).await;
    let mut inside = map("inside");
    inside["metadata"]["namespace"] = json!("team");
    let found = refusals(&world, &shop("d5", sources([map("owner"), inside]))).await;
    assert!(found[0].why.contains("would be destroyed together with Namespace/team"), "{found:?}");
}

/// A kind that cannot be listed: nothing is swept, and the plan says so.
#[tokio::test]
async fn what_cannot_be_listed_stops_the_sweep() {
    let world = World::new().await;
    apply_maps(&world, "d1", &["a", "old"]).await;
    for code in [403, 500] {
        let line = Line::new(&world, move |request, _| {
            let lists = request.method() == "GET" && request.uri().path() == "/api/v1/secrets";
            if lists { Fate::Fails(code) } else { Fate::Passes }
        });
        let modules = over(&world, line.client(), "tests-2").await;
        let plan = modules.plan(&shop(&format!("d{code}"), maps(&["a"]))).await.unwrap();
        assert_eq!(plan.unlistable[0].kind, "secrets");
        assert!(matches!(&plan.sweep, Sweep::None { why } if why.contains("secrets cannot be listed")));
        let deployed = modules.deploy(&plan, &|_| ()).await.unwrap();
        assert!(deployed.swept.why_not.is_some());
        assert_eq!(accused(&world).await, Vec::<String>::new());
    }
    // Nor is it swept when that shows only after the puts.
    let line = Line::new(&world, |request, writes| {
        let lists = request.method() == "GET" && request.uri().path() == "/api/v1/secrets";
        if lists && writes > 0 { Fate::Fails(403) } else { Fate::Passes }
    });
    let modules = over(&world, line.client(), "tests-2").await;
    let plan = modules.plan(&shop("late", maps(&["a"]))).await.unwrap();
    let error = modules.deploy(&plan, &|_| ()).await.unwrap_err();
    assert!(matches!(error, DeployError::Sweep(_)), "{error}");
    assert_eq!(accused(&world).await, Vec::<String>::new());
}

/// A sweep that is too large is held, and nothing at all is touched.
#[tokio::test]
async fn a_huge_sweep_is_held() {
    let world = World::new().await;
    let names: Vec<String> = (0..30).map(|number| format!("m{number:02}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    apply_maps(&world, "d1", &names).await;
    let before = world.dump().await;
    let error = try_apply(&world, &shop("d2", maps(&names[..14]))).await.unwrap_err();
    let DeployError::Held(held) = &error else { panic!("{error}") };
    assert_eq!((held.doomed, held.scope), (16, 30));
    assert!(error.to_string().contains("16 because deployment d1 put them"), "{error}");
    assert!(world.dump().await == before, "held, and something was written");
    // Half of it is not too much, and somebody may say what is.
    assert!(plan(&world, &shop("d2", maps(&names[..15]))).await.unwrap().held.is_none());
    for (limit, held) in [("16", false), ("15", true), ("60%", false), ("50%", true), ("0", true)] {
        let mut deployment = shop("d2", maps(&names[..14]));
        deployment.spec.max_delete = Some(limit.to_owned());
        assert_eq!(plan(&world, &deployment).await.unwrap().held.is_some(), held, "{limit}");
    }
    let mut odd = shop("d2", maps(&["a"]));
    odd.spec.max_delete = Some("many".into());
    assert!(matches!(plan(&world, &odd).await, Err(PlanError::Limit(_))));
}

/// Documents that make no sense are all named at once.
#[tokio::test]
async fn all_that_is_wrong_is_said_at_once() {
    let world = World::new().await;
    let documents = vec![
        Source { origin: "a.yaml:1".into(), file: "a.yaml".into(), value: json!({"kind": "ConfigMap"}) },
        Source {
            origin: "a.yaml:5".into(),
            file: "a.yaml".into(),
            value: json!({"apiVersion": "x.io/v1", "kind": "Y", "metadata": {"name": "y"}}),
        },
        Source {
            origin: "a.yaml:9".into(),
            file: "a.yaml".into(),
            value: json!({"apiVersion": "sexton.dev/v1", "kind": "Module", "metadata": {"name": "y"}}),
        },
        Source { origin: "b.yaml:1".into(), file: "b.yaml".into(), value: map("fine") },
    ];
    let found = refusals(&world, &shop("d1", documents)).await;
    let origins: Vec<&str> = found.iter().map(|refusal| refusal.origin.as_str()).collect();
    assert_eq!(origins, ["a.yaml:1", "a.yaml:5", "a.yaml:9"]);
    // What only the server can know comes from a dry run, also for all of them.
    let wrong = |name: &str| {
        let metadata = json!({"name": name, "labels": {"not so": "x"}});
        json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata})
    };
    let found = refusals(&world, &shop("d1", sources([wrong("a"), wrong("b"), map("c")]))).await;
    assert_eq!(found.len(), 2, "{found:?}");
}
