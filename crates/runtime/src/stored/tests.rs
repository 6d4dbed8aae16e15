use serde_json::{Value, json};
use sexton_model::{Uid, marks};

use super::*;

fn object(id: &str, class: &str, owner: Option<&str>, properties: Value) -> StoredObject {
    StoredObject {
        id: id.into(),
        class: class.into(),
        owner: owner.map(Into::into),
        properties: properties.as_object().unwrap().clone(),
        ..StoredObject::default()
    }
}

fn fresh() -> impl FnMut() -> Uid {
    let mut count = 0;
    move || {
        count += 1;
        Uid(format!("uid-{count}"))
    }
}

/// A shelf with what was written, as a server would keep it.
fn kept(mut shelf: Shelf, changes: Vec<Change>) -> Shelf {
    for change in changes {
        let mut resource = change.resource;
        resource["metadata"]["resourceVersion"] = json!("7");
        if change.mark_destroyed {
            resource["metadata"]["annotations"][marks::DESTROYED] = json!("true");
        }
        shelf.put(&change.id, resource);
    }
    shelf
}

fn shop() -> Vec<StoredObject> {
    let mut app = object("app", "Application", None, json!({"size": 2, "network": {"?": {"ref": "net"}}}));
    app.name = Some("shop".into());
    let mut network = object("net", "Network", Some("app"), json!({"cidr": "10.0.0.0/8"}));
    network.dependencies = vec![
        Dependency { target: "vm-1".into(), handler: Some("vmGone".into()), count: 2 },
        Dependency { target: "net".into(), handler: None, count: 1 },
    ];
    let id = "2b9d1b0c-5f43-4ad5-8f8e-3c1fa63b8a01";
    let odd = json!({"peers": [{"to": {"?": {"ref": id}}}], "map": {"$ref": 1, "$$": 2}, "none": null});
    let vm = object("vm-1", "Vm", Some("app"), odd);
    let mut gone = object(id, "Vm", Some("app"), json!({}));
    gone.destroyed = true;
    vec![app, network, vm, gone]
}

/// REQ-MUR-35, REQ-MUR-37, REQ-MUR-65, REQ-MUR-72: what is written is read again, the status of the destroyed and
/// dependencies (on the side of the dependent) included.
#[test]
fn what_is_written_is_read_again() {
    let shelf = Shelf::new("prod", []).unwrap();
    let written = changes(&shelf, &shop(), fresh()).unwrap();
    let mut shelf = kept(shelf, written);
    let mut expected = shop();
    expected.sort_by(|a, b| a.id.cmp(&b.id));
    assert_eq!(shelf.objects(), expected);
    assert!(shelf.dangling.is_empty(), "{:?}", shelf.dangling);
    assert_eq!(changes(&shelf, &shop(), fresh()).unwrap(), [], "nothing changed, nothing is written");
}

#[test]
fn a_resource_that_a_person_can_read() {
    let shelf = Shelf::new("prod", []).unwrap();
    let written = changes(&shelf, &shop(), fresh()).unwrap();
    let network = written.iter().find(|change| change.id == "net").unwrap();
    assert_eq!(
        network.resource,
        json!({
            "apiVersion": "classes.sexton.dev/v1",
            "kind": "Network",
            "metadata": {
                "name": "net",
                "namespace": "prod",
                "uid": "uid-2",
                "ownerReferences": [{
                    "apiVersion": "classes.sexton.dev/v1", "kind": "Application", "name": "shop", "uid": "uid-1",
                }],
                "annotations": {
                    "sexton.dev/object-id": "net",
                    "sexton.dev/destruction-dependencies": network.resource["metadata"]["annotations"]
                        ["sexton.dev/destruction-dependencies"],
                },
            },
            "spec": {"cidr": "10.0.0.0/8"},
        })
    );
}

/// What others wrote on a resource stays: labels, annotations, other owners.
#[test]
fn what_others_wrote_stays() {
    let shelf = Shelf::new("prod", []).unwrap();
    let mut shelf = kept(shelf.clone(), changes(&shelf, &shop(), fresh()).unwrap());
    let mut resource = shelf.get("net").unwrap().clone();
    resource["metadata"]["labels"] = json!({"team": "a"});
    resource["metadata"]["annotations"][marks::PROTECT] = json!("true");
    resource["metadata"]["ownerReferences"]
        .as_array_mut()
        .unwrap()
        .insert(0, json!({"apiVersion": "v1", "kind": "ConfigMap", "name": "c", "uid": "c"}));
    shelf.put("net", resource);
    let mut objects = shop();
    objects[1].properties["cidr"] = json!("10.0.0.0/9");
    objects[1].owner = None;
    objects[1].dependencies.clear();
    let written = changes(&shelf, &objects, fresh()).unwrap();
    assert_eq!(written.len(), 1);
    let metadata = &written[0].resource["metadata"];
    assert_eq!(metadata["labels"], json!({"team": "a"}));
    assert_eq!(metadata["ownerReferences"].as_array().unwrap().len(), 1);
    assert_eq!(metadata["annotations"], json!({marks::PROTECT: "true", "sexton.dev/object-id": "net"}));
    assert_eq!((written[0].version.as_deref(), written[0].mark_destroyed), (Some("7"), false));
}

/// EXT-27: whoever is gone is told of, and nothing else is lost.
#[test]
fn references_that_lead_nowhere_are_told() {
    let shelf = Shelf::new("prod", []).unwrap();
    let mut shelf = kept(shelf.clone(), changes(&shelf, &shop(), fresh()).unwrap());
    shelf.remove("vm-1");
    let objects = shelf.objects();
    assert_eq!(shelf.dangling, ["Network/net depends on Vm.classes.sexton.dev/vm-1, which is gone"]);
    assert_eq!(objects.len(), 3);
    let mut marked = shelf.get("net").unwrap().clone();
    marked["metadata"]["deletionTimestamp"] = json!("2026-01-01T00:00:00Z");
    let shelf = Shelf::new("prod", [marked]).unwrap();
    assert!(shelf.is_empty(), "who is on its way out is no part of it any more");
}

/// Names that are taken, odd or missing still give every object a resource of its own.
#[test]
fn every_object_gets_a_name_of_its_own() {
    let shelf = Shelf::new("prod", []).unwrap();
    let named =
        |id: &str, name: &str| StoredObject { name: Some(name.into()), ..object(id, "Vm", None, json!({})) };
    let objects = [named("a", "web"), named("b", "web"), named("C_1", "Ä"), named("D_1", "web")];
    let written = changes(&shelf, &objects, fresh()).unwrap();
    let names: Vec<&str> =
        written.iter().map(|change| change.resource["metadata"]["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["web", "b", "vm", "vm-2"]);
    let mut shelf = kept(shelf, written);
    let read: Vec<Option<String>> = shelf.objects().into_iter().map(|object| object.name).collect();
    assert_eq!(read, ["Ä", "web", "web", "web"].map(|name| Some(name.to_owned())));
}

#[test]
fn two_resources_cannot_be_one_object() {
    let one = |name: &str| json!({"kind": "Vm", "metadata": {"name": name, "uid": name, "annotations": {"sexton.dev/object-id": "x"}}});
    let error = Shelf::new("prod", [one("a"), one("b")]).unwrap_err();
    assert_eq!(error.to_string(), "two resources say that they are the object x: Vm/a and Vm/b");
}
