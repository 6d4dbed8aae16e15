//! Built-in kinds hold what typed clients can read.

use serde_json::json;
use sexton_testkit::World;
use sexton_testkit::script::run;
use sexton_testkit::things::config_map;

/// One object that a typed client cannot read would break every list with it.
#[tokio::test]
async fn values_have_the_types_of_their_fields() {
    let world = World::new().await;
    world.create("configmaps", &config_map("a")).await.expect(201);
    run(
        &world,
        r#"
        POST configmaps
        {"metadata": {"name": "b"}, "data": {"port": 8080}}
        -> 400 BadRequest
           message = "ConfigMap in version \"v1\" cannot be handled as a ConfigMap: json: cannot unmarshal number into field data.port of type string"

        PUT configmaps/a
        {"metadata": {"name": "a"}, "data": ["x"]}
        -> 400 BadRequest

        MERGE configmaps/a
        {"data": {"on": true}}
        -> 400 BadRequest
           message ~ cannot unmarshal bool into field data.on of type string

        APPLY configmaps/a?fieldManager=m
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "data": {"port": 8080}}
        -> 400 BadRequest

        POST secrets
        {"metadata": {"name": "a"}, "data": {"password": "hunter2"}}
        -> 400 BadRequest
           message ~ illegal base64 data in field data.password

        POST secrets
        {"metadata": {"name": "a"}, "stringData": {"password": "hunter2"}, "data": {"user": "bWU="}}
        -> 201

        POST /apis/coordination.k8s.io/v1/namespaces/default/leases
        {"metadata": {"name": "a"}, "spec": {"leaseDurationSeconds": "15"}}
        -> 400 BadRequest

        POST /apis/apps/v1/namespaces/default/deployments
        {"metadata": {"name": "a"}, "spec": {"replicas": "three"}}
        -> 400 BadRequest
           message ~ cannot unmarshal string into field spec.replicas of type integer

        GET configmaps/a
        -> 200
           data.k = "v"
    "#,
    )
    .await;
}

/// Nothing stands for anything.
#[tokio::test]
async fn null_is_no_type() {
    let world = World::new().await;
    let document = json!({"metadata": {"name": "a"}, "data": {"k": null}, "immutable": null});
    world.create("configmaps", &document).await.expect(201);
}
