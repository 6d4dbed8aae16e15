//! Graphs of every shape: what is left when somebody is deleted, and that it ends.

use serde_json::{Value, json};
use sexton_collector::Summary;
use sexton_model::Revision;
use sexton_testkit::things::owner;
use sexton_testkit::{Collecting, World};

use crate::common::{delete, left, make, make_with, metadata};
use crate::races::gated;

/// A program that is not optimized takes a minute for a hundred thousand; it does with fewer.
const MANY: usize = if cfg!(debug_assertions) { 3_000 } else { 100_000 };

/// Makes objects as text says: `name` or `name < owner owner`, in any order, also in circles.
async fn draw(world: &World, text: &str) {
    let lines: Vec<(&str, Vec<&str>)> = text
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty())
        .map(|line| line.split_once('<').unwrap_or((line, "")))
        .map(|(name, owners)| (name.trim(), owners.split_whitespace().collect()))
        .collect();
    let mut uids = std::collections::BTreeMap::new();
    for (name, _) in &lines {
        uids.insert(*name, make(world, name, &[]).await);
    }
    for (name, owners) in lines.iter().filter(|(_, owners)| !owners.is_empty()) {
        let owners: Vec<Value> = owners.iter().map(|one| owner("ConfigMap", one, &uids[one])).collect();
        let patch = json!({"metadata": {"ownerReferences": owners}});
        world.merge(&format!("configmaps/{name}"), &patch).await.expect(200);
    }
}

/// EXT-10, EXT-11: each shape, what is deleted, and who is left by policy: none, Foreground, Background.
#[tokio::test]
async fn shapes_end_as_they_should() {
    let shapes: [(&str, &str, [&[&str]; 3]); 9] = [
        ("root\n a < root\n b < root\n leaf < a b", "root", [&[]; 3]),
        (
            "root\n other\n a < root\n b < other\n leaf < a b",
            "root",
            [&["b", "other"], &["b", "leaf", "other"], &["b", "leaf", "other"]],
        ),
        ("a < b\n b < a", "a", [&[]; 3]),
        ("a < b\n b < c\n c < a", "b", [&[]; 3]),
        ("a < b\n b < c\n c < a\n tail < a\n end < tail", "c", [&[]; 3]),
        (
            "a < b\n b < a\n keeper\n out < a keeper",
            "b",
            [&["keeper"], &["keeper", "out"], &["keeper", "out"]],
        ),
        ("self < self\n below < self", "self", [&[]; 3]),
        ("head\n a < head b\n b < a", "head", [&[], &["a", "b"], &["a", "b"]]),
        ("root\n twice < root root", "root", [&[]; 3]),
    ];
    for (shape, deleted, expected) in shapes {
        for (policy, expected) in ["", "Foreground", "Background"].into_iter().zip(expected) {
            let world = World::new().await;
            draw(&world, shape).await;
            let mut collecting = Collecting::on(&world);
            collecting.settled(&world).await;
            assert!(delete(&world, &format!("configmaps/{deleted}"), policy).await < 300);
            let summary = collecting.settled(&world).await;
            assert_eq!(left(&world).await, expected, "{shape}\n{policy} {summary:#?}");
        }
    }
}

/// EXT-11: the same with a collector that comes when all has been marked.
#[tokio::test]
async fn circles_end_for_a_collector_that_comes_late() {
    for policy in ["", "Foreground"] {
        let world = World::new().await;
        draw(&world, "a < b\n b < c\n c < a\n tail < b").await;
        delete(&world, "configmaps/a", policy).await;
        let mut collecting = Collecting::on(&world);
        collecting.settled(&world).await;
        assert_eq!(left(&world).await, Vec::<String>::new(), "{policy}");
    }
}

fn numbered(number: usize, owner: Option<usize>) -> Value {
    let name = |number: usize| format!("n-{number:06}");
    let uid = |number: usize| format!("00000000-0000-4000-8000-{number:012x}");
    let owners: Vec<Value> = owner
        .iter()
        .map(|owner| json!({"apiVersion": "v1", "kind": "ConfigMap", "name": name(*owner), "uid": uid(*owner)}))
        .collect();
    let metadata = json!({"name": name(number), "uid": uid(number), "ownerReferences": owners,
        "creationTimestamp": "2026-11-15T20:00:00Z"});
    json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata})
}

/// EXT-10: a chain of a hundred thousand, without recursion, in few looks.
#[tokio::test]
async fn a_long_chain() {
    let world = World::new().await;
    world.fill_documents("configmaps", (0..MANY).map(|number| numbered(number, number.checked_sub(1)))).await;
    let mut collecting = Collecting::on(&world);
    collecting.settled(&world).await;
    assert_eq!(delete(&world, "configmaps/n-000000", "").await, 200);
    let over = all_gone(&world, &mut collecting, MANY).await;
    assert_eq!(over.removed, MANY as u64);
}

/// EXT-11: a circle of thousands. That it goes together needs no conditions about each pair of its members, which no server
/// takes; and it keeps nothing else from going.
#[tokio::test]
async fn a_large_circle() {
    let world = World::new().await;
    let ring = (0..MANY).map(|number| numbered(number, Some((number + 1) % MANY)));
    world.fill_documents("configmaps", ring).await;
    let mut collecting = Collecting::on(&world);
    collecting.settled(&world).await;
    assert_eq!(delete(&world, "configmaps/n-000000", "").await, 200);
    all_gone(&world, &mut collecting, MANY).await;
}

/// Waits until so many were removed, which takes few looks, and until all of it was heard. How often it looks while it
/// only hears is a matter of the machine; for each single one it must not.
async fn all_gone(world: &World, collecting: &mut Collecting, count: usize) -> Summary {
    let head = Revision::new(world.head().await);
    let removed = collecting.until(|summary| summary.removed >= count as u64).await;
    assert!(removed.rounds < 20, "{removed:#?}");
    let over =
        collecting.until(|summary| summary.idle && summary.revision > head && summary.doomed == 0).await;
    assert_eq!(left(world).await, Vec::<String>::new());
    assert!(over.rounds < MANY as u64 / 10, "{over:#?}");
    over
}

/// A hundred thousand dependents of one owner.
#[tokio::test]
async fn a_wide_fan() {
    let world = World::new().await;
    let fan = (0..MANY).map(|number| numbered(number, (number > 0).then_some(0)));
    world.fill_documents("configmaps", fan).await;
    let mut collecting = Collecting::on(&world);
    collecting.settled(&world).await;
    assert_eq!(delete(&world, "configmaps/n-000000", "Background").await, 200);
    all_gone(&world, &mut collecting, MANY - 1).await;
}

/// EXT-13: who gets the name of a deleted owner gets none of its dependents, and does not save them.
#[tokio::test]
async fn a_successor_inherits_nothing() {
    let world = World::new().await;
    let first = make(&world, "owner", &[]).await;
    make(&world, "old", &[("owner", &first)]).await;
    let mut collecting = Collecting::on(&world);
    collecting.settled(&world).await;
    delete(&world, "configmaps/owner", "Background").await;
    let second = make(&world, "owner", &[]).await;
    make(&world, "new", &[("owner", &second)]).await;
    collecting.settled(&world).await;
    assert_eq!(left(&world).await, ["new", "owner"]);
}

/// A dependent that gets another owner in the middle is kept by it, except from a cascade that has marked it.
#[tokio::test]
async fn a_dependent_moves_in_the_middle() {
    for (policy, expected) in [("", vec!["new"]), ("Foreground", vec!["a", "new"])] {
        let world = World::new().await;
        let held = json!({"finalizers": ["example.com/mine"]});
        let root = make_with(&world, "root", &[], held).await;
        let new = make(&world, "new", &[]).await;
        let mut collecting = Collecting::on(&world);
        let moved = json!({"metadata": {"ownerReferences": [owner("ConfigMap", "new", &new)]}});
        make(&world, "a", &[("root", &root)]).await;
        collecting.settled(&world).await;
        if policy == "Foreground" {
            world.merge("configmaps/a", &moved).await.expect(200);
        }
        delete(&world, "configmaps/root", policy).await;
        collecting.settled(&world).await;
        world.merge("configmaps/root", &json!({"metadata": {"finalizers": []}})).await.expect(200);
        collecting.settled(&world).await;
        assert_eq!(left(&world).await, expected, "{policy}");
    }
}

/// EXT-15: a dependent that is made while its owner is being deleted is taken along, whatever holds the owner.
#[tokio::test]
async fn a_dependent_is_born_under_a_dying_owner() {
    for policy in ["", "Foreground"] {
        let world = World::new().await;
        let held = json!({"finalizers": ["example.com/mine"]});
        let root = make_with(&world, "root", &[], held.clone()).await;
        let slow = make_with(&world, "slow", &[("root", &root)], held).await;
        let mut collecting = Collecting::on(&world);
        delete(&world, "configmaps/root", policy).await;
        collecting.settled(&world).await;
        assert_eq!(left(&world).await, ["root", "slow"]);
        make(&world, "late", &[("root", &root)]).await;
        make(&world, "later", &[("slow", &slow)]).await;
        collecting.settled(&world).await;
        for name in ["slow", "root"] {
            let free = json!({"metadata": {"finalizers": null}});
            let names = metadata(&world, name).await["finalizers"].clone();
            if names == json!(["example.com/mine"]) {
                world.merge(&format!("configmaps/{name}"), &free).await.expect(200);
            } else {
                let others: Vec<&Value> =
                    names.as_array().unwrap().iter().filter(|one| *one != "example.com/mine").collect();
                let free = json!({"metadata": {"finalizers": others}});
                world.merge(&format!("configmaps/{name}"), &free).await.expect(200);
            }
            collecting.settled(&world).await;
        }
        assert_eq!(left(&world).await, Vec::<String>::new(), "{policy}");
    }
}

/// An owner of a kind that nobody knows: nothing can be said, so nothing is done, and that does not keep others.
#[tokio::test]
async fn an_owner_of_an_unknown_kind() {
    let world = World::new().await;
    let root = make(&world, "root", &[]).await;
    let strange = json!({"apiVersion": "nowhere.example.com/v1", "kind": "Thing", "name": "x", "uid": "u-x"});
    let known = owner("ConfigMap", "root", &root);
    let alone = json!({"metadata": {"name": "alone", "ownerReferences": [strange]}});
    let both = json!({"metadata": {"name": "both", "ownerReferences": [strange, known]}});
    world.create("configmaps", &alone).await.expect(201);
    world.create("configmaps", &both).await.expect(201);
    let mut collecting = Collecting::on(&world);
    delete(&world, "configmaps/root", "Background").await;
    collecting.settled(&world).await;
    assert_eq!(left(&world).await, ["alone", "both"]);
}

/// Two owners that are deleted with different policies share dependents: the stronger one decides.
#[tokio::test]
async fn two_roots_share_their_dependents() {
    let cases: [(&str, &str, &[&str]); 5] = [
        ("", "Orphan", &[]),
        ("Orphan", "", &[]),
        ("Orphan", "Foreground", &["shared"]),
        ("Background", "Foreground", &[]),
        ("Orphan", "Orphan", &["shared"]),
    ];
    for (one, two, expected) in cases {
        let world = World::new().await;
        draw(&world, "one\n two\n shared < one two").await;
        // Both are marked before anybody acts.
        delete(&world, "configmaps/one", one).await;
        delete(&world, "configmaps/two", two).await;
        let mut collecting = Collecting::on(&world);
        let summary = collecting.settled(&world).await;
        assert_eq!(left(&world).await, expected, "{one:?} {two:?} {summary:#?}");
    }
}

/// A second DELETE with another policy, while the first is held up, decides what becomes of those who are left.
#[tokio::test]
async fn a_second_delete_changes_the_policy() {
    let cases: [(&str, &str, &[&str]); 4] = [
        ("Background", "Orphan", &["a", "root"]),
        ("Background", "Foreground", &["root"]),
        ("Background", "Cascade", &["root"]),
        ("Orphan", "Cascade", &["a", "root"]),
    ];
    for (first, second, expected) in cases {
        let world = World::new().await;
        let root = make_with(&world, "root", &[], json!({"finalizers": ["example.com/mine"]})).await;
        make(&world, "a", &[("root", &root)]).await;
        let mut collecting = Collecting::on(&world);
        delete(&world, "configmaps/root", first).await;
        collecting.settled(&world).await;
        let second = if second == "Cascade" { "" } else { second };
        assert_eq!(delete(&world, "configmaps/root", second).await, 200);
        let summary = collecting.settled(&world).await;
        assert_eq!(left(&world).await, expected, "{first} {second} {summary:#?}");
    }
}

/// Somebody follows an owner that waits for it and one that could go at once, and is itself waited for by both.
#[tokio::test]
async fn owners_that_wait_and_owners_that_do_not() {
    let world = World::new().await;
    for (referenced, seen) in [(false, true), (true, true), (false, false), (true, false)] {
        let root = make(&world, "root", &[]).await;
        let at_once = make(&world, "at-once", &[("root", &root)]).await;
        let waits = make(&world, "waits", &[]).await;
        let both = make(&world, "both", &[("at-once", &at_once), ("waits", &waits)]).await;
        if referenced {
            make(&world, "below", &[("both", &both)]).await;
        }
        let (gate, mut collecting) = gated(&world);
        if seen {
            collecting.settled(&world).await;
        }
        gate.lines(false);
        delete(&world, "configmaps/waits", "Foreground").await;
        delete(&world, "configmaps/root", "Background").await;
        gate.lines(true);
        let summary = collecting.settled(&world).await;
        assert_eq!((left(&world).await, summary.doomed), (Vec::<String>::new(), 0), "{summary:#?}");
        collecting.drain().await;
    }
}
