//! In which order lives are destroyed when ownership and destruction dependencies pull in different directions.

use serde_json::{Value, json};
use sexton_model::hook::Verdict;
use sexton_testkit::collecting::quick;
use sexton_testkit::things::DEFINITIONS;
use sexton_testkit::{Collecting, Gate, Scripted, World};

use crate::common::{CLASSES, DEPENDENCIES, delete, hears, left, make, make_with, pass};
use crate::murano::stage;

/// The names in the order in which their destroy method was called.
fn destroyed(hooks: &Scripted) -> Vec<String> {
    let calls = hooks.heard();
    calls.iter().filter_map(|call| call.strip_prefix("destroying destroy ")).map(str::to_owned).collect()
}

/// REQ-MUR-16, REQ-MUR-19, REQ-MUR-21, REQ-MUR-86: a child that depends on its parent's destruction outlives it,
/// whatever the policy.
#[tokio::test]
async fn a_child_that_hears_of_its_parent_goes_after_it() {
    for policy in ["", "Foreground", "Background"] {
        let (world, hooks) = stage().await;
        let parent = make(&world, "parent", &[]).await;
        make_with(&world, "child", &[("parent", &parent)], hears(&["parent"])).await;
        let mut collecting = Collecting::scripted(&world, &hooks);
        collecting.settled(&world).await;
        delete(&world, "configmaps/parent", policy).await;
        let summary = collecting.settled(&world).await;
        assert_eq!(destroyed(&hooks), ["parent", "child"], "{policy} {summary:#?}");
        assert_eq!(left(&world).await, Vec::<String>::new(), "{policy} {summary:#?}");
    }
}

/// REQ-MUR-22, REQ-MUR-87: a parent that depends on its child's destruction goes after it, as it does without.
#[tokio::test]
async fn a_parent_that_hears_of_its_child_goes_after_it() {
    for policy in ["", "Foreground"] {
        let (world, hooks) = stage().await;
        let parent = make_with(&world, "parent", &[], hears(&["child"])).await;
        make(&world, "child", &[("parent", &parent)]).await;
        let mut collecting = Collecting::scripted(&world, &hooks);
        delete(&world, "configmaps/parent", policy).await;
        collecting.settled(&world).await;
        assert_eq!(destroyed(&hooks), ["child", "parent"], "{policy}");
        assert_eq!(left(&world).await, Vec::<String>::new());
    }
}

/// REQ-MUR-13, REQ-MUR-15, REQ-MUR-23, REQ-MUR-26, REQ-MUR-88: two that do not own each other.
#[tokio::test]
async fn unrelated_ones_go_in_the_order_of_their_dependency() {
    let (world, hooks) = stage().await;
    // By name the other way round would come first.
    make_with(&world, "a-foo", &[], hears(&["z-bar"])).await;
    make(&world, "z-bar", &[]).await;
    world.call("DELETE", "configmaps").send().await.expect(200);
    let mut collecting = Collecting::scripted(&world, &hooks);
    collecting.settled(&world).await;
    assert_eq!(destroyed(&hooks), ["z-bar", "a-foo"]);
    assert_eq!(left(&world).await, Vec::<String>::new());
}

/// REQ-MUR-24, REQ-MUR-25: over several dependencies and owners.
#[tokio::test]
async fn dependencies_are_transitive() {
    let (world, hooks) = stage().await;
    let root = make(&world, "root", &[]).await;
    let a = make_with(&world, "a", &[("root", &root)], hears(&["b"])).await;
    make_with(&world, "b", &[("root", &root)], hears(&["c"])).await;
    make(&world, "c", &[("root", &root)]).await;
    let below = make(&world, "a-below", &[("a", &a)]).await;
    make(&world, "a-bottom", &[("a-below", &below)]).await;
    let mut collecting = Collecting::scripted(&world, &hooks);
    delete(&world, "configmaps/root", "").await;
    collecting.settled(&world).await;
    let order = destroyed(&hooks);
    let at = |name: &str| order.iter().position(|one| one == name).unwrap();
    assert!(at("c") < at("b") && at("b") < at("a") && at("a") < at("root"), "{order:?}");
    assert!(at("a-bottom") < at("a-below") && at("a-below") < at("a"), "{order:?}");
    assert_eq!(left(&world).await, Vec::<String>::new());
}

/// REQ-MUR-17, REQ-MUR-18, REQ-MUR-89: everybody in a circle is warned and notified before any of it is destroyed, and all
/// are.
#[tokio::test]
async fn a_circle_is_destroyed_as_a_whole() {
    let (world, hooks) = stage().await;
    let root = make(&world, "root", &[]).await;
    for (name, next) in [("a", "b"), ("b", "c"), ("c", "a")] {
        make_with(&world, name, &[("root", &root)], hears(&[next])).await;
    }
    let mut collecting = Collecting::scripted(&world, &hooks);
    delete(&world, "configmaps/root", "").await;
    collecting.settled(&world).await;
    let heard = hooks.heard();
    let last = |word: &str| heard.iter().rposition(|call| call.starts_with(word)).unwrap();
    let first = heard.iter().position(|call| call.starts_with("destroying")).unwrap();
    assert!(last("warning") < first && last("notifying") < first, "{heard:?}");
    for name in ["a", "b", "c"] {
        assert!(heard.contains(&format!("warning gone {name}")), "{heard:?}");
        assert!(heard.contains(&format!("notifying gone {name}")), "{heard:?}");
    }
    let mut all = destroyed(&hooks);
    assert_eq!(all.pop().as_deref(), Some("root"));
    all.sort();
    assert_eq!(all, ["a", "b", "c"]);
    assert_eq!(left(&world).await, Vec::<String>::new());
}

/// REQ-MUR-17: while one notification of a circle is not answered, no member of it is destroyed.
#[tokio::test]
async fn a_circle_waits_for_its_last_notification() {
    let (world, hooks) = stage().await;
    let root = make(&world, "root", &[]).await;
    for (name, next) in [("a", "b"), ("b", "c"), ("c", "a")] {
        make_with(&world, name, &[("root", &root)], hears(&[next])).await;
    }
    let (answer, answered) = tokio::sync::oneshot::channel::<()>();
    hooks.during("notifying gone a", async move { _ = answered.await });
    let mut collecting = Collecting::scripted(&world, &hooks);
    delete(&world, "configmaps/root", "").await;
    // Three warnings and three notifications.
    hooks.called(6).await;
    collecting.settled_but_for_calls(&world).await;
    let heard = hooks.heard();
    assert!(!heard.iter().any(|call| call.starts_with("destroying")), "{heard:?}");
    answer.send(()).unwrap();
    collecting.settled(&world).await;
    assert_eq!(left(&world).await, Vec::<String>::new());
}

/// REQ-MUR-89: parent and child that hear of each other are a circle, too.
#[tokio::test]
async fn parent_and_child_in_a_circle() {
    for policy in ["", "Foreground", "Background"] {
        let (world, hooks) = stage().await;
        let parent = make_with(&world, "parent", &[], hears(&["child"])).await;
        make_with(&world, "child", &[("parent", &parent)], hears(&["parent"])).await;
        let mut collecting = Collecting::scripted(&world, &hooks);
        collecting.settled(&world).await;
        delete(&world, "configmaps/parent", policy).await;
        let summary = collecting.settled(&world).await;
        let mut all = destroyed(&hooks);
        all.sort();
        assert_eq!(all, ["child", "parent"], "{policy} {summary:#?}");
        assert_eq!(left(&world).await, Vec::<String>::new(), "{policy} {summary:#?}");
    }
}

/// REQ-MUR-22, REQ-MUR-25: in a circle no dependency says which of two goes first, so ownership does: while the owned is not
/// destroyed none of its owners is, also for a collector that comes later and when the circle has fallen apart. What does
/// not own it goes on.
#[tokio::test]
async fn in_a_circle_the_owned_go_before_their_owners() {
    for policy in ["", "Foreground"] {
        let (world, hooks) = stage().await;
        // The owners come first by name and by age.
        let top = make_with(&world, "a-top", &[], hears(&["d-other"])).await;
        let middle = make_with(&world, "b-middle", &[("a-top", &top)], hears(&["a-top"])).await;
        make_with(&world, "c-low", &[("b-middle", &middle)], hears(&["b-middle"])).await;
        make_with(&world, "d-other", &[("a-top", &top)], hears(&["c-low"])).await;
        for _ in 0..2 {
            hooks.answer("destroying destroy c-low", Verdict::Failed { reason: "it is busy".into() });
        }
        let mut collecting = Collecting::scripted(&world, &hooks);
        collecting.settled(&world).await;
        delete(&world, "configmaps/a-top", policy).await;
        let summary = collecting.settled(&world).await;
        let mut first = destroyed(&hooks);
        first.sort();
        assert_eq!(first, ["c-low", "d-other"], "{policy} {summary:#?}");
        assert_eq!(left(&world).await, ["a-top", "b-middle", "c-low"], "{policy}");
        collecting.drain().await;
        let mut collecting = Collecting::scripted(&world, &hooks);
        collecting.settled(&world).await;
        assert_eq!(destroyed(&hooks).len(), 2, "{policy} {:?}", hooks.heard());
        for _ in 0..2 {
            pass(&world, 600).await;
            collecting.settled(&world).await;
        }
        assert_eq!(destroyed(&hooks)[2..], ["c-low", "c-low", "b-middle", "a-top"], "{policy}");
        assert_eq!(left(&world).await, Vec::<String>::new(), "{policy}");
    }
}

fn definition(kind: &str) -> Value {
    let plural = format!("{}s", kind.to_lowercase());
    json!({
        "metadata": {"name": format!("{plural}.example.com")},
        "spec": {
            "group": "example.com", "scope": "Namespaced", "names": {"plural": plural, "kind": kind},
            "versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": {
                "type": "object", "x-kubernetes-preserve-unknown-fields": true}}}],
        },
    })
}

async fn put(world: &World, kind: &str, name: &str, owners: Value, hears: &str) -> String {
    let plural = format!("{}s", kind.to_lowercase());
    let mut metadata = json!({"name": name, "ownerReferences": owners});
    if !hears.is_empty() {
        metadata["annotations"] = json!({DEPENDENCIES: hears});
    }
    let path = format!("/apis/example.com/v1/namespaces/default/{plural}");
    let document = json!({"apiVersion": "example.com/v1", "kind": kind, "metadata": metadata});
    world.create(&path, &document).await.document(201)["metadata"]["uid"].as_str().unwrap().to_owned()
}

/// REQ-MUR-10, REQ-MUR-12, REQ-MUR-76, REQ-MUR-67: the network of an application is destroyed after all of its machines,
/// though it owns none of them; the one who says so need not hear of it.
#[tokio::test]
async fn the_network_outlives_the_machines() {
    let world = World::new().await;
    for kind in ["Application", "Network", "Vm"] {
        world.create(DEFINITIONS, &definition(kind)).await.expect(201);
        let spec = json!({"for": {"group": "example.com", "kind": kind},
            "destroy": {"exec": {"argv": ["/bin/true"]}}});
        let class = json!({"metadata": {"name": kind.to_lowercase()}, "spec": spec});
        world.create(CLASSES, &class).await.expect(201);
    }
    let application = put(&world, "Application", "app", json!([]), "").await;
    let owner =
        json!([{"apiVersion": "example.com/v1", "kind": "Application", "name": "app", "uid": application}]);
    let machines = ["vm-1", "vm-2", "vm-3"];
    let targets: String = machines.iter().map(|name| format!("- Vm.example.com/{name}\n")).collect();
    put(&world, "Network", "a-network", owner.clone(), &targets).await;
    for name in machines {
        put(&world, "Vm", name, owner.clone(), "").await;
    }
    let hooks = std::sync::Arc::new(Scripted::default());
    let mut collecting = Collecting::scripted(&world, &hooks);
    let path = "/apis/example.com/v1/namespaces/default/applications/app";
    world.call("DELETE", path).send().await.expect(200);
    collecting.settled(&world).await;
    let mut order = destroyed(&hooks);
    assert_eq!(order.split_off(3), ["a-network", "app"]);
    order.sort();
    assert_eq!(order, machines);
    world.get(path).await.expect(404);
    // Its classes are still there, and nobody was called twice.
    assert_eq!(hooks.heard().len(), 5);
}

/// An orphan and somebody below it who want to hear of each other's end go together.
#[tokio::test]
async fn an_orphan_in_a_circle_with_its_own() {
    let (world, hooks) = stage().await;
    let nobody = [("nobody", "never-was")];
    let above = make_with(&world, "above", &nobody, hears(&["below"])).await;
    make_with(&world, "below", &[("above", &above)], hears(&["above"])).await;
    let mut collecting = Collecting::scripted(&world, &hooks);
    let summary = collecting.settled(&world).await;
    assert_eq!(left(&world).await, Vec::<String>::new(), "{summary:#?}");
}

/// Who lives on loses the owner that waits for it at once, though another of its dying owners has to wait itself.
#[tokio::test]
async fn one_dying_owner_waits_for_another() {
    let (world, hooks) = stage().await;
    let solid = make(&world, "solid", &[]).await;
    let top = make(&world, "top", &[]).await;
    let first = make(&world, "first", &[("top", &top)]).await;
    let later = make_with(&world, "later", &[("top", &top)], hears(&["first"])).await;
    make(&world, "kept", &[("solid", &solid), ("first", &first), ("later", &later)]).await;
    let gate = Gate::to(&world);
    let mut collecting = Collecting::through(&world, quick("tests"), hooks.clone(), gate.clone());
    collecting.settled(&world).await;
    gate.lines(false);
    delete(&world, "configmaps/first", "Foreground").await;
    delete(&world, "configmaps/top", "Background").await;
    gate.lines(true);
    collecting.settled(&world).await;
    assert_eq!(left(&world).await, ["kept", "solid"]);
}
