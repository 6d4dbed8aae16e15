//! POST: what a new object gets, what it loses, and what it may be called.

use serde_json::json;
use sexton_testkit::World;
use sexton_testkit::script::run;
use sexton_testkit::things::{config_map, held};

/// System fields of the body are wiped; the server stamps its own.
#[tokio::test]
async fn system_fields_are_the_servers() {
    let world = World::new().await;
    run(
        &world,
        r#"
        POST configmaps
        {"metadata": {"name": "a", "uid": "mine", "creationTimestamp": "1999-01-01T00:00:00Z",
          "deletionTimestamp": "1999-01-01T00:00:00Z", "deletionGracePeriodSeconds": 30, "selfLink": "/x",
          "generation": 12}}
        -> 201
           apiVersion = "v1"
           kind = "ConfigMap"
           metadata.namespace = "default"
           metadata.uid = "uid-4"
           metadata.creationTimestamp = "2026-11-15T20:00:00Z"
           metadata.resourceVersion = "4"
           metadata.deletionTimestamp absent
           metadata.deletionGracePeriodSeconds absent
           metadata.selfLink absent
           metadata.generation absent

        POST configmaps
        {"metadata": {"name": "b", "resourceVersion": "4"}}
        -> 400 BadRequest
           message = "resourceVersion should not be set on objects to be created"
    "#,
    )
    .await;
}

/// A taken name is a conflict, and says whether the holder is on its way out.
#[tokio::test]
async fn a_taken_name() {
    let world = World::new().await;
    world.create("configmaps", &held("a", "example.com/x")).await.expect(201);
    run(
        &world,
        r#"
        POST configmaps
        {"metadata": {"name": "a"}}
        -> 409 AlreadyExists
           message = "configmaps \"a\" already exists"
           details = {"name": "a", "kind": "configmaps"}

        DELETE configmaps/a
        -> 200

        POST configmaps
        {"metadata": {"name": "a"}}
        -> 409 AlreadyExists
           message = "object is being deleted: configmaps \"a\" already exists"
    "#,
    )
    .await;
}

/// `generateName`: five characters behind the prefix, another try if the name is taken.
#[tokio::test]
async fn names_are_generated() {
    let world = World::new().await;
    let document = json!({"metadata": {"generateName": "job-"}});
    let first = world.create("configmaps", &document).await.expect(201);
    assert_eq!(first.text_at("metadata.name"), "job-x0001");
    assert_eq!(first.text_at("metadata.generateName"), "job-");
    world.nature().choose_suffixes(&["x0001", "x0001", "fresh"]);
    let second = world.create("configmaps", &document).await.expect(201);
    assert_eq!(second.text_at("metadata.name"), "job-fresh");
    world.nature().choose_suffixes(&["fresh"; 32]);
    let none_free = world.create("configmaps", &document).await.expect(504);
    assert_eq!(none_free.text_at("reason"), "Timeout");
    let long = json!({"metadata": {"generateName": "p".repeat(80)}});
    let cut = world.create("configmaps?dryRun=All", &long).await.expect(201);
    assert_eq!(cut.text_at("metadata.name").len(), 63);
    world
        .create("configmaps", &json!({"metadata": {"name": "given", "generateName": "job-"}}))
        .await
        .expect(201);
    world.get("configmaps/given").await.expect(200);
    // A namespace carries its name as a label, also if it was made up.
    let found =
        world.create("/api/v1/namespaces", &json!({"metadata": {"generateName": "n-"}})).await.expect(201);
    let label = found.at("/metadata/labels/kubernetes.io~1metadata.name");
    assert_eq!(label, found.text_at("metadata.name"));
    world.create("configmaps", &json!({"metadata": {"generateName": "Not_Good-"}})).await.expect(422);
    world.create("configmaps", &json!({"metadata": {}})).await.expect(422);
}

/// Names: the grammar of each kind is enforced before anything is stored.
#[tokio::test]
async fn names_have_a_grammar() {
    let world = World::new().await;
    let long = "a".repeat(253);
    for good in ["a", "a.b-c", "1", long.as_str()] {
        world.create("configmaps", &config_map(good)).await.expect(201);
    }
    let head = world.head().await;
    let too_long = "a".repeat(254);
    for bad in [
        "A",
        "a_b",
        "-a",
        "a-",
        ".a",
        "a..b",
        "ä",
        "a/b",
        "a b",
        "..",
        "a\u{0}b",
        "\u{202e}a",
        "é",
        "e\u{301}",
        &too_long,
    ] {
        let answer = world.create("configmaps", &config_map(bad)).await.expect(422);
        assert_eq!(answer.text_at("details.causes.0.field"), "metadata.name", "{bad:?}");
    }
    for (plural, bad) in [("/api/v1/namespaces", "a.b"), ("services", "1a")] {
        world.create(plural, &json!({"metadata": {"name": bad}})).await.expect(422);
    }
    assert_eq!(world.head().await, head);
}

/// A document must be what its address says.
#[tokio::test]
async fn documents_match_their_address() {
    let world = World::new().await;
    run(&world, r#"
        POST configmaps
        {"kind": "Secret", "metadata": {"name": "a"}}
        -> 400 BadRequest
           message = "the kind in the data (Secret) does not match the expected kind (ConfigMap)"

        POST configmaps
        {"apiVersion": "apps/v1", "kind": "ConfigMap", "metadata": {"name": "a"}}
        -> 400 BadRequest

        POST configmaps
        {"metadata": {"name": "a", "namespace": "kube-system"}}
        -> 400 BadRequest
           message = "the namespace of the object (kube-system) does not match the namespace on the request (default)"

        POST /api/v1/configmaps
        {"metadata": {"name": "a", "namespace": "default"}}
        -> 405 MethodNotAllowed

        POST configmaps/a
        {"metadata": {"name": "a"}}
        -> 405 MethodNotAllowed
    "#).await;
}

/// Content: YAML is read like JSON; what people write into secrets is kept as data.
#[tokio::test]
async fn yaml_and_string_data() {
    let world = World::new().await;
    let yaml = "apiVersion: v1\nkind: Secret\nmetadata: {name: s}\nstringData:\n  key: value\n";
    let call = world.call("POST", "secrets").header("content-type", "application/yaml").bytes(yaml);
    let secret = call.send().await.expect(201);
    assert_eq!(secret.text_at("data.key"), "dmFsdWU=");
    assert_eq!(secret.text_at("type"), "Opaque");
    assert!(secret.at("stringData").is_null());
}
