//! A run that dies, at each of its writes and in each of its hooks: what is stored is the old model or the new one, and
//! the next run makes it good.

use std::cell::RefCell;
use std::rc::Rc;

use serde_json::Value;
use sexton_runtime::environment::{Ask, Opened};
use sexton_runtime::lua::{Lines, Output};
use sexton_runtime::model::Model;
use sexton_testkit::World;
use sexton_testkit::line::{Fate, Line};
use tokio::sync::Notify;

use crate::common::*;

/// Makes a machine and drops another one.
const CHANGE: &str = r#"
    local app = env.applications[1]
    if #app.machines == 2 then
        local kept = app.machines[1]
        local more = new(Machine, { name = "more" }, app)
        app.network:watch(more)
        app.machines = { kept, more }
        local short = new(Machine, { name = "short-lived" }, app)
        app.network:watch(short)
    end
"#;

/// Dies in the n-th write. Gives back whether there was such a write, and what was heard of it.
async fn dies_at(
    world: &World,
    (number, fate): (usize, Fate),
    program: &str,
    model: Option<Model>,
) -> (bool, Vec<String>) {
    let line = Line::at_write(world, number, fate);
    let words = Rc::new(Lines::default());
    let running = async {
        let asked = Ask { model, ..ask(program, &words) };
        let opened = Opened::open(&tools(world, line.client(), "dying"), asked).await.unwrap();
        to_the_end(opened).await
    };
    let died = tokio::select! {
        _ = running => false,
        () = line.hangs() => true,
    };
    (died, words.take())
}

/// Lines of a program; at the n-th one it is noticed that it is time to die.
struct Counting {
    lines: RefCell<Vec<String>>,
    last: usize,
    reached: Notify,
}

impl Output for Counting {
    fn log(&self, line: &str) {
        self.lines.borrow_mut().push(line.to_owned());
        if self.lines.borrow().len() == self.last {
            self.reached.notify_one();
        }
    }

    fn trace(&self, _: &str) {}
}

/// Dies in the hook that logs the n-th line: hooks pause after they have logged.
async fn dies_in_hook(world: &World, number: usize, program: &str) -> (bool, Vec<String>) {
    let output = Rc::new(Counting { lines: RefCell::default(), last: number, reached: Notify::new() });
    let words = Rc::new(Lines::default());
    let asked = Ask { output: output.clone(), ..ask(program, &words) };
    let running = async {
        let opened = Opened::open(&tools(world, world.kube(), "dying"), asked).await.unwrap();
        to_the_end(opened).await
    };
    let died = tokio::select! {
        biased;
        () = output.reached.notified() => true,
        _ = running => false,
    };
    (died, output.lines.take())
}

/// Of how many ends the network knows, by its stored property.
async fn heard_of(world: &World) -> f64 {
    objects(world, "networks").await[0]["spec"]["gone"].as_f64().unwrap_or_default()
}

/// What the next run makes of it: the old model or the new one, nothing half done, and no destructor forgotten.
async fn is_made_good(world: &World, words: &[String], at: &str) {
    world.nature().pass(31);
    let next = run(world, &shop("log('machines ' .. #env.applications[1].machines)")).await;
    let at = format!("{at}: {words:?} then {:?}", next.words);
    assert_eq!(next.failed, None, "{at}");
    let found = living(world, "machines").await;
    let (old, new) = (found == ["db", "web"], found == ["more", "web"]);
    assert!(old || new, "{at}: {found:?}");
    let heard = |word: &str| words.iter().chain(&next.words).any(|one| one == word);
    assert!(!(heard("destroy db") && old), "{at}: db was destroyed, and is stored as if it were not");
    assert!(!heard("destroy short-lived") || new, "{at}: destroyed before the new model was stored");
    assert_eq!(heard("destroy db"), heard("destroy short-lived"), "{at}: none is forgotten");
    let known = heard_of(world).await;
    assert!(
        !heard("destroy db") || known >= 2.0,
        "{at}: what a handler changed is lost, it knows of {known}"
    );
    let status = record(world).await["status"].clone();
    assert_eq!(status["destroying"].as_array().map_or(0, Vec::len), 0, "{at}");
    assert!(status["pending"].is_null(), "{at}");
    let parts = world.get("/api/v1/namespaces/default/configmaps?labelSelector=sexton.dev/model-of").await;
    assert_eq!(parts.json["items"].as_array().map_or(0, Vec::len), 0, "{at}");
}

/// EXT-26: a run that creates, changes and destroys, and dies in any of its writes, leaves the old model or the new one;
/// the next run ends where an undisturbed one ends, and no destructor that was begun is forgotten.
#[tokio::test]
async fn it_dies_at_each_write() {
    for fate in [Fate::Hangs, Fate::HangsAfter] {
        for number in 1..80 {
            let world = World::new().await;
            run(&world, &shop(MAKE)).await;
            let generation = |record: &Value| record["status"]["generation"].as_i64().unwrap();
            let before = generation(&record(&world).await);
            let (died, words) = dies_at(&world, (number, fate), &shop(CHANGE), None).await;
            if !died {
                assert!(number > 8, "there are several writes to die in, and not {number}");
                break;
            }
            let left = record(&world).await;
            let is_known = !left["status"]["pending"].is_null() || generation(&left) > before;
            let begun = names(&world, "machines").await.contains(&"more".to_owned());
            assert!(!begun || is_known, "{fate:?} {number}: stored in part, and the record does not say so");
            is_made_good(&world, &words, &format!("{fate:?} {number}")).await;
        }
    }
}

/// A model without the machine db.
fn without_db(model: &str) -> Model {
    let mut model: Value = serde_json::from_str(model).unwrap();
    let machines = &mut model["Objects"]["applications"][0]["machines"];
    let machines = machines.as_array_mut().unwrap();
    machines.retain(|machine| machine["name"] != "db");
    assert_eq!(machines.len(), 1);
    Model::parse(&model.to_string()).unwrap()
}

/// EXT-26, REQ-MUR-50: what handlers change while the model's removals are destroyed is there for the next run, with the
/// same model and without one, wherever the run dies: also if the model has another value for it.
#[tokio::test]
async fn changes_before_the_deployment_survive() {
    for fate in [Fate::Hangs, Fate::HangsAfter] {
        for number in 1..80 {
            let world = World::new().await;
            let made = run(&world, &shop(MAKE)).await;
            let model = without_db(&made.finished.model);
            let (died, words) = dies_at(&world, (number, fate), &shop(MAKE), Some(model.clone())).await;
            if !died {
                assert!(number > 8, "there are several writes to die in, and not {number}");
                break;
            }
            let noted = !record(&world).await["status"]["changed"].is_null();
            let is_over = !names(&world, "machines").await.contains(&"db".to_owned()) && !noted;
            assert!(!is_over || heard_of(&world).await >= 1.0, "{fate:?} {number}: {words:?}");
            world.nature().pass(31);
            // After a deployment that is stored, the same model says once more what is to be.
            let again = if number % 2 == 0 && !is_over { Some(model) } else { None };
            let has_model = again.is_some();
            let next = run_with(&world, &shop(MAKE), again).await;
            let at = format!("{fate:?} {number} {has_model}: {words:?} then {:?}", next.words);
            assert_eq!(next.failed, None, "{at}");
            let gone = !living(&world, "machines").await.contains(&"db".to_owned());
            assert!(gone || !has_model, "{at}");
            assert_eq!(gone, words.iter().chain(&next.words).any(|word| word == "destroy db"), "{at}");
            let known = heard_of(&world).await;
            assert!(!gone || known >= 1.0, "{at}: what a handler changed is lost, it knows of {known}");
            let status = record(&world).await["status"].clone();
            assert!(status["changed"].is_null(), "{at}: {status}");
        }
    }
}

/// Destructors that take long are recorded as they go: one that was killed does not do again what was done a second ago.
#[tokio::test]
async fn slow_ends_are_recorded_as_they_go() {
    let program = |deploy: &str| {
        format!(
            r#"format "1.4"
            local Slow = class("Slow", {{
                properties = {{ name = {{ usage = "In", type = "string" }} }},
                destroy = function(self) log("destroy " .. self.name) sleep(1.1) end,
            }})
            function deploy(env) {deploy} end"#
        )
    };
    let world = World::new().await;
    let make = r#"local all = {}
        for _, name in { "a", "b", "c" } do table.insert(all, new(Slow, { name = name }, env)) end
        env.applications = all"#;
    run(&world, &program(make)).await;
    let (died, words) = dies_in_hook(&world, 3, &program("env.applications = {}")).await;
    assert!(died && words.len() == 3, "{words:?}");
    world.nature().pass(31);
    let next = run(&world, &program("")).await;
    assert_eq!(next.words, words[2..], "the last one was begun, and the others are known to be destroyed");
    assert_eq!(names(&world, "slows").await, Vec::<String>::new());
}

/// EXT-26: the same for a run that dies in any handler or destructor: these run after the new model is stored.
#[tokio::test]
async fn it_dies_in_each_hook() {
    let pausing = shop(CHANGE)
        .replace("log(\"destroy \" .. self.name)", "log(\"destroy \" .. self.name) sleep(0.001)")
        .replace(
            "log(gc.phase .. \" \" .. machine.name)",
            "log(gc.phase .. \" \" .. machine.name) sleep(0.001)",
        );
    for number in 1..40 {
        let world = World::new().await;
        run(&world, &shop(MAKE)).await;
        let (died, words) = dies_in_hook(&world, number, &pausing).await;
        if !died {
            assert!(number > 6, "there are several hooks to die in, and not {number}");
            break;
        }
        assert_eq!(words.len(), number);
        let stored = names(&world, "machines").await;
        assert!(
            stored.contains(&"more".to_owned()),
            "{number} {words:?}: the new model is not stored: {stored:?}"
        );
        if words.last().is_some_and(|word| word == "destroy db") {
            let intended = record(&world).await["status"]["destroying"].as_array().map_or(0, Vec::len);
            assert!(intended > 0, "{number} {words:?}: the record does not say what is being destroyed");
        }
        is_made_good(&world, &words, &format!("hook {number}")).await;
    }
}
