//! Refusals to the letter: code, reason, message and details. Clients branch on code and reason, people read messages.

use serde_json::{Value, json};
use sexton_server::api::OwnerChecks;
use sexton_server::http::{App, Authentication, Metrics, RequestLimits, Tokens, router};
use sexton_testkit::things::{DEFINITIONS, WIDGETS, config_map, widgets};
use sexton_testkit::{Call, World};

async fn refusal(world: &World, method: &str, path: &str, body: Value) -> Value {
    let call = world.call(method, path);
    let answer = if body.is_null() { call } else { call.json(&body) }.send().await;
    assert_eq!(answer.at("code"), answer.code, "{method} {path}");
    assert_eq!(answer.headers["content-type"], "application/json");
    answer.json
}

fn failure(code: u16, reason: &str, message: &str, details: Value) -> Value {
    let mut status = json!({
        "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
        "message": message, "reason": reason, "code": code,
    });
    if !details.is_null() {
        status["details"] = details;
    }
    status
}

/// Each refusal is compared as a whole: nothing missing, nothing more.
async fn refused(world: &World, method: &str, path: &str, body: Value, expected: Value) {
    assert_eq!(refusal(world, method, path, body).await, expected, "{method} {path}");
}

/// Error 404: objects by their plural and group, and paths that mean nothing.
#[tokio::test]
async fn what_is_missing() {
    let world = World::new().await;
    world.create("configmaps", &config_map("a")).await.expect(201);
    world.create(DEFINITIONS, &widgets()).await.expect(201);
    let plain =
        failure(404, "NotFound", "configmaps \"x\" not found", json!({"name": "x", "kind": "configmaps"}));
    for method in ["GET", "DELETE"] {
        refused(&world, method, "configmaps/x", Value::Null, plain.clone()).await;
    }
    let details = json!({"name": "x", "group": "demo.example.com", "kind": "widgets"});
    let grouped = failure(404, "NotFound", "widgets.demo.example.com \"x\" not found", details);
    refused(&world, "GET", &format!("{WIDGETS}/x"), Value::Null, grouped).await;
    let nowhere = failure(404, "NotFound", "the server could not find the requested resource", Value::Null);
    for path in ["/nonsense", "gadgets", "/apis/x.io/v1/gadgets", "configmaps/a/scale"] {
        refused(&world, "GET", path, Value::Null, nowhere.clone()).await;
    }
}

/// Errors 403, 405 and 409: each whole answer.
#[tokio::test]
async fn what_is_taken_changed_or_not_offered() {
    let world = World::new().await;
    world.create("configmaps", &config_map("a")).await.expect(201);
    let about_a = json!({"name": "a", "kind": "configmaps"});
    let message = "the server does not allow this method on the requested resource";
    let not_offered = failure(405, "MethodNotAllowed", message, Value::Null);
    refused(&world, "PUT", "configmaps", config_map("a"), not_offered).await;
    let taken = failure(409, "AlreadyExists", "configmaps \"a\" already exists", about_a.clone());
    refused(&world, "POST", "configmaps", config_map("a"), taken).await;
    let stale = json!({"metadata": {"name": "a", "resourceVersion": "1"}});
    let message = "Operation cannot be fulfilled on configmaps \"a\": the object has been modified; \
                   please apply your changes to the latest version and try again";
    refused(&world, "PUT", "configmaps/a", stale, failure(409, "Conflict", message, about_a)).await;
    let message = "namespaces \"default\" is forbidden: this namespace may not be deleted";
    let permanent = failure(403, "Forbidden", message, json!({"name": "default", "kind": "namespaces"}));
    refused(&world, "DELETE", "/api/v1/namespaces/default", Value::Null, permanent).await;
}

/// Error 422: all faults at once, each with its place; one and several are said differently.
#[tokio::test]
async fn everything_wrong_is_said_at_once() {
    let world = World::new().await;
    let one = refusal(&world, "POST", "configmaps", json!({"metadata": {"name": "Bad"}})).await;
    assert_eq!((&one["code"], &one["reason"]), (&json!(422), &json!("Invalid")));
    let message = one["message"].as_str().unwrap();
    assert!(
        message.starts_with("ConfigMap \"Bad\" is invalid: metadata.name: Invalid value: \"Bad\": "),
        "{message}"
    );
    assert_eq!(one["details"]["kind"], "ConfigMap");
    assert_eq!(one["details"]["name"], "Bad");
    let cause = &one["details"]["causes"][0];
    assert_eq!((&cause["reason"], &cause["field"]), (&json!("FieldValueInvalid"), &json!("metadata.name")));
    let bad = json!({"metadata": {
        "name": "Bad", "labels": {"-": "x"}, "finalizers": ["orphan", "foregroundDeletion"],
        "ownerReferences": [{"kind": "X"}],
    }});
    let many = refusal(&world, "POST", "configmaps", bad).await;
    let fields: Vec<&str> =
        many["details"]["causes"].as_array().unwrap().iter().map(|c| c["field"].as_str().unwrap()).collect();
    for field in
        ["metadata.name", "metadata.labels", "metadata.finalizers", "metadata.ownerReferences[0].uid"]
    {
        assert!(fields.contains(&field), "{field} of {fields:?}");
    }
    assert!(many["message"].as_str().unwrap().contains("is invalid: [metadata.name: "));
}

/// Error 400: what cannot be read.
#[tokio::test]
async fn what_cannot_be_read() {
    let world = World::new().await;
    for (method, path, body) in [
        ("POST", "configmaps", "{"),
        ("POST", "configmaps", ""),
        ("POST", "configmaps", "[]"),
        ("POST", "configmaps", "null"),
        ("POST", "configmaps", "{\"metadata\": 5}"),
        ("GET", "configmaps?labelSelector=%3D%3D", ""),
        ("GET", "configmaps?limit=many", ""),
        ("GET", "configmaps?resourceVersion=x", ""),
        ("GET", "configmaps?x=%ff", ""),
    ] {
        let answer = world.call(method, path).bytes(body).send().await.expect(400);
        assert_eq!(answer.text_at("reason"), "BadRequest", "{method} {path} {body}");
        assert_eq!(answer.text_at("status"), "Failure");
    }
}

/// Errors 406, 413 and 415.
#[tokio::test]
async fn forms_and_sizes() {
    let world = World::new().await;
    let accept = world.call("GET", "configmaps").header("accept", "text/html").send().await.expect(406);
    assert_eq!(accept.text_at("reason"), "NotAcceptable");
    for discovery in ["/api", "/apis", "/api/v1", "/openapi/v3"] {
        world.call("GET", discovery).header("accept", "image/png").send().await.expect(406);
        world.call("POST", discovery).send().await.expect(405);
    }
    let form = world
        .call("POST", "configmaps")
        .header("content-type", "text/html")
        .bytes("x")
        .send()
        .await
        .expect(415);
    assert_eq!(form.text_at("reason"), "UnsupportedMediaType");
    let large = world.call("POST", "configmaps").bytes(vec![b' '; 10 << 20]).send().await.expect(413);
    assert_eq!(large.text_at("message"), "Request entity too large: limit is 3145728");
    assert_eq!(large.text_at("reason"), "RequestEntityTooLarge");
}

/// Error 429: too much at once is refused with a time to come back, health is still answered.
#[tokio::test]
async fn too_much_at_once() {
    let world = World::with(OwnerChecks::Warn, RequestLimits { requests: 0, watches: 1 }).await;
    let busy = world.get("configmaps").await.expect(429);
    assert_eq!(
        (busy.text_at("reason"), busy.at("details.retryAfterSeconds")),
        ("TooManyRequests", &json!(1))
    );
    assert_eq!(busy.headers["retry-after"], "1");
    let watch = world.watch("configmaps?watch=1&resourceVersion=3").await;
    world.get("configmaps?watch=1&resourceVersion=3").await.expect(429);
    drop(watch);
    drop(world.watch("configmaps?watch=1&resourceVersion=3").await);
    for path in ["/healthz", "/livez", "/readyz"] {
        assert_eq!(world.get(path).await.expect(200).text, b"ok");
    }
    world.get("/version").await.expect(200);
}

/// Error 401: without a known token nothing is served but the health of the server.
#[tokio::test]
async fn who_asks() {
    let world = World::new().await;
    let tokens = Tokens::parse("0123456789abcdef0123,ada").unwrap();
    let limits = RequestLimits::default();
    let app = App::new(world.api().clone(), Authentication::Required(tokens), limits, Metrics::default());
    let routes = router(app);
    for (path, token, code) in [
        ("configmaps", "", 401),
        ("configmaps", "Bearer 0123456789abcdef0124", 401),
        ("configmaps", "Basic 0123456789abcdef0123", 401),
        ("configmaps", "Bearer 0123456789abcdef0123", 200),
        ("/metrics", "", 401),
        ("/api", "", 401),
        ("/nonsense", "", 401),
        ("/healthz", "", 200),
    ] {
        let call = Call::new(routes.clone(), "GET", path);
        let call = if token.is_empty() { call } else { call.header("authorization", token) };
        let answer = call.send().await.expect(code);
        if code == 401 {
            assert_eq!(answer.json, failure(401, "Unauthorized", "Unauthorized", Value::Null), "{path}");
        }
    }
}

/// Error 503: a store that is gone is no reason for a 404; watchers are told, too.
#[tokio::test]
async fn a_store_that_is_gone() {
    let world = World::new().await;
    world.create("configmaps", &config_map("a")).await.expect(201);
    let mut watch = world.watch("configmaps?watch=1&resourceVersion=4").await;
    world.close_store().await;
    let writes = [
        ("POST", "configmaps"),
        ("PUT", "configmaps/a"),
        ("MERGE", "configmaps/a"),
        ("DELETE", "configmaps/a"),
    ];
    let reads = [
        ("GET", "configmaps"),
        ("GET", "configmaps/a"),
        ("GET", "configmaps/b"),
        ("GET", "configmaps?watch=1"),
    ];
    for (method, path) in writes.into_iter().chain(reads) {
        let call = world.call(method, path);
        let call = if method == "GET" { call } else { call.json(&json!({"metadata": {"name": "a"}})) };
        let answer =
            if method == "DELETE" { call.bytes("").send().await } else { call.send().await }.expect(503);
        assert_eq!(answer.text_at("reason"), "ServiceUnavailable", "{method} {path}");
        assert_eq!(answer.headers["retry-after"], "1");
    }
    world.get("/readyz").await.expect(503);
    world.get("/livez").await.expect(200);
    let event = watch.next().await.unwrap();
    assert_eq!((&event["type"], &event["object"]["code"]), (&json!("ERROR"), &json!(503)));
}
