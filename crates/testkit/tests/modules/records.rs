//! What is recorded of a module.

use serde_json::json;
use sexton_testkit::World;

use crate::common::*;

/// The record says what was deployed, by whom, and what came of it; `kubectl get modules` shows it.
#[tokio::test]
async fn a_record_tells_its_history() {
    let world = World::new().await;
    for number in 1..=22 {
        apply_maps(&world, &format!("d{number}"), &["a"]).await;
    }
    let shown = record(&world, "shop").await;
    let status = &shown["status"];
    assert_eq!(status["history"].as_array().unwrap().len(), 20);
    assert_eq!(status["history"][0]["deploymentId"], "d22");
    assert_eq!((&status["sealed"]["count"], &status["sealed"]["by"]), (&json!(1), &json!("ada")));
    assert_eq!(status["kinds"], json!(["configmaps"]));
    assert_eq!(shown["spec"], json!({"manager": "shop", "scope": {"manager": "shop"}, "supportGc": true}));
    let table = world
        .call("GET", "/apis/sexton.dev/v1/modules")
        .header("accept", "application/json;as=Table;v=v1;g=meta.k8s.io")
        .send()
        .await
        .document(200);
    let cells = table["rows"][0]["cells"].as_array().unwrap();
    assert_eq!(cells[..6], [json!("shop"), json!("Sealed"), json!("d22"), json!(1), json!(0), json!("0s")]);
}

/// EXT-3: the intent names all kinds, of before and of now, before the first of them is put.
#[tokio::test]
async fn the_intent_names_all_kinds() {
    let world = World::new().await;
    apply_maps(&world, "d1", &["a"]).await;
    let line = Line::new(&world, |request, _| {
        let put = request.method() == "PATCH" && !request.uri().query().unwrap_or("").contains("dryRun");
        if put { Fate::Hangs } else { Fate::Passes }
    });
    let modules = over(&world, line.client(), "tests-2").await;
    let secret = json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}});
    let plan = modules.plan(&shop("d2", sources([secret]))).await.unwrap();
    tokio::select! {
        _ = modules.deploy(&plan, &|_| ()) => panic!("it hangs before the first put"),
        () = line.hangs() => {}
    }
    let status = record(&world, "shop").await["status"].clone();
    assert_eq!((&status["phase"], &status["intent"]["deploymentId"]), (&json!("Deploying"), &json!("d2")));
    assert_eq!(status["kinds"], json!(["configmaps", "secrets"]));
    assert_eq!(status["intent"]["digest"], json!(plan.digest));
}
