//! Runs that go wrong: nothing is lost, nothing wrong dies, and it is said why.

use std::rc::Rc;
use std::time::Duration;

use serde_json::json;
use sexton_runtime::environment::{Ask, OpenError, Opened};
use sexton_runtime::lua::{Limits, Lines};
use sexton_testkit::{Collecting, World};

use crate::common::*;

/// EXT-25: what cannot be destroyed lives on, is stored, and is tried again by the next run.
#[tokio::test]
async fn a_failing_destructor_is_tried_again() {
    let world = World::new().await;
    run(&world, &shop(MAKE)).await;
    let broken = SHOP.replace(
        r#"properties = { name = { usage = "In", type = "string" } },
    destroy = function(self) log("destroy " .. self.name) end,"#,
        r#"properties = { name = { usage = "In", type = "string" } },
    destroy = function(self) error("the cloud is away") end,"#,
    );
    assert_ne!(broken, SHOP);
    let ran = run(&world, &format!("{broken}\nfunction deploy(env) env.applications = {{}} end")).await;
    assert_eq!(ran.failed, None);
    assert_eq!(ran.finished.report.failed.len(), 2, "{:?}", ran.finished.report);
    assert!(ran.finished.report.failed[0].error.contains("the cloud is away"));
    assert_eq!(
        ran.finished.report.waiting.len(),
        2,
        "the network and the application come after the machines"
    );
    assert_eq!(names(&world, "machines").await, ["db", "web"]);
    let good = run(&world, &shop("")).await;
    assert_eq!(good.finished.report.destroyed.len(), 4);
    let heard: Vec<&String> = good.words.iter().filter(|word| word.starts_with("destroyed ")).collect();
    assert_eq!(heard.len(), 2, "the network still hears of its machines: {:?}", good.words);
    assert_eq!(names(&world, "machines").await, Vec::<String>::new());
}

/// What a failing run made is stored, so that nothing that exists out there is forgotten.
#[tokio::test]
async fn a_failing_program_loses_nothing() {
    let world = World::new().await;
    let ran = run(&world, &shop(&format!("{MAKE}\nerror('halfway')"))).await;
    assert!(ran.failed.as_ref().unwrap().contains("halfway"), "{ran:?}");
    assert!(ran.failed.as_ref().unwrap().contains("shop.luau:"), "{ran:?}");
    assert_eq!(names(&world, "machines").await, ["db", "web"]);
    let status = record(&world).await["status"].clone();
    assert_eq!(status["phase"], "Failed");
    assert!(status["run"]["outcome"].as_str().unwrap().contains("halfway"));
    assert_eq!(run(&world, &shop(MAKE)).await.finished.written, 0);
}

/// A world in which a program did something and then had no end. If the machine was too busy for it to do anything before
/// its time was up, another one had more time.
async fn endless(deploy: &str) -> World {
    let program = shop(&format!("{deploy}\nlog('done')\nwhile true do end"));
    for pause in [200, 5_000, 60_000].map(Duration::from_millis) {
        let (world, words) = (World::new().await, Rc::new(Lines::default()));
        let limits = Limits { without_pause: pause, ..Limits::default() };
        let ask = Ask { limits, ..ask(&program, &words) };
        if let Ok(opened) = Opened::open(&tools(&world, world.kube(), "tests"), ask).await {
            assert!(to_the_end(opened).await.failed.is_some());
        }
        if words.take() == ["done"] {
            return world;
        }
    }
    panic!("it never came to its endless part: {deploy}");
}

/// A program without end is ended; what it made until then is stored.
#[tokio::test]
async fn an_endless_program_is_ended() {
    let world = endless(MAKE).await;
    assert_eq!(names(&world, "machines").await, ["db", "web"]);
}

/// Who is protected stays, and so does what would have to go after it.
#[tokio::test]
async fn the_protected_stay() {
    let world = World::new().await;
    run(&world, &shop(MAKE)).await;
    let path = "/apis/classes.sexton.dev/v1/namespaces/prod/machines/db";
    world
        .merge(path, &json!({"metadata": {"annotations": {"sexton.dev/protect": "for ada"}}}))
        .await
        .expect(200);
    let ran = run(&world, &shop("env.applications = {}")).await;
    let held: Vec<&str> = ran.finished.report.held.iter().map(|one| one.reason.as_str()).collect();
    assert_eq!(held, ["it is protected: for ada"]);
    assert_eq!(living(&world, "machines").await, ["db"]);
    assert_eq!(living(&world, "networks").await, ["net"]);
    // The application lives on with it, and refers to a machine that does not.
    assert_eq!(names(&world, "machines").await, ["db", "web"]);
}

/// A run that would destroy most of what is stored is held before anything is touched.
#[tokio::test]
async fn the_fuse_holds() {
    let world = World::new().await;
    run(&world, &shop(MAKE)).await;
    let words = Rc::new(Lines::default());
    let ask = Ask { fuse: "2".parse().unwrap(), ..ask(&shop("env.applications = {}"), &words) };
    let opened = Opened::open(&tools(&world, world.kube(), "tests"), ask).await.unwrap();
    let ran = to_the_end(opened).await;
    assert_eq!(ran.finished.report.destroyed, []);
    assert!(ran.finished.report.held.iter().all(|one| one.reason.contains("4 of 5 stored objects")));
    assert_eq!(words.take(), Vec::<String>::new());
    assert_eq!(names(&world, "machines").await, ["db", "web"]);
}

/// One at a time: whoever comes second is told who is at work.
#[tokio::test]
async fn one_run_at_a_time() {
    let world = World::new().await;
    let words = Rc::new(Lines::default());
    let first = Opened::open(&tools(&world, world.kube(), "one"), ask(&shop(MAKE), &words)).await.unwrap();
    let second = Opened::open(&tools(&world, world.kube(), "two"), ask(&shop(MAKE), &words)).await;
    let error = second.err().unwrap();
    assert!(error.to_string().contains("one is working on the environment prod"), "{error}");
    first.close().await;
    run(&world, &shop(MAKE)).await;
}

/// Programs that do not fit are refused before anything is written.
#[tokio::test]
async fn what_does_not_fit_is_refused() {
    let world = World::new().await;
    run(&world, &shop(MAKE)).await;
    let before = objects(&world, "machines").await;
    let error = refused(&world, "format \"1.4\"\nfunction deploy(env) end").await;
    assert!(matches!(error, OpenError::Import(_)), "{error}");
    assert!(error.to_string().contains("there is no class"), "{error}");
    let error = refused(&world, "this is no program").await;
    assert!(error.to_string().contains("shop.luau:1"), "{error}");
    assert_eq!(objects(&world, "machines").await, before);
    // The lease is free again.
    run(&world, &shop(MAKE)).await;
}

/// A preview takes no lease and writes nothing.
#[tokio::test]
async fn a_preview_writes_nothing() {
    let world = World::new().await;
    run(&world, &shop(MAKE)).await;
    let revision =
        world.get("/apis/sexton.dev/v1/environments").await.json["metadata"]["resourceVersion"].clone();
    let words = Rc::new(Lines::default());
    let model = sexton_runtime::model::Model::parse(r#"{"Objects": null}"#).unwrap();
    let ask = Ask { model: Some(model), preview: true, ..ask(&shop(MAKE), &words) };
    let opened = Opened::open(&tools(&world, world.kube(), "look"), ask).await.unwrap();
    let preview = opened.preview().await.unwrap();
    let order: Vec<&str> = preview.doomed.iter().map(|one| one.name.as_deref().unwrap()).collect();
    assert_eq!(order.last(), Some(&"prod"));
    assert_eq!(preview.doomed.len(), 5);
    opened.close().await;
    let now = world.get("/apis/sexton.dev/v1/environments").await.json["metadata"]["resourceVersion"].clone();
    assert_eq!(now, revision);
}

/// Whoever was deleted from outside is missed by those who referred to it, whatever their contracts say; the
/// environment can still be run.
#[tokio::test]
async fn what_was_deleted_from_outside_is_missed() {
    let world = World::new().await;
    let program = |deploy: &str| {
        format!(
            r#"format "1.4"
            local Disk = class("Disk", {{ properties = {{ name = {{ usage = "In", type = "string" }} }} }})
            local Host = class("Host", {{
                properties = {{
                    name = {{ usage = "In", type = "string" }},
                    boot = {{ usage = "InOut", type = Disk, required = true }},
                    disks = {{ usage = "InOut", type = "list", of = Disk }},
                }},
                watch = function(self, disk) GC.subscribe(disk) end,
            }})
            function deploy(env)
            {deploy}
            end"#
        )
    };
    let made = r#"local disk = new(Disk, { name = "d1" }, env)
        local other = new(Disk, { name = "d2" }, env)
        local host = new(Host, { name = "h", boot = disk, disks = { disk, other } }, env)
        host:watch(disk)
        env.applications = { host }"#;
    assert_eq!(run(&world, &program(made)).await.failed, None);
    let path = "/apis/classes.sexton.dev/v1/namespaces/prod/disks/d1";
    world.delete(path, &json!({})).await.expect(200);
    Collecting::on(&world).settled(&world).await;
    let looks = r#"local host = env.applications[1]
        log(tostring(host.boot) .. " " .. #host.disks .. " " .. host.disks[1].name)"#;
    let ran = run(&world, &program(looks)).await;
    assert_eq!((ran.failed, ran.words), (None, vec!["nil 1 d2".to_owned()]));
    assert_eq!(names(&world, "hosts").await, ["h"]);
    assert_eq!(names(&world, "disks").await, ["d2"]);
}

/// What cannot become a kind is refused before anything runs.
#[tokio::test]
async fn classes_that_cannot_be_kinds_are_refused() {
    let world = World::new().await;
    let declaring = |names: &[&str]| {
        let classes: String = names.iter().map(|name| format!("class(\"{name}\", {{}})\n")).collect();
        format!("format \"1.4\"\n{classes}function deploy(env) log(\"ran\") end")
    };
    let odd = refused(&world, &declaring(&["My_Class"])).await;
    assert!(odd.to_string().starts_with("objects of class My_Class cannot be stored"), "{odd}");
    let two = refused(&world, &declaring(&["Vm", "VM"])).await;
    assert!(two.to_string().contains("would be called vms as well"), "{two}");
    let long = refused(&world, &format!("{}--{}", declaring(&[]), "x".repeat(600 << 10))).await;
    assert!(long.to_string().contains("longer than"), "{long}");
}

/// A program that may not run on leaves nothing behind that nobody knows of: what it made is stored, and the next run
/// destroys it.
#[tokio::test]
async fn what_nobody_reaches_at_the_end_of_time_is_stored() {
    let world = endless("new(Machine, { name = 'lost' }, env)").await;
    assert_eq!(names(&world, "machines").await, ["lost"]);
    let next = run(&world, &shop("")).await;
    assert_eq!((next.failed, next.words), (None, vec!["destroy lost".to_owned()]));
    assert_eq!(names(&world, "machines").await, Vec::<String>::new());
}

/// REQ-MUR-68, REQ-MUR-69, REQ-MUR-71: a program that never heard of the collector needs nothing of it: its objects are
/// stored and destroyed by who owns whom, and the rest of the API is as it was.
#[tokio::test]
async fn programs_without_the_collector_are_as_before() {
    let world = World::new().await;
    let program = |deploy: &str| {
        format!(
            r#"local Part = class("Part", {{
                properties = {{ name = {{ usage = "In", type = "string" }} }},
                destroy = function(self) log("destroy " .. self.name) end,
            }})
            local Whole = class("Whole", {{
                properties = {{ name = {{ usage = "In", type = "string" }}, part = {{ usage = "InOut", type = Part }} }},
                destroy = function(self) log("destroy " .. self.name) end,
            }})
            function deploy(env)
            {deploy}
            end"#
        )
    };
    let kinds = world.get("/api/v1").await.json;
    let made = r#"local whole = new(Whole, { name = "whole" }, env)
        whole.part = new(Part, { name = "part" }, whole)
        env.applications = { whole }"#;
    assert_eq!(run(&world, &program(made)).await.finished.objects, 3);
    let gone = run(&world, &program("env.applications = {}")).await;
    assert_eq!(gone.words, ["destroy part", "destroy whole"]);
    assert_eq!(world.get("/api/v1").await.json, kinds);
}
