//! What was found, as it is shown: a line for each, by verdict.

use serde_json::json;
use sexton_collector::rules::Found;
use sexton_lifecycle::rules::Verdict;
use sexton_model::hook::ObjectRef;
use sexton_model::rule::duration;
use std::collections::BTreeMap;

use super::{Args, Form, Looked, command};
use crate::failure::Failure;
use crate::naming::Names;
use crate::output::ndjson::Event;
use crate::output::style::{count, harmless, padded, width};
use crate::output::{Output, Paint};
use crate::settings::Settings;

/// So many of a verdict are shown, unless all are asked for.
const SHOWN: usize = 50;
/// Labels are lined up to this width.
const MOST: usize = 48;

/// What an object is called here.
pub(super) fn label(names: &Names, found: &Found) -> String {
    names.label(&ObjectRef {
        group: found.kind.resource.group.clone(),
        kind: found.kind.kind.clone(),
        namespace: found.namespace.clone(),
        name: found.name.clone(),
        uid: found.uid.clone(),
    })
}

pub(super) fn scan(
    args: &Args,
    looked: &Looked,
    settings: &Settings,
    output: &Output,
) -> Result<(), Failure> {
    match args.output {
        Form::Json => json(looked, output),
        Form::Text => text(args, looked, settings, output),
    }
}

fn json(looked: &Looked, output: &Output) -> Result<(), Failure> {
    let scan = &looked.scan;
    for found in &scan.found {
        let label = label(&looked.names, found);
        output.event(&Event::Verdict {
            verdict: found.verdict,
            label: &label,
            namespace: &found.namespace,
            uid: &found.uid,
            evidence: &found.evidence,
        })?;
    }
    for message in &scan.troubles {
        output.event(&Event::Trouble { message })?;
    }
    let counts = Verdict::ALL.map(|verdict| (verdict.field(), *scan.counts.get(&verdict).unwrap_or(&0)));
    let counts: BTreeMap<&str, usize> = counts.into();
    output.summarize(json!({"target": looked.world.target, "looked": scan.scope, "counts": counts}));
    Ok(())
}

fn text(args: &Args, looked: &Looked, settings: &Settings, output: &Output) -> Result<(), Failure> {
    let scan = &looked.scan;
    let most = if args.full { usize::MAX } else { SHOWN };
    let rows: Vec<(Verdict, String, &str)> = Verdict::ALL
        .into_iter()
        .flat_map(|verdict| scan.found.iter().filter(move |found| found.verdict == verdict).take(most))
        .map(|found| (found.verdict, label(&looked.names, found), found.evidence.as_str()))
        .collect();
    let columns = rows.iter().map(|(_, label, _)| width(label)).max().unwrap_or(0).min(MOST);
    let words = rows.iter().map(|(verdict, _, _)| verdict.word().len()).max().unwrap_or(0);
    let style = output.data_style();
    for (at, (verdict, label, evidence)) in rows.iter().enumerate() {
        let word = style.paint(&padded(verdict.word(), words), paint(*verdict));
        output.line(&format!("{word}  {}  {}", padded(label, columns), harmless(evidence)))?;
        let last = rows.get(at + 1).is_none_or(|next| next.0 != *verdict);
        let left = scan.found.iter().filter(|found| found.verdict == *verdict).count().saturating_sub(most);
        if last && left > 0 {
            output.line(&format!("{}  and {} more: --full", padded("", words), count(left)))?;
        }
    }
    for trouble in &scan.troubles {
        let told = style.paint("not looked at", Paint::Change);
        output.line(&format!("{told}: {}", harmless(trouble)))?;
    }
    output.line(&summary(looked))?;
    hint(args, looked, settings, output);
    Ok(())
}

fn paint(verdict: Verdict) -> Paint {
    match verdict {
        Verdict::Orphan => Paint::Bad,
        Verdict::Unknown => Paint::Change,
        Verdict::Owned => Paint::Good,
        Verdict::TooYoung | Verdict::Protected | Verdict::Ownerless => Paint::Faint,
    }
}

/// How many of each, in one line.
fn summary(looked: &Looked) -> String {
    let scan = &looked.scan;
    let of = |verdict: Verdict| scan.counts.get(&verdict).copied().unwrap_or(0);
    let mut parts = vec![match of(Verdict::Orphan) {
        0 => "no orphans".to_owned(),
        1 => "1 orphan".to_owned(),
        many => format!("{} orphans", count(many)),
    }];
    for (verdict, word) in [
        (Verdict::Unknown, "unknown"),
        (Verdict::TooYoung, "too young"),
        (Verdict::Protected, "protected"),
        (Verdict::Owned, "owned"),
        (Verdict::Ownerless, "without owners"),
    ] {
        if of(verdict) > 0 {
            parts.push(format!("{} {word}", count(of(verdict))));
        }
    }
    let target = &looked.world.target;
    format!("{} of {} objects on {target}", parts.join(", "), count(scan.scope))
}

/// What to type next.
fn hint(args: &Args, looked: &Looked, settings: &Settings, output: &Output) {
    let scan = &looked.scan;
    let orphans = scan.condemned().count();
    if args.collect {
        return;
    }
    if orphans > 0 {
        output.suggest(&[("collect them", command(args, settings))]);
    } else if let Some(young) = scan.found.iter().find(|found| found.verdict == Verdict::TooYoung) {
        let label = label(&looked.names, young);
        let age = duration::format(args.min_age);
        output.talk(&format!("  {label} counts when it is {age} old; sooner with --min-age 0s"));
    }
}
