//! Objects that are written are read back the same, and foreign fields of their resources stay.

use serde_json::{Value, json};
use sexton_model::{Uid, marks};

use super::*;
use crate::model::{Dependency, Model, ModelObject, ModelValue};
use crate::world::ObjectId;

fn id(text: &str) -> ObjectId {
    ObjectId::new(text).unwrap()
}

/// The model object with these properties.
fn object(name: &str, class: &str, owner: Option<&str>, mut properties: Value) -> ModelObject {
    properties["?"] = json!({"id": name, "type": class});
    let model = Model::parse(&json!({"Objects": properties}).to_string()).unwrap();
    let object = model.objects.into_iter().next().unwrap();
    ModelObject { owner: owner.map(id), ..object }
}

fn dependency(target: &str, handler: Option<&str>, count: u32) -> Dependency {
    Dependency { target: id(target), handler: handler.map(Into::into), count }
}

/// The objects without their places in a text.
fn bare(objects: Vec<ModelObject>) -> Vec<ModelObject> {
    let bare = |object| ModelObject { path: String::new(), ..object };
    let mut objects: Vec<ModelObject> = objects.into_iter().map(bare).collect();
    objects.sort_by(|a, b| a.id.cmp(&b.id));
    objects
}

fn fresh() -> impl FnMut() -> Uid {
    let mut count = 0;
    move || {
        count += 1;
        Uid(format!("uid-{count}"))
    }
}

fn to_write(stored_objects: &StoredObjects, objects: &[ModelObject]) -> Vec<Change> {
    changes(stored_objects, objects, fresh()).collect::<Result<_, _>>().unwrap()
}

fn value(change: &Change) -> Value {
    serde_json::from_str(change.resource.text()).unwrap()
}

/// The stored resources after these writes, as a server would keep them.
fn kept(mut stored_objects: StoredObjects, changes: Vec<Change>) -> StoredObjects {
    for change in changes {
        let mut resource: Value = value(&change);
        resource["metadata"]["resourceVersion"] = json!("7");
        if change.mark_destroyed {
            resource["metadata"]["annotations"][marks::DESTROYED] = json!("true");
        }
        stored_objects.put(&change.id, resource);
    }
    stored_objects
}

fn shop() -> Vec<ModelObject> {
    let mut app = object("app", "Application", None, json!({"size": 2, "network": {"?": {"ref": "net"}}}));
    app.name = Some("shop".into());
    let mut network = object("net", "Network", Some("app"), json!({"cidr": "192.0.2.0/24"}));
    network.dependencies = vec![dependency("net", None, 1), dependency("vm-1", Some("vmGone"), 2)];
    let other = "2b9d1b0c-5f43-4ad5-8f8e-3c1fa63b8a01";
    let odd = json!({"peers": [{"to": {"?": {"ref": other}}}], "map": {"$ref": 1.5, "$$": 2}, "none": null});
    let vm = object("vm-1", "Vm", Some("app"), odd);
    let mut gone = object(other, "Vm", Some("app"), json!({}));
    gone.destroyed = true;
    vec![app, network, vm, gone]
}

/// REQ-MUR-35, REQ-MUR-37, REQ-MUR-65, REQ-MUR-72: what is written is read again, the status of the destroyed and
/// dependencies (on the side of the dependent) included.
#[test]
fn what_is_written_is_read_again() {
    let stored_objects = StoredObjects::new("prod", []).unwrap();
    let written = to_write(&stored_objects, &shop());
    let mut stored_objects = kept(stored_objects, written);
    assert_eq!(bare(stored_objects.model(None).objects), bare(shop()));
    assert!(stored_objects.dangling.is_empty(), "{:?}", stored_objects.dangling);
    assert_eq!(to_write(&stored_objects, &shop()), [], "nothing changed, nothing is written");
}

#[test]
fn a_resource_that_a_person_can_read() {
    let stored_objects = StoredObjects::new("prod", []).unwrap();
    let written = to_write(&stored_objects, &shop());
    let network = written.iter().find(|change| change.id == id("net")).unwrap();
    assert_eq!(
        value(network),
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
                    "sexton.dev/object-uid": "uid-2",
                    "sexton.dev/destruction-dependencies": value(network)["metadata"]["annotations"]
                        ["sexton.dev/destruction-dependencies"],
                },
            },
            "spec": {"cidr": "192.0.2.0/24"},
        })
    );
}

/// What others wrote on a resource stays: labels, annotations, other owners.
#[test]
fn what_others_wrote_stays() {
    let stored_objects = StoredObjects::new("prod", []).unwrap();
    let mut stored_objects = kept(stored_objects.clone(), to_write(&stored_objects, &shop()));
    let mut resource = stored_objects.get(&id("net")).unwrap().clone();
    resource["metadata"]["labels"] = json!({"team": "a"});
    resource["metadata"]["annotations"][marks::PROTECT] = json!("true");
    resource["metadata"]["ownerReferences"]
        .as_array_mut()
        .unwrap()
        .insert(0, json!({"apiVersion": "v1", "kind": "ConfigMap", "name": "c", "uid": "c"}));
    stored_objects.put(&id("net"), resource);
    let mut objects = shop();
    objects[1].properties.insert("cidr".into(), ModelValue::String("192.0.2.0/25".into()));
    objects[1].owner = None;
    objects[1].dependencies.clear();
    let written = to_write(&stored_objects, &objects);
    assert_eq!(written.len(), 1);
    let metadata = &value(&written[0])["metadata"];
    assert_eq!(metadata["labels"], json!({"team": "a"}));
    assert_eq!(metadata["ownerReferences"].as_array().unwrap().len(), 1);
    assert_eq!(
        metadata["annotations"],
        json!({marks::PROTECT: "true", "sexton.dev/object-id": "net", "sexton.dev/object-uid": "uid-2"})
    );
    assert_eq!((written[0].version.as_deref(), written[0].mark_destroyed), (Some("7"), false));
}

/// EXT-27: references to missing objects are reported, and nothing else is lost.
#[test]
fn references_that_lead_nowhere_are_told() {
    let stored_objects = StoredObjects::new("prod", []).unwrap();
    let mut stored_objects = kept(stored_objects.clone(), to_write(&stored_objects, &shop()));
    stored_objects.remove(&id("vm-1"));
    let objects = stored_objects.model(None).objects;
    assert_eq!(stored_objects.dangling, ["Network/net depends on Vm.classes.sexton.dev/vm-1, which is gone"]);
    assert_eq!(objects.len(), 3);
    let mut marked = stored_objects.get(&id("net")).unwrap().clone();
    marked["metadata"]["deletionTimestamp"] = json!("2026-01-01T00:00:00Z");
    let stored_objects = StoredObjects::new("prod", [marked]).unwrap();
    assert!(stored_objects.is_empty(), "a terminating resource is no part of it any more");
}

/// Names that are taken, odd or missing still give every object a resource of its own.
#[test]
fn every_object_gets_a_name_of_its_own() {
    let stored_objects = StoredObjects::new("prod", []).unwrap();
    let named =
        |id: &str, name: &str| ModelObject { name: Some(name.into()), ..object(id, "Vm", None, json!({})) };
    let objects = [named("a", "web"), named("b", "web"), named("C_1", "Ä"), named("D_1", "web")];
    let written = to_write(&stored_objects, &objects);
    let names: Vec<&str> = written.iter().map(|change| change.name.as_str()).collect();
    assert_eq!(names, ["web", "b", "vm", "vm-2"]);
    let mut stored_objects = kept(stored_objects, written);
    let read: Vec<Option<String>> =
        stored_objects.model(None).objects.into_iter().map(|object| object.name).collect();
    assert_eq!(read, ["Ä", "web", "web", "web"].map(|name| Some(name.to_owned())));
}

#[test]
fn two_resources_cannot_be_one_object() {
    let one = |name: &str| json!({"kind": "Vm", "metadata": {"name": name, "uid": name, "annotations": {"sexton.dev/object-id": "x"}}});
    let error = StoredObjects::new("prod", [one("a"), one("b")]).unwrap_err();
    assert_eq!(error.to_string(), "two resources say that they are the object x: Vm/a and Vm/b");
}
