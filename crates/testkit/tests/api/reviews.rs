//! Who am I, and may I: asked, answered, and not stored.

use serde_json::{Value, json};
use sexton_client::kinds::Kinds;
use sexton_testkit::World;
use sexton_testkit::script::run;

#[tokio::test]
async fn whoever_may_ask_may_do_everything() {
    for world in [World::new().await, World::plain().await] {
        let before = world.dump().await;
        run(
            &world,
            r#"
            POST /apis/authorization.k8s.io/v1/selfsubjectaccessreviews
            {"apiVersion": "authorization.k8s.io/v1", "kind": "SelfSubjectAccessReview",
             "spec": {"resourceAttributes": {"verb": "create", "resource": "configmaps", "namespace": "default"}}}
            -> 201
               kind = "SelfSubjectAccessReview"
               spec.resourceAttributes.verb = "create"
               status.allowed = true
               status.reason ~ everything

            POST /apis/authorization.k8s.io/v1/selfsubjectaccessreviews
            {"spec": {"nonResourceAttributes": {"verb": "get", "path": "/metrics"}}}
            -> 201
               apiVersion = "authorization.k8s.io/v1"
               status.allowed = true

            POST /apis/authorization.k8s.io/v1/selfsubjectrulesreviews
            {"spec": {"namespace": "default"}}
            -> 201
               status.resourceRules.0.verbs = ["*"]
               status.nonResourceRules.0.nonResourceURLs = ["*"]
               status.incomplete = false

            POST /apis/authentication.k8s.io/v1/selfsubjectreviews
            {"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview", "metadata": {}}
            -> 201
               status.userInfo = {"username": "local", "groups": ["system:authenticated"]}

            POST /apis/authorization.k8s.io/v1/subjectaccessreviews
            {"spec": {"user": "ada", "resourceAttributes": {"verb": "get", "resource": "pods"}}}
            -> 201
               status.allowed = true

            POST /apis/authorization.k8s.io/v1/namespaces/default/localsubjectaccessreviews
            {"spec": {"groups": ["admins"], "resourceAttributes": {"verb": "get", "resource": "pods", "namespace": "default"}}}
            -> 201
               status.allowed = true
        "#,
        )
        .await;
        assert_eq!(world.dump().await, before);
    }
}

#[tokio::test]
async fn questions_must_make_sense() {
    let world = World::new().await;
    run(
        &world,
        r#"
        POST /apis/authorization.k8s.io/v1/selfsubjectaccessreviews
        {"spec": {}}
        -> 422 Invalid
           message ~ exactly one of nonResourceAttributes or resourceAttributes must be specified

        POST /apis/authorization.k8s.io/v1/selfsubjectaccessreviews
        {"spec": {"resourceAttributes": {}, "nonResourceAttributes": {}}}
        -> 422 Invalid
           message ~ cannot be specified in combination with resourceAttributes

        POST /apis/authorization.k8s.io/v1/selfsubjectaccessreviews
        {"spec": []}
        -> 400 BadRequest

        POST /apis/authorization.k8s.io/v1/selfsubjectaccessreviews
        []
        -> 400 BadRequest

        POST /apis/authorization.k8s.io/v1/selfsubjectaccessreviews
        {"kind": "SelfSubjectRulesReview"}
        -> 400 BadRequest
           message ~ does not match the expected kind

        POST /apis/authorization.k8s.io/v1/selfsubjectrulesreviews
        {}
        -> 400 BadRequest

        POST /apis/authorization.k8s.io/v1/subjectaccessreviews
        {"spec": {"resourceAttributes": {"verb": "get"}}}
        -> 422 Invalid
           message ~ at least one of user or group must be specified

        POST /apis/authorization.k8s.io/v1/namespaces/default/localsubjectaccessreviews
        {"spec": {"user": "ada", "resourceAttributes": {"verb": "get", "namespace": "other"}}}
        -> 422 Invalid
           message ~ must match metadata.namespace

        GET /apis/authorization.k8s.io/v1/selfsubjectaccessreviews
        -> 405 MethodNotAllowed

        POST /apis/authorization.k8s.io/v1/localsubjectaccessreviews
        {}
        -> 404 NotFound

        DELETE /apis/authorization.k8s.io/v1/selfsubjectaccessreviews/x
        -> 405 MethodNotAllowed
    "#,
    )
    .await;
}

/// They are discovered with the one verb that they have, so nobody lists or follows them.
#[tokio::test]
async fn they_can_only_be_created() {
    let world = World::new().await;
    let found = Kinds::discover(&world.kube()).await.unwrap();
    assert!(found.all.iter().all(|kind| !kind.kind.ends_with("Review") && kind.can("list")));
    let list = world.get("/apis/authorization.k8s.io/v1").await.document(200);
    assert!(list["resources"].as_array().unwrap().iter().all(|entry| entry["verbs"] == json!(["create"])));
    let names: Vec<&Value> =
        list["resources"].as_array().unwrap().iter().map(|entry| &entry["name"]).collect();
    let expected = [
        "localsubjectaccessreviews",
        "selfsubjectaccessreviews",
        "selfsubjectrulesreviews",
        "subjectaccessreviews",
    ];
    assert_eq!(names, expected.map(|name| json!(name)).iter().collect::<Vec<_>>());
}

/// What Kubernetes has and nobody runs here is said in words.
#[tokio::test]
async fn parts_that_are_not_served_say_why() {
    let world = World::new().await;
    world.create("pods", &json!({"metadata": {"name": "p"}})).await.expect(201);
    run(
        &world,
        r#"
        GET pods/p/log
        -> 404 NotFound
           message = "pods/log is not served here: pods are kept as data, nothing runs them"

        POST pods/p/exec?command=ls
        -> 404 NotFound
           message ~ pods/exec is not served here
           details = {"kind": "pods"}

        POST pods/p/eviction
        {}
        -> 404 NotFound
           message ~ pods/eviction is not served here

        POST serviceaccounts/default/token
        {}
        -> 404 NotFound
           message ~ serviceaccounts/token is not served here

        GET pods/p/nonsense
        -> 404 NotFound
           message = "the server could not find the requested resource"
    "#,
    )
    .await;
}
