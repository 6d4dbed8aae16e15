//! The end of environments, and what is not theirs.

use std::rc::Rc;

use serde_json::json;
use sexton_runtime::environment::{Ask, Opened};
use sexton_runtime::lua::Lines;
use sexton_testkit::World;
use sexton_testkit::line::{Fate, Line};

use crate::common::*;

const RECORD: &str = "/apis/sexton.dev/v1/environments/prod";
const MACHINES: &str = "/apis/classes.sexton.dev/v1/namespaces/prod/machines";

async fn open_to_end(world: &World, words: &Rc<Lines>) -> Option<Opened> {
    // The program that is asked for does not count: the stored one does.
    let asked = Ask { model: None, ..ask("no program", words) };
    Opened::open_to_end(&tools(world, world.kube(), "tests"), asked).await.unwrap()
}

/// REQ-MUR-76: an environment ends in order: all objects, by the program that is stored with them, then its record.
#[tokio::test]
async fn an_environment_ends_in_order() {
    let world = World::new().await;
    let words = Rc::new(Lines::default());
    assert!(open_to_end(&world, &words).await.is_none(), "there is none yet");
    run(&world, &shop(MAKE)).await;
    let opened = open_to_end(&world, &words).await.unwrap();
    let order: Vec<String> = opened
        .preview()
        .await
        .unwrap()
        .doomed
        .iter()
        .map(|one| one.name.as_deref().unwrap().to_owned())
        .collect();
    assert_eq!(order[2..], ["net", "shop", "prod"]);
    let why = opened.preview().await.unwrap().doomed[0].reasons[0].to_string();
    assert_eq!(why, "its environment is destroyed");
    let ended = opened.end().await.unwrap();
    assert_eq!((ended.report.destroyed.len(), ended.is_gone, ended.kept), (5, true, None));
    let last: Vec<String> = words.take().into_iter().filter(|word| word.starts_with("destroy ")).collect();
    assert_eq!(last[2..], ["destroy net", "destroy shop"]);
    world.get(RECORD).await.expect(404);
    assert!(open_to_end(&world, &words).await.is_none(), "twice is no mistake");
    assert_eq!(run(&world, &shop(MAKE)).await.failed, None, "it can begin anew");
}

/// What cannot be destroyed stays with the record, and the next attempt goes on.
#[tokio::test]
async fn an_end_that_does_not_get_through() {
    let world = World::new().await;
    let broken = SHOP.replacen("log(\"destroy \" .. self.name)", "error('away')", 1);
    run(&world, &format!("{broken}\nfunction deploy(env) {MAKE} end")).await;
    let words = Rc::new(Lines::default());
    let ended = open_to_end(&world, &words).await.unwrap().end().await.unwrap();
    assert!(!ended.is_gone && !ended.report.is_complete(), "{ended:?}");
    assert_eq!(names(&world, "networks").await, ["net"]);
    assert_eq!(living(&world, "machines").await, Vec::<String>::new());
    run(&world, &shop("")).await;
    let ended = open_to_end(&world, &words).await.unwrap().end().await.unwrap();
    assert!(ended.is_gone, "{ended:?}");
}

/// Killed at any write of its end, the next attempt ends it.
#[tokio::test]
async fn an_end_that_dies_at_each_write() {
    for number in 1..40 {
        let world = World::new().await;
        run(&world, &shop(MAKE)).await;
        let line = Line::at_write(&world, number, Fate::HangsAfter);
        let words = Rc::new(Lines::default());
        let ending = async {
            let asked = ask("", &words);
            let opened = Opened::open_to_end(&tools(&world, line.client(), "dying"), asked).await.unwrap();
            opened.unwrap().end().await.unwrap()
        };
        let died = tokio::select! {
            _ = ending => false,
            () = line.hangs() => true,
        };
        if !died {
            assert!(number > 5, "there are several writes to die in, and not {number}");
            break;
        }
        world.nature().pass(31);
        if let Some(opened) = open_to_end(&world, &words).await {
            let ended = opened.end().await.unwrap();
            assert!(ended.is_gone, "{number}: {ended:?}");
        }
        world.get(RECORD).await.expect(404);
        for kind in ["machines", "networks", "apps", "environments"] {
            assert_eq!(names(&world, kind).await, Vec::<String>::new(), "{number}");
        }
    }
}

/// The record has the program that destroys the objects: a server does not let it go before them, whoever asks.
#[tokio::test]
async fn a_record_goes_after_its_objects() {
    let world = World::new().await;
    run(&world, &shop(MAKE)).await;
    for options in [json!({}), json!({"propagationPolicy": "Background"}), json!({"dryRun": ["All"]})] {
        let refused = world.delete(RECORD, &options).await.expect(409);
        let why = refused.text_at("message").to_owned();
        assert!(why.contains("still has objects") && why.contains("sexton destroy --env prod"), "{why}");
    }
    let empty = json!({"apiVersion": "sexton.dev/v1", "kind": "Environment", "metadata": {"name": "empty"}});
    world.create("/apis/sexton.dev/v1/environments", &empty).await.expect(201);
    world.delete("/apis/sexton.dev/v1/environments/empty", &json!({})).await.expect(200);
    // The namespace takes the objects along, by their program; then the record may go.
    world.delete("/api/v1/namespaces/prod", &json!({"propagationPolicy": "Background"})).await.expect(200);
    assert_eq!(record(&world).await["metadata"]["deletionTimestamp"], json!(null));
    let refused = refused(&world, &shop(MAKE)).await.to_string();
    assert!(refused.contains("the namespace prod is being deleted"), "{refused}");
}

/// What others make in the namespace, of the kind of a class, is not the environment's: a run leaves it alone and says so.
#[tokio::test]
async fn what_others_made_is_left_alone() {
    let world = World::new().await;
    run(&world, &shop(MAKE)).await;
    let mut copy = world.get(&format!("{MACHINES}/web")).await.document(200);
    copy["metadata"] = json!({
        "name": "copy", "namespace": "prod", "annotations": copy["metadata"]["annotations"],
    });
    world.create(MACHINES, &copy).await.expect(201);
    let theirs = json!({
        "apiVersion": "classes.sexton.dev/v1", "kind": "Machine",
        "metadata": {"name": "theirs", "namespace": "prod"}, "spec": {"name": "theirs"},
    });
    let theirs = world.create(MACHINES, &theirs).await.document(201);
    let opened = open(&world, &shop("env.applications[1].machines = {}")).await.unwrap();
    assert_eq!(opened.foreign, ["Machine/copy", "Machine/theirs"]);
    assert_eq!(to_the_end(opened).await.finished.report.destroyed.len(), 2);
    assert_eq!(names(&world, "machines").await, ["copy", "theirs"]);
    // Whoever lets an object of the environment refer to it gives it to the environment.
    let reference = json!({"$ref": {"kind": "Machine", "name": "theirs", "uid": theirs["metadata"]["uid"]}});
    let app = "/apis/classes.sexton.dev/v1/namespaces/prod/apps/shop";
    world.merge(app, &json!({"spec": {"machines": [reference]}})).await.expect(200);
    let opened = open(&world, &shop("env.applications[1].machines = {}")).await.unwrap();
    assert_eq!(opened.foreign, ["Machine/copy"]);
    assert_eq!(to_the_end(opened).await.finished.report.destroyed.len(), 1);
    assert_eq!(names(&world, "machines").await, ["copy"]);
    // The environment ends without it, and its record stays as long as somebody may need the program.
    let words = Rc::new(Lines::default());
    let ended = open_to_end(&world, &words).await.unwrap().end().await.unwrap();
    let why = ended.kept.unwrap();
    assert!(!ended.is_gone && why.contains("what others made") && why.contains("Machine/copy"), "{why}");
    let status = record(&world).await["status"].clone();
    assert_eq!((&status["phase"], &status["objects"]), (&json!("Idle"), &json!(0)));
    assert_eq!(names(&world, "machines").await, ["copy"]);
}

/// What an interrupted run had begun to destroy is destroyed for that reason, and not because of a model.
#[tokio::test]
async fn the_reason_after_a_crash_is_the_true_one() {
    let world = World::new().await;
    run(&world, &shop(MAKE)).await;
    let machine = world.get(&format!("{MACHINES}/db")).await.document(200);
    let begun = json!({"status": {"destroying": [machine["metadata"]["uid"]]}});
    world.merge(RECORD, &begun).await.expect(200);
    let opened = open(&world, &shop("")).await.unwrap();
    let preview = opened.preview().await.unwrap();
    let why = "an interrupted run had begun to destroy it";
    assert_eq!(preview.doomed[0].reasons[0].to_string(), why);
    let ran = to_the_end(opened).await;
    assert_eq!(ran.removed.destroyed[0].reasons[0].to_string(), why);
    let stones = world.get("/apis/sexton.dev/v1/tombstones").await.json;
    assert_eq!(stones["items"][0]["spec"]["reason"], why);
}
