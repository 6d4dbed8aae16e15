//! Circles: of destruction dependencies, of owners, and of both.

use sexton_model::Policy::{Background, Cascade, Foreground};

use super::world::expect;

/// REQ-MUR-89, REQ-MUR-17, REQ-MUR-18: everything in a circle of dependencies is destroyed, as one group.
#[test]
fn a_circle_of_dependencies_is_one_group() {
    let all = ["Vm/x", "Vm/y", "Vm/z"].map(|word| (word, Cascade));
    expect("Vm/x ; watches Vm/y\n Vm/y ; watches Vm/z\n Vm/z ; watches Vm/x", &all, "(Vm/x Vm/y Vm/z)");
    expect("Vm/x ; watches Vm/y\n Vm/y ; watches Vm/x\n Vm/z ; watches Vm/y", &all, "(Vm/x Vm/y)\n Vm/z");
    expect("App/p ; watches Vm/c\n Vm/c <- App/p ; watches App/p", &[("App/p", Cascade)], "(App/p Vm/c)");
}

/// An object that subscribes to itself is no cycle.
#[test]
fn oneself_is_no_circle() {
    expect("Vm/x ; watches Vm/x", &[("Vm/x", Cascade)], "Vm/x");
}

/// EXT-11: a circle of owners does not block: it is destroyed as one group, after what it owns.
#[test]
fn a_circle_of_owners_is_one_group() {
    for policy in [Cascade, Foreground] {
        expect(
            "App/x <- App/y\n App/y <- App/x\n Vm/c <- App/y",
            &[("App/x", policy)],
            "Vm/c\n (App/x App/y)",
        );
    }
    expect("App/x <- App/y\n App/y <- App/x", &[("App/x", Cascade), ("App/y", Background)], "(App/x App/y)");
}

/// EXT-24: where dependencies and ownership form a circle, ownership gives way: that of the object that has to go last.
#[test]
fn a_mixed_circle_drops_the_ownership_of_the_one_that_waits() {
    expect(
        "App/p\n Net/c <- App/p\n Vm/g <- Net/c ; watches App/p",
        &[("App/p", Cascade)],
        "Net/c\n App/p\n Vm/g\n not Vm/g before Net/c: Owner",
    );
}

/// EXT-24: a circle of owners is torn where dependencies forbid it to die together.
#[test]
fn a_circle_of_owners_can_be_torn() {
    expect(
        "App/x <- App/y\n App/y <- App/x ; watches App/x",
        &[("App/x", Cascade)],
        "App/x\n App/y\n not App/y before App/x: Owner",
    );
    expect(
        "App/x <- App/y\n App/y <- App/x\n Vm/g <- App/y ; watches App/x",
        &[("App/x", Cascade)],
        "(App/x App/y)\n Vm/g\n not Vm/g before App/y: Owner",
    );
}
