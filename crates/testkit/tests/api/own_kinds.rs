//! The kinds of our own: classes, collections and tombstones, as any client sees them.

use serde_json::{Value, json};
use sexton_testkit::World;
use sexton_testkit::script::run;

/// They are discovered, live in no namespace, and have short names.
#[tokio::test]
async fn they_are_kinds_like_others() {
    let world = World::new().await;
    let resources = world.get("/apis/sexton.dev/v1").await.document(200);
    let list = resources["resources"].as_array().unwrap();
    let shown: Vec<String> = list
        .iter()
        .map(|kind| {
            format!("{} {} {} {}", kind["name"], kind["kind"], kind["namespaced"], kind["shortNames"])
        })
        .collect();
    let expected = [
        r#""classes" "Class" false ["cls"]"#,
        r#""collections" "Collection" false ["gc"]"#,
        r#""collections/status" "Collection" false null"#,
        r#""environments" "Environment" false ["env"]"#,
        r#""modules" "Module" false ["mod"]"#,
        r#""modules/status" "Module" false null"#,
        r#""rules" "Rule" false null"#,
        r#""rules/status" "Rule" false null"#,
        r#""tombstones" "Tombstone" false ["ts"]"#,
        r#""bulk" "Bulk" false null"#,
    ];
    assert_eq!(shown, expected);
    let openapi = world.get("/openapi/v3/apis/sexton.dev/v1").await.document(200);
    assert!(openapi["components"]["schemas"]["dev.sexton.v1.Class"].is_object());
}

/// The state of a collection is apart from what it is about; a tombstone is one record.
#[tokio::test]
async fn a_collection_has_a_status() {
    let world = World::new().await.as_collector().await;
    run(
        &world,
        r#"
        POST /apis/sexton.dev/v1/collections
        {"metadata": {"name": "c"}, "spec": {"trigger": "deletion", "by": "ada"}, "status": {"phase": "Early"}}
        -> 201
           status absent
           metadata.generation absent

        MERGE /apis/sexton.dev/v1/collections/c/status
        {"spec": {"by": "eve"}, "status": {"phase": "Destroying", "doomed": 3}}
        -> 200
           spec.by = "ada"
           status.phase = "Destroying"

        POST /apis/sexton.dev/v1/tombstones
        {"metadata": {"name": "t"}, "spec": {"reason": "asked"}}
        -> 201

        MERGE /apis/sexton.dev/v1/tombstones/t/status
        {"status": {}}
        -> 404
    "#,
    )
    .await;
}

/// The cells of a table, without the age.
async fn cells(world: &World, plural: &str) -> (Vec<Value>, Vec<Value>) {
    let call = world.call("GET", &format!("/apis/sexton.dev/v1/{plural}"));
    let table =
        call.header("accept", "application/json;as=Table;v=v1;g=meta.k8s.io").send().await.document(200);
    let columns = table["columnDefinitions"].as_array().unwrap().iter().map(|column| column["name"].clone());
    let mut cells = table["rows"][0]["cells"].as_array().unwrap().clone();
    cells.pop();
    (columns.collect(), cells)
}

/// What `kubectl get` prints of them.
#[tokio::test]
async fn their_tables() {
    let world = World::new().await.as_collector().await;
    let make = |plural: &'static str, name: &'static str, spec: Value| {
        let world = &world;
        async move {
            let path = format!("/apis/sexton.dev/v1/{plural}");
            world.create(&path, &json!({"metadata": {"name": name}, "spec": spec})).await.expect(201);
        }
    };
    let method = json!({"exec": {"argv": ["/bin/true"]}});
    let class = json!({"for": {"group": "example.com", "kind": "Vm"}, "destroy": method, "handlers": {"a": method, "b": method}});
    make("classes", "vm", class).await;
    make("collections", "c", json!({"trigger": "deletion", "by": "ada"})).await;
    let status = json!({"status": {"phase": "Blocked", "doomed": 3, "gone": 2, "blocked": 1}});
    world.merge("/apis/sexton.dev/v1/collections/c/status", &status).await.expect(200);
    let object =
        json!({"group": "example.com", "kind": "Vm", "namespace": "default", "name": "web", "uid": "u"});
    make(
        "tombstones",
        "t",
        json!({"object": object, "reason": "asked", "by": "ada", "outcome": "destroyed"}),
    )
    .await;
    let expected = [
        (
            "classes",
            json!(["Name", "Kind", "Destroy", "Handlers", "Age"]),
            json!(["vm", "Vm.example.com", "exec", 2]),
        ),
        (
            "collections",
            json!(["Name", "Trigger", "By", "Phase", "Doomed", "Gone", "Blocked", "Age"]),
            json!(["c", "deletion", "ada", "Blocked", 3, 2, 1]),
        ),
        (
            "tombstones",
            json!(["Name", "Kind", "Namespace", "Object", "Reason", "By", "Outcome", "Age"]),
            json!(["t", "Vm.example.com", "default", "web", "asked", "ada", "destroyed"]),
        ),
    ];
    for (plural, columns, row) in expected {
        let (found_columns, found_row) = cells(&world, plural).await;
        assert_eq!((json!(found_columns), json!(found_row)), (columns, row));
    }
}
