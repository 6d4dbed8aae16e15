//! From a judgement to a plan.

use super::order::Order;
use super::relations::Doomed;
use super::{Group, Plan, Step, Wave};
use crate::detect::Judgement;
use crate::snapshot::{LifeId, Snapshot};

/// Orders the deaths that a judgement demands. Costs as much as those who die have edges; nobody else is looked at.
pub fn make(snapshot: &Snapshot, judgement: &Judgement) -> Plan {
    let doomed = Doomed::new(snapshot, judgement);
    let order = Order::of(&doomed);
    let plan = Plan {
        waves: waves(&order, &doomed),
        strips: judgement.strips.clone(),
        dropped: order.dropped(&doomed),
        out_of_order: order.out_of_order(&doomed),
        barriers: order.barriers(&doomed),
        holds: judgement.holds.clone(),
        ..Plan::default()
    };
    plan.indexed().written(snapshot)
}

fn waves(order: &Order<'_>, doomed: &Doomed<'_>) -> Vec<Wave> {
    let mut groups: Vec<Group> = vec![Group::default(); order.families.groups.count];
    let lives = doomed.lives.iter().zip(&order.families.groups.of);
    for ((life, group), before) in lives.zip(order.before_each(doomed)) {
        let after = before.into_iter().map(|node| doomed.lives[node as usize]).collect();
        let members = &mut groups[*group as usize].members;
        // Most are alone in theirs.
        members.reserve_exact(1);
        members.extend(step(doomed, *life, after));
    }
    // Groups are numbered by their first members, and those by their keys.
    let mut waves: Vec<Wave> = Vec::new();
    for (group, wave) in groups.into_iter().zip(&order.waves) {
        let wave = *wave as usize;
        if waves.len() <= wave {
            waves.resize_with(wave + 1, Wave::default);
        }
        waves[wave].groups.push(group);
    }
    waves
}

fn step(doomed: &Doomed<'_>, life: LifeId, after: Vec<LifeId>) -> Option<Step> {
    Some(Step {
        life,
        key: doomed.snapshot.key(life),
        kind: doomed.snapshot.kind(life).to_owned(),
        uid: doomed.snapshot.uid(life),
        finding: doomed.judgement.doomed.get(&life)?.clone(),
        after,
    })
}
