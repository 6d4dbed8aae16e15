//! A run that dies, at each of its writes: what is stored is the old model or the new one, and the next run makes it good.

use std::rc::Rc;

use sexton_runtime::environment::Opened;
use sexton_runtime::lua::Lines;
use sexton_testkit::World;
use sexton_testkit::line::{Fate, Line};

use crate::common::*;

/// Dies in the n-th write. Gives back whether there was such a write, and what was heard of it.
async fn dies_at(world: &World, number: usize, fate: Fate, program: &str) -> (bool, Vec<String>) {
    let line = Line::at_write(world, number, fate);
    let words = Rc::new(Lines::default());
    let running = async {
        let opened = Opened::open(&tools(world, line.client(), "dying"), ask(program, &words)).await.unwrap();
        to_the_end(opened).await
    };
    let died = tokio::select! {
        _ = running => false,
        () = line.hangs() => true,
    };
    (died, words.take())
}

/// EXT-26: whoever dies in any write of a run that creates, changes and destroys leaves the old model or the new one;
/// the next run ends where an undisturbed one ends, and no destructor that was begun is forgotten.
#[tokio::test]
async fn it_dies_at_each_write() {
    let change = r#"
        local app = env.applications[1]
        if #app.machines == 2 then
            local kept = app.machines[1]
            local more = new(Machine, { name = "more" }, app)
            app.network:watch(more)
            app.machines = { kept, more }
        end
    "#;
    for fate in [Fate::Hangs, Fate::HangsAfter] {
        for number in 1..60 {
            let world = World::new().await;
            run(&world, &shop(MAKE)).await;
            let (died, words) = dies_at(&world, number, fate, &shop(change)).await;
            if !died {
                assert!(number > 8, "there are several writes to die in, and not {number}");
                break;
            }
            world.nature().pass(31);
            let next = run(&world, &shop("log('machines ' .. #env.applications[1].machines)")).await;
            let at = format!("{fate:?} {number}: {words:?} then {:?}", next.words);
            assert_eq!(next.failed, None, "{at}");
            let found = living(&world, "machines").await;
            let old = found == ["db", "web"];
            let new = found == ["more", "web"];
            // Whoever was about to be destroyed before the new model was written down is not alive in the old one.
            let begun = words.iter().chain(&next.words).any(|word| word == "destroy db");
            assert!(old || new || found == ["web"] && begun, "{at}: {found:?}");
            assert!(!(begun && old), "{at}: db was destroyed, and is stored as if it were not");
            let status = record(&world).await["status"].clone();
            assert_eq!(status["destroying"].as_array().map_or(0, Vec::len), 0, "{at}");
            assert!(status["pending"].is_null(), "{at}");
            let parts =
                world.get("/api/v1/namespaces/default/configmaps?labelSelector=sexton.dev/model-of").await;
            assert_eq!(parts.json["items"].as_array().map_or(0, Vec::len), 0, "{at}");
        }
    }
}
