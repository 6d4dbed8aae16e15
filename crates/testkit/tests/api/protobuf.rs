//! Bodies in protobuf, as Go clients send them: they are stored as the same document in JSON would be.

use serde_json::{Value, json};
use sexton_testkit::World;
use sexton_testkit::call::Answer;

const PROTOBUF: &str = "application/vnd.kubernetes.protobuf";

/// A value of bytes, text or a message. Shorter than 128 bytes, so that its length is one byte.
fn field(number: u8, value: impl AsRef<[u8]>) -> Vec<u8> {
    let value = value.as_ref();
    [&[number << 3 | 2, u8::try_from(value.len()).unwrap()], value].concat()
}

fn envelope(api_version: &str, kind: &str, message: &[u8]) -> Vec<u8> {
    let type_meta = [field(1, api_version), field(2, kind)].concat();
    [b"k8s\0".to_vec(), field(1, type_meta), field(2, message)].concat()
}

async fn send(world: &World, method: &str, path: &str, body: Vec<u8>) -> Answer {
    let call = world.call(method, path).header("content-type", PROTOBUF);
    call.header("accept", "application/vnd.kubernetes.protobuf,application/json").bytes(body).send().await
}

fn secret(name: &str, value: &str) -> Vec<u8> {
    let metadata = [field(1, name), field(14, "example.com/x"), vec![0x42, 0x00]].concat();
    let entry = [field(1, "key"), field(2, value)].concat();
    envelope("v1", "Secret", &[field(1, metadata), field(2, entry), field(3, "Opaque")].concat())
}

/// What a Go client sends is stored, answered as JSON, and deleted by options in the same form.
#[tokio::test]
async fn a_secret_lives_and_dies() {
    let world = World::new().await;
    let made = send(&world, "POST", "secrets", secret("s", "one")).await.document(201);
    assert_eq!(made["data"], json!({"key": "b25l"}));
    assert_eq!(
        (&made["type"], &made["metadata"]["finalizers"]),
        (&json!("Opaque"), &json!(["example.com/x"]))
    );
    let as_json = json!({"metadata": {"name": "t", "finalizers": ["example.com/x"]}, "data": {"key": "b25l"}, "type": "Opaque"});
    let twin = world.create("secrets", &as_json).await.document(201);
    let plain = |document: &Value| {
        let mut document = document.clone();
        for field in ["name", "uid", "resourceVersion", "managedFields"] {
            document["metadata"].as_object_mut().unwrap().remove(field);
        }
        document
    };
    assert_eq!(plain(&made), plain(&twin));
    let put = send(&world, "PUT", "secrets/s", secret("s", "two")).await.document(200);
    assert_eq!(put["data"], json!({"key": "dHdv"}));
    // A stale uid is a precondition that does not hold; the right one is.
    let options = |uid: &str| {
        let preconditions = field(1, uid);
        envelope("v1", "DeleteOptions", &[field(2, preconditions), field(4, "Background")].concat())
    };
    send(&world, "DELETE", "secrets/s", options("other")).await.expect(409);
    let uid = put["metadata"]["uid"].as_str().unwrap();
    let marked = send(&world, "DELETE", "secrets/s", options(uid)).await.document(200);
    assert!(marked["metadata"]["deletionTimestamp"].is_string());
    // Also when the options are called by the group of the client.
    let bare = envelope("apps/v1", "DeleteOptions", &[]);
    send(&world, "DELETE", "secrets/t", bare).await.expect(200);
}

/// A deployment, as `kubectl create deployment` sends it: with a status that nobody asked for.
#[tokio::test]
async fn a_deployment_is_stored_as_a_person_would_write_it() {
    let world = World::new().await;
    let labels = |number: u8| field(number, [field(1, "app"), field(2, "web")].concat());
    let container = [field(1, "nginx"), field(2, "nginx"), field(8, ""), vec![0x80, 0x01, 0x00]].concat();
    let template = [field(1, labels(11)), field(2, field(2, container))].concat();
    let spec = [vec![0x08, 0x02], field(2, labels(1)), field(3, template), field(4, field(1, ""))].concat();
    let status = [0x08, 0x00, 0x10, 0x00];
    let message = [field(1, field(1, "web")), field(2, spec), field(3, status)].concat();
    let path = "/apis/apps/v1/namespaces/default/deployments";
    let made = send(&world, "POST", path, envelope("apps/v1", "Deployment", &message)).await.document(201);
    let template = json!({
        "metadata": {"labels": {"app": "web"}},
        "spec": {"containers": [{"name": "nginx", "image": "nginx"}]},
    });
    assert_eq!(
        made["spec"],
        json!({"replicas": 2, "selector": {"matchLabels": {"app": "web"}}, "template": template})
    );
    // Scaled by a typed client: 0 is what it does not write into JSON.
    let scale = |spec: &[u8]| {
        let metadata = [field(1, "web"), field(3, "default")].concat();
        envelope("autoscaling/v1", "Scale", &[field(1, metadata), field(2, spec)].concat())
    };
    let scale_path = format!("{path}/web/scale");
    for (replicas, spec) in [(5, [0x08, 0x05]), (0, [0x08, 0x00])] {
        send(&world, "PUT", &scale_path, scale(&spec)).await.document(200);
        let now = world.get(&format!("{path}/web")).await.document(200);
        assert_eq!(now["spec"]["replicas"], json!(replicas));
    }
}

#[tokio::test]
async fn what_is_not_understood_is_refused() {
    let world = World::new().await;
    let rule = envelope("sexton.dev/v1", "Rule", &field(1, field(1, "r")));
    let refused = send(&world, "POST", "/apis/sexton.dev/v1/rules", rule).await.expect(415);
    assert_eq!(refused.text_at("reason"), "UnsupportedMediaType");
    assert!(refused.text_at("message").starts_with("Rule of sexton.dev/v1 is not read as protobuf here"));
    // A field that is not known is named, and nothing is stored without it.
    let deployment = [field(1, field(1, "d")), field(12, "new")].concat();
    let deployment = envelope("apps/v1", "Deployment", &deployment);
    let path = "/apis/apps/v1/namespaces/default/deployments";
    let refused = send(&world, "POST", path, deployment).await.expect(415);
    let message = refused.text_at("message");
    assert!(
        message.starts_with("Deployment of apps/v1 has a field that is not known in protobuf here"),
        "{message}"
    );
    world.get("/apis/apps/v1/namespaces/default/deployments/d").await.expect(404);
    // Another kind than the place is for.
    send(&world, "POST", "configmaps", secret("s", "one")).await.expect(400);
    send(&world, "POST", "configmaps", b"k8s\0\x0a\x05".to_vec()).await.expect(400);
    send(&world, "POST", "configmaps", b"not at all".to_vec()).await.expect(400);
    send(&world, "DELETE", "configmaps/a", envelope("v1", "Secret", &[])).await.expect(400);
    let bulk = world.call("POST", "/apis/sexton.dev/v1/bulk").header("content-type", PROTOBUF);
    bulk.bytes("k8s\0").send().await.expect(415);
    // Who reads nothing but protobuf is told what there is.
    let only = world.call("GET", "configmaps").header("accept", PROTOBUF).send().await.expect(406);
    assert!(only.text_at("message").contains("application/json"), "{}", only.text_at("message"));
}

/// A watch of a client that would rather have protobuf.
#[tokio::test]
async fn watches_are_negotiated() {
    let world = World::new().await;
    send(&world, "POST", "secrets", secret("s", "one")).await.expect(201);
    for accept in [
        "application/json;stream=watch",
        "application/vnd.kubernetes.protobuf;stream=watch,application/json",
        "application/vnd.kubernetes.protobuf;stream=watch, application/json;stream=watch",
    ] {
        let call = world.call("GET", "secrets?watch=1&resourceVersion=0").header("accept", accept);
        let mut watch = sexton_testkit::watch::Watch::begin(call).await;
        assert_eq!(watch.shorts(1).await, ["ADDED s@4"]);
    }
}
