//! Calls of subscribers: in which phases, with which arguments, and what handlers can do.

use sexton_runtime::gc::SubscribeError;

use crate::kit::{Stage, expect};

/// REQ-MUR-90, REQ-MUR-14, REQ-MUR-9, REQ-MUR-27, REQ-MUR-28, REQ-MUR-29, REQ-MUR-57, REQ-MUR-58, REQ-MUR-56: warned,
/// notified, destroyed, told; nothing for a subscription without a handler.
#[tokio::test]
async fn events_come_in_their_order() {
    let script = "
        new root
        new silent
        new b
        root root
        root.in = silent
        subscribe root b hear
        subscribe silent b
        drop all
        collect";
    let expected = "
        warning: root hears of b
        notifying: root hears of b
        destroy b
        destroyed: root hears of b";
    expect(script, expected).await;
}

/// REQ-MUR-99, REQ-MUR-100, REQ-MUR-11, REQ-MUR-53, REQ-MUR-62, REQ-MUR-63, REQ-MUR-66, REQ-MUR-67: in each phase the
/// session says which objects are doomed, and the object whether it is destroyed.
#[tokio::test]
async fn handlers_can_look() {
    let script = "new root\nnew b\nroot root\nsubscribe root b look\ndrop all\ncollect";
    let expected = "
        warning: root hears of b, doomed true, destroyed false, itself doomed false
        notifying: root hears of b, doomed true, destroyed false, itself doomed false
        destroy b
        destroyed: root hears of b, doomed true, destroyed true, itself doomed false";
    expect(script, expected).await;
}

/// REQ-MUR-91: a reference that is made while being warned saves the object; it is alive and was not touched.
#[tokio::test]
async fn warned_subscribers_can_rescue() {
    let script = "
        new root
        new b
        new c
        root root
        b.in = c
        subscribe root b rescue
        drop all
        collect
        show
        root.inout = null
        unsubscribe root b
        collect";
    let expected = "
        warning: root hears of b
        rescued b
        rescued c
        there: root b c
        destroy b
        destroy c";
    expect(script, expected).await;
}

/// REQ-MUR-92: cancelled while warning, nothing is touched; the next collection begins anew.
#[tokio::test]
async fn warned_subscribers_can_cancel() {
    let script = "
        new root
        new a
        new b
        root root
        subscribe root b stop
        drop all
        collect
        show";
    let expected = "
        warning: root hears of b
        cancelled by root for b while warning: not now
        there: root a b";
    expect(script, expected).await;
}

/// REQ-MUR-93: cancelled while notifying, what is destroyed stays so, and the rest is untouched.
#[tokio::test]
async fn notified_subscribers_can_cancel() {
    let script = "
        new root
        new owner
        new b in owner
        new a in b
        root root
        subscribe root b veto
        drop all
        collect
        show";
    let expected = "
        warning: root hears of b
        destroy a
        notifying: root hears of b
        cancelled by root for b while notifying: not now
        there: root owner b";
    expect(script, expected).await;
}

/// REQ-MUR-93: it is too late to cancel once the object is destroyed.
#[tokio::test]
async fn nobody_cancels_what_is_done() {
    let script = "new root\nnew b\nroot root\nsubscribe root b late\ndrop all\ncollect";
    let expected = "
        warning: root hears of b
        notifying: root hears of b
        destroy b
        destroyed: root hears of b
        a collection can be cancelled while it warns and notifies, not in the phase destroyed";
    expect(script, expected).await;
}

/// REQ-MUR-94, REQ-MUR-55, REQ-MUR-96: however often it subscribed, it hears once; fewer removals change nothing.
#[tokio::test]
async fn subscriptions_are_counted_and_heard_once() {
    let script = "
        new root
        new b
        root root
        subscribe root b hear
        subscribe root b hear
        subscribe root b
        unsubscribe root b
        unsubscribe root b
        drop all
        collect";
    let expected = "
        warning: root hears of b
        notifying: root hears of b
        destroy b
        destroyed: root hears of b";
    expect(script, expected).await;
}

/// REQ-MUR-95, REQ-MUR-97, REQ-MUR-60, REQ-MUR-61: as many removals, or more, and nothing is heard, nor ordered.
#[tokio::test]
async fn removed_subscriptions_are_not_heard() {
    let script = "
        new root
        new a
        new b
        root root
        subscribe root b hear
        subscribe root b hear
        subscribe a b hear
        unsubscribe root b
        unsubscribe root b
        unsubscribe root b
        unsubscribe a b
        drop all
        collect";
    expect(script, "destroy a\ndestroy b").await;
}

/// REQ-MUR-98: an object can subscribe to itself; it hears until it is destroyed.
#[tokio::test]
async fn objects_can_subscribe_to_themselves() {
    let script = "new b\nsubscribe b b hear\ndrop all\ncollect";
    expect(script, "warning: b hears of b\nnotifying: b hears of b\ndestroy b").await;
}

/// REQ-MUR-14, REQ-MUR-17: doomed subscribers hear, too, as long as they are not destroyed.
#[tokio::test]
async fn doomed_subscribers_hear() {
    let script = "new a\nnew b\nsubscribe a b look\ndrop all\ncollect";
    let expected = "
        warning: a hears of b, doomed true, destroyed false, itself doomed true
        notifying: a hears of b, doomed true, destroyed false, itself doomed true
        destroy b
        destroyed: a hears of b, doomed true, destroyed true, itself doomed true
        destroy a";
    expect(script, expected).await;
}

/// REQ-MUR-95: a subscriber that unsubscribes while being warned is not notified.
#[tokio::test]
async fn whoever_leaves_hears_no_more() {
    let script = "new root\nnew b\nroot root\nsubscribe root b leave\ndrop all\ncollect";
    expect(script, "warning: root hears of b\ndestroy b").await;
}

/// REQ-MUR-45: what becomes garbage while subscribers are warned is warned of as well, in the same session.
#[tokio::test]
async fn new_garbage_is_warned_of() {
    let script = "
        new root
        new b
        new c
        root root
        root.inout = c
        subscribe root b join
        subscribe root c hear
        drop all
        collect";
    let expected = "
        warning: root hears of b
        warning: root hears of c
        notifying: root hears of b
        destroy b
        destroyed: root hears of b
        notifying: root hears of c
        destroy c
        destroyed: root hears of c";
    let mut stage = Stage::new();
    let told = stage.play(script).await;
    assert_eq!(told.lines().collect::<Vec<_>>(), expected.trim().lines().map(str::trim).collect::<Vec<_>>());
    assert_eq!(stage.report.rounds, 1);
}

/// EXT-29: a subscription keeps neither the target nor the subscriber alive.
#[tokio::test]
async fn subscriptions_keep_nobody() {
    expect("new a\nnew b\nsubscribe a b\ndrop a\ncollect\nshow", "destroy a\nthere: b").await;
    expect("new a\nnew b\nsubscribe a b\ndrop b\ncollect\nshow", "destroy b\nthere: a").await;
}

/// EXT-28, REQ-MUR-54, REQ-MUR-51: unknown handlers are refused on both ways, and so are destroyed targets.
#[tokio::test]
async fn bad_subscriptions_are_refused() {
    let mut stage = Stage::new();
    stage.play("new a\nnew b\nnew c\nroot a\nsubscribe a c keep").await;
    let (a, b) = (stage.get("a"), stage.get("b"));
    let unknown = SubscribeError::UnknownHandler { class: "Node".into(), handler: "nothing".into() };
    assert_eq!(stage.gc.subscribe(&a, &b, Some("nothing")).unwrap_err(), unknown);
    assert_eq!(stage.gc.unsubscribe(&a, &b, Some("nothing")).unwrap_err(), unknown);
    assert!(stage.gc.subscribe(&a, &b, Some("destroy")).is_err());
    assert_eq!(stage.gc.subscriptions(&a).len(), 1);
    stage.play("drop c\ncollect").await;
    let c = stage.get("c");
    assert!(c.is_destroyed() && stage.gc.is_destroyed(&c));
    assert!(matches!(stage.gc.subscribe(&a, &c, None), Err(SubscribeError::Destroyed { .. })));
    assert!(matches!(stage.gc.subscribe(&c, &a, None), Err(SubscribeError::CallerDestroyed(_))));
    assert_eq!(stage.gc.subscriptions(&a), []);
}

/// REQ-MUR-64: the target knows its subscribers; when either is removed, both ends of the subscription are.
#[tokio::test]
async fn both_ends_of_a_subscription_go_together() {
    let mut stage = Stage::new();
    stage.play("new a\nnew b\nnew c\nsubscribe a b hear\nsubscribe b c\ndrop b\ncollect").await;
    assert_eq!(stage.gc.subscriptions(&stage.get("a")), []);
    stage.play("drop c\ncollect\nshow").await;
    assert_eq!(stage.world.len(), 1);
}
