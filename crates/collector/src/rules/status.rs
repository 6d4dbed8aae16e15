//! The status of a rule: the result of its last search, for people. No decision is based on it.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};
use sexton_lifecycle::rules::Verdict;
use sexton_model::rule::{Rule, Targets};
use sexton_model::text::cut;
use sexton_model::time;

use super::accuse::Accused;
use super::found::{Ask, Scan};

/// The most objects that are named.
const NAMED: usize = 50;
/// The most bytes of a text.
const TEXT: usize = 512;

/// The result of a search and of what followed from it.
#[derive(Debug, Default)]
pub(super) struct Told {
    pub(super) scan: Scan,
    pub(super) accused: Option<Accused>,
    /// The collection of the accused objects.
    pub(super) collection: Option<String>,
    /// Why nothing was accused, if the deletion limit was exceeded, with the command that does it nevertheless.
    pub(super) held: Option<String>,
    pub(super) error: Option<String>,
    /// Owners that wait for leftovers to be gone, with a text for each.
    pub(super) waiting: BTreeMap<(String, String), String>,
}

/// The status.
pub(super) fn status(told: &Told, generation: i64, now: i64, next: i64) -> Value {
    let scan = &told.scan;
    let count =
        |verdict: Verdict| (verdict.field().to_owned(), json!(scan.counts.get(&verdict).unwrap_or(&0)));
    let counts: Map<String, Value> = Verdict::ALL.into_iter().map(count).collect();
    let found: Vec<Value> = scan
        .found
        .iter()
        .take(NAMED)
        .map(|found| {
            let mut one = json!({
                "object": found.label(), "uid": found.uid, "verdict": found.verdict,
                "evidence": cut(&found.evidence, TEXT),
            });
            if !found.namespace.is_empty() {
                one["namespace"] = json!(found.namespace);
            }
            if found.dying {
                one["dying"] = json!(true);
            }
            one
        })
        .collect();
    let mut status = json!({
        "observedGeneration": generation, "lastScan": time::format(now), "nextScan": time::format(next),
        "scope": scan.scope, "counts": counts, "found": found,
    });
    let mut errors: Vec<String> = scan.troubles.clone();
    errors.extend(told.error.clone());
    if let Some(accused) = &told.accused {
        status["accused"] = json!(accused.accused.len() + accused.before);
        let refused = accused.refused.iter().map(|(label, why)| format!("{label} was not accused: {why}"));
        errors.extend(refused.take(NAMED));
        if let Some(weaker) = &accused.weaker {
            status["weaker"] = json!(weaker);
        }
    }
    if let Some(collection) = &told.collection {
        status["collection"] = json!(collection);
    }
    if let Some(held) = &told.held {
        status["held"] = json!(cut(held, 4 * TEXT));
    }
    if !errors.is_empty() {
        status["error"] = json!(cut(&errors.join("; "), 4 * TEXT));
    }
    if !told.waiting.is_empty() {
        status["waiting"] =
            json!(told.waiting.values().take(NAMED).map(|one| cut(one, TEXT)).collect::<Vec<_>>());
    }
    status
}

/// The command that deletes the objects although they exceed the limit.
pub(super) fn command(rule: &Rule, scan: &Scan) -> String {
    let mut text = String::from("sexton orphans --collect");
    if let Targets::These(kinds) = &rule.kinds {
        let names: Vec<String> = kinds.iter().map(|kind| kind.to_string().to_lowercase()).collect();
        text.push_str(&format!(" --kinds {}", names.join(",")));
    }
    let labels = Ask::of(rule).labels();
    if !labels.is_empty() {
        text.push_str(&format!(" -l '{labels}'"));
    }
    format!("{text} --max-delete {}", scan.condemned().count())
}
