//! A plan for programs: lines of a stream, nothing folded.

use super::{Beside, DeathPlan};
use crate::output::ndjson::{Event, Next, line};
use crate::suggest;

/// The whole plan. The first line has the numbers, the others are in the order of destruction.
pub(crate) fn ndjson(plan: &DeathPlan) -> String {
    let mut order: Vec<usize> = (0..plan.entries.len()).collect();
    order.sort_by_key(|at| plan.entries[*at].order);
    let deaths = order.into_iter().map(|at| death(plan, at));
    let kept = plan.kept.iter().map(|Beside { label, why }| Event::Kept { label, uid: "", why });
    let loses = plan.loses.iter().map(|Beside { label, why: what }| Event::Loses { label, what });
    let held = plan.holds.iter().map(|Beside { label, why }| Event::Held { label, why });
    let unknown = plan.unknown.iter().map(|Beside { label, why }| Event::Unknown { label, why });
    let dropped = plan.dropped.iter().map(|what| Event::Dropped { what });
    let next = plan
        .hints
        .iter()
        .map(|(what, command)| Event::Next(Next { what, command: suggest::complete(command) }));
    let lines = deaths.chain(kept).chain(loses).chain(held).chain(unknown).chain(dropped).chain(next);
    std::iter::once(line(&head(plan))).chain(lines.map(|document| line(&document))).collect()
}

fn head(plan: &DeathPlan) -> Event<'_> {
    Event::Plan {
        target: &plan.target,
        title: &plan.title,
        preview: plan.preview,
        digest: &plan.digest,
        destroy: plan.entries.len(),
        waves: plan.waves(),
        kept: plan.kept.len(),
        loses: plan.loses.len(),
        held: plan.holds.len(),
        unknown: plan.unknown.len(),
        dropped: plan.dropped.len(),
    }
}

fn death(plan: &DeathPlan, at: usize) -> Event<'_> {
    let death = &plan.entries[at];
    let because = death.parent.and_then(|parent| plan.entries.get(parent));
    Event::Death {
        label: &death.label,
        uid: &death.uid,
        order: death.order,
        reason: &death.reason,
        because: because.map(|cause| cause.label.as_str()),
        group: death.group,
        marks: &death.marks,
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::prod;
    use super::*;

    #[test]
    fn every_line_is_a_document() {
        let text = ndjson(&prod());
        for line in text.lines() {
            assert!(serde_json::from_str::<serde_json::Value>(line).unwrap().is_object());
        }
        insta::assert_snapshot!(text, @r#"
        {"kind":"Plan","target":".sexton (embedded)","title":"delete Cluster/prod, policy cascade","preview":true,"digest":"7c1f09aa31d2","destroy":6,"waves":3,"kept":1,"loses":1,"held":1,"unknown":1,"dropped":1}
        {"kind":"Death","label":"ConfigMap/env","order":1,"reason":"owned by Cluster/prod","because":"Cluster/prod","marks":[]}
        {"kind":"Death","label":"Volume/data","order":1,"reason":"owned by App/shop","because":"App/shop","marks":["destroy ./hooks/volume-rm","warns Vm/web-1"]}
        {"kind":"Death","label":"Volume/logs","order":1,"reason":"owned by App/shop","because":"App/shop","marks":["destroy ./hooks/volume-rm"]}
        {"kind":"Death","label":"App/shop","order":2,"reason":"owned by Cluster/prod","because":"Cluster/prod","marks":["warns Network/lan"]}
        {"kind":"Death","label":"Cluster/prod","uid":"3f2a","order":3,"reason":"asked for","marks":[]}
        {"kind":"Death","label":"Event/shop.17","order":3,"reason":"owned by App/shop, which is gone then","because":"App/shop","marks":[]}
        {"kind":"Kept","label":"Secret/tls","why":"owned by App/blog, too"}
        {"kind":"Loses","label":"Secret/tls","what":"reference to App/shop"}
        {"kind":"Held","label":"Volume/logs","why":"finalizer example.com/backup"}
        {"kind":"Unknown","label":"Backup/nightly","why":"its owner Vault/v is of a kind that nobody serves"}
        {"kind":"Dropped","what":"Volume/data before Vm/web-1, which would go round in a circle"}
        {"kind":"Next","what":"do it","command":"sexton delete Cluster/prod --policy cascade --approve 7c1f"}
        {"kind":"Next","what":"look at it","command":"sexton graph Cluster/prod -o svg > prod.svg"}
        "#);
    }
}
