//! Corners of commands: what a tour may touch, what resumes to the very end, what is kept for what is protected, what
//! runs say of many objects.
#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a test may end so")]

mod common;

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use common::modules::{SETTINGS, kind_with_class, map, shop};
use common::{Play, ended, finish};

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
        "sexton force ConfigMap/h --blocker finalizer:x.example/wait",
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
        "Widget/a  kept: it is protected",
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

/// What is said of many objects is said once, with their names; what is in the record of the environment is one line; and
/// what is proposed has all flags.
#[test]
fn what_lives_on_is_told_once() {
    let play = Play::new();
    let class = r#"format "1.4"
        local Thing = class("Thing", {
            properties = { stuck = { usage = "In", type = "string" } },
            destroy = function(self) if self.stuck then error(self.stuck, 0) end end,
        })
        function deploy(env)"#;
    let program = |name: &str, deploy: &str| play.file(name, &format!("{class}\n{deploy}\nend"));
    program(
        "make.luau",
        "local all = {} for i = 1, 30 do all[i] = new(Thing, {}, env, 'thing-' .. i) end env.applications = all",
    );
    program("drop.luau", "env.applications = {}");
    program(
        "stuck.luau",
        "for i = 1, 3 do new(Thing, { stuck = 'it is attached' }, env, 'bound-' .. i) end new(Thing, { stuck = 'it is busy' }, env, 'twin') new(Thing, { stuck = 'it is busy' }, env, 'twin')",
    );
    assert_eq!(play.run("run make.luau --env prod").code, 0);
    let held = play.run("run drop.luau --env prod --memory 100");
    held.fails(3, &["held: 30 of 31 stored objects", "--env prod --memory 100 --max-delete 100%"]);
    assert!(!held.err.contains("held: held"), "{held:?}");
    assert_eq!(held.out.matches("would be destroyed").count(), 1, "{held:?}");
    assert!(held.out.contains("! Thing thing-") && held.out.contains(" and 25 more  kept: "), "{held:?}");
    let stuck = play.run("run stuck.luau --env other");
    assert_eq!(stuck.code, 4, "{stuck:?}");
    let first =
        "! Thing bound-1, Thing bound-2, Thing bound-3  lives on: destroying failed: it is attached\n";
    assert!(stuck.out.contains(first), "{stuck:?}");
    assert_eq!(stuck.out.matches("Thing twin (").count(), 2, "the same name twice says the ids: {stuck:?}");
    assert!(stuck.err.contains("once the cause is mended   sexton run stuck.luau --env other"), "{stuck:?}");
    let shown = play.run("environments other").out;
    assert!(shown.contains("other · Failed · stuck.luau · 6 objects"), "{shown}");
    assert!(shown.contains(": 5 not destroyed, Thing ") && !shown.contains("\\n"), "{shown}");
}

/// Ctrl-C while a program destroys: it is said what goes on with it, the record says that the run was broken off, and the
/// next run finishes it without waiting.
#[test]
fn a_run_is_interrupted() {
    let play = Play::new();
    let (begun, hold) = (play.path().join("begun"), play.path().join("hold"));
    let program = format!(
        r#"format "1.4"
        local Thing = class("Thing", {{ destroy = function(self)
            exec {{ program = "sh", args = {{ "-c", "touch {}; while [ -e {} ]; do sleep 0.05; done" }} }}
        end }})
        function deploy(env) new(Thing, {{}}, env, "thing") end"#,
        begun.display(),
        hold.display()
    );
    play.file("p.luau", &program);
    play.file("hold", "");
    let run = "run p.luau --env prod --allow-exec sh";
    let mut command = play.command(run);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let since = Instant::now();
    while !begun.exists() {
        assert!(since.elapsed() < Duration::from_secs(60), "it did not begin");
        std::thread::sleep(Duration::from_millis(10));
    }
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    let ran = ended(child);
    assert_eq!(ran.code, 130, "{ran:?}");
    assert!(ran.err.contains(&format!("go on   sexton {run}")), "{ran:?}");
    let shown = play.run("environments prod").out;
    assert!(shown.contains("prod · Failed") && shown.contains("interrupted; the next run"), "{shown}");
    std::fs::remove_file(hold).unwrap();
    let next = play.run(&format!("{run} --yes"));
    assert!(next.code == 0 && next.out.contains("Thing thing  destroyed"), "{next:?}");
}

/// The plan of a module's end has all commands that run for it: a long one once, with its lines.
#[test]
fn what_a_destroyed_module_runs_is_in_its_plan() {
    let play = Play::new();
    play.file("shop/sexton.yaml", "manager: shop\n");
    let script = "destroy: {exec: {argv: [/bin/sh, -c, \"rm data\\n- Volume/other  stays\\n\"]}}\n";
    play.file("shop/1.yaml", &kind_with_class("Volume", &format!("  {script}")));
    let volume =
        |name: &str| format!("apiVersion: example.com/v1\nkind: Volume\nmetadata: {{name: {name}}}\n---\n");
    play.file("shop/2.yaml", &(volume("a") + &volume("b")));
    let applied = play.run("apply -f shop");
    assert_eq!(applied.code, 0, "{applied:?}");
    let plan = play.run("destroy shop --dry-run").out;
    assert_eq!(plan.matches("destroy [1]").count(), 2, "{plan}");
    assert!(plan.contains("  [1] /bin/sh -c 'rm data\n      - Volume/other  stays\n"), "{plan}");
    std::fs::remove_file(play.path().join("shop/2.yaml")).unwrap();
    let swept = play.run("plan -f shop").out;
    assert!(
        swept.contains("\n      - Volume/other  stays\n"),
        "nothing passes for a line of the plan: {swept}"
    );
}
