//! The examples keep what their comments and their READMEs claim: the commands are typed as they stand there.
#![allow(clippy::unwrap_used, reason = "a test may end so")]

mod common;

use std::path::Path;

use common::Play;

/// A copy of an example, in which the directory that stands for a cloud is one of the test's own.
fn example(name: &str) -> Play {
    let play = Play::new();
    let cloud = play.path().join("cloud");
    std::fs::create_dir(&cloud).unwrap();
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples").join(name);
    for entry in std::fs::read_dir(source).unwrap() {
        let entry = entry.unwrap();
        let file = format!("examples/{name}/{}", entry.file_name().to_str().unwrap());
        let text = std::fs::read_to_string(entry.path()).unwrap();
        play.file(&file, &text.replace("/tmp/sexton-shop", cloud.to_str().unwrap()));
    }
    play
}

fn cloud(play: &Play) -> String {
    let entries = std::fs::read_dir(play.path().join("cloud")).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names.join(" ")
}

/// The names in a plan, in the order in which they stand there.
fn order(plan: &str, words: &[&str]) -> Vec<String> {
    let lines = plan.lines().filter(|line| line.starts_with("- "));
    let named = |line: &str| words.iter().find(|word| line.contains(**word)).map(|word| (*word).to_owned());
    lines.filter_map(named).collect()
}

/// EXT-31, REQ-CLD-13: the README of the shop.
#[test]
fn the_shop() {
    let play = example("shop");
    for thing in ["vm-web-1", "vm-web-2", "volume-data"] {
        play.file(&format!("cloud/{thing}"), "");
    }
    let applied = play.run("apply -f examples/shop");
    assert_eq!(applied.code, 0, "{applied:?}");
    std::fs::remove_file(play.path().join("examples/shop/5-vm-web-2.yaml")).unwrap();
    let plan = play.run("plan -f examples/shop").out;
    assert!(plan.contains("- Vm/web-2  no document names it any more"), "{plan}");
    assert_eq!(play.run("apply -f examples/shop --yes").code, 0);
    assert_eq!(cloud(&play), "vm-web-1 volume-data");
    let end = play.run("destroy shop --dry-run").out;
    assert_eq!(order(&end, &["Vm/", "Volume/", "Network/"]), ["Vm/", "Volume/", "Network/"], "{end}");
    assert_eq!(play.run("destroy shop --yes").code, 0);
    assert_eq!(cloud(&play), "");
}

/// EXT-29, EXT-31: the machines go before their network where both go; where only the network goes, the plan says that they
/// live on.
#[test]
fn the_network_of_the_shop() {
    let play = example("shop");
    assert_eq!(play.run("apply -f examples/shop").code, 0);
    let both = play.run("plan delete network/lan vm/web-1 vm/web-2").out;
    assert_eq!(order(&both, &["Vm/", "Network/lan"]), ["Vm/", "Vm/", "Network/lan"], "{both}");
    let alone = play.run("plan delete network lan").out;
    assert!(alone.contains("subscribed to Vm/web-1 and Vm/web-2, which live on"), "{alone}");
    let deleted = play.run("delete network lan --yes");
    assert!(deleted.code == 0 && deleted.err.contains("which live on"), "{deleted:?}");
    play.run("get vms -o name").says("vm.shop.example.com/web-1\nvm.shop.example.com/web-2\n");
}

/// EXT-29, EXT-31: the same for a cluster and its applications.
#[test]
fn hello() {
    let play = example("hello");
    for put in ["put -f examples/hello/1-definitions.yaml", "put -f examples/hello"] {
        assert_eq!(play.run(put).code, 0, "{put}");
    }
    let both = play.run("plan delete cluster/prod app/shop app/blog").out;
    let names = ["Application/blog", "Application/shop", "Cluster/prod"];
    assert_eq!(order(&both, &names), names, "{both}");
    let alone = play.run("plan delete cluster/prod").out;
    assert!(alone.contains("subscribed to Application/"), "{alone}");
    assert!(alone.contains("which live on") && alone.contains("Plan: 1 to destroy."), "{alone}");
    assert_eq!(play.run("delete application blog --yes").code, 0);
    play.run("get app -o name").says("application.hello.example.com/shop\n");
}

/// The commands of docs/concepts.md, typed in their order.
#[test]
fn the_concepts() {
    let play = example("shop");
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/concepts.md");
    let page = std::fs::read_to_string(page).unwrap();
    let blocks = page.split("```sh\n").skip(1).filter_map(|rest| rest.split("\n```").next());
    let commands: Vec<&str> = blocks.flat_map(str::lines).collect();
    assert!(commands.len() > 3, "{commands:?}");
    for command in commands {
        let ran = play.run(command.strip_prefix("sexton ").unwrap());
        assert!(ran.code == 0 && !ran.out.is_empty(), "{command}: {ran:?}");
    }
}
