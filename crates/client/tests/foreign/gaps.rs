//! Beginning, following, and every way in which a watch can be interrupted.

use std::time::Duration;

use serde_json::json;
use sexton_client::FeedError;
use sexton_client::foreign::FeedOptions;
use sexton_model::feed::Line;
use sexton_testkit::World;
use sexton_testkit::things::{config_map, core, held, owner};

use crate::faults::{Fault, Faults};
use crate::reader::{Reader, options, resources};

async fn fill(world: &World, names: &[&str]) {
    for name in names {
        world.create("configmaps", &config_map(name)).await.expect(201);
    }
}

async fn remove(world: &World, name: &str) {
    let options = json!({"propagationPolicy": "Background"});
    world.delete(&format!("configmaps/{name}"), &options).await.expect(200);
}

#[tokio::test]
async fn the_feed_begins_with_the_kinds_and_all_objects_and_follows() {
    let world = World::new().await;
    fill(&world, &["a", "b", "c", "d", "e"]).await;
    let (_, client) = Faults::over(&world);
    let mut reader = Reader::new(&client, options());
    let Some(Ok(Line::Kinds { kinds })) = reader.item().await else { panic!("the first line names kinds") };
    assert!(kinds.iter().all(|kind| kind.broken.as_deref() == Some("not listed yet")));
    assert!(resources(&kinds).contains("configmaps") && !resources(&kinds).contains("events"));
    reader.kinds = kinds;
    reader.until("SYNCED", |reader| reader.synced).await;
    assert!(reader.all_whole());
    reader.until_right(&world).await;

    fill(&world, &["f"]).await;
    reader.until_told("ADDED configmaps f").await;
    world.merge("configmaps/f", &json!({"metadata": {"labels": {"x": "y"}}})).await.expect(200);
    reader.until_told("MODIFIED configmaps f").await;
    remove(&world, "f").await;
    reader.until_told("DELETED configmaps f").await;
    reader.until_right(&world).await;
}

/// A connection that ends loses nothing, and costs no list: the watch goes on from where it was.
#[tokio::test]
async fn a_cut_watch_goes_on() {
    let world = World::new().await;
    let (faults, client) = Faults::over(&world);
    let mut reader = Reader::synced(&client, options()).await;
    faults.on(&["limit="], Fault::Code(500));
    for name in ["a", "b", "c"] {
        faults.cut();
        fill(&world, &[name]).await;
        reader.until_told(&format!("ADDED configmaps {name}")).await;
    }
    reader.until_right(&world).await;
}

/// Race 2, race 9, race 19: while nobody looks, an owner comes and goes, an object comes and is marked at once, one
/// ends and another takes its name; then the server forgets all of it.
#[tokio::test]
async fn a_forgotten_past_is_told_as_the_difference() {
    let world = World::new().await;
    fill(&world, &["ends", "same", "slot"]).await;
    let (faults, client) = Faults::over(&world);
    let mut reader = Reader::synced(&client, options()).await;
    let known = reader.picture.clone();

    faults.on(&["/configmaps?", "watch=true"], Fault::Code(503));
    faults.cut();
    reader.until("broken", |reader| reader.broken("configmaps").is_some()).await;
    fill(&world, &["short"]).await;
    let uid = world.get("configmaps/short").await.text_at("metadata.uid").to_owned();
    let mut orphan = config_map("orphan");
    orphan["metadata"]["ownerReferences"] = json!([owner("ConfigMap", "short", &uid)]);
    world.create("configmaps", &orphan).await.expect(201);
    for name in ["short", "ends", "slot"] {
        remove(&world, name).await;
    }
    fill(&world, &["slot"]).await;
    world.create("configmaps", &held("marked", "example.com/hold")).await.expect(201);
    remove(&world, "marked").await;
    world.compact().await;
    let told = reader.told.len();
    faults.heal();
    reader.until("whole", |reader| reader.broken("configmaps").is_none()).await;
    reader.until_told("ADDED configmaps orphan").await;

    reader.until_right(&world).await;
    let mut news = reader.told[told..].to_vec();
    news.sort();
    let expected = [
        "ADDED configmaps marked",
        "ADDED configmaps orphan",
        "ADDED configmaps slot",
        "DELETED configmaps ends",
        "DELETED configmaps slot",
    ];
    assert_eq!(news, expected, "the owner that came and went was never there for the reader");
    let last = reader.ended.unwrap().object.metadata;
    assert_eq!(known[&last.uid].1, last.resource_version, "what is told last is what was known last");
}

/// A kind that cannot be listed is told, holds nobody up, and is whole as soon as it can be.
#[tokio::test]
async fn a_kind_that_cannot_be_listed_holds_nobody_up() {
    let world = World::new().await;
    fill(&world, &["a"]).await;
    world.create("secrets", &core("Secret", "hidden")).await.expect(201);
    world.create("services", &core("Service", "mute")).await.expect(201);
    let (faults, client) = Faults::over(&world);
    faults.on(&["/secrets"], Fault::Code(403));
    faults.on(&["/services?"], Fault::Silence);
    let options = FeedOptions { patience: Duration::from_millis(200), ..options() };
    // Time passes only when nobody has anything to do: what is answered is answered in time, on any machine.
    tokio::time::pause();
    let mut reader = Reader::synced(&client, options).await;
    tokio::time::resume();
    assert_eq!(reader.broken("secrets"), Some("injected 403"));
    assert_eq!(reader.broken("services"), Some("no answer within 0.2 s"));
    assert_eq!(reader.broken("configmaps"), None);
    assert!(reader.told.contains(&"ADDED configmaps a".to_owned()));
    assert!(!reader.told.contains(&"ADDED secrets hidden".to_owned()));

    faults.heal();
    reader.until("whole", |reader| reader.broken("secrets").is_none()).await;
    assert!(reader.told.contains(&"ADDED secrets hidden".to_owned()), "whole only after everything was told");
    reader.until("whole", Reader::all_whole).await;
    reader.until_right(&world).await;
}

/// A watch that says nonsense, or something that is not an event, is not believed.
#[tokio::test]
async fn nonsense_in_a_watch_leads_to_a_list() {
    let world = World::new().await;
    let (faults, client) = Faults::over(&world);
    let mut reader = Reader::synced(&client, options()).await;
    faults.on(
        &["/configmaps?", "watch=true"],
        Fault::Json(json!({"type": "DELETED", "object": {"metadata": 7}})),
    );
    faults.cut();
    fill(&world, &["a"]).await;
    reader.until_told("ADDED configmaps a").await;
    reader.until_right(&world).await;
}

#[tokio::test]
async fn a_feed_that_is_idle_shows_that_it_lives() {
    let world = World::new().await;
    let (_, client) = Faults::over(&world);
    let options = FeedOptions { heartbeat: Duration::from_millis(5), ..options() };
    let mut reader = Reader::synced(&client, options).await;
    reader.until("heartbeats", |reader| reader.heartbeats >= 2).await;
}

/// A server that never says what it serves is an error, and the end.
#[tokio::test]
async fn without_kinds_there_is_no_feed() {
    let world = World::new().await;
    for fault in [Fault::Code(500), Fault::Json(json!({})), Fault::Silence] {
        let (faults, client) = Faults::over(&world);
        faults.on(&["/api"], fault);
        let options = FeedOptions { patience: Duration::from_millis(50), ..options() };
        let mut reader = Reader::new(&client, options);
        let error = reader.item().await.unwrap().unwrap_err();
        assert!(matches!(error, FeedError::Discover(_) | FeedError::Mute(_)), "{error}");
        assert!(reader.item().await.is_none());
    }
}
