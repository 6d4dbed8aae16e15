//! How long a plan takes: detection, order, and verification, for worlds of N objects.
//!
//! Usage: `cargo run --release -p sexton-lifecycle --example plan_figures [N]` (100,000)

#![allow(clippy::print_stdout, clippy::unwrap_used)]

use std::time::Instant;

use sexton_lifecycle::detect::{self, Roots};
use sexton_lifecycle::{DetectionSettings, HypotheticalDeletion, Observation, OwnerRef, Snapshot, plan};
use sexton_model::{GroupResource, Key, Policy, Revision, Uid};

/// As in the program itself.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn uid(number: usize) -> Uid {
    Uid(format!("{number:08x}-0000-4000-8000-000000000000"))
}

/// An object; with an owner, and with a place in a module.
fn node(number: usize, owner: Option<usize>, order: Option<i64>) -> Observation {
    let name = |number: usize| format!("m-{number:07}");
    let key =
        Key { kind: GroupResource::new("", "configmaps"), namespace: "default".into(), name: name(number) };
    let mut seen = Observation::new(key, "ConfigMap", "v1", uid(number), Revision::new(number as u64 + 1));
    seen.owners = owner
        .map(|owner| OwnerRef {
            group: String::new(),
            kind: "ConfigMap".into(),
            name: name(owner),
            uid: uid(owner),
            version: "v1".into(),
            is_controller: false,
            is_blocking: false,
        })
        .into_iter()
        .collect();
    seen.order = order;
    seen.manager = order.map(|_| "big".to_owned());
    seen
}

fn main() {
    let count: usize = std::env::args().nth(1).and_then(|word| word.parse().ok()).unwrap_or(100_000);
    type Shape = (&'static str, fn(usize) -> (Option<usize>, Option<i64>));
    let shapes: [Shape; 3] = [
        ("a module, in its order", |number| (None, Some(number as i64))),
        ("a tree, ten below each", |number| (number.checked_sub(1).map(|below| below / 10), None)),
        ("a chain", |number| (number.checked_sub(1), None)),
    ];
    for (what, shape) in shapes {
        let mut snapshot = Snapshot::default();
        for number in 0..count {
            let (owner, order) = shape(number);
            snapshot.put(node(number, owner, order));
        }
        snapshot.set_synced(true);
        let asked: Vec<HypotheticalDeletion> = (0..count)
            .filter(|number| shape(*number).0.is_none())
            .map(|number| HypotheticalDeletion {
                node: snapshot.get(&uid(number)).unwrap(),
                policy: Policy::Background,
            })
            .collect();
        let begun = Instant::now();
        let detection =
            detect::follow_deletions(&snapshot, Roots::None, &asked, &DetectionSettings::default());
        let judged = begun.elapsed();
        let plan = plan::make(&snapshot, &detection);
        let made = begun.elapsed();
        plan::verify(&snapshot, &detection, &plan).unwrap();
        let all = begun.elapsed();
        assert_eq!(plan.len(), count);
        println!(
            "{count} lives, {what}: {:.3} s (judged {:.3}, ordered {:.3}, proved {:.3})",
            all.as_secs_f64(),
            judged.as_secs_f64(),
            (made - judged).as_secs_f64(),
            (all - made).as_secs_f64(),
        );
    }
}
