//! Fields of a module's objects that others changed: shown whole, taken over on demand.
#![allow(clippy::unwrap_used, reason = "a test may end so")]

mod common;

use common::Play;
use common::modules::{map, shop, state};

fn by_others(play: &Play, name: &str, value: &str) {
    let put = play.run_with("put -f - --take-over", &map(name, &format!("data: {{a: {value}}}\n")));
    assert_eq!(put.code, 0, "{put:?}");
}

/// Drift is shown whole, field by field with both values and the other manager, before anything is written.
#[test]
fn drift_is_shown_and_taken_over_on_demand() {
    let play = shop(3);
    play.run("apply -f shop");
    by_others(&play, "m-1", "theirs");
    by_others(&play, "m-3", "theirs, too");
    let before = state(&play);
    let shown = "\
! ConfigMap/m-1  1 field managed by others
    data.a  theirs  \"theirs\"  (sexton)
            ours    \"one\"
! ConfigMap/m-3  1 field managed by others
";
    let plan = play.run("plan -f shop");
    assert_eq!(plan.code, 3, "{plan:?}");
    assert!(plan.out.contains(shown), "{}", plan.out);
    assert!(plan.out.contains("  take them over   sexton apply -f shop --take-over\n"), "{}", plan.out);
    let told = "2 fields of 2 objects are managed by others with other values";
    play.run("apply -f shop").fails(3, &[shown, told, "sexton apply -f shop --take-over"]);
    assert!(state(&play) == before, "something was written");

    let plan = play.run("plan -f shop --take-over");
    assert_eq!(plan.code, 0, "{plan:?}");
    assert!(plan.out.contains("~ ConfigMap/m-1  takes over 1 field\n    data.a  theirs"), "{}", plan.out);
    let done = play.run("apply -f shop --take-over");
    assert!(done.code == 0 && done.out.starts_with("✔ put 2 · 1 unchanged"), "{done:?}");
    assert!(play.run("get cm m-3 -o yaml").out.contains("a: one"));
    assert_eq!(play.run("plan -f shop").code, 0, "it is ours again");
}

/// REQ-MUR-55: what is subscribed by a command stands beside what a document says, and is no drift of the document.
#[test]
fn a_subscription_is_no_drift() {
    let play = shop(3);
    let says = "  annotations: {sexton.dev/destruction-dependencies: ConfigMap/m-2}\n";
    play.file("shop/m-3.yaml", &map("m-3", says));
    play.run("apply -f shop");
    play.run("subscribe cm/m-3 cm/m-1").says("+ ConfigMap/m-3 hears of the end of ConfigMap/m-1\n");
    play.run("subscribe cm/m-3 cm/m-2").says("+ ConfigMap/m-3 hears of the end of ConfigMap/m-2, 2 times\n");
    let plan = play.run("plan -f shop");
    assert!(plan.code == 0 && plan.out.contains("0 to change"), "{plan:?}");
    let order = play.run("plan delete cm/m-1 cm/m-2 cm/m-3").out;
    assert!(order.contains("- 2nd  ConfigMap/m-3"), "{order}");
    play.run("unsubscribe cm/m-3 cm/m-2")
        .says("~ ConfigMap/m-3 hears of the end of ConfigMap/m-2, 1 subscription is left\n");
    play.run("unsubscribe cm/m-3 cm/m-2").fails(
        3,
        &[
            "because its document in the module shop says so",
            "Take ConfigMap/m-2 out of its annotation sexton.dev/destruction-dependencies",
        ],
    );
    assert_eq!(play.run("plan -f shop").code, 0);
}
