//! The snapshot: events in, indexes out.

use crate::common::{apply, event, key, node, uid, world};
use sexton_lifecycle::{NodeId, Ownership, Snapshot};
use sexton_model::Revision;
use std::collections::BTreeMap;

fn names(snapshot: &Snapshot, nodes: impl IntoIterator<Item = NodeId>) -> Vec<String> {
    let mut names: Vec<String> = nodes.into_iter().map(|node| snapshot.uid(node).0).collect();
    names.sort();
    names
}

/// REQ-KRK-5, REQ-KRK-25, REQ-KRK-28, REQ-KRK-54, REQ-KRK-56: only dependents name owners; both directions can be
/// asked.
#[test]
fn owners_and_dependents() {
    let snapshot = world("app/shop\n vm/web <- app/shop, app/missing\n vm/b/bad <- app/shop");
    let (shop, web) = (node(&snapshot, "app/shop"), node(&snapshot, "vm/web"));
    assert!(snapshot.owners(shop).is_empty());
    let owners: Vec<Ownership> = snapshot.owners(web).into_iter().map(|(_, owner)| owner).collect();
    assert_eq!(owners, [Ownership::Valid(shop), Ownership::Absent { seen: false }]);
    assert_eq!(names(&snapshot, snapshot.dependents(shop).map(|(node, _)| node)), ["vm/web"]);
    assert_eq!(names(&snapshot, snapshot.dependents_of(&uid("app/shop"))), ["vm/b/bad", "vm/web"]);
    assert_eq!(names(&snapshot, snapshot.dependents_of(&uid("app/missing"))), ["vm/web"]);
    assert_eq!(snapshot.dependent_count(shop), 2);
}

/// REQ-KRK-24, REQ-KRK-48, REQ-KRK-50, REQ-KRK-57, REQ-KRK-58, REQ-KRK-59: every event changes the graph, in memory.
#[test]
fn events_change_the_graph() {
    let mut snapshot = world("app/shop\n app/other\n vm/web <- app/shop");
    apply(&mut snapshot, event("vm/web <- app/other", 5));
    assert_eq!(snapshot.dependents(node(&snapshot, "app/shop")).count(), 0);
    assert_eq!(snapshot.dependents(node(&snapshot, "app/other")).count(), 1);
    apply(&mut snapshot, event("vm/web <- app/shop", 4));
    assert_eq!(snapshot.dependents(node(&snapshot, "app/other")).count(), 1);
    apply(&mut snapshot, event("gone vm/web", 6));
    assert_eq!((snapshot.len(), snapshot.dependents(node(&snapshot, "app/other")).count()), (2, 0));
    assert_eq!(snapshot.revision(), Revision::new(6));
}

/// REQ-KRK-42, REQ-KRK-49, REQ-KRK-53, REQ-KRK-55: nodes are small ids, lead to the complete resource by key and uid,
/// and leave the graph with the resource.
#[test]
fn nodes_lead_to_resources() {
    let mut snapshot = world("vm/b/web deleted cascade by ada held");
    let web = snapshot.find(&key("vm/b/web")).unwrap();
    assert_eq!(BTreeMap::from([(web, 1)])[&node(&snapshot, "vm/b/web")], 1);
    assert_eq!((snapshot.key(web), snapshot.uid(web)), (key("vm/b/web"), uid("vm/b/web")));
    assert_eq!((snapshot.kind(web), snapshot.group(web), snapshot.version(web)), ("Vm", "example.com", "v1"));
    let finalizers: Vec<&str> = snapshot.finalizers(web).collect();
    assert_eq!(finalizers, ["cascade_deletion", "example.com/hold"]);
    assert_eq!((snapshot.terminating_since(web), snapshot.requester(web)), (Some(1), Some("ada")));
    assert_eq!(names(&snapshot, snapshot.terminating()), ["vm/b/web"]);
    apply(&mut snapshot, event("gone vm/b/web", 2));
    assert!(snapshot.find(&key("vm/b/web")).is_none() && snapshot.terminating().next().is_none());
    assert_eq!(snapshot.removal_requester(&uid("vm/b/web")), Some("ada"));
}

#[test]
fn namespaces_definitions_and_classes() {
    let mut snapshot = world("ns/b\n crd/vms.example.com\n vm/b/x\n vm/y\n disk/b/z\n node/n");
    let nodes = |word: &str| node(&snapshot, word);
    assert_eq!(names(&snapshot, snapshot.contents(nodes("ns/b"))), ["disk/b/z", "vm/b/x"]);
    assert_eq!(names(&snapshot, snapshot.contents(nodes("crd/vms.example.com"))), ["vm/b/x", "vm/y"]);
    assert_eq!(snapshot.contents(nodes("vm/y")).count(), 0);
    assert_eq!(names(&snapshot, snapshot.members("a")), ["vm/y"]);
    assert_eq!(names(&snapshot, snapshot.instances("", "Node")), ["node/n"]);
    assert_eq!(snapshot.namespace_of(nodes("vm/b/x")), Some(nodes("ns/b")));
    assert_eq!(snapshot.namespace_of(nodes("vm/y")), None);
    assert_eq!(snapshot.definition_of(nodes("vm/y")), Some(nodes("crd/vms.example.com")));
    assert_eq!(snapshot.definition_of(nodes("node/n")), None);
    // Any object can stand for a class here: only its uid counts.
    let of_vms = ("example.com".to_owned(), "Vm".to_owned());
    snapshot.set_classes(&BTreeMap::from([(of_vms, uid("node/n"))]));
    assert_eq!(snapshot.class_of(node(&snapshot, "vm/y")), Some(node(&snapshot, "node/n")));
    assert_eq!(snapshot.class_of(node(&snapshot, "disk/b/z")), None);
    snapshot.set_classes(&BTreeMap::new());
    assert_eq!(snapshot.class_of(node(&snapshot, "vm/y")), None);
}

#[test]
fn subscribers_are_found_once() {
    let mut snapshot = world(
        "vm/web
         disk/root watches vm/web, watches vm/web
         disk/far watches vm/b/web
         vm/b/web",
    );
    let (web, root) = (node(&snapshot, "vm/web"), node(&snapshot, "disk/root"));
    let told: Vec<NodeId> = snapshot.subscribers_of(web).into_iter().map(|(node, _)| node).collect();
    assert_eq!(told, [root]);
    assert_eq!(snapshot.targets_of(root), [web]);
    assert_eq!(names(&snapshot, snapshot.targets_of(node(&snapshot, "disk/far"))), ["vm/b/web"]);
    // The object that has the name is meant.
    apply(&mut snapshot, event("vm/web#2", 9));
    assert_eq!(names(&snapshot, snapshot.targets_of(root)), ["vm/web#2"]);
    apply(&mut snapshot, event("disk/root", 10));
    assert_eq!(snapshot.subscribers_of(node(&snapshot, "vm/web#2")).len(), 0);
}

/// REQ-KRK-51: a snapshot made anew from a listing is the same, whatever happened before.
#[test]
fn a_new_listing_gives_the_same_graph() {
    let old = world("app/a\n vm/x <- app/a\n vm/y <- app/a\n gone vm/y\n app/b\n vm/x <- app/b");
    let new = world("vm/x <- app/b\n app/b\n app/a");
    for snapshot in [&old, &new] {
        assert_eq!(names(snapshot, snapshot.nodes()), ["app/a", "app/b", "vm/x"]);
        let owners = snapshot.valid_owners(node(snapshot, "vm/x"));
        assert_eq!(names(snapshot, owners), ["app/b"]);
    }
}

/// By name in the own namespace or in none, by one object only, and to oneself; an index that forgets no subscriber.
#[test]
fn subscriptions_of_every_form() {
    let mut snapshot = world("vm/web\n vm/b/web\n node/n");
    let parsed = "- Vm.example.com/web\n- Node/n\n- self\n- {target: Vm.example.com/b/web, uid: vm/b/web, handler: h}\n\
                  - Vm.example.com/b/web\n- {target: Vm.example.com/web, uid: other}";
    let crate::common::Event::Put(mut disk) = event("disk/d", 9) else { panic!() };
    disk.subscriptions = sexton_model::subscription::parse(parsed).unwrap();
    snapshot.put((*disk).clone());
    let told = |snapshot: &Snapshot, word: &str| -> Vec<(String, Option<String>)> {
        let told = snapshot.subscribers_of(node(snapshot, word)).into_iter();
        told.map(|(node, one)| (snapshot.uid(node).0, one.handler)).collect()
    };
    assert_eq!(told(&snapshot, "vm/web"), [("disk/d".into(), None)]);
    assert_eq!(told(&snapshot, "vm/b/web"), [("disk/d".into(), Some("h".into()))]);
    assert_eq!(told(&snapshot, "node/n"), [("disk/d".into(), None)]);
    assert_eq!(told(&snapshot, "disk/d"), [("disk/d".into(), None)]);
    let targets = snapshot.targets_of(node(&snapshot, "disk/d"));
    assert_eq!(names(&snapshot, targets), ["disk/d", "node/n", "vm/b/web", "vm/web"]);
    // The object that was meant is gone: only the subscription by name leads to the next one.
    apply(&mut snapshot, event("vm/b/web#2", 10));
    assert_eq!(told(&snapshot, "vm/b/web#2"), [("disk/d".into(), None)]);
    apply(&mut snapshot, event("gone disk/d", 11));
    assert_eq!((told(&snapshot, "vm/web").len(), told(&snapshot, "node/n").len()), (0, 0));
}
