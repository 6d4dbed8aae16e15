//! Calls that are refused before anything is run, by the settings of an operator or for want of a readable class: the object
//! waits, and the call is tried again as soon as settings or class may be others, without waiting for any time to pass.

use std::sync::Arc;

use serde_json::{Value, json};
use sexton_client::foreign::{BulkOptions, FeedOptions};
use sexton_client::{ForeignGateway, Resources};
use sexton_collector::hooks::Hooks;
use sexton_collector::{Means, SystemClock, preview};
use sexton_lifecycle::DetectionSettings;
use sexton_model::hook::Allowance;
use sexton_testkit::collecting::quick;
use sexton_testkit::{Collecting, Scripted, World};

use crate::common::{CLASSES, class, delete, left, make};

/// A collector that runs programs of these directories only. It has a real clock, as programs do.
fn allowing(world: &World, directories: &[&str]) -> Collecting {
    let exec = directories.iter().map(|directory| (*directory).into()).collect();
    let resources = Resources::new(world.kube());
    let means = Means {
        gateway: Arc::new(resources.clone()),
        resources,
        runner: Arc::new(Hooks::new().allowing(Allowance { exec, ..Allowance::default() })),
        clock: Arc::new(SystemClock),
    };
    Collecting::of(means, quick("tests"))
}

/// A class whose calls are not asked again for longer than any test takes.
async fn patient_class(world: &World) {
    class(world, json!({"retry": {"backoffSeconds": 3_600, "maxBackoffSeconds": 3_600}})).await;
}

/// The objects that wait for other settings or another class, as is seen from outside.
async fn refused(world: &World) -> Vec<String> {
    let resources = Resources::new(world.kube());
    let seen = preview::World::look(&resources, &resources).await.unwrap();
    let (judgement, _) = seen.under_way(&DetectionSettings::default()).unwrap();
    let refused = seen.standing(&judgement).refused;
    refused.into_iter().map(|life| seen.snapshot().name(life).to_owned()).collect()
}

/// A collector that starts with other settings tries at once what earlier settings refused; the same settings refuse it again.
#[tokio::test]
async fn other_settings_are_tried_at_once() {
    let world = World::new().await;
    patient_class(&world).await;
    make(&world, "a", &[]).await;
    delete(&world, "configmaps/a", "").await;
    for _ in 0..2 {
        let mut refusing = allowing(&world, &[]);
        refusing.until(|summary| summary.blockers.len() == 1 && summary.idle).await;
        assert_eq!(left(&world).await, ["a"]);
        refusing.drain().await;
        assert_eq!(refused(&world).await, ["a"]);
    }
    let mut allowed = allowing(&world, &["/bin", "/usr/bin"]);
    allowed.until(|summary| summary.doomed == 0 && summary.synced && summary.idle).await;
    assert_eq!(left(&world).await, Vec::<String>::new());
}

/// A class that is changed while its objects wait for what it lacks is tried at once.
#[tokio::test]
async fn a_mended_class_is_tried_at_once() {
    let world = World::new().await;
    patient_class(&world).await;
    make(&world, "a", &[]).await;
    let mut collecting = allowing(&world, &["/bin", "/usr/bin"]);
    let program = |path: &str| json!({"spec": {"destroy": {"exec": {"argv": [path]}}}});
    world.merge(&format!("{CLASSES}/cm"), &program("/sbin/nothing-here")).await.expect(200);
    delete(&world, "configmaps/a", "").await;
    collecting.until(|summary| summary.blockers.len() == 1 && summary.idle).await;
    world.merge(&format!("{CLASSES}/cm"), &program("/bin/true")).await.expect(200);
    collecting.until(|summary| summary.doomed == 0 && summary.synced && summary.idle).await;
}

fn definition_of_classes() -> Value {
    let open = json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true});
    json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "classes.sexton.dev"},
        "spec": {
            "group": "sexton.dev", "scope": "Cluster", "names": {"plural": "classes", "kind": "Class"},
            "versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": open}}],
        },
    })
}

/// Another cluster stores a class with a word that no class has. The objects of its kind wait, and say why; they go with their
/// method once the class is mended.
#[tokio::test]
async fn objects_of_a_class_that_cannot_be_read_wait() {
    let world = World::plain().await;
    world
        .create("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", &definition_of_classes())
        .await
        .expect(201);
    let destroy = json!({"exec": {"argv": ["/bin/true"]}, "timeout": "20s"});
    let spec = json!({"for": {"kind": "ConfigMap"}, "destroy": destroy});
    let wrong =
        json!({"apiVersion": "sexton.dev/v1", "kind": "Class", "metadata": {"name": "cm"}, "spec": spec});
    world.create(CLASSES, &wrong).await.expect(201);
    let owner = make(&world, "owner", &[]).await;
    make(&world, "dependent", &[("owner", &owner)]).await;
    delete(&world, "configmaps/owner", "Background").await;
    let hooks = Arc::new(Scripted::default());
    let means = Means {
        gateway: Arc::new(ForeignGateway::new(world.kube(), FeedOptions::default(), BulkOptions::default())),
        resources: Resources::new(world.kube()),
        runner: hooks.clone(),
        clock: world.shared_nature(),
    };
    let mut collecting = Collecting::of(means, quick("elsewhere"));
    let blocked = collecting.until(|summary| summary.blockers.len() == 1 && summary.idle).await;
    assert_eq!((left(&world).await, hooks.heard()), (vec!["dependent".to_owned()], Vec::new()));
    let why = format!("{blocked:?}");
    assert!(
        why.contains("the class cm cannot be understood") && why.contains("spec.destroy.timeout"),
        "{why}"
    );
    world.merge(&format!("{CLASSES}/cm"), &json!({"spec": {"destroy": {"timeout": null}}})).await.expect(200);
    collecting.until(|summary| summary.doomed == 0 && summary.synced && summary.idle).await;
    assert_eq!((left(&world).await, hooks.heard().len()), (Vec::new(), 1));
}
