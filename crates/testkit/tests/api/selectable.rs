//! Selectable fields: what a definition names is what its objects can be selected by.

use std::sync::Arc;

use serde_json::{Value, json};
use sexton_testkit::World;
use sexton_testkit::things::{DEFINITIONS, WIDGETS, widgets};

fn selectable(fields: Value) -> Value {
    let mut definition = widgets();
    let version = &mut definition["spec"]["versions"][0];
    version["selectableFields"] = fields;
    version["schema"]["openAPIV3Schema"] = json!({"type": "object", "properties": {"spec": {
        "type": "object", "properties": {
            "color": {"type": "string"}, "size": {"type": "integer"}, "on": {"type": "boolean"},
            "list": {"type": "array", "items": {"type": "string"}},
        },
    }}});
    definition
}

async fn names(world: &World, selector: &str) -> Vec<String> {
    let list = world.get(&format!("{WIDGETS}?fieldSelector={selector}")).await.document(200);
    let items = list["items"].as_array().unwrap();
    items.iter().map(|item| item["metadata"]["name"].as_str().unwrap().to_owned()).collect()
}

/// Lists are cut to what is asked for; what is not there is as if it were empty, and other fields are refused (400).
#[tokio::test]
async fn objects_are_selected_by_the_fields_of_a_definition() {
    let world = World::new().await;
    let fields = json!([{"jsonPath": ".spec.color"}, {"jsonPath": ".spec.size"}, {"jsonPath": ".spec.on"}]);
    world.create(DEFINITIONS, &selectable(fields)).await.expect(201);
    for (name, spec) in [
        ("a", json!({"color": "red", "size": 1})),
        ("b", json!({"color": "blue", "size": 1, "on": true})),
        ("c", json!({})),
    ] {
        world.create(WIDGETS, &json!({"metadata": {"name": name}, "spec": spec})).await.expect(201);
    }
    assert_eq!(names(&world, "spec.color%3Dred").await, ["a"]);
    assert_eq!(names(&world, "spec.color!%3Dred").await, ["b", "c"]);
    assert_eq!(names(&world, "spec.size%3D1,spec.on%3Dtrue").await, ["b"]);
    assert_eq!(names(&world, "spec.color%3D").await, ["c"]);
    let refused = world.get(&format!("{WIDGETS}?fieldSelector=spec.list%3Dx")).await.expect(400);
    assert_eq!(refused.text_at("message"), "field label not supported: spec.list");
}

/// Fields that could never be selected by, and other things of the wrong type, are refused with their place (422).
#[tokio::test]
async fn fields_that_cannot_be_selected_by_are_refused() {
    let world = World::new().await;
    for (fields, place) in [
        (json!("spec.color"), "spec.versions[0].selectableFields"),
        (json!([{}]), "spec.versions[0].selectableFields[0].jsonPath"),
        (json!([{"jsonPath": ".spec.none"}]), "spec.versions[0].selectableFields[0].jsonPath"),
        (json!([{"jsonPath": ".spec.list"}]), "spec.versions[0].selectableFields[0].jsonPath"),
        (json!([{"jsonPath": ".spec.list[0]"}]), "spec.versions[0].selectableFields[0].jsonPath"),
        (json!([{"jsonPath": "spec.color"}]), "spec.versions[0].selectableFields[0].jsonPath"),
        (json!([{"jsonPath": ".metadata.name"}]), "spec.versions[0].selectableFields[0].jsonPath"),
        (
            json!([{"jsonPath": ".spec.on"}, {"jsonPath": ".spec.on"}]),
            "spec.versions[0].selectableFields[1].jsonPath",
        ),
        (json!(vec![json!({"jsonPath": ".spec.on"}); 9]), "spec.versions[0].selectableFields"),
    ] {
        let refused = world.create(DEFINITIONS, &selectable(fields)).await.expect(422);
        assert_eq!(refused.text_at("details.causes.0.field"), place);
    }
    for (pointer, value, place) in [
        ("/spec/versions/0/served", json!("yes"), "spec.versions[0].served"),
        ("/spec/names/shortNames", json!("wd"), "spec.names.shortNames"),
    ] {
        let mut definition = widgets();
        *definition.pointer_mut(pointer).unwrap() = value;
        let refused = world.create(DEFINITIONS, &definition).await.expect(422);
        assert_eq!(refused.text_at("details.causes.0.field"), place);
    }
}

/// A definition that comes costs no look at those that stand: what they came to is the same as before.
#[tokio::test]
async fn definitions_that_stand_are_not_read_again() {
    let world = World::new().await;
    let defined = world.create(DEFINITIONS, &widgets()).await.document(201);
    let kind = || {
        let kinds = world.api().kinds().current();
        kinds.find("demo.example.com", "v1", "widgets").cloned().unwrap()
    };
    let before = kind();
    let mut other = widgets();
    other["metadata"]["name"] = json!("others.demo.example.com");
    other["spec"]["names"] = json!({"plural": "others", "kind": "Other"});
    world.create(DEFINITIONS, &other).await.expect(201);
    assert!(Arc::ptr_eq(&before, &kind()));
    let mut changed = defined;
    changed["spec"]["names"]["categories"] = json!(["all"]);
    world.put(&format!("{DEFINITIONS}/widgets.demo.example.com"), &changed).await.expect(200);
    assert!(!Arc::ptr_eq(&before, &kind()));
    assert_eq!(kind().categories, ["all"]);
}
