//! The order of steps.

use sexton_model::Policy::{Background, Cascade, Foreground};
use sexton_model::Uid;

use super::super::{digest_matches, make};
use super::world::{detection, expect, node, snapshot, text, verified};
use crate::detect::{DetectionSettings, HypotheticalDeletion, Roots, follow_deletions};

/// REQ-MUR-86, EXT-24: a child that depends on its parent's destruction outlives it, and the plan says what that cost.
#[test]
fn a_child_can_outlive_its_parent() {
    expect(
        "App/p\n Vm/c <- App/p ; watches App/p",
        &[("App/p", Cascade)],
        "App/p\n Vm/c\n not Vm/c before App/p: Owner",
    );
}

/// REQ-MUR-87, REQ-MUR-22: a child goes before its parent, whether the parent depends on it or only owns it.
#[test]
fn a_child_goes_before_its_parent() {
    expect("App/p ; watches Vm/c\n Vm/c <- App/p", &[("App/p", Cascade)], "Vm/c\n App/p");
    expect("App/p\n Vm/c <- App/p", &[("App/p", Cascade)], "Vm/c\n App/p");
}

/// REQ-MUR-88, REQ-MUR-13, REQ-MUR-15, REQ-MUR-16, REQ-MUR-21: between objects that do not own each other the target
/// goes first.
#[test]
fn a_target_goes_before_its_subscriber() {
    expect(
        "App/p\n Vm/x <- App/p ; watches Vm/y\n Vm/y <- App/p",
        &[("App/p", Cascade)],
        "Vm/y\n Vm/x\n App/p",
    );
    expect("Vm/x ; watches Disk/y\n Disk/y", &[("Vm/x", Cascade), ("Disk/y", Cascade)], "Disk/y\n Vm/x");
}

/// REQ-MUR-12: the network is destroyed after all machines, although neither owns the other.
#[test]
fn the_network_outlives_the_machines() {
    expect(
        "App/shop
         Net/n <- App/shop ; watches Vm/a ; watches Vm/b ; watches Vm/c
         Vm/a <- App/shop
         Vm/b <- App/shop
         Vm/c <- App/shop",
        &[("App/shop", Cascade)],
        "Vm/a Vm/b Vm/c\n Net/n\n App/shop",
    );
}

/// REQ-MUR-24, REQ-MUR-25: both relations count over any number of steps.
#[test]
fn relations_are_transitive() {
    let all = ["Vm/x", "Vm/y", "Vm/z"].map(|word| (word, Cascade));
    expect("Vm/x ; watches Vm/y\n Vm/y ; watches Vm/z\n Vm/z", &all, "Vm/z\n Vm/y\n Vm/x");
    expect("Vm/x\n Vm/y <- Vm/x\n Vm/z <- Vm/y", &[("Vm/x", Cascade)], "Vm/z\n Vm/y\n Vm/x");
}

/// REQ-MUR-26, REQ-MUR-23: objects without any relation are in one wave.
#[test]
fn equals_go_together_in_one_wave() {
    expect(
        "Vm/x\n Vm/y\n Disk/z",
        &[("Vm/x", Cascade), ("Vm/y", Cascade), ("Disk/z", Cascade)],
        "Disk/z Vm/x Vm/y",
    );
}

/// A diamond is no circle: each goes once, the owners after it.
#[test]
fn diamonds_are_ordinary() {
    expect(
        "App/top\n Net/l <- App/top\n Net/r <- App/top\n Vm/low <- Net/l, Net/r",
        &[("App/top", Foreground)],
        "Vm/low\n Net/l Net/r\n App/top",
    );
}

/// A dependent in a background deletion goes after its owners: that they are gone is the evidence.
#[test]
fn a_background_deletion_begins_with_its_root() {
    expect("App/p\n Vm/c <- App/p\n Disk/d <- Vm/c", &[("App/p", Background)], "App/p\n Vm/c\n Disk/d");
    expect(
        "App/p ; watches Vm/c\n Vm/c <- App/p",
        &[("App/p", Background)],
        "Vm/c\n App/p\n not App/p before Vm/c: Background",
    );
}

/// Contents go before their namespace, objects before their definition and before the class that gives them code.
#[test]
fn holders_go_last() {
    let all = [("Namespace/a", Background)];
    expect("Namespace/a\n App/p\n Vm/c <- App/p", &all, "Vm/c\n App/p\n Namespace/a");
    let definition = "CustomResourceDefinition/vms.example.com";
    expect(
        &format!("{definition}\n Vm/c\n Disk/d <- Vm/c"),
        &[(definition, Cascade)],
        &format!("Vm/c\n {definition} Disk/d"),
    );
    expect("Class/vm\n Vm/c", &[("Class/vm", Cascade), ("Vm/c", Cascade)], "Vm/c\n Class/vm");
    expect(
        "Class/vm ; watches Vm/c\n Vm/c ; watches Class/vm",
        &[("Class/vm", Cascade), ("Vm/c", Cascade)],
        "(Vm/c Class/vm)",
    );
}

/// Higher places in a module go first, unless ownership or a destruction dependency demands something else.
#[test]
fn a_module_goes_in_its_order() {
    let all = ["Vm/x", "Vm/y", "Vm/z", "Disk/d"].map(|word| (word, Cascade));
    expect(
        "Vm/x ; order 1 of m\n Vm/y ; order 3 of m\n Vm/z ; order 3 of m\n Disk/d ; order 7 of other",
        &all,
        "Disk/d Vm/y Vm/z\n Vm/x",
    );
    expect(
        "Vm/x ; order 1 of m\n Vm/y <- Vm/z ; order 2 of m\n Vm/z ; order 3 of m\n Disk/d ; order 4 of m",
        &all,
        "Disk/d\n Vm/y\n Vm/z\n Vm/x\n out of order: Vm/y",
    );
    expect(
        "Vm/x ; order 9 of m ; watches Disk/d\n Vm/y ; order 3 of m\n Vm/z ; watches Vm/x\n Disk/d ; watches Vm/y",
        &all,
        "Vm/y\n Disk/d\n Vm/x\n Vm/z\n out of order: Vm/x",
    );
}

#[test]
fn a_plan_answers_questions() {
    let snapshot = snapshot(["App/p", "Vm/c <- App/p", "Vm/alone"]);
    let plan = verified(&snapshot, &detection(&snapshot, &[("App/p", Cascade)]));
    let uid = |word: &str| Uid(word.into());
    assert_eq!((plan.len(), plan.wave_of(&uid("App/p"))), (2, Some(1)));
    assert!(plan.is_doomed(&uid("Vm/c")) && !plan.is_doomed(&uid("Vm/alone")));
    assert_eq!(plan.step_of(&uid("App/p")).unwrap().after, [plan.step_of(&uid("Vm/c")).unwrap().node]);
    assert_eq!(plan.group_of(&uid("App/p")).unwrap().members.len(), 1);
    assert_eq!(
        plan.text(),
        "wave 1\n  vms.example.com/a/c Vm/c Cascade\nwave 2\n  apps.example.com/a/p App/p Cascade\n"
    );
    assert_eq!(plan.digest.len(), 16);
    assert!(digest_matches(&plan.digest[..8].to_uppercase(), &plan.digest));
    assert!(!digest_matches("", &plan.digest) && !digest_matches("zzzzzz", &plan.digest));
    assert_eq!(plan.to_json()["waves"][0][0][0]["name"], "c");
    let less = verified(&snapshot, &detection(&snapshot, &[("Vm/c", Cascade)]));
    assert!(less.contains_only(&plan) && !plan.contains_only(&less));
    assert!(make(&snapshot, &detection(&snapshot, &[])).is_empty());
}

/// An object was deleted by name, and only then its owner, or it was protected later: it is destroyed, and blocks
/// nothing.
#[test]
fn a_deletion_that_has_begun_is_its_own_evidence() {
    for word in ["", " ; protected"] {
        let line = format!("Net/n <- App/shop, App/keeper ; marked{word}");
        let snapshot = snapshot(["App/shop", "App/keeper", &line]);
        let detection = detection(&snapshot, &[("App/shop", Foreground)]);
        let plan = verified(&snapshot, &detection);
        assert_eq!(plan.steps().count(), 2);
    }
}

/// A foreground deletion waits for dependents that do not block until they are terminating; blocking ones hold their
/// owner until they are gone. Without a policy all of them do.
#[test]
fn a_nonblocking_dependent_blocks_no_owner() {
    let world = "
        App/o
        Vm/blocks <- App/o ; marked
        Vm/free <- App/o? ; marked
        Vm/later <- App/o?";
    expect(world, &[("App/o", Foreground)], "Vm/blocks Vm/free Vm/later\nApp/o");
    expect("App/o\nVm/free <- App/o? ; marked", &[("App/o", Foreground)], "App/o Vm/free");
    expect("App/o\nVm/free <- App/o? ; marked", &[("App/o", Cascade)], "Vm/free\nApp/o");
}

/// Where Kubernetes removes owners, they go together with dependents that do not block: which of them is gone first is not
/// known. What these own goes before them.
#[test]
fn kubernetes_waits_only_for_blocking_dependents() {
    let plan_of = |lines: [&str; 4]| {
        let snapshot = snapshot(lines);
        let deleted = [HypotheticalDeletion { node: node(&snapshot, "App/o"), policy: Foreground }];
        let settings = DetectionSettings { kubernetes: true, ..DetectionSettings::default() };
        let detection = follow_deletions(&snapshot, Roots::None, &deleted, &settings);
        text(&snapshot, &verified(&snapshot, &detection))
    };
    assert_eq!(
        plan_of(["App/o", "Vm/free <- App/o?", "Vm/below <- Vm/free", "Vm/held <- App/o? ; marked"]),
        "App/o Vm/below Vm/held\nVm/free\n"
    );
    assert_eq!(
        plan_of(["App/o", "Vm/free <- App/o?", "Vm/blocks <- App/o", "Vm/both <- App/o?, App/o"]),
        "Vm/blocks Vm/both Vm/free\nApp/o\n"
    );
}
