//! Runs that go well: what is stored, what is destroyed before and after a deployment, and in which order.

use std::rc::Rc;

use serde_json::json;
use sexton_runtime::environment::{Ask, Opened};
use sexton_runtime::lua::Lines;
use sexton_runtime::model::Model;
use sexton_testkit::{Collecting, World};

use crate::common::*;

/// REQ-MUR-6, REQ-MUR-35, REQ-MUR-65: what the environment reaches is stored, each object as a resource of its class
/// with its owner and its dependencies; a run that changes nothing writes nothing.
#[tokio::test]
async fn objects_are_resources() {
    let world = World::new().await;
    let first = run(&world, &shop(MAKE)).await;
    assert_eq!((first.failed, first.finished.objects, first.finished.written), (None, 5, 5));
    assert_eq!(names(&world, "machines").await, ["db", "web"]);
    let app = &objects(&world, "apps").await[0];
    let network = &objects(&world, "networks").await[0];
    assert_eq!(app["spec"]["network"]["$ref"]["uid"], network["metadata"]["uid"]);
    assert_eq!(network["metadata"]["ownerReferences"][0]["uid"], app["metadata"]["uid"]);
    let dependencies =
        network["metadata"]["annotations"]["sexton.dev/destruction-dependencies"].as_str().unwrap();
    assert!(dependencies.contains("Machine.classes.sexton.dev/web"), "{dependencies}");
    let class = world.get("/apis/sexton.dev/v1/classes/networks.classes.sexton.dev").await.document(200);
    assert_eq!(class["spec"]["handlers"], json!({"machineGone": {"lua": {}}}));
    let status = record(&world).await["status"].clone();
    assert_eq!(
        (&status["phase"], &status["objects"], &status["run"]["outcome"]),
        (&json!("Idle"), &json!(5), &json!("done"))
    );

    let second = run(&world, &shop(MAKE)).await;
    assert_eq!((second.failed, second.finished.objects, second.finished.written), (None, 5, 0));
    assert_eq!(second.words, Vec::<String>::new());
}

/// REQ-MUR-2, REQ-MUR-7, REQ-MUR-40, REQ-MUR-12: what the program drops is destroyed after the deployment, its
/// subscriber is told, and the change that the handler made is kept.
#[tokio::test]
async fn what_is_dropped_goes_after_the_deployment() {
    let world = World::new().await;
    run(&world, &shop(MAKE)).await;
    let dropped =
        run(&world, &shop("local app = env.applications[1]; app.machines = { app.machines[1] }")).await;
    assert_eq!(dropped.failed, None);
    assert_eq!(dropped.words, ["warning db", "notifying db", "destroy db", "destroyed db"]);
    assert_eq!(names(&world, "machines").await, ["web"]);
    assert_eq!(objects(&world, "networks").await[0]["spec"]["gone"], 1);
    let stones = world.get("/apis/sexton.dev/v1/tombstones").await.json;
    let stone = &stones["items"][0]["spec"];
    assert_eq!((&stone["object"]["name"], &stone["outcome"]), (&json!("db"), &json!("destroyed")));
    assert_eq!(stone["reason"], "the environment does not reach it any more");
    assert_eq!(stone["document"]["spec"]["name"], "db");
    let all = run(&world, &shop("env.applications = {}")).await;
    let order: Vec<&str> =
        all.words.iter().map(String::as_str).filter(|word| word.starts_with("destroy ")).collect();
    assert_eq!(order, ["destroy web", "destroy net", "destroy shop"]);
    assert_eq!(all.finished.objects, 1);
    assert_eq!(objects(&world, "apps").await.len() + objects(&world, "networks").await.len(), 0);
}

/// REQ-MUR-3, REQ-MUR-4, REQ-MUR-5, REQ-MUR-39, REQ-MUR-19, REQ-MUR-50: what the incoming model does not have any more
/// is destroyed before the deployment, and what handlers change in those that stay is kept.
#[tokio::test]
async fn what_the_model_dropped_goes_before_the_deployment() {
    let world = World::new().await;
    let first = run(&world, &shop(MAKE)).await;
    let mut model: serde_json::Value = serde_json::from_str(&first.finished.model).unwrap();
    let app = model.pointer_mut("/Objects/applications/0").unwrap();
    let machines = app["machines"].as_array_mut().unwrap();
    machines.retain(|machine| machine["name"] != "web");
    let incoming = Model::parse(&model.to_string()).unwrap();
    let program = shop(r#"log("deploy with " .. #env.applications[1].machines)"#);
    let second = run_with(&world, &program, Some(incoming)).await;
    assert_eq!(second.failed, None);
    assert_eq!(
        second.words,
        ["warning web", "notifying web", "destroy web", "destroyed web", "deploy with 1"]
    );
    assert_eq!(names(&world, "machines").await, ["db"]);
    assert_eq!(objects(&world, "networks").await[0]["spec"]["gone"], 1);

    let nothing = Model::parse(r#"{"Objects": null}"#).unwrap();
    let last = run_with(&world, &shop(r#"log("empty")"#), Some(nothing)).await;
    assert_eq!(last.words.last().map(String::as_str), Some("empty"));
    assert!(last.words.contains(&"destroy shop".to_owned()), "{:?}", last.words);
    assert_eq!(names(&world, "machines").await, Vec::<String>::new());
}

/// REQ-MUR-41, REQ-MUR-52: a collection in the middle destroys stored objects as well, at once.
#[tokio::test]
async fn a_collection_in_the_middle_takes_stored_objects() {
    let world = World::new().await;
    run(&world, &shop(MAKE)).await;
    let program = shop(
        r#"env.applications[1].machines = {}
        log("collect")
        GC.collect()
        log("deploy goes on")"#,
    );
    let ran = run(&world, &program).await;
    assert_eq!(ran.failed, None);
    assert_eq!(ran.words.first().map(String::as_str), Some("collect"));
    assert_eq!(ran.words.last().map(String::as_str), Some("deploy goes on"));
    assert_eq!(names(&world, "machines").await, Vec::<String>::new());
}

/// REQ-MUR-30, REQ-MUR-31, REQ-MUR-32, REQ-MUR-37, REQ-MUR-38: who is referred to again while it is destroyed stays as
/// destroyed, in the store and in the next run; once nobody refers to it, it goes without further ado.
#[tokio::test]
async fn the_destroyed_stay_so() {
    let world = World::new().await;
    let program = |deploy: &str| {
        format!(
            r#"format "1.4"
            local Thing = class("Thing", {{
                properties = {{ name = {{ usage = "In", type = "string" }} }},
                hello = function(self) return "hello" end,
                destroy = function(self) log("destroy " .. self.name) end,
            }})
            local Keeper = class("Keeper", {{
                properties = {{ kept = {{ usage = "InOut", type = Thing }} }},
                hear = function(self, gc, thing)
                    if gc.phase == "notifying" then self.kept = thing end
                end,
                watch = function(self, thing) GC.subscribe(thing, "hear") end,
            }})
            function deploy(env)
            {deploy}
            end"#
        )
    };
    let made = r#"local keeper = new(Keeper, {}, env)
        keeper:watch(new(Thing, { name = "t" }, keeper))
        env.applications = { keeper }"#;
    let first = run(&world, &program(made)).await;
    assert_eq!((first.failed, first.words), (None, vec!["destroy t".to_owned()]));
    let thing = &objects(&world, "things").await[0];
    assert_eq!(thing["metadata"]["annotations"]["sexton.dev/destroyed"], "true");
    let looks = r#"local thing = env.applications[1].kept
        log(thing.name .. " " .. tostring(GC.isDestroyed(thing)))
        thing:hello()"#;
    let second = run(&world, &program(looks)).await;
    assert_eq!(second.words, ["t true"]);
    assert!(second.failed.unwrap().contains("destroyed"));
    let third = run(&world, &program("env.applications[1].kept = nil")).await;
    assert_eq!((third.failed, third.words), (None, vec![]));
    assert_eq!(objects(&world, "things").await.len(), 0);
}

/// Who lives on while its owner goes belongs to nobody then, and is no orphan.
#[tokio::test]
async fn who_outlives_its_owner_is_no_orphan() {
    let world = World::new().await;
    run(&world, &shop(MAKE)).await;
    let ran = run(&world, &shop("env.applications = { env.applications[1].machines[1] }")).await;
    assert_eq!(ran.failed, None);
    assert_eq!(names(&world, "machines").await, ["web"]);
    assert_eq!(objects(&world, "machines").await[0]["metadata"]["ownerReferences"], json!(null));
}

/// REQ-MUR-5: what is dropped together with its class is destroyed by the program that made it, which was stored.
#[tokio::test]
async fn classes_that_the_new_program_does_not_know() {
    let world = World::new().await;
    run(&world, &shop(MAKE)).await;
    let words = Rc::new(Lines::default());
    let nothing = Model::parse(r#"{"Objects": null}"#).unwrap();
    let other = "format \"1.4\"\nfunction deploy(env) log('other') end";
    let asked = Ask { model: Some(nothing), ..ask(other, &words) };
    let tools = tools(&world, world.kube(), "tests");
    let mut opened = Opened::open(&tools, asked.clone()).await.unwrap();
    assert!(opened.predecessor);
    let report = opened.remove().await.unwrap();
    assert_eq!(report.destroyed.len(), 5);
    opened.finish(None).await.unwrap();
    assert!(words.take().contains(&"destroy shop".to_owned()));
    let opened = Opened::open(&tools, asked).await.unwrap();
    assert!(!opened.predecessor);
    let ran = to_the_end(opened).await;
    assert_eq!((ran.failed, words.take()), (None, vec!["other".to_owned()]));
    assert_eq!(names(&world, "machines").await, Vec::<String>::new());
}

/// While a large model is stored nobody is an orphan at any moment: a collector that has no patience takes none of it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nobody_is_an_orphan_while_it_is_stored() {
    let world = World::new().await;
    let collecting = Collecting::on(&world);
    let deploy = r#"
        local apps = {}
        for at = 1, 30 do
            local app = new(App, { name = "app-" .. at }, env)
            app.network = new(Network, { name = "net-" .. at }, app)
            local list = {}
            for number = 1, 100 do
                table.insert(list, new(Machine, { name = "m-" .. at .. "-" .. number }, app.network))
            end
            app.machines = list
            table.insert(apps, app)
        end
        env.applications = apps
    "#;
    let ran = run(&world, &shop(deploy)).await;
    assert_eq!((ran.failed, ran.finished.written), (None, 3_061));
    let mut collecting = collecting;
    collecting.settled(&world).await;
    assert_eq!(names(&world, "machines").await.len(), 3_000);
    assert_eq!(names(&world, "networks").await.len(), 30);
}
