//! Owner references: which are accepted, which are warned about, which are refused.

use serde_json::{Value, json};
use sexton_testkit::World;
use sexton_testkit::script::run;
use sexton_testkit::things::{config_map, core, owner};

fn owned(name: &str, owners: Value) -> Value {
    let mut document = config_map(name);
    document["metadata"]["ownerReferences"] = owners;
    document
}

/// REQ-KRK-1, REQ-KRK-2, REQ-KRK-3, REQ-KRK-4, REQ-KRK-5, REQ-KRK-6, REQ-KRK-7: any kind depends on any other, on
/// several, in chains; the dependent holds the list, the owner nothing.
#[tokio::test]
async fn references_live_on_the_dependent() {
    let world = World::new().await;
    world.create("secrets", &core("Secret", "project")).await.expect(201);
    let chain = [
        ("serviceaccounts", "ServiceAccount", "magnum", json!([owner("Secret", "project", "uid-4")])),
        ("services", "Service", "cluster", json!([owner("ServiceAccount", "magnum", "uid-5")])),
        (
            "pods",
            "Pod",
            "app",
            json!([owner("Service", "cluster", "uid-6"), owner("Secret", "project", "uid-4")]),
        ),
    ];
    for (plural, kind, name, owners) in &chain {
        let mut document = core(kind, name);
        document["metadata"]["ownerReferences"] = owners.clone();
        let answer = world.create(plural, &document).await.expect(201);
        assert_eq!(answer.at("metadata.ownerReferences"), owners);
        assert!(answer.warnings().is_empty(), "{:?}", answer.warnings());
    }
    let project = world.get("secrets/project").await.expect(200);
    assert!(project.at("metadata.ownerReferences").is_null());
    assert!(!String::from_utf8_lossy(&project.text).contains("magnum"));
}

/// EXT-13: a reference has four parts, one of them the uid; one controller; no events as owners.
#[tokio::test]
async fn incomplete_references_are_refused() {
    let world = World::new().await;
    let good = owner("Namespace", "default", "uid-1");
    let without = |part: &str| {
        let mut reference = good.clone();
        reference.as_object_mut().unwrap().remove(part);
        reference
    };
    let with = |part: &str, value: Value| {
        let mut reference = good.clone();
        reference[part] = value;
        reference
    };
    for (reference, field) in [
        (without("apiVersion"), "metadata.ownerReferences[0].apiVersion"),
        (without("kind"), "metadata.ownerReferences[0].kind"),
        (without("name"), "metadata.ownerReferences[0].name"),
        (without("uid"), "metadata.ownerReferences[0].uid"),
        (with("uid", json!("")), "metadata.ownerReferences[0].uid"),
        (with("uid", json!(5)), "metadata.ownerReferences[0].uid"),
        (with("apiVersion", json!("a/b/c")), "metadata.ownerReferences[0].apiVersion"),
        (with("controller", json!("yes")), "metadata.ownerReferences[0].controller"),
        (with("blockOwnerDeletion", json!(1)), "metadata.ownerReferences[0].blockOwnerDeletion"),
        (owner("Event", "e", "uid-1"), "metadata.ownerReferences[0]"),
    ] {
        let answer = world.create("configmaps", &owned("a", json!([reference]))).await.expect(422);
        assert_eq!(answer.text_at("details.causes.0.field"), field, "{reference}");
    }
    let controllers = json!([with("controller", json!(true)), {
        "apiVersion": "v1", "kind": "Namespace", "name": "kube-system", "uid": "uid-2", "controller": true,
    }]);
    let answer = world.create("configmaps", &owned("a", controllers)).await.expect(422);
    assert!(answer.text_at("message").contains("only one reference can have controller set to true"));
    assert_eq!(world.head().await, 3);
}

/// Exact duplicates are dropped with a warning.
#[tokio::test]
async fn duplicates_are_dropped_and_told() {
    let world = World::new().await;
    let reference = owner("Namespace", "default", "uid-1");
    let answer = world.create("configmaps", &owned("a", json!([reference, reference]))).await.expect(201);
    assert_eq!(answer.at("metadata.ownerReferences"), &json!([reference]));
    assert_eq!(
        answer.warnings(),
        [".metadata.ownerReferences contains duplicate entries, which were removed"]
    );
    let patch = json!({"metadata": {"ownerReferences": [reference, reference, reference]}});
    let again = world.merge("configmaps/a", &patch).await.expect(200);
    assert_eq!((again.warnings().len(), again.version()), (1, 4));
}

/// The references that are doubted, each with a word of the warning.
fn doubtful() -> Vec<(Value, &'static str)> {
    vec![
        (owner("ConfigMap", "nobody", "uid-99"), "does not exist in this namespace"),
        (owner("ConfigMap", "living", "uid-99"), "with another uid"),
        (owner("ConfigMap", "far", "uid-6"), "does not exist in this namespace"),
        (owner("Unknown", "x", "uid-99"), "is not served here"),
        (
            json!({"apiVersion": "x.io/v1", "kind": "ConfigMap", "name": "x", "uid": "u"}),
            "is not served here",
        ),
    ]
}

async fn with_candidates(world: &World) {
    world.create("configmaps", &config_map("living")).await.expect(201);
    world.create("/api/v1/namespaces", &json!({"metadata": {"name": "other"}})).await.expect(201);
    world.create("/api/v1/namespaces/other/configmaps", &config_map("far")).await.expect(201);
}

/// EXT-13: a reference that points at nothing living is stored as Kubernetes does, with a warning; later writes
/// that do not touch it are silent.
#[tokio::test]
async fn doubtful_owners_are_warned_about() {
    let world = World::new().await;
    with_candidates(&world).await;
    for (at, (reference, why)) in doubtful().into_iter().enumerate() {
        let name = format!("d{at}");
        let answer = world.create("configmaps", &owned(&name, json!([reference]))).await.expect(201);
        assert!(answer.warnings().concat().contains(why), "{reference}: {:?}", answer.warnings());
        let later =
            world.merge(&format!("configmaps/{name}"), &json!({"data": {"k": "2"}})).await.expect(200);
        assert!(later.warnings().is_empty());
    }
    let mut namespace = json!({"metadata": {"name": "owned"}});
    namespace["metadata"]["ownerReferences"] = json!([owner("ConfigMap", "living", "uid-4")]);
    let answer = world.create("/api/v1/namespaces", &namespace).await.expect(201);
    assert!(
        answer.warnings().concat().contains("cluster-scoped object cannot be owned"),
        "{:?}",
        answer.warnings()
    );
}

/// Strict: the same references are refused, and nothing is stored; living owners are fine.
#[tokio::test]
async fn doubtful_owners_are_refused_if_strict() {
    let world = World::strict().await;
    with_candidates(&world).await;
    let head = world.head().await;
    for (reference, why) in doubtful() {
        let answer = world.create("configmaps", &owned("d", json!([reference]))).await.expect(422);
        assert!(answer.text_at("message").contains(why), "{}", answer.json);
        assert_eq!(answer.text_at("details.causes.0.field"), "metadata.ownerReferences[0]");
        let patch = json!({"metadata": {"ownerReferences": [reference]}});
        world.merge("configmaps/living", &patch).await.expect(422);
    }
    assert_eq!(world.head().await, head);
    let fine = json!([owner("ConfigMap", "living", "uid-4"), owner("Namespace", "default", "uid-1")]);
    world.create("configmaps", &owned("d", fine)).await.expect(201);
}

/// The uid is the key under which references merge.
#[tokio::test]
async fn references_merge_by_uid() {
    let world = World::new().await;
    let owners = json!([owner("Namespace", "default", "uid-1"), owner("Namespace", "kube-system", "uid-2")]);
    world.create("configmaps", &owned("a", owners)).await.expect(201);
    run(
        &world,
        r#"
        STRATEGIC configmaps/a
        {"metadata": {"uid": "uid-4", "ownerReferences": [{"$patch": "delete", "uid": "uid-1"}]}}
        -> 200
           metadata.ownerReferences.0.uid = "uid-2"
           metadata.ownerReferences.1 absent

        # The uid in a patch is a condition: this is not the life that was meant.
        STRATEGIC configmaps/a
        {"metadata": {"uid": "uid-5", "ownerReferences": [{"$patch": "delete", "uid": "uid-2"}]}}
        -> 422 Invalid
    "#,
    )
    .await;
}
