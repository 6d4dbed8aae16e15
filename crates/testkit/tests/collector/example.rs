//! The example with hooks: what its README promises happens, with real programs acting on real files.

use std::path::{Path, PathBuf};

use serde_json::json;
use sexton_testkit::nature::START;
use sexton_testkit::{Collecting, World};
use tempfile::TempDir;

const VMS: &str = "/apis/example.com/v1/namespaces/default/vms";
const NETWORK: &str = "/apis/example.com/v1/namespaces/default/networks/lan";

/// A copy of the example, with its world.
fn stage() -> TempDir {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/network-and-vms");
    let stage = tempfile::tempdir().unwrap();
    for part in ["hooks", "world"] {
        std::fs::create_dir(stage.path().join(part)).unwrap();
    }
    for file in ["hooks/vm-rm", "hooks/network-rm", "hooks/network-vm-gone", "2-classes.yaml"]
        .into_iter()
        .chain(["1-definitions.yaml", "3-objects.yaml"])
    {
        std::fs::copy(source.join(file), stage.path().join(file)).unwrap();
    }
    for thing in ["network-lan", "vm-web-1", "vm-web-2", "plug-of-web-1-in-lan", "plug-of-web-2-in-lan"] {
        std::fs::write(stage.path().join("world").join(thing), "").unwrap();
    }
    stage
}

/// Puts the documents of a file, as `sexton put` does.
async fn put(world: &World, stage: &Path, file: &str) {
    let text = std::fs::read_to_string(stage.join(file)).unwrap();
    // However busy the machine is, the programs have time to answer.
    let text = text.replace("deadlineSeconds: 10\n", "deadlineSeconds: 120\n");
    let text = text.replace("/DIR", stage.to_str().unwrap());
    for document in text.split("\n---\n") {
        let field = |name: &str| {
            let line = document.lines().find_map(|line| line.trim().strip_prefix(name));
            line.unwrap().trim().to_owned()
        };
        let place = match field("kind:").as_str() {
            "CustomResourceDefinition" => "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
            "Class" => "/apis/sexton.dev/v1/classes",
            "Network" => "/apis/example.com/v1/namespaces/default/networks",
            _ => VMS,
        };
        let path = format!("{place}/{}?fieldManager=test", field("name:"));
        world.call("APPLY", &path).bytes(document).send().await.expect(201);
    }
}

fn left(stage: &Path) -> Vec<String> {
    let directory = std::fs::read_dir(stage.join("world")).unwrap();
    let mut names: Vec<String> =
        directory.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[tokio::test]
async fn the_example_does_what_it_says() {
    let (world, stage) = (World::new().await, stage());
    for file in ["1-definitions.yaml", "2-classes.yaml", "3-objects.yaml"] {
        put(&world, stage.path(), file).await;
    }
    // Real programs have real deadlines: the clock of the world must not be behind.
    let real = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
    world.nature().pass(i64::try_from(real.as_secs()).unwrap() + 3600 - START);
    let inside = |name: &str| -> PathBuf { stage.path().join("world").join(name) };
    let mut collecting = Collecting::on(&world);
    collecting.settled(&world).await;

    world.call("DELETE", &format!("{VMS}/web-1")).send().await.expect(200);
    collecting.until(|summary| summary.idle && summary.removed == 1).await;
    let log = std::fs::read_to_string(inside("log")).unwrap();
    let heard: Vec<&str> = log.lines().map(|line| line.rsplit(' ').next().unwrap()).collect();
    assert_eq!(heard, ["warning", "notifying", "destroyed"]);
    assert_eq!(left(stage.path()), ["log", "network-lan", "plug-of-web-2-in-lan", "vm-web-2"]);

    std::fs::write(inside("backup-of-web-2"), "").unwrap();
    world.call("DELETE", &format!("{VMS}/web-2")).send().await.expect(200);
    world.call("DELETE", NETWORK).send().await.expect(200);
    let summary = collecting.until(|summary| summary.idle && !summary.blockers.is_empty()).await;
    assert!(summary.blockers[0].reason.ends_with("said no: a backup is running"), "{summary:#?}");
    world.get(NETWORK).await.expect(200);
    std::fs::remove_file(inside("backup-of-web-2")).unwrap();
    let retry = json!({"id": "1", "want": "retry"}).to_string();
    let patch = json!({"metadata": {"annotations": {"sexton.dev/request": retry}}});
    world.merge(&format!("{VMS}/web-2"), &patch).await.expect(200);
    collecting.until(|summary| summary.idle && summary.doomed == 0).await;
    assert_eq!(left(stage.path()), ["log"]);
    world.get(NETWORK).await.expect(404);
}
