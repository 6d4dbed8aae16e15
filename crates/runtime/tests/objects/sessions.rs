//! Sessions as a whole: failures, new garbage, limits, and collections that want to run at the same time.

use std::cell::Cell;
use std::rc::Rc;

use sexton_runtime::gc::{CollectError, Gc, Reason, Scope, Settings};
use sexton_runtime::world::{NewError, NewObject, ObjectId, Value};

use crate::kit::{Stage, expect, tidy, words};

/// EXT-25, REQ-MUR-10: a failing destructor is reported, what must come after it is not touched, the rest goes; the
/// next collection tries again.
#[tokio::test]
async fn failing_destructors_are_retried() {
    let script = "
        new top
        new middle in top
        new low in middle
        new other
        middle.broken = true
        drop all
        collect
        show
        middle.broken = false
        collect
        show";
    let expected = "
        destroy low
        destroy other
        destroy middle
        failed middle while destroying middle: destroy is broken
        waiting top for middle
        there: top middle
        destroy middle
        destroy top
        there:";
    let told = Stage::new().play(script).await;
    assert_eq!(told.trim(), tidy(expected));
}

/// EXT-25: what went well of a hierarchy is not done twice.
#[tokio::test]
async fn the_rest_of_a_hierarchy_is_retried() {
    let script = "new a : Derived\na.broken = true\ndrop all\ncollect\na.broken = false\ncollect";
    let expected = "
        destroy a
        destroy a as Node
        failed a while destroying a: destroy is broken
        destroy a as Node";
    expect(script, expected).await;
}

/// EXT-25: a handler that fails while warning or notifying keeps the object, and what must come after it.
#[tokio::test]
async fn failing_handlers_keep_the_object() {
    for phase in ["warning", "notifying"] {
        let script = format!(
            "new root\nnew top\nnew low in top\nroot root\nsubscribe root low fail_{phase}\ndrop all\ncollect\nshow"
        );
        let told = Stage::new().play(&script).await;
        let failed = format!("failed low while {phase} root: the handler is broken\nwaiting top for low");
        assert!(told.contains(&failed), "{told}");
        assert!(told.ends_with("there: root top low"), "{told}");
    }
}

/// EXT-25: a handler that fails afterwards keeps nothing, and is reported.
#[tokio::test]
async fn failing_to_hear_of_the_end_keeps_nothing() {
    let script = "new root\nnew b\nroot root\nsubscribe root b fail_destroyed\ndrop all\ncollect\nshow";
    let told = Stage::new().play(script).await;
    assert!(told.ends_with("untold b: the handler is broken\nthere: root"), "{told}");
}

/// EXT-25, REQ-MUR-17: no member of a circle is destroyed if a handler fails for one of them.
#[tokio::test]
async fn circles_fail_as_one() {
    let script = "
        new a
        new b
        subscribe a b fail_notifying
        subscribe b a hear
        drop all
        collect
        show";
    let told = Stage::new().play(script).await;
    assert!(
        told.ends_with("failed b while notifying a: the handler is broken\nwaiting a for b\nthere: a b"),
        "{told}"
    );
}

/// EXT-30: garbage that destructors make is collected in the same session, with a bound; what is left is counted.
#[tokio::test]
async fn rounds_are_bounded() {
    let mut stage = Stage::with(Settings { max_rounds: 3, ..Settings::default() });
    let told = stage.play("new a : Litter\ndrop all\ncollect\nshow").await;
    assert_eq!(told, "destroy a\ndestroy litter-1\ndestroy litter-2\nleft 1\nthere: litter-3");
    assert_eq!((stage.report.rounds, stage.report.left), (3, 1));
    assert!(!stage.report.is_complete());
}

/// EXT-30: garbage that a handler makes goes in the next round.
#[tokio::test]
async fn garbage_of_handlers_is_collected() {
    let mut stage = Stage::with(Settings { max_rounds: 2, ..Settings::default() });
    let told = stage.play("new root\nnew b\nroot root\nsubscribe root b litter\ndrop all\ncollect").await;
    assert!(told.contains("destroyed: root hears of b\ndestroy litter-1\nleft 1"), "{told}");
}

/// REQ-MUR-52: a collection in a handler of a running one is refused; the session goes on.
#[tokio::test]
async fn collecting_inside_is_refused() {
    let script = "new root\nnew b\nroot root\nsubscribe root b collect\ndrop all\ncollect";
    let expected = "
        warning: root hears of b
        a collection is under way, and this is called by it: collect again when it is over
        notifying: root hears of b
        destroy b
        destroyed: root hears of b";
    expect(script, expected).await;
}

/// REQ-MUR-85: collections of other tasks wait for the one that is under way.
#[tokio::test]
async fn collections_take_turns() {
    let mut stage = Stage::new();
    stage.play("new a\nnew b\ndrop a").await;
    let (one, two) = futures::join!(stage.gc.collect(), stage.gc.collect());
    assert_eq!(one.unwrap().destroyed.len() + two.unwrap().destroyed.len(), 1);
}

/// REQ-MUR-85: also while a handler of that one waits for something.
#[tokio::test]
async fn collections_wait_for_waiting_handlers() {
    let mut stage = Stage::new();
    stage.play("new root\nnew b\nroot root\nsubscribe root b pause\ndrop all").await;
    let (one, two) = futures::join!(stage.gc.collect(), stage.gc.collect());
    assert_eq!((one.unwrap().destroyed.len(), two.unwrap().destroyed.len()), (1, 0));
}

/// EXT-25: when no code may run any more, the session ends, and what it did not come to is untouched.
#[tokio::test]
async fn a_deadline_ends_the_session() {
    let mut stage = Stage::new();
    let script =
        "new root\nnew a\nnew b\nnew c\nroot root\nsubscribe root b deadline\ndrop all\ncollect\nshow";
    let told = stage.play(script).await;
    assert!(told.ends_with("failed b while notifying root: too slow\nthere: root b c"), "{told}");
    assert_eq!(stage.report.stopped.as_deref(), Some("too slow"));
}

/// EXT-31: a limit holds a session before anything is touched, and is told how many of how many.
#[tokio::test]
async fn limits_hold_the_whole_session() {
    let limit = |doomed: usize, scope: usize| match doomed > 2 {
        true => Err(format!("{doomed} of {scope} are too many")),
        false => Ok(()),
    };
    let mut stage = Stage::with(Settings { limit: Some(Box::new(limit)), ..Settings::default() });
    let told = stage
        .play("new root\nnew a\nnew b\nnew c\nroot root\nsubscribe root a hear\ndrop all\ncollect\nshow")
        .await;
    assert_eq!(told, "refused: held: 3 of 4 are too many\nthere: root a b c");
    assert!(matches!(stage.gc.collect().await, Err(CollectError::Held { doomed: 3, scope: 4, .. })));
    assert_eq!(stage.play("root.in = c\ncollect\nshow").await.lines().last(), Some("there: root c"));
}

/// EXT-31, EXT-24: a preview names order and reasons, and calls nothing.
#[tokio::test]
async fn previews_touch_nothing() {
    let mut stage = Stage::new();
    stage.play("new root\nnew top\nnew low in top\nnew late in top\nroot root\nsubscribe root low hear\nsubscribe late top").await;
    stage.play("drop all").await;
    let preview = stage.gc.preview(Scope::Unreachable).await.unwrap();
    let ids: Vec<ObjectId> = preview.doomed.iter().map(|one| one.id.clone()).collect();
    assert_eq!(words(&ids), "low top late");
    let top = ObjectId::new("top").unwrap();
    assert_eq!(preview.doomed[0].reasons, [Reason::Unreachable, Reason::FollowsOwner(top.clone())]);
    assert_eq!(preview.doomed[1].reasons, [Reason::Unreachable]);
    assert_eq!((preview.scope, preview.dropped.len()), (4, 1));
    assert_eq!(stage.play("show").await, "there: root top low late");
    let again = stage.gc.preview(Scope::Unreachable).await.unwrap();
    assert_eq!(again, preview);
    let report = stage.gc.collect().await.unwrap();
    assert_eq!(report.destroyed, preview.doomed);
}

/// REQ-MUR-85: before each detection the settle function is called, to drop what only seems to be held.
#[tokio::test]
async fn settling_comes_before_looking() {
    let hoard: Rc<Cell<Option<sexton_runtime::world::Handle>>> = Rc::default();
    let taken = hoard.clone();
    let settings = Settings { settle: Rc::new(move || drop(taken.take())), ..Settings::default() };
    let mut stage = Stage::with(settings);
    stage.play("new a").await;
    hoard.set(Some(stage.get("a")));
    assert_eq!(stage.play("drop all\ncollect").await, "destroy a");
}

/// REQ-MUR-1: a failing `init` leaves nothing behind: no id, no methods, no destructor.
#[tokio::test]
async fn failing_init_leaves_nothing() {
    let mut stage = Stage::new();
    let id = ObjectId::new("x").unwrap();
    let new = || NewObject { id: Some(id.clone()), ..NewObject::default() };
    stage.world.new_object("Derived", new()).await.unwrap();
    assert_eq!(stage.play("collect").await, "init Derived x\ndestroy x\ndestroy x as Node");
    let created = stage.world.create("Derived", new()).unwrap();
    created.set_private("broken", Value::Bool(true)).unwrap();
    let error = stage.world.initialize(&created).await.unwrap_err();
    assert!(matches!(error, NewError::Init { .. }));
    assert_eq!(error.to_string(), "init of Derived: init is broken");
    assert!(created.init_failed() && stage.world.find(&id).is_none());
    assert!(created.call("plain", Vec::new()).await.is_err());
    drop(created);
    assert_eq!(stage.play("collect\nshow").await, "init Derived x\nthere: ");
}

/// REQ-MUR-7, REQ-MUR-40, REQ-MUR-6: after a deployment, objects that no persistable property holds are destroyed, even
/// if other references exist.
#[tokio::test]
async fn after_a_deployment_only_persistable_properties_count() {
    let script = "
        new root
        new kept
        new deep
        new in-runtime
        new in-private
        new in-static
        new in-hand
        root root
        root.inout = kept
        kept.in = deep
        root.runtime = in-runtime
        root.own = in-private
        static Node shared = in-static
        persistable
        show";
    let expected = "
        destroy in-runtime
        destroy in-private
        destroy in-static
        destroy in-hand
        there: root kept deep in-runtime(destroyed) in-private(destroyed) in-static(destroyed) in-hand(destroyed)";
    expect(script, expected).await;
}

/// REQ-MUR-39, REQ-MUR-4, REQ-MUR-5, REQ-MUR-19, REQ-MUR-20: before a deployment, what was removed is destroyed, the
/// deepest first, with all steps; dependencies hold there as well.
#[tokio::test]
async fn before_a_deployment_what_was_removed_is_destroyed() {
    let script = "
        new root
        new app
        new vm in app
        new disk in vm
        root root
        app.inout = vm
        vm.inout = disk
        subscribe root disk look
        subscribe vm app
        removed app vm disk
        show";
    let expected = "
        warning: root hears of disk, doomed true, destroyed false, itself doomed false
        notifying: root hears of disk, doomed true, destroyed false, itself doomed false
        destroy disk
        destroyed: root hears of disk, doomed true, destroyed true, itself doomed false
        destroy app
        destroy vm
        dropped vm before app
        there: root app(destroyed) vm(destroyed) disk(destroyed)";
    expect(script, expected).await;
}

/// REQ-MUR-39, REQ-MUR-91: a removed object can be saved by a reference as well.
#[tokio::test]
async fn removed_objects_can_be_rescued() {
    let script = "new root\nnew b\nroot root\nsubscribe root b rescue\ndrop all\nremoved b\nshow";
    expect(script, "warning: root hears of b\nrescued b\nthere: root b").await;
}

/// REQ-MUR-83: no chain is too long to be collected, and nothing recurses.
#[tokio::test]
async fn long_chains_are_collected() {
    let mut stage = Stage::new();
    let mut last = stage.world.create("Silent", NewObject::default()).unwrap();
    for _ in 0..5_000 {
        let owner = Some(last.clone());
        let next = stage.world.create("Silent", NewObject { owner, ..NewObject::default() }).unwrap();
        next.set("in", Value::from(&last)).unwrap();
        last.set("out", Value::from(&next)).unwrap();
        last = next;
    }
    assert_eq!(stage.gc.collect().await.unwrap().destroyed.len(), 0);
    drop(last);
    let report = Gc::new(&stage.world, Settings::default()).collect().await.unwrap();
    assert_eq!((report.destroyed.len(), report.freed, stage.world.len()), (5_001, 5_001, 0));
    stage.held.clear();
}
