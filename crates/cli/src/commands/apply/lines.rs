//! A deployment for programs: one JSON document per line, a version in the first, nothing folded.

use std::time::Duration;

use serde::Serialize;
use serde_json::Value;
use sexton_collector::modules::{Deployed, Event, ModulePlan, PutAction, Sweep};
use sexton_model::Uid;

use super::act::Swept;
use crate::output::ndjson::line;
use crate::output::tree::Death;

/// Grows when a program that reads the form has to be changed.
const VERSION: u32 = 1;

#[derive(Serialize)]
#[serde(tag = "kind", rename_all_fields = "camelCase")]
enum Line<'a> {
    #[serde(rename = "DeploymentPlan")]
    Plan {
        version: u32,
        target: &'a str,
        manager: &'a str,
        scope: &'a std::collections::BTreeMap<String, String>,
        deployment_id: &'a str,
        preview: bool,
        digest: &'a str,
        puts: usize,
        destroy: usize,
        in_scope: usize,
        sweep: &'a str,
        #[serde(skip_serializing_if = "Option::is_none")]
        held: Option<String>,
    },
    Death {
        label: &'a str,
        uid: &'a str,
        order: usize,
        reason: &'a str,
        marks: &'a [String],
    },
    Kept {
        label: String,
        uid: &'a str,
        why: &'a str,
    },
    Put {
        object: &'a str,
        origin: &'a str,
        order: i64,
        action: &'a str,
        changes: Vec<Change<'a>>,
    },
    Done {
        object: &'a str,
        action: &'a str,
        done: usize,
        of: usize,
    },
    Failed {
        object: &'a str,
        origin: &'a str,
        why: &'a str,
    },
    Sealed {
        deployment_id: &'a str,
    },
    Renumbered {
        count: usize,
    },
    NotSwept {
        why: &'a str,
    },
    Gone {
        label: &'a str,
        uid: &'a str,
    },
    Result {
        created: usize,
        changed: usize,
        unchanged: usize,
        swept: usize,
        left: usize,
        interrupted: bool,
        /// From the command to its end.
        seconds: f64,
        /// From the seal to the end, if somebody was swept.
        #[serde(skip_serializing_if = "Option::is_none")]
        sweep_seconds: Option<f64>,
    },
}

#[derive(Serialize)]
struct Change<'a> {
    path: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    old: Option<&'a Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    new: Option<&'a Value>,
}

fn word(action: PutAction) -> &'static str {
    match action {
        PutAction::Create => "create",
        PutAction::Change => "change",
        PutAction::Adopt => "adopt",
        PutAction::Unchanged => "unchanged",
    }
}

/// The plan.
pub(super) fn plan(plan: &ModulePlan, target: &str, preview: bool, deaths: &[Death]) -> String {
    let sweep = match &plan.sweep {
        Sweep::Accuse => "sweep",
        Sweep::Renumber => "renumber",
        Sweep::None { .. } => "none",
    };
    let mut text = line(&Line::Plan {
        version: VERSION,
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
        text.push_str(&line(&Line::Death { label, uid, order: *order, reason, marks }));
    }
    for kept in &plan.kept {
        let label = format!("{}/{}/{}", kept.member.kind, kept.member.namespace, kept.member.name);
        text.push_str(&line(&Line::Kept { label, uid: &kept.member.uid, why: &kept.why }));
    }
    for put in &plan.puts {
        let changes = put.changes.iter();
        let changes = changes.map(|change| Change {
            path: &change.path,
            old: change.old.as_ref(),
            new: change.new.as_ref(),
        });
        text.push_str(&line(&Line::Put {
            object: &put.object,
            origin: &put.origin,
            order: put.order,
            action: word(put.action),
            changes: changes.collect(),
        }));
    }
    text
}

/// Something that happened.
pub(super) fn event(event: &Event) -> Option<String> {
    Some(line(&match event {
        Event::Put { object, action, done, of, .. } => {
            Line::Done { object, action: word(*action), done: *done, of: *of }
        }
        Event::Failed(failed) => {
            Line::Failed { object: &failed.object, origin: &failed.origin, why: &failed.why }
        }
        Event::Sealed { deployment } => Line::Sealed { deployment_id: deployment },
        Event::Renumbered { count } => Line::Renumbered { count: *count },
        Event::NotSwept { why } => Line::NotSwept { why },
        Event::Locked { .. } | Event::Intended { .. } | Event::Accused { .. } => return None,
    }))
}

/// Who is gone.
pub(super) fn gone(label: &str, uid: &Uid) -> String {
    line(&Line::Gone { label, uid: &uid.0 })
}

/// In thousandths: more would only look exact.
fn seconds(took: Duration) -> f64 {
    (took.as_secs_f64() * 1000.0).round() / 1000.0
}

/// How it ended.
pub(super) fn result(deployed: &Deployed, swept: &Swept, took: Duration, sweep: Option<Duration>) -> String {
    line(&Line::Result {
        created: deployed.created,
        changed: deployed.changed,
        unchanged: deployed.unchanged,
        swept: swept.gone,
        left: swept.left,
        interrupted: swept.interrupted,
        seconds: seconds(took),
        sweep_seconds: sweep.map(seconds),
    })
}
