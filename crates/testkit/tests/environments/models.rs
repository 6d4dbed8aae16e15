//! Models that come in: what they may not say, and what a run without one does not take away.

use std::rc::Rc;

use serde_json::{Value, json};
use sexton_runtime::environment::{Ask, OpenError, Opened};
use sexton_runtime::lua::{Grants, Lines};
use sexton_runtime::model::Model;
use sexton_testkit::World;

use crate::common::*;

/// A program with a thing that stays in the model after it was destroyed.
const THINGS: &str = r#"format "1.4"
    local Thing = class("Thing", {
        properties = { name = { usage = "In", type = "string" } },
        destroy = function(self) log("destroy " .. self.name) end,
    })
    local Other = class("Other", { properties = { name = { usage = "In", type = "string" } } })
    local Keeper = class("Keeper", {
        properties = { kept = { usage = "InOut", type = Thing }, other = { usage = "InOut", type = Thing } },
        hear = function(self, gc, thing) if gc.phase == "notifying" then self.kept = thing end end,
        watch = function(self, thing) GC.subscribe(thing, "hear") end,
    })
    function deploy(env)
        if env.applications then return end
        local keeper = new(Keeper, { other = new(Thing, { name = "alive" }, env) }, env)
        keeper:watch(new(Thing, { name = "dead" }, keeper))
        env.applications = { keeper }
    end"#;

async fn opened_with(world: &World, model: &Value, allow_empty: bool) -> Result<Opened, OpenError> {
    let words = Rc::new(Lines::default());
    let model = Some(Model::parse(&model.to_string()).unwrap());
    let asked = Ask { model, allow_empty, ..ask(THINGS, &words) };
    Opened::open(&tools(world, world.kube(), "tests"), asked).await
}

/// REQ-MUR-37: an object keeps its class and its end: a model that says otherwise is refused with its place, and nothing
/// is run.
#[tokio::test]
async fn what_a_model_may_not_say() {
    let world = World::new().await;
    let first = run(&world, THINGS).await;
    let model: Value = serde_json::from_str(&first.finished.model).unwrap();
    assert_eq!(model["Objects"]["applications"][0]["kept"]["?"]["destroyed"], true, "{model}");
    assert!(opened_with(&world, &model, false).await.is_ok());
    world.nature().pass(31);

    let mut other = model.clone();
    other["Objects"]["applications"][0]["other"]["?"]["type"] = json!("Other");
    let mut revived = model.clone();
    revived["Objects"]["applications"][0]["kept"]["?"].as_object_mut().unwrap().remove("destroyed");
    let mut dead = model.clone();
    dead["Objects"]["applications"][0]["other"]["?"]["destroyed"] = json!(true);
    for (model, place, word) in [
        (other, "$.Objects.applications[0].other: ", "is stored as a Thing, and the model says Other"),
        (revived, "$.Objects.applications[0].kept: ", "is destroyed, and the model does not say so"),
        (dead, "$.Objects.applications[0].other: ", "leave it out of the model"),
    ] {
        let error = opened_with(&world, &model, true).await.err().unwrap().to_string();
        assert!(error.starts_with(place) && error.contains(word), "{error}");
    }
    let mut large = model.clone();
    large["Objects"]["applications"][0]["other"]["name"] = json!("x".repeat(4_000_000));
    let error = opened_with(&world, &large, true).await.err().unwrap().to_string();
    assert!(error.starts_with("$.Objects.applications[0].other: ") && error.contains("too large"), "{error}");
    let mut called = model.clone();
    called["Objects"]["applications"][0]["other"]["?"]["name"] = json!("x".repeat(300_000));
    let error = Model::parse(&called.to_string()).err().unwrap().to_string();
    assert!(error.contains("name has at most 1000 bytes"), "{error}");
    let mut rootless = model.clone();
    rootless["Also"] = json!([rootless["Objects"].take()]);
    let error = opened_with(&world, &rootless, true).await.err().unwrap().to_string();
    assert!(error.contains("the model has no root"), "{error}");
    assert_eq!(run(&world, THINGS).await.finished.written, 0);
}

/// A model without any objects is no accident only if that is said.
#[tokio::test]
async fn an_empty_model_is_refused() {
    let world = World::new().await;
    assert!(opened_with(&world, &json!({}), false).await.is_ok(), "there is nothing to lose yet");
    world.nature().pass(31);
    run(&world, THINGS).await;
    for empty in [json!({}), json!(null), json!({"Objects": null}), json!({"Also": []})] {
        let error = opened_with(&world, &empty, false).await.err().unwrap();
        assert!(matches!(error, OpenError::EmptyModel { stored: 4 }), "{error}");
    }
    let opened = opened_with(&world, &json!({}), true).await.unwrap();
    assert_eq!(opened.removed.len(), 3, "the destroyed one goes without further ado");
    opened.close().await;
}

/// A model with objects, none of which is stored, would destroy all that are: that has to be said, too.
#[tokio::test]
async fn a_model_that_keeps_nothing_is_refused() {
    let world = World::new().await;
    let model = |root: &str| json!({"Objects": {"?": {"type": "Environment", "id": root}}});
    assert!(opened_with(&world, &model("new"), false).await.is_ok(), "there is nothing to lose yet");
    world.nature().pass(31);
    let first = run(&world, THINGS).await;
    let error = opened_with(&world, &model("new"), false).await.err().unwrap();
    assert!(matches!(error, OpenError::NothingKept { stored: 3 }), "{error}");
    let opened = opened_with(&world, &model("new"), true).await.unwrap();
    assert_eq!(opened.removed.len(), 3);
    opened.close().await;
    // With the stored root it is a model like any other: the limit of deletions is for that.
    let stored: Value = serde_json::from_str(&first.finished.model).unwrap();
    let root = stored["Objects"]["?"]["id"].as_str().unwrap();
    let opened = opened_with(&world, &model(root), false).await.unwrap();
    assert_eq!(opened.removed.len(), 2);
    opened.close().await;
}

/// Grants stay until they are taken back.
#[tokio::test]
async fn grants_are_kept() {
    let world = World::new().await;
    let grants = |exec: &[&str], http: &[&str]| {
        let texts = |some: &[&str]| some.iter().map(|one| (*one).to_owned()).collect();
        Grants { exec: texts(exec), http: texts(http) }
    };
    let run_with = async |given: Grants, revoked: Grants| {
        let words = Rc::new(Lines::default());
        let mut asked = ask(&shop(MAKE), &words);
        (asked.program.exec, asked.program.http, asked.revoked) = (given.exec, given.http, revoked);
        let opened = Opened::open(&tools(&world, world.kube(), "tests"), asked).await.unwrap();
        let kept = opened.kept_grants.clone();
        to_the_end(opened).await;
        let program = record(&world).await["spec"]["program"].clone();
        (kept, program["exec"].clone(), program["http"].clone())
    };
    run_with(grants(&["vm-rm"], &["127.0.0.1:9000"]), Grants::default()).await;
    let (kept, exec, http) = run_with(grants(&["vm-add"], &[]), Grants::default()).await;
    assert_eq!((kept.exec, kept.http), (vec!["vm-rm".to_owned()], vec!["127.0.0.1:9000".to_owned()]));
    assert_eq!((exec, http), (json!(["vm-add", "vm-rm"]), json!(["127.0.0.1:9000"])));
    let (kept, exec, http) = run_with(Grants::default(), grants(&["vm-rm"], &["127.0.0.1:9000"])).await;
    assert_eq!(kept.exec, ["vm-add"]);
    assert_eq!((exec, http), (json!(["vm-add"]), json!(null)));
}
