//! Kinds that come and go, and discovery that says too little.

use std::time::Duration;

use serde_json::{Value, json};
use sexton_client::foreign::FeedOptions;
use sexton_testkit::World;
use sexton_testkit::things::{DEFINITIONS, WIDGETS, widget, widgets};

use crate::faults::{Fault, Faults};
use crate::reader::{Reader, options};

const DEFINITION: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/widgets.demo.example.com";

async fn define(world: &World) {
    world.create(DEFINITIONS, &widgets()).await.expect(201);
}

async fn undefine(world: &World) {
    world.delete(DEFINITION, &json!({"propagationPolicy": "Background"})).await.expect(200);
}

async fn remove(world: &World, name: &str) {
    let options = json!({"propagationPolicy": "Background"});
    world.delete(&format!("{WIDGETS}/{name}"), &options).await.expect(200);
}

/// Nobody waits for the next regular look at the kinds: a definition that changes is reason enough.
#[tokio::test]
async fn kinds_come_and_go_with_their_definitions() {
    let world = World::new().await;
    let (_, client) = Faults::over(&world);
    let mut reader = Reader::synced(&client, options()).await;
    for round in 1..=2 {
        define(&world).await;
        world.create(WIDGETS, &widget("a", 1)).await.expect(201);
        reader.until("the kind", |reader| reader.names("widgets")).await;
        let added = |reader: &Reader| reader.told.iter().filter(|told| *told == "ADDED widgets a").count();
        reader.until("the object", |reader| added(reader) == round).await;
        reader.until("whole", |reader| reader.broken("widgets").is_none()).await;
        remove(&world, "a").await;
        undefine(&world).await;
        reader.until("the end of the kind", |reader| !reader.names("widgets")).await;
        reader.until_right(&world).await;
    }
}

/// The definition goes while nobody can see its instances go: they are told as gone before the kind is.
#[tokio::test]
async fn instances_do_not_outlive_their_definition() {
    let world = World::new().await;
    define(&world).await;
    world.create(WIDGETS, &widget("a", 1)).await.expect(201);
    let (faults, client) = Faults::over(&world);
    let mut reader = Reader::synced(&client, options()).await;
    faults.on(&["/widgets?"], Fault::Code(500));
    faults.cut();
    reader.until("broken", |reader| reader.broken("widgets").is_some()).await;
    remove(&world, "a").await;
    undefine(&world).await;
    reader.until("the end of the kind", |reader| !reader.names("widgets")).await;
    assert!(reader.told.contains(&"DELETED widgets a".to_owned()));
    reader.until_right(&world).await;
}

/// Race 18: a kind that is not served any more, whose definition still stands, has not lost a single object.
#[tokio::test]
async fn a_kind_that_is_switched_off_is_broken_and_not_gone() {
    let world = World::new().await;
    define(&world).await;
    world.create(WIDGETS, &widget("a", 1)).await.expect(201);
    let (faults, client) = Faults::over(&world);
    let mut reader = Reader::synced(&client, options()).await;
    let served = |served: bool| {
        let mut version = widgets()["spec"]["versions"][0].clone();
        version["served"] = served.into();
        json!({"spec": {"versions": [version]}})
    };
    world.merge(DEFINITION, &served(false)).await.expect(200);
    faults.cut();
    let off = Some("the server does not serve it any more");
    reader.until("switched off", |reader| reader.broken("widgets") == off).await;
    assert!(reader.kinds.iter().any(|kind| kind.resource == "widgets" && !kind.served));
    world.merge(DEFINITION, &served(true)).await.expect(200);
    reader.until("switched on", |reader| reader.broken("widgets").is_none()).await;
    assert!(!reader.told.iter().any(|told| told.starts_with("DELETED")), "{:?}", reader.told);
    reader.until_right(&world).await;
}

/// A kind whose definition came and went unheard cannot be proved gone: that the server does not name it may as well mean
/// that a server behind it is down. Its objects stay, as broken, until a definition of it is heard.
#[tokio::test]
async fn what_was_never_known_to_be_defined_cannot_be_proved_gone() {
    let world = World::new().await;
    let (faults, client) = Faults::over(&world);
    let often = FeedOptions { rediscovery: Duration::from_millis(10), ..options() };
    let mut reader = Reader::synced(&client, often).await;
    faults.on(&["/customresourcedefinitions?"], Fault::Code(500));
    faults.cut();
    reader.until("deaf", |reader| reader.broken("customresourcedefinitions").is_some()).await;
    define(&world).await;
    world.create(WIDGETS, &widget("a", 1)).await.expect(201);
    reader.until_told("ADDED widgets a").await;
    faults.on(&["/widgets?"], Fault::Code(500));
    faults.cut();
    reader.until("broken", |reader| reader.broken("widgets").is_some()).await;
    remove(&world, "a").await;
    undefine(&world).await;
    world.compact().await;
    faults.heal();
    let off = Some("the server does not serve it any more");
    let heard = |reader: &Reader| reader.broken("customresourcedefinitions").is_none();
    reader.until("switched off", |reader| heard(reader) && reader.broken("widgets") == off).await;
    let is_unheard =
        |told: &String| !told.contains("customresourcedefinitions") && told != "DELETED widgets a";
    assert!(reader.told.iter().all(is_unheard), "{:?}", reader.told);
    define(&world).await;
    reader.until_told("ADDED customresourcedefinitions widgets.demo.example.com").await;
    undefine(&world).await;
    reader.until("the end of the kind", |reader| !reader.names("widgets")).await;
    assert!(reader.told.contains(&"DELETED widgets a".to_owned()));
    reader.until_right(&world).await;
}

/// Race 20: discovery that is empty, lacks a group, lacks a kind, or fails for a group takes nothing away. Each lie is
/// told until the kinds have been looked at again, which a new definition shows.
#[tokio::test]
async fn discovery_that_says_too_little_takes_nothing_away() {
    let world = World::new().await;
    define(&world).await;
    world.create(WIDGETS, &widget("a", 1)).await.expect(201);
    let (faults, client) = Faults::over(&world);
    let often = FeedOptions { rediscovery: Duration::from_millis(10), ..options() };
    let mut reader = Reader::synced(&client, often).await;
    let groups = world.get("/apis").await.json;
    let mut without = groups.clone();
    without["groups"].as_array_mut().unwrap().retain(|group| group["name"] != "demo.example.com");
    let lies: [(&str, Fault); 4] = [
        ("=/apis", Fault::Json(json!({"groups": []}))),
        ("=/apis", Fault::Json(without)),
        ("=/apis/demo.example.com/v1", Fault::Json(json!({"resources": []}))),
        ("=/apis/demo.example.com/v1", Fault::Code(503)),
    ];
    for (at, (path, lie)) in lies.into_iter().enumerate() {
        faults.times(1, None, &[path], lie);
        let name = format!("things{at}.other.example.com");
        world.create(DEFINITIONS, &other(&name)).await.expect(201);
        reader.until("the new kind", |reader| reader.names(&format!("things{at}"))).await;
        assert!(reader.names("widgets") && reader.names("configmaps"));
    }
    assert!(!reader.told.iter().any(|told| told.starts_with("DELETED")), "{:?}", reader.told);
    reader.until("whole", Reader::all_whole).await;
    reader.until_right(&world).await;
}

fn other(name: &str) -> Value {
    let plural = name.split('.').next().unwrap();
    let mut definition = widgets();
    definition["metadata"]["name"] = name.into();
    definition["spec"]["group"] = "other.example.com".into();
    definition["spec"]["names"] = json!({"plural": plural, "kind": format!("Kind{plural}")});
    definition
}

/// The same objects in another version are told as changed: whoever writes to them has to say the new version.
#[tokio::test]
async fn a_kind_may_change_its_preferred_version() {
    let world = World::new().await;
    define(&world).await;
    world.create(WIDGETS, &widget("a", 1)).await.expect(201);
    let (_, client) = Faults::over(&world);
    let mut reader = Reader::synced(&client, options()).await;
    let first = widgets()["spec"]["versions"][0].clone();
    let mut second = first.clone();
    (second["name"], second["storage"]) = (json!("v2"), json!(false));
    world.merge(DEFINITION, &json!({"spec": {"versions": [first, second]}})).await.expect(200);
    reader.until_told("MODIFIED widgets a").await;
    let versions = reader.kinds.iter().filter(|kind| kind.resource == "widgets");
    assert_eq!(versions.map(|kind| kind.version.clone()).collect::<Vec<_>>().len(), 2);
    reader.until_right(&world).await;
}
