//! What a server refuses, and what is refused before it is asked: no environment is blocked by it for ever.

use std::rc::Rc;

use serde_json::json;
use sexton_runtime::environment::{
    FinishError, OpenError, Opened, SaveError, give_up_pending, pending, retry_pending,
};
use sexton_runtime::lua::Lines;
use sexton_testkit::World;

use crate::common::*;

const MACHINES: &str = "/apis/classes.sexton.dev/v1/namespaces/prod/machines";
const DEFINITION: &str =
    "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/machines.classes.sexton.dev";

/// Runs `deploy` and gives back why its model was not stored.
async fn not_stored(world: &World, program: &str) -> FinishError {
    let mut opened = open(world, program).await.unwrap();
    opened.remove().await.unwrap();
    opened.deploy().await.unwrap();
    opened.finish(None).await.err().unwrap()
}

/// An object that no server would take is refused before anything is recorded: the next run is not disturbed by it.
#[tokio::test]
async fn an_object_that_is_too_large_blocks_nothing() {
    let world = World::new().await;
    run(&world, &shop(MAKE)).await;
    let program = r#"format "1.4"
        local properties = {}
        for _, name in { "a", "b", "c", "d", "e" } do properties[name] = { usage = "InOut", type = "string" } end
        local Blob = class("Blob", { properties = properties, destroy = function(self) log("destroy") end })
        "#;
    let program = format!("{}{}", program, &SHOP.replace("format \"1.4\"", ""));
    let deploy = |text: &str| {
        format!(
            r#"{program}
            function deploy(env)
                local given = {{ a = {text}, b = {text}, c = {text}, d = {text}, e = {text} }}
                env.applications = {{ env.applications[1], new(Blob, given, env, "big") }}
            end"#
        )
    };
    // Signs that JSON spells out are six times as long in the resource.
    let error = not_stored(&world, &deploy("string.rep('\\1', 110000)")).await;
    let words = error.to_string();
    assert!(words.starts_with("Blob big is too large to be stored: 33"), "{words}");
    let document = record(&world).await;
    let status = document["status"].clone();
    let source = document["spec"]["program"]["source"].as_str().unwrap();
    assert!(
        !source.contains("Blob") && status["objects"] == 5,
        "the record is that of what is stored: {status}"
    );
    assert_eq!((&status["pending"], &status["phase"]), (&json!(null), &json!("Failed")));
    assert!(status["run"]["outcome"].as_str().unwrap().contains("too large"), "{status}");
    let next = run(&world, &shop("log('ran')")).await;
    assert_eq!((next.failed, next.words), (None, vec!["ran".to_owned()]));
    assert_eq!(names(&world, "machines").await, ["db", "web"]);
    let large = run(&world, &deploy("string.rep('x', 400000)")).await;
    assert_eq!(large.failed, None, "what is large, and not too large, is stored");
    assert_eq!(names(&world, "blobs").await, ["big"]);
}

/// A long text is no name: it would not fit beside what else is said of an object.
#[tokio::test]
async fn long_names() {
    let world = World::new().await;
    let long = "string.rep('x', 300000)";
    let ran =
        run(&world, &shop(&format!("env.applications = {{ new(Machine, {{ name = {long} }}, env) }}"))).await;
    assert_eq!(ran.failed, None);
    let machines = objects(&world, "machines").await;
    assert_eq!(machines[0]["metadata"]["name"], machines[0]["metadata"]["uid"]);
    assert_eq!(machines[0]["spec"]["name"].as_str().unwrap().len(), 300_000);
    let ran = run(&world, &shop(&format!("new(Machine, {{}}, env, {long})"))).await;
    assert!(ran.failed.unwrap().contains("a name has at most 1000 bytes"));
}

/// What is too large is an error where it is written, if it can be known there: what the program made before is stored.
#[tokio::test]
async fn what_is_too_large_is_refused_where_it_is_written() {
    let program = |deploy: &str| {
        format!(
            r#"format "1.4"
            local Thing = class("Thing", {{
                properties = {{ name = {{ usage = "In" }}, a = {{ usage = "InOut" }}, b = {{ usage = "Out" }},
                    c = {{ usage = "InOut" }}, d = {{ usage = "Out" }}, many = {{ usage = "Runtime" }} }},
            }})
            local function keys(count)
                local t = {{}}
                for at = 1, count do t["key-" .. (1000000 + at)] = 1 end
                return t
            end
            function deploy(env)
                local thing = new(Thing, {{ name = "made" }}, env)
                env.applications = {{ thing }}
                local text = string.rep("x", 1000000)
                {deploy}
            end"#
        )
    };
    for deploy in [
        "thing.a = text; thing.b = text; thing.c = text; thing.d = text",
        "new(Thing, { a = text, b = text, c = text, d = text }, env)",
        "thing.a = keys(30000); thing.b = keys(30000); thing.c = keys(30000); thing.d = keys(30000)",
        "local all = {}; for at = 1, 40000 do all[at] = thing end; thing.a = all",
    ] {
        let world = World::new().await;
        let ran = run(&world, &program(deploy)).await;
        let why = ran.failed.unwrap_or_default();
        assert!(why.contains("all stored properties of an object together may take"), "{deploy}: {why}");
        assert!(why.contains("shop.luau:"), "{deploy}: {why}");
        assert_eq!(names(&world, "things").await, ["made"]);
    }
    // What is not stored is not counted.
    let world = World::new().await;
    let ran = run(&world, &program("thing.a = text; thing.b = text; thing.many = text")).await;
    assert_eq!(ran.failed, None);
}

/// A name that others take while a program runs is not a reason to store nothing: the object gets another one, and all that
/// refers to it follows.
#[tokio::test]
async fn a_name_that_is_taken_meanwhile() {
    let world = World::new().await;
    run(&world, &shop("new(Machine, { name = 'first' }, env)")).await;
    let mut opened = open(&world, &shop(MAKE)).await.unwrap();
    opened.remove().await.unwrap();
    opened.deploy().await.unwrap();
    let theirs = json!({
        "apiVersion": "classes.sexton.dev/v1", "kind": "Machine",
        "metadata": {"name": "web", "namespace": "prod"}, "spec": {},
    });
    world.create(MACHINES, &theirs).await.expect(201);
    let finished = opened.finish(None).await.unwrap();
    assert_eq!(finished.written, 5);
    let machines = objects(&world, "machines").await;
    assert_eq!(machines.len(), 3);
    let called = |one: &&serde_json::Value| one["metadata"]["annotations"]["sexton.dev/object-name"] == "web";
    let ours = machines.iter().find(called).unwrap();
    assert_eq!(ours["metadata"]["name"], ours["metadata"]["uid"]);
    let app = &objects(&world, "apps").await[0];
    assert_eq!(app["spec"]["machines"][0]["$ref"]["name"], ours["metadata"]["name"]);
    let looks = shop("for _, machine in env.applications[1].machines do log(machine.name) end");
    let next = run(&world, &looks).await;
    assert_eq!((next.failed, next.words), (None, vec!["web".to_owned(), "db".to_owned()]));
    let gone = run(&world, &shop("env.applications = {}")).await;
    assert!(gone.words.contains(&"destroyed web".to_owned()), "{:?}", gone.words);
    assert_eq!(names(&world, "machines").await, ["web"], "what others made is left alone");
}

/// A name is not free while its last holder is on its way out.
#[tokio::test]
async fn a_name_that_is_being_given_back() {
    let world = World::new().await;
    run(&world, &shop(MAKE)).await;
    let path = format!("{MACHINES}/web");
    world.merge(&path, &json!({"metadata": {"finalizers": ["example.com/hold"]}})).await.expect(200);
    world.delete(&path, &json!({"propagationPolicy": "Background"})).await.expect(200);
    let again = "local app = env.applications[1]; app.machines = { new(Machine, { name = 'web' }, app) }";
    let ran = run(&world, &shop(again)).await;
    assert_eq!(ran.failed, None);
    let called = |one: &serde_json::Value| one["metadata"]["annotations"]["sexton.dev/object-name"] == "web";
    assert_eq!(objects(&world, "machines").await.into_iter().filter(called).count(), 1);
}

/// Kinds are shared by all environments: a class whose kind would have a name of another one is refused before anything
/// runs.
#[tokio::test]
async fn kinds_of_other_programs() {
    let world = World::new().await;
    let with = |class: &str| {
        format!(
            "format \"1.4\"\nlocal C = class(\"{class}\", {{}})\nfunction deploy(env) env.applications = {{ new(C, {{}}, env) }} end"
        )
    };
    run(&world, &with("Box")).await;
    for class in ["Boxe", "BOX", "Boxes", "BoxList"] {
        let error = refused(&world, &with(class)).await;
        let words = error.to_string();
        assert!(matches!(error, OpenError::TakenKind { .. }), "{class}: {words}");
        assert!(words.contains(class) && words.contains("as the kind Box is"), "{words}");
    }
    assert_eq!(run(&world, &with("Box")).await.failed, None);
    let two = "format \"1.4\"\nclass(\"Vm\", {})\nclass(\"VmList\", {})\nfunction deploy(env) end";
    assert!(matches!(refused(&world, two).await, OpenError::Class { .. }));
}

/// A definition of others with the name of a class is refused before anything runs, if objects of programs cannot be
/// stored as its kind.
#[tokio::test]
async fn definitions_that_do_not_fit() {
    for (scope, version, complaint) in
        [("Cluster", "v1", "in no namespace"), ("Namespaced", "v2", "does not serve the version v1")]
    {
        let world = World::new().await;
        let definition = json!({
            "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
            "metadata": {"name": "machines.classes.sexton.dev"},
            "spec": {
                "group": "classes.sexton.dev", "scope": scope, "names": {"plural": "machines", "kind": "Machine"},
                "versions": [{"name": version, "served": true, "storage": true,
                    "schema": {"openAPIV3Schema": {"type": "object"}}}],
            },
        });
        let path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
        world.create(path, &definition).await.expect(201);
        let error = refused(&world, &shop(MAKE)).await;
        let words = error.to_string();
        assert!(matches!(error, OpenError::UnfitKind { .. }) && words.contains(complaint), "{words}");
        world.get("/apis/sexton.dev/v1/environments/prod").await.expect(404);
    }
}

/// A program without `deploy` is refused before anything is destroyed, run or recorded for it.
#[tokio::test]
async fn a_program_without_deploy() {
    let world = World::new().await;
    run(&world, &shop(MAKE)).await;
    let before = record(&world).await;
    let nothing = SHOP.to_owned();
    let words = refused(&world, &nothing).await.to_string();
    assert!(words.contains("has no function deploy"), "{words}");
    let words = refused(&world, "").await.to_string();
    assert!(words.contains("has no function deploy") || words.contains("there is no class"), "{words}");
    assert_eq!(record(&world).await["status"], before["status"]);
}

/// A world in which the server refuses to store a new machine: its kind wants a size now.
async fn with_pending() -> World {
    let world = World::new().await;
    run(&world, &shop(MAKE)).await;
    schema(&world, true).await;
    let more = "local app = env.applications[1]; machines(app, { 'new-web', 'new-db' })";
    let error = not_stored(&world, &shop(more)).await;
    assert!(matches!(error, FinishError::Save(SaveError::Refused { .. })), "{error}");
    world
}

async fn schema(world: &World, strict: bool) {
    let spec = match strict {
        true => json!({"type": "object", "required": ["size"], "x-kubernetes-preserve-unknown-fields": true}),
        false => json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true}),
    };
    let schema = json!({
        "type": "object", "x-kubernetes-preserve-unknown-fields": true, "properties": {"spec": spec},
    });
    let version =
        json!({"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": schema}});
    world.merge(DEFINITION, &json!({"spec": {"versions": [version]}})).await.expect(200);
}

/// A model that the server refuses can be looked at; it is stored once the reason is gone.
#[tokio::test]
async fn a_pending_model_is_finished_once_it_can_be() {
    let world = with_pending().await;
    let tools = tools(&world, world.kube(), "tests");
    assert!(matches!(refused(&world, &shop("")).await, OpenError::Save(SaveError::Refused { .. })));
    let seen = pending(&tools, "prod").await.unwrap().unwrap();
    assert!(seen.refused.contains("was not stored") && seen.refused.contains("size"), "{seen:?}");
    let missing: Vec<&str> =
        seen.objects.iter().filter(|one| !one.exists).map(|one| one.name.as_str()).collect();
    assert_eq!(missing, ["new-web", "new-db"]);
    assert!(retry_pending(&tools, "prod", &[]).await.is_err(), "it is refused still");
    schema(&world, false).await;
    assert!(retry_pending(&tools, "prod", &[]).await.unwrap());
    assert_eq!(pending(&tools, "prod").await.unwrap(), None);
    let next = run(&world, &shop("log(#env.applications[1].machines)")).await;
    assert_eq!(next.words.first().map(String::as_str), Some("2"));
    assert_eq!(names(&world, "machines").await, ["new-db", "new-web"]);
}

/// Some of its objects can be left out.
#[tokio::test]
async fn a_pending_model_is_finished_without_some() {
    let world = with_pending().await;
    let tools = tools(&world, world.kube(), "tests");
    let left_out = ["machine/new-web".to_owned(), "machine/new-db".to_owned()];
    assert!(retry_pending(&tools, "prod", &left_out).await.unwrap());
    let next = run(&world, &shop("log(#env.applications[1].machines)")).await;
    assert_eq!((next.failed, next.words.first().map(String::as_str)), (None, Some("0")));
}

/// It can be given up: what was stored before is there, and the environment can be run.
#[tokio::test]
async fn a_pending_model_is_given_up() {
    let world = with_pending().await;
    let tools = tools(&world, world.kube(), "tests");
    let words = Rc::new(Lines::default());
    let at_work = Opened::open(&tools, ask(&shop(""), &words)).await;
    assert!(at_work.is_err());
    let given_up = give_up_pending(&tools, "prod").await.unwrap().unwrap();
    assert_eq!(given_up.objects.iter().filter(|one| !one.exists).count(), 2);
    assert_eq!(give_up_pending(&tools, "prod").await.unwrap(), None);
    let parts = world.get("/api/v1/namespaces/default/configmaps?labelSelector=sexton.dev/model-of").await;
    assert_eq!(parts.json["items"].as_array().map_or(0, Vec::len), 0);
    schema(&world, false).await;
    assert_eq!(run(&world, &shop("")).await.failed, None);
}
