//! What there is, in all its forms: one by one or all at once, told once or not again.

use serde_json::{Value, json};
use sexton_testkit::World;
use sexton_testkit::call::{Answer, Call};

const V2: &str = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";
const BETA: &str = "application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList";

fn header(answer: &Answer, name: &str) -> String {
    let values = answer.headers.get_all(name).iter().map(|value| value.to_str().unwrap());
    values.collect::<Vec<_>>().join(", ")
}

fn asks(world: &World, path: &str, accept: &str) -> Call {
    world.call("GET", path).header("accept", accept)
}

fn widgets() -> Value {
    let version = |name: &str, storage: bool| {
        json!({"name": name, "served": true, "storage": storage,
        "schema": {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": true}}, "subresources": {"status": {}}})
    };
    json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "widgets.example.com"},
        "spec": {"group": "example.com", "scope": "Namespaced",
            "names": {"plural": "widgets", "kind": "Widget", "shortNames": ["wi"], "categories": ["all"]},
            "versions": [version("v1beta1", false), version("v1", true)]},
    })
}

/// Each client gets the version that it asked for, under exactly that name, with the same facts as one by one.
#[tokio::test]
async fn all_at_once() {
    let world = World::new().await;
    world.create("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", &widgets()).await.expect(201);
    for (accept, media, version) in [
        (format!("{V2},{BETA},application/json"), V2, "v2"),
        (format!("{BETA},application/json"), BETA, "v2beta1"),
    ] {
        let core = asks(&world, "/api", &accept).send().await.expect(200);
        assert_eq!(header(&core, "content-type"), media);
        assert_eq!(core.json["apiVersion"], format!("apidiscovery.k8s.io/{version}"));
        assert_eq!(core.json["items"].as_array().unwrap().len(), 1);
        assert_eq!(core.json["items"][0]["metadata"].get("name"), None);
        let groups = asks(&world, "/apis", &accept).send().await.expect(200);
        assert_eq!(header(&groups, "content-type"), media);
        let names: Vec<&str> = groups.json["items"]
            .as_array()
            .unwrap()
            .iter()
            .map(|group| group["metadata"]["name"].as_str().unwrap())
            .collect();
        let expected = [
            "apps",
            "authentication.k8s.io",
            "authorization.k8s.io",
            "batch",
            "apiextensions.k8s.io",
            "coordination.k8s.io",
            "example.com",
            "sexton.dev",
        ];
        assert_eq!(names, expected);
        let example = &groups.json["items"][6]["versions"];
        assert_eq!((&example[0]["version"], &example[1]["version"]), (&json!("v1"), &json!("v1beta1")));
        let part = json!({"subresource": "status", "verbs": ["get", "patch", "update"],
            "responseKind": {"group": "example.com", "version": "v1", "kind": "Widget"}});
        let widget = json!({
            "resource": "widgets", "singularResource": "widget", "scope": "Namespaced",
            "responseKind": {"group": "example.com", "version": "v1", "kind": "Widget"},
            "verbs": ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"],
            "shortNames": ["wi"], "categories": ["all"], "subresources": [part],
        });
        assert_eq!(example[0], json!({"version": "v1", "resources": [widget], "freshness": "Current"}));
    }
    let plain = asks(&world, "/apis", "application/json").send().await.expect(200);
    assert_eq!(
        (header(&plain, "content-type").as_str(), &plain.json["kind"]),
        ("application/json", &json!("APIGroupList"))
    );
    asks(&world, "/apis", V2).send().await.expect(200);
    asks(&world, "/apis/apps", V2).send().await.expect(406);
}

/// Who has the text is not told it again, until it is another one.
#[tokio::test]
async fn nothing_is_told_twice() {
    let world = World::new().await;
    for (path, accept) in [
        ("/api", V2),
        ("/apis", V2),
        ("/apis", BETA),
        ("/apis", "application/json"),
        ("/apis/apps/v1", "application/json"),
        ("/openapi/v3", "application/json"),
        ("/openapi/v3/apis/apps/v1", "application/json"),
    ] {
        let first = asks(&world, path, accept).send().await.expect(200);
        let tag = header(&first, "etag");
        assert!(tag.len() > 20 && tag.starts_with('"') && tag.ends_with('"'), "{tag}");
        assert!(header(&first, "vary").contains("Accept"));
        assert_eq!(header(&first, "cache-control"), "no-cache, private");
        for known in [tag.clone(), format!("\"other\", W/{tag}"), "*".into()] {
            let again = asks(&world, path, accept).header("if-none-match", &known).send().await.expect(304);
            assert!(again.text.is_empty());
            assert_eq!(header(&again, "etag"), tag);
        }
        asks(&world, path, accept).header("if-none-match", "\"other\"").send().await.expect(200);
    }
    let tag = header(&asks(&world, "/apis", V2).send().await, "etag");
    world.create("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", &widgets()).await.expect(201);
    let changed = asks(&world, "/apis", V2).header("if-none-match", &tag).send().await.expect(200);
    assert_ne!(header(&changed, "etag"), tag);
    assert!(String::from_utf8_lossy(&changed.text).contains("widgets"));
}

/// The address that the index gives never means another document.
#[tokio::test]
async fn documents_by_their_address_last() {
    let world = World::new().await;
    let index = world.get("/openapi/v3").await.document(200);
    let address = index["paths"]["apis/apps/v1"]["serverRelativeURL"].as_str().unwrap();
    let lasting = world.get(address).await.expect(200);
    assert_eq!(header(&lasting, "cache-control"), "public, immutable, max-age=31536000");
    let (path, _) = address.split_once('?').unwrap();
    for query in ["", "?hash=", "?hash=00", "?hash=%22", "?hash=../x"] {
        let other = world.get(&format!("{path}{query}")).await.expect(200);
        assert_eq!(header(&other, "cache-control"), "no-cache, private", "{query}");
    }
}

/// Each answer has a name; a client may choose it.
#[tokio::test]
async fn requests_have_names() {
    let world = World::new().await;
    for path in ["configmaps", "configmaps/missing", "/apis", "/nonsense"] {
        assert_eq!(header(&world.get(path).await, "audit-id").len(), 36, "{path}");
    }
    let mine = world.call("GET", "configmaps").header("audit-id", "mine").send().await;
    assert_eq!(header(&mine, "audit-id"), "mine");
}

/// The root says where else to look.
#[tokio::test]
async fn the_root_names_the_paths() {
    let world = World::new().await;
    let paths = world.get("/").await.document(200)["paths"].clone();
    for path in ["/api/v1", "/apis/apps/v1", "/apis/sexton.dev", "/openapi/v3", "/version"] {
        assert!(paths.as_array().unwrap().contains(&json!(path)), "{path}: {paths}");
    }
    world.call("POST", "/").send().await.expect(405);
}
