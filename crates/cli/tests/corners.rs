//! Corners of commands: what a tour may touch, what resumes to the very end, what is kept for what is protected.
#![allow(clippy::unwrap_used, reason = "a test may end so")]

mod common;

use std::process::Stdio;

use common::modules::{SETTINGS, kind_with_class, map, shop};
use common::{Play, finish};

/// The tour destroys a module `shop`: it works on its own store, whatever server the environment names.
#[test]
fn the_tour_stays_on_its_own_store() {
    let play = Play::new();
    let nowhere = "http://127.0.0.1:1";
    let mut tour = play.command("demo");
    let path = std::env::var("PATH").unwrap_or_default();
    let tour = tour.env("SEXTON_SERVER", nowhere).env("SEXTON_DATA", play.path().join("elsewhere"));
    let ran = finish(tour.env("PATH", path).stdin(Stdio::null()));
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(ran.out.contains("shop is gone") && !ran.out.contains(nowhere), "{}", ran.out);
    assert!(!play.path().join("elsewhere").exists());
}

/// What an interrupted destruction of a module left is finished by `resume`, the record of the module included.
#[test]
fn resume_finishes_a_module_with_its_record() {
    let play = shop(0);
    play.file("shop/m-1.yaml", &map("m-1", "  finalizers: [x.example/wait]\n"));
    assert_eq!(play.run("apply -f shop").code, 0);
    play.run("destroy shop --yes").fails(3, &["x.example/wait"]);
    assert_eq!(play.run("force cm/m-1 --reason gone-by-hand").code, 0);
    play.run("get modules -o name").says("module.sexton.dev/shop\n");
    let resumed = play.run("resume");
    assert!(resumed.code == 0 && resumed.out.contains("- shop is gone\n"), "{resumed:?}");
    play.run("get modules,leases -o name").says("");
    play.run("resume").says("");
}

/// Nothing of ours can be tried again where others hold an object: that is said at once.
#[test]
fn retry_says_at_once_that_others_hold_it() {
    let play = Play::new();
    play.map("h", &[], "  finalizers: [x.example/wait]\n");
    play.run("delete cm/h --yes").fails(3, &["x.example/wait"]);
    let words = [
        "can be tried again",
        "x.example/wait",
        "sexton force configmap/h --blocker finalizer:x.example/wait",
    ];
    play.run("retry cm/h").fails(3, &words);
}

/// What a protected object needs stays with it, and the plan says so; it would be terminating for ever otherwise.
#[test]
fn what_is_protected_keeps_what_it_needs() {
    let play = Play::new();
    play.file("shop/sexton.yaml", SETTINGS);
    play.file(
        "shop/1.yaml",
        &kind_with_class("Widget", "  destroy: {exec: {argv: [/bin/true]}, deadlineSeconds: 60}\n"),
    );
    for name in ["a", "b"] {
        let widget = format!("apiVersion: example.com/v1\nkind: Widget\nmetadata: {{name: {name}}}\n");
        play.file(&format!("shop/2-{name}.yaml"), &widget);
    }
    assert_eq!(play.run("apply -f shop").code, 0);
    assert_eq!(play.run("protect widgets/a").code, 0);
    let plan = play.run("destroy shop --dry-run").out;
    for kept in [
        "Widget.example.com/default/a  kept: it is protected",
        "kept: Widget/a is protected and needs it",
        "kept: Widget/a stays and needs it",
    ] {
        assert!(plan.contains(kept), "no {kept:?} in:\n{plan}");
    }
    assert!(plan.contains("Plan: 1 to destroy."), "{plan}");
    let done = play.run("destroy shop --yes");
    assert_eq!(done.code, 4, "{done:?}");
    play.run("get widgets,classes -o name").says("widget.example.com/a\nclass.sexton.dev/widget\n");
    play.run("get crd/widgets.example.com -o jsonpath={.metadata.deletionTimestamp}").says("");
    assert_eq!(play.run("unprotect widgets/a").code, 0);
    let done = play.run("destroy shop --yes");
    assert!(done.code == 0 && done.out.contains("shop is gone"), "{done:?}");
    play.run("get classes,modules -o name").says("");
}
