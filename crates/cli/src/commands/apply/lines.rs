//! A deployment for programs: lines of a stream, nothing folded.

use std::time::Duration;

use serde_json::{Value, json};
use sexton_collector::modules::{Deployed, Event as Happened, ModulePlan, PutAction, Sweep};

use super::act::Swept;
use crate::naming::Names;
use crate::output::ndjson::{Change, Conflict, Event, line, seconds};
use crate::output::tree::Death;

fn word(action: PutAction) -> &'static str {
    match action {
        PutAction::Create => "create",
        PutAction::Change => "change",
        PutAction::Adopt => "adopt",
        PutAction::Unchanged => "unchanged",
    }
}

/// The plan.
pub(super) fn plan(
    plan: &ModulePlan,
    (target, names): (&str, &Names),
    preview: bool,
    deaths: &[Death],
) -> String {
    let sweep = match &plan.sweep {
        Sweep::Accuse => "sweep",
        Sweep::Renumber => "renumber",
        Sweep::None { .. } => "none",
    };
    let mut text = line(&Event::DeploymentPlan {
        target,
        manager: &plan.spec.manager,
        scope: &plan.spec.scope,
        deployment_id: &plan.deployment_id,
        preview,
        digest: &plan.digest,
        puts: plan.puts.len(),
        destroy: deaths.len(),
        in_scope: plan.in_scope,
        sweep,
        held: plan.held.as_ref().map(ToString::to_string),
    });
    for death in deaths {
        let Death { label, uid, order, reason, marks, .. } = death;
        let (order, because, group) = (*order, None, None);
        text.push_str(&line(&Event::Death { label, uid, order, reason, because, group, marks }));
    }
    for kept in &plan.kept {
        let label = names.member(&kept.member);
        text.push_str(&line(&Event::Kept { label: &label, uid: &kept.member.uid, why: &kept.why }));
    }
    for put in &plan.puts {
        let changes = put.changes.iter();
        let changes = changes.map(|change| Change {
            path: &change.path,
            old: change.old.as_ref(),
            new: change.new.as_ref(),
        });
        let conflicts = put.conflicts.iter().map(|one| Conflict {
            path: &one.path,
            manager: &one.manager,
            ours: one.ours.as_ref(),
            theirs: one.theirs.as_ref(),
            taken_over: plan.force,
        });
        text.push_str(&line(&Event::Put {
            object: &put.object,
            origin: &put.origin,
            order: put.order,
            action: word(put.action),
            changes: changes.collect(),
            conflicts: conflicts.collect(),
        }));
    }
    text
}

/// Something that happened.
pub(super) fn event(event: &Happened) -> Option<String> {
    Some(line(&match event {
        Happened::Put { object, action, done, of, .. } => {
            Event::Done { object, action: word(*action), done: *done, of: *of }
        }
        Happened::Failed(failed) => {
            Event::Failed { object: &failed.object, origin: &failed.origin, why: &failed.why }
        }
        Happened::Sealed { deployment } => Event::Sealed { deployment_id: deployment },
        Happened::Renumbered { count } => Event::Renumbered { count: *count },
        Happened::NotSwept { why } => Event::NotSwept { why },
        Happened::Locked { .. } | Happened::Intended { .. } | Happened::Accused { .. } => return None,
    }))
}

/// How it ended.
pub(super) fn summary(deployed: &Deployed, swept: &Swept, sweep: Option<Duration>) -> Value {
    let mut summary = json!({
        "created": deployed.created,
        "changed": deployed.changed,
        "unchanged": deployed.unchanged,
        "swept": swept.gone,
        "left": swept.left,
        "interrupted": swept.interrupted,
    });
    if let Some(sweep) = sweep {
        // From the seal to the end.
        summary["sweepSeconds"] = json!(seconds(sweep));
    }
    summary
}
