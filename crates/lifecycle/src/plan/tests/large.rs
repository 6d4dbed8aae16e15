//! Large plans: width and depth cost in proportion.

use sexton_model::Policy::Cascade;

use super::world::{detection, snapshot, verified};
use crate::plan::PlanProgress;

fn world(lines: &[String], deleted: &str) -> usize {
    let snapshot = snapshot(lines.iter().map(String::as_str));
    let plan = verified(&snapshot, &detection(&snapshot, &[(deleted, Cascade)]));
    let mut progress = PlanProgress::new(&plan);
    plan.steps().for_each(|step| _ = progress.set_gone(step.node));
    assert!(progress.is_done());
    plan.len()
}

#[test]
fn many_objects_are_planned_in_proportion() {
    const MANY: usize = 5_000;
    let wide: Vec<String> = (0..MANY)
        .map(|number| format!("Vm/{number} <- App/p ; watches App/p ; order {} of m", number % 7))
        .chain(["App/p".to_owned()])
        .collect();
    assert_eq!(world(&wide, "App/p"), MANY + 1);
    let deep: Vec<String> = (1..MANY)
        .map(|number| format!("Vm/{number} <- Vm/{} ; watches Vm/{}", number - 1, number / 2))
        .chain(["Vm/0".to_owned()])
        .collect();
    assert_eq!(world(&deep, "Vm/0"), MANY);
}
