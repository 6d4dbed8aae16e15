//! A disk that is full to the last block is freed by deleting, and then takes writes again without a restart.

use std::io::Write;
use std::path::Path;

use serde_json::json;
use sexton_testkit::{Collecting, World};

use crate::common::{delete, left, make};
use crate::small::Small;

/// Whether the long form of a test was asked for: thousands of small objects instead of hundreds of larger ones.
fn long() -> bool {
    std::env::var_os("SEXTON_LONG").is_some()
}

/// A disk that a test can fill.
fn mount() -> Option<Small> {
    Small::mount(if long() { 16 } else { 8 })
}

/// Whom the objects that fill a disk name as their owner.
#[derive(Clone, Copy)]
enum Owners<'a> {
    Nobody,
    One(&'a str, &'a str),
    /// Each the one before it.
    Chain,
}

/// Makes ConfigMaps until the disk is full; then another program takes what is left. Gives how many there are.
async fn fill(world: &World, disk: &Path, owners: Owners<'_>) -> usize {
    let mut last: Option<(String, String)> = match owners {
        Owners::One(name, uid) => Some((name.to_owned(), uid.to_owned())),
        Owners::Nobody | Owners::Chain => None,
    };
    let mut made = 0;
    loop {
        let name = format!("small-{made:05}");
        let references = last.as_ref().map(|(name, uid)| {
            json!([{"apiVersion": "v1", "kind": "ConfigMap", "name": name, "uid": uid, "blockOwnerDeletion": true}])
        });
        let metadata = json!({"name": name, "ownerReferences": references});
        let document = json!({
            "apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {"text": "x".repeat(if long() { 300 } else { 3_000 })},
        });
        match world.create("configmaps", &document).await {
            answer if answer.code == 201 => {
                made += 1;
                if matches!(owners, Owners::Chain) {
                    last = Some((name, answer.text_at("metadata.uid").to_owned()));
                }
            }
            answer => {
                assert_eq!(answer.code, 507, "{:?}", answer.json);
                break;
            }
        }
    }
    assert!(made > 300, "{made}");
    let mut ballast = std::fs::File::create(disk.join("ballast")).unwrap();
    while ballast.write_all(&[1; 512]).is_ok() {}
    made
}

/// Nothing is left, and as much can be made again as a module has.
async fn expect_freed(world: &World, collecting: &mut Collecting) {
    let summary = collecting.settled(world).await;
    assert_eq!(left(world).await, [""; 0], "{summary:#?}");
    let root = make(world, "root", &[]).await;
    for number in 0..100 {
        make(world, &format!("again-{number}"), &[("root", &root)]).await;
    }
}

/// One cascade over thousands: their marks do not use up what their removals need.
#[tokio::test]
async fn one_cascade() {
    let Some(small) = mount() else { return };
    let world = World::embedded_in(&small.path().join("data")).await;
    let root = make(&world, "root", &[]).await;
    let made = fill(&world, small.path(), Owners::One("root", &root)).await;
    println!("{made} dependents");
    let mut collecting = Collecting::on(&world);
    assert_eq!(delete(&world, "configmaps/root", "").await, 200);
    expect_freed(&world, &mut collecting).await;
}

/// A chain, of which each has to be marked before the last can go: the marks of thousands take more than the space that is
/// put aside.
#[tokio::test]
async fn a_chain_of_owners() {
    let Some(small) = mount() else { return };
    let world = World::embedded_in(&small.path().join("data")).await;
    let made = fill(&world, small.path(), Owners::Chain).await;
    println!("{made} in a chain");
    let mut collecting = Collecting::on(&world);
    assert_eq!(delete(&world, "configmaps/small-00000", "").await, 200);
    expect_freed(&world, &mut collecting).await;
}

/// Every object is deleted by a request of its own, without a policy.
#[tokio::test]
async fn one_by_one() {
    let Some(small) = mount() else { return };
    let world = World::embedded_in(&small.path().join("data")).await;
    let made = fill(&world, small.path(), Owners::Nobody).await;
    let mut collecting = Collecting::on(&world);
    for number in 0..made {
        let path = format!("configmaps/small-{number:05}");
        // What has no space now has some when the collector has removed what was deleted before.
        while delete(&world, &path, "").await == 507 {
            collecting.settled(&world).await;
        }
    }
    expect_freed(&world, &mut collecting).await;
}

/// All of them by one request, whose policy needs no collector.
#[tokio::test]
async fn as_a_collection() {
    let Some(small) = mount() else { return };
    let world = World::embedded_in(&small.path().join("data")).await;
    fill(&world, small.path(), Owners::Nobody).await;
    assert_eq!(delete(&world, "configmaps", "Background").await, 200);
    let mut collecting = Collecting::on(&world);
    expect_freed(&world, &mut collecting).await;
}
