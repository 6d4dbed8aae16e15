//! What `/metrics` of a real server says: the rules of the text form, and that the documents name all of it.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::hooked;
use crate::process::Server;
use crate::raw::ask;

const DOCUMENT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/operations.md");

/// The text form without asking for another one.
fn scrape(server: &Server) -> String {
    ask(&server.address, "GET", "/metrics", &Value::Null).as_str().unwrap().to_owned()
}

/// One sample: its name, its labels as they are written, its value.
fn samples(text: &str) -> Vec<(String, String, f64)> {
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    let sample = |line: &str| {
        let (id, value) = line.rsplit_once(' ').unwrap();
        let (name, labels) = id.split_once('{').unwrap_or((id, ""));
        (name.to_owned(), labels.trim_end_matches('}').to_owned(), value.parse().unwrap())
    };
    lines.map(sample).collect()
}

/// The families, each with its type and help.
fn families(text: &str) -> BTreeMap<String, (String, String)> {
    let mut families: BTreeMap<String, (String, String)> = BTreeMap::new();
    for line in text.lines().filter(|line| line.starts_with('#')) {
        let words: Vec<&str> = line.splitn(4, ' ').collect();
        let [_, what, name, rest] = words[..] else { panic!("{line}") };
        let family = families.entry(name.to_owned()).or_default();
        let field = match what {
            "HELP" => &mut family.1,
            "TYPE" => &mut family.0,
            _ => panic!("{line} is not of the plain text form"),
        };
        assert!(field.is_empty(), "{line} is said twice");
        rest.clone_into(field);
    }
    families
}

/// The rules of `promtool check metrics`, and those of the text form itself.
fn check(text: &str) {
    let families = families(text);
    for (name, (kind, help)) in &families {
        assert!(!help.is_empty() && !kind.is_empty(), "{name} has no help or no type");
        assert!(name.starts_with("sexton_"), "{name}");
        assert!(name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_'), "{name}");
        assert_eq!(kind == "counter", name.ends_with("_total"), "{name} is a {kind}");
        let reserved = ["_count", "_sum", "_bucket"];
        assert!(!reserved.iter().any(|suffix| name.ends_with(suffix)), "{name}");
        for unit in ["millis", "micros", "nanos", "minutes", "hours", "days", "kib", "mib", "percent"] {
            assert!(!name.split('_').any(|word| word.starts_with(unit)), "{name} is not in a base unit");
        }
    }
    let mut seen = BTreeSet::new();
    let mut buckets: BTreeMap<(String, String), Vec<(f64, f64)>> = BTreeMap::new();
    for (name, labels, value) in samples(text) {
        assert!(seen.insert((name.clone(), labels.clone())), "{name}{{{labels}}} is said twice");
        let histogram = ["_bucket", "_count", "_sum"]
            .iter()
            .filter_map(|suffix| name.strip_suffix(suffix))
            .find(|name| families.get(*name).is_some_and(|family| family.0 == "histogram"));
        assert!(histogram.is_some() || families.contains_key(&name), "{name} belongs to no family");
        if let (Some(family), true) = (histogram, name.ends_with("_bucket")) {
            let (bound, rest) = labels.strip_prefix("le=\"").unwrap().split_once('"').unwrap();
            let bound = bound.parse().unwrap_or(f64::INFINITY);
            let rest = rest.trim_start_matches(',').to_owned();
            buckets.entry((family.to_owned(), rest)).or_default().push((bound, value));
        }
    }
    let counts = samples(text);
    for ((family, labels), buckets) in buckets {
        assert!(buckets.is_sorted() && buckets.is_sorted_by_key(|bucket| bucket.1), "{family}: {buckets:?}");
        let count = counts.iter().find(|(name, own, _)| *name == format!("{family}_count") && *own == labels);
        assert_eq!(buckets.last().map(|last| last.1), count.map(|count| count.2), "{family}{{{labels}}}");
    }
}

/// Asks Prometheus' own checker, where there is one.
fn promtool(text: &str) {
    let mut command = Command::new("promtool");
    let checking = command.args(["check", "metrics"]).stdin(Stdio::piped()).stderr(Stdio::piped()).spawn();
    let Ok(mut checking) = checking else { return };
    checking.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
    let said = checking.wait_with_output().unwrap();
    assert!(said.status.success() && said.stderr.is_empty(), "{}", String::from_utf8_lossy(&said.stderr));
}

const HOOKS: &str = "sexton_hook_duration_seconds";

/// How long hooks took, by their verdict: one that did its work, and one that fails again and again.
#[test]
fn calls_of_hooks_are_timed() {
    let dir = tempfile::tempdir().unwrap();
    let server = Server::start(&dir.path().join("data"), &hooked::ALLOWED);
    let script = "grep -q '\"bad\"' && exit 1\nsleep 0.1\necho '{\"verdict\":\"done\"}'\n";
    hooked::define_class(&server.address, dir.path(), script, json!({}));
    for name in ["good", "bad"] {
        ask(&server.address, "POST", hooked::CONFIG_MAPS, &json!({"metadata": {"name": name}}));
        let path = format!("{}/{name}", hooked::CONFIG_MAPS);
        ask(&server.address, "DELETE", &path, &json!({"propagationPolicy": "Background"}));
    }
    let of = |text: &str, what: &str, verdict: &str| -> f64 {
        let (name, labels) = (format!("{HOOKS}_{what}"), format!("how=\"exec\",verdict=\"{verdict}\""));
        samples(text).into_iter().filter(|one| one.0 == name && one.1 == labels).map(|one| one.2).sum()
    };
    let begin = Instant::now();
    let text = loop {
        let text = scrape(&server);
        if of(&text, "count", "done") == 1.0 && of(&text, "count", "failed") >= 1.0 {
            break text;
        }
        assert!(begin.elapsed() < Duration::from_secs(120), "{text}");
        std::thread::sleep(Duration::from_millis(50));
    };
    check(&text);
    promtool(&text);
    let took = of(&text, "sum", "done");
    assert!((0.1..120.0).contains(&took), "in seconds: {took}");
    assert_eq!(families(&text)[HOOKS].0, "histogram");
}

#[test]
fn metrics_keep_the_rules_and_are_documented() {
    let dir = tempfile::tempdir().unwrap();
    let server = Server::start(dir.path(), &[]);
    let maps = "/api/v1/namespaces/default/configmaps";
    let held = json!({"metadata": {"name": "held", "finalizers": ["example.com/x"]}});
    ask(&server.address, "POST", maps, &held);
    ask(&server.address, "DELETE", &format!("{maps}/held"), &Value::Null);
    let blocked = |text: &str| {
        let blockers = samples(text).into_iter().filter(|(name, ..)| name == "sexton_collector_blockers");
        blockers.map(|(_, labels, count)| (labels, count)).collect::<BTreeMap<_, _>>()
    };
    let begin = Instant::now();
    let text = loop {
        let text = scrape(&server);
        if blocked(&text).get("reason=\"finalizer\"") == Some(&1.0) {
            break text;
        }
        assert!(begin.elapsed() < Duration::from_secs(120), "{text}");
        std::thread::sleep(Duration::from_millis(50));
    };
    assert_eq!(blocked(&text).values().sum::<f64>(), 1.0, "{text}");
    check(&text);
    promtool(&text);
    let document = std::fs::read_to_string(DOCUMENT).unwrap();
    let names: BTreeSet<String> = families(&text).into_keys().collect();
    for name in &names {
        assert!(document.contains(&format!("`{name}`")), "docs/operations.md does not tell of {name}");
    }
    let rows = document.split("## Metrics").nth(1).unwrap().split("\n## ").next().unwrap().lines();
    for row in rows.filter(|row| row.starts_with("| `")) {
        for name in row.split(" | ").next().unwrap().split('`').filter(|word| word.starts_with("sexton_")) {
            // No hook was called yet: the next test has some.
            let there = names.contains(name) || name == HOOKS;
            assert!(there, "docs/operations.md tells of {name}, which is not there");
        }
    }
}
