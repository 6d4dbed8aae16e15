//! Rules: standing orders to look for garbage of a kind, and what to do when some is found.
//!
//! It must not know how is looked, nor when.

pub mod duration;
mod kinds;
mod leftover;
mod selector;

pub use kinds::KindName;
pub use leftover::{Leftover, NAME};

use std::time::Duration;

use serde_json::{Map, Value};

use crate::class::read::{Errors, object, text, within};
use crate::invalid::FieldError;
use crate::names;
use kinds::kind_name;

/// `apiVersion` of rules.
pub const API_VERSION: &str = crate::class::API_VERSION;
/// How often is looked, if nothing else is said.
pub const DEFAULT_INTERVAL: Duration = Duration::from_secs(600);
/// How old garbage is at least, if nothing else is said: an object that was just made may name an owner that is still
/// being made.
pub const DEFAULT_MIN_AGE: Duration = Duration::from_secs(60);
/// Looking more often would be nothing but looking.
pub const MIN_INTERVAL: Duration = Duration::from_secs(1);
/// A longer interval would let users forget that there is a rule.
pub const MAX_INTERVAL: Duration = Duration::from_secs(86_400);
/// The longest minimum age.
const MAX_AGE: Duration = Duration::from_secs(365 * 86_400);
/// More kinds, or namespaces, are refused.
pub const MAX_LISTED: usize = 100;

/// Which kinds are looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Targets {
    /// All that can be listed.
    All,
    /// These.
    These(Vec<KindName>),
}

/// What becomes of what is found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// It is told of.
    Report,
    /// It becomes a candidate, and the collector does the rest.
    Collect,
}

/// What is looked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Detector {
    /// Objects that name owners of which none exists.
    Orphaned,
    /// What a former owner of a name left behind.
    Leftover(Leftover),
}

/// A standing order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rule {
    /// What is looked for.
    pub detector: Detector,
    /// Among which kinds.
    pub kinds: Targets,
    /// Which objects of these kinds: a selector of labels, as text; empty for all.
    pub selector: String,
    /// In which namespaces; empty for all.
    pub namespaces: Vec<String>,
    /// How often.
    pub interval: Duration,
    /// How old an object has to be to be garbage.
    pub min_age: Duration,
    /// What becomes of what is found.
    pub mode: Mode,
    /// How much may be taken at once, as `20` or `30%`.
    pub max_delete: Option<String>,
}

impl Rule {
    /// Reads a whole document of kind `Rule`.
    ///
    /// # Errors
    /// All that is wrong with it, each with its place.
    pub fn parse(document: &Value) -> Result<Rule, Vec<FieldError>> {
        let mut errors = Errors::new();
        let rule = rule(document, &mut errors);
        match (rule, errors.is_empty()) {
            (Some(rule), true) => Ok(rule),
            (None, true) => Err(vec![FieldError::required("spec", "a rule says what it looks for")]),
            (_, false) => Err(errors),
        }
    }
}

const FIELDS: [&str; 12] = [
    "detector",
    "kinds",
    "selector",
    "namespaces",
    "interval",
    "minAge",
    "mode",
    "maxDelete",
    "owner",
    "labels",
    "on",
    "hold",
];

fn rule(document: &Value, errors: &mut Errors) -> Option<Rule> {
    let known = ["apiVersion", "kind", "metadata", "spec", "status"];
    let document = object(document, "", &known, errors)?;
    for (field, right) in [("apiVersion", API_VERSION), ("kind", "Rule")] {
        if let Some(said) = document.get(field).filter(|said| *said != right) {
            errors.push(FieldError::not_supported(field, said.clone(), &[right]));
        }
    }
    let Some(spec) = document.get("spec") else {
        errors.push(FieldError::required("spec", "a rule says what it looks for, as spec.detector"));
        return None;
    };
    let spec = object(spec, "spec", &FIELDS, errors)?;
    let detector = detector(spec, errors);
    let all_allowed = !matches!(detector, Some(Detector::Leftover(_)));
    let kinds = targets(spec, all_allowed, errors);
    let selector = spec.get("selector").map_or(Some(String::new()), |value| selector::read(value, errors));
    let namespaces = namespaces(spec, errors);
    let interval = span(spec, "interval", DEFAULT_INTERVAL, (MIN_INTERVAL, MAX_INTERVAL), errors);
    let min_age = span(spec, "minAge", DEFAULT_MIN_AGE, (Duration::ZERO, MAX_AGE), errors);
    let mode = mode(spec, errors);
    let max_delete = max_delete(spec, errors);
    Some(Rule {
        detector: detector?,
        kinds: kinds?,
        selector: selector?,
        namespaces: namespaces?,
        interval: interval?,
        min_age: min_age?,
        mode: mode?,
        max_delete: max_delete?,
    })
}

fn detector(spec: &Map<String, Value>, errors: &mut Errors) -> Option<Detector> {
    match text(spec, "spec", "detector", errors)? {
        "orphaned" => {
            for field in
                ["owner", "labels", "on", "hold"].into_iter().filter(|field| spec.contains_key(*field))
            {
                let detail = "only a rule with detector 'leftover' has it";
                errors.push(FieldError::forbidden(within("spec", field), detail));
            }
            Some(Detector::Orphaned)
        }
        "leftover" => leftover::read(spec, errors).map(Detector::Leftover),
        other => {
            errors.push(FieldError::not_supported("spec.detector", other, &["orphaned", "leftover"]));
            None
        }
    }
}

fn targets(spec: &Map<String, Value>, all_allowed: bool, errors: &mut Errors) -> Option<Targets> {
    let example = "the kinds to look at, e.g. [{group: apps, kind: StatefulSet}, {kind: Service}]";
    let Some(value) = spec.get("kinds") else {
        errors.push(FieldError::required("spec.kinds", example));
        return None;
    };
    let Some(list) = value.as_array().filter(|list| !list.is_empty()) else {
        errors.push(FieldError::invalid("spec.kinds", value.clone(), format!("must be {example}")));
        return None;
    };
    if list.len() > MAX_LISTED {
        errors.push(FieldError::too_many("spec.kinds", list.len(), MAX_LISTED));
        return None;
    }
    if list.iter().any(|kind| kind == "*") {
        if list.len() == 1 && all_allowed {
            return Some(Targets::All);
        }
        let detail = "'*' stands alone, and only where detector is 'orphaned'";
        errors.push(FieldError::invalid("spec.kinds", value.clone(), detail));
        return None;
    }
    let mut kinds = Vec::with_capacity(list.len());
    for (at, value) in list.iter().enumerate() {
        let place = format!("spec.kinds[{at}]");
        let kind = kind_name(value, &place, errors)?;
        if kinds.contains(&kind) {
            errors.push(FieldError::duplicate(place, value.clone()));
        }
        kinds.push(kind);
    }
    Some(Targets::These(kinds))
}

fn namespaces(spec: &Map<String, Value>, errors: &mut Errors) -> Option<Vec<String>> {
    let Some(value) = spec.get("namespaces") else { return Some(Vec::new()) };
    let detail = "must be a list of names of namespaces; without it all are meant";
    let list = value.as_array().filter(|list| !list.is_empty() && list.len() <= MAX_LISTED);
    let named = |name: &Value| name.as_str().filter(|name| names::dns_label(name).is_ok()).map(str::to_owned);
    match list.and_then(|list| list.iter().map(named).collect::<Option<Vec<_>>>()) {
        Some(mut names) => {
            names.sort_unstable();
            names.dedup();
            Some(names)
        }
        None => {
            errors.push(FieldError::invalid("spec.namespaces", value.clone(), detail));
            None
        }
    }
}

fn span(
    spec: &Map<String, Value>,
    name: &str,
    usual: Duration,
    (least, most): (Duration, Duration),
    errors: &mut Errors,
) -> Option<Duration> {
    let Some(value) = spec.get(name) else { return Some(usual) };
    let read = value.as_str().and_then(duration::parse);
    match read.filter(|span| (least..=most).contains(span)) {
        Some(span) => Some(span),
        None => {
            let (least, most) = (duration::format(least), duration::format(most));
            let detail =
                format!("must be a duration from {least} to {most}, such as \"90s\", \"10m\" or \"1h30m\"");
            errors.push(FieldError::invalid(within("spec", name), value.clone(), detail));
            None
        }
    }
}

fn mode(spec: &Map<String, Value>, errors: &mut Errors) -> Option<Mode> {
    match spec.get("mode").map(Value::as_str) {
        None | Some(Some("report")) => Some(Mode::Report),
        Some(Some("collect")) => Some(Mode::Collect),
        Some(other) => {
            errors.push(FieldError::not_supported("spec.mode", other, &["report", "collect"]));
            None
        }
    }
}

/// The outer `None` stands for a mistake.
#[expect(clippy::option_option, reason = "missing is not the same as wrong")]
fn max_delete(spec: &Map<String, Value>, errors: &mut Errors) -> Option<Option<String>> {
    let Some(value) = spec.get("maxDelete") else { return Some(None) };
    let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let plain = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let right = match text.strip_suffix('%') {
        Some(percent) => plain(percent) && percent.parse::<u8>().is_ok_and(|percent| percent <= 100),
        None => plain(&text) && text.parse::<usize>().is_ok(),
    };
    if right {
        return Some(Some(text));
    }
    let detail = "must be a number of objects or a percentage, such as \"20\" or \"30%\"";
    errors.push(FieldError::invalid("spec.maxDelete", value.clone(), detail));
    None
}

#[cfg(test)]
mod tests;
