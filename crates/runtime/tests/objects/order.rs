//! In which order objects die: destruction dependencies before ownership, ownership before nothing.

use crate::kit::{Stage, expect};

/// REQ-MUR-5, REQ-MUR-69, REQ-MUR-71, REQ-MUR-22, REQ-MUR-25: without dependencies the owned go before their owners.
#[tokio::test]
async fn owned_before_owners() {
    let script = "
        new top
        new middle in top
        new low in middle
        new other
        top.in = other
        drop all
        collect";
    expect(script, "destroy low\ndestroy other\ndestroy middle\ndestroy top").await;
}

/// REQ-MUR-86, EXT-24, REQ-MUR-16, REQ-MUR-21: a child that depends on its parent outlives it, and the report says what
/// gave way.
#[tokio::test]
async fn parents_before_dependent_children() {
    let script = "new parent\nnew child in parent\nsubscribe child parent\ndrop all\ncollect";
    expect(script, "destroy parent\ndestroy child\ndropped child before parent").await;
}

/// REQ-MUR-87: a child goes before a parent that depends on it.
#[tokio::test]
async fn children_before_dependent_parents() {
    let script = "new parent\nnew child in parent\nsubscribe parent child\ndrop all\ncollect";
    expect(script, "destroy child\ndestroy parent").await;
}

/// REQ-MUR-88, REQ-MUR-15, REQ-MUR-13, REQ-MUR-16: the target of a dependency goes first, whichever was created first.
#[tokio::test]
async fn targets_before_dependents() {
    let script = "
        new foo
        new bar
        new baz
        foo.in = bar
        bar.in = foo
        subscribe foo bar
        subscribe bar baz
        drop all
        collect";
    expect(script, "destroy baz\ndestroy bar\ndestroy foo").await;
}

/// REQ-MUR-89, REQ-MUR-17, REQ-MUR-18: all of a circle are notified of, then all are destroyed.
#[tokio::test]
async fn circles_go_as_one() {
    let script = "
        new a
        new b
        new c
        subscribe a b hear
        subscribe b c hear
        subscribe c a hear
        drop all
        collect
        show";
    let expected = "
        warning: c hears of a
        warning: a hears of b
        warning: b hears of c
        notifying: c hears of a
        notifying: a hears of b
        notifying: b hears of c
        destroy a
        destroy b
        destroy c
        there:";
    let mut stage = Stage::new();
    let told = stage.play(script).await;
    let told: Vec<&str> = told.lines().map(str::trim).collect();
    assert_eq!(told, expected.trim().lines().map(str::trim).collect::<Vec<_>>());
}

/// REQ-MUR-22, REQ-MUR-25: in a circle of dependencies no member comes before another, so ownership decides: dependents
/// before their owners, also through objects that live on. Each step is still taken together.
#[tokio::test]
async fn in_a_circle_the_owned_go_before_their_owners() {
    let script = "
        new top
        new middle in top
        new low in middle
        subscribe top low hear
        subscribe low middle
        subscribe middle top
        drop all
        collect";
    let expected =
        "warning: top hears of low\nnotifying: top hears of low\ndestroy low\ndestroy middle\ndestroy top";
    expect(script, expected).await;
    let script = "
        new owner
        new alive in owner
        new owned in alive
        root alive
        subscribe owner owned
        subscribe owned owner
        drop all
        collect";
    expect(script, "destroy owned\ndestroy owner").await;
}

/// REQ-MUR-22: if a dependent cannot be destroyed its owner is not touched either; objects that do not own it go.
#[tokio::test]
async fn in_a_circle_an_owner_waits_for_the_owned() {
    let script = "
        new owner
        new owned in owner
        new other
        subscribe owner owned
        subscribe owned other
        subscribe other owner
        owned.broken = true
        drop all
        collect
        show";
    let expected = "
        destroy owned
        destroy other
        failed owned while destroying owned: destroy is broken
        waiting owner for owned
        there: owner owned";
    expect(script, expected).await;
}

/// REQ-MUR-24: dependencies count transitively, also through an object that lives on.
#[tokio::test]
async fn dependencies_lead_through_the_living() {
    let script = "
        new last
        new alive
        new first
        root alive
        subscribe last alive
        subscribe alive first
        drop all
        collect";
    expect(script, "destroy first\ndestroy last").await;
}

/// REQ-MUR-25: ownership counts transitively, also through an object that lives on.
#[tokio::test]
async fn ownership_leads_through_the_living() {
    let script = "
        new top
        new alive in top
        new low in alive
        root alive
        drop all
        collect";
    expect(script, "destroy low\ndestroy top").await;
}

/// REQ-MUR-12, REQ-MUR-10, REQ-MUR-76: the network of an application goes after all its machines.
#[tokio::test]
async fn network_after_machines() {
    let script = "
        new app
        new network in app
        new vm-1 in app
        new vm-2 in app
        app.in = network vm-1 vm-2
        subscribe network vm-1
        subscribe network vm-2
        drop all
        collect";
    expect(script, "destroy vm-1\ndestroy vm-2\ndestroy network\ndestroy app").await;
}

/// REQ-MUR-15: one that depends on very many goes after all of them, and each of many after one.
#[tokio::test]
async fn many_dependencies_hold() {
    let mut stage = Stage::new();
    stage.play("new network\nnew first").await;
    for number in 0..300 {
        stage
            .play(&format!(
                "new vm-{number} : Silent\nsubscribe network vm-{number}\nsubscribe vm-{number} first"
            ))
            .await;
    }
    stage.play("drop all\ncollect").await;
    let waves: Vec<usize> = stage.report.destroyed.iter().map(|one| one.wave).collect();
    assert_eq!((waves.len(), waves[0], waves[1], waves[300], waves[301]), (302, 0, 1, 1, 2));
}

/// REQ-MUR-21, REQ-MUR-22: where dependencies are mutual, ownership does not decide either: they go as one.
#[tokio::test]
async fn mutual_dependencies_are_one_group() {
    let script = "
        new parent
        new child in parent
        subscribe parent child
        subscribe child parent
        drop all
        collect
        show";
    let mut stage = Stage::new();
    stage.play(script).await;
    assert_eq!(stage.report.destroyed.len(), 2);
    assert!(stage.report.destroyed.iter().all(|one| one.wave == 0));
}

/// REQ-MUR-8, REQ-MUR-23, REQ-MUR-26, EXT-24: equals go in creation order, each time.
#[tokio::test]
async fn equals_go_in_the_order_of_their_births() {
    for _ in 0..3 {
        expect("new z\nnew y\nnew x\ndrop all\ncollect", "destroy z\ndestroy y\ndestroy x").await;
    }
}

/// REQ-MUR-1: `destroy` runs for every class of an object, from the actual one up.
#[tokio::test]
async fn every_class_destroys() {
    expect("new a : Derived\ndrop all\ncollect", "destroy a\ndestroy a as Node").await;
}
