//! Large plans: width and depth cost in proportion.

use sexton_model::Policy::Cascade;

use super::world::{judgement, proved, snapshot};
use crate::plan::Progress;

fn world(lines: &[String], deleted: &str) -> usize {
    let snapshot = snapshot(lines.iter().map(String::as_str));
    let plan = proved(&snapshot, &judgement(&snapshot, &[(deleted, Cascade)]));
    let mut progress = Progress::new(&plan);
    plan.steps().for_each(|step| _ = progress.gone(step.life));
    assert!(progress.is_done());
    plan.len()
}

#[test]
fn many_lives_are_planned_in_proportion() {
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
