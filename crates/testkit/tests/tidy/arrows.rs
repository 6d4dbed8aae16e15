//! Who may depend on whom. A crate is there because it buys a ban; this keeps the ban.

use std::path::Path;

use serde_json::Value;

use crate::complain;
use crate::tree::{SOURCES, packages, relative, text};

/// Each crate and those of ours that it may depend on. `sexton-testkit` is never shipped: a dev-dependency at most.
const ALLOWED: &[(&str, &[&str])] = &[
    ("sexton-model", &[]),
    ("sexton-store", &["sexton-model"]),
    ("sexton-server", &["sexton-model", "sexton-store"]),
    ("sexton-client", &["sexton-model"]),
    ("sexton-lifecycle", &["sexton-model"]),
    ("sexton-collector", &["sexton-model", "sexton-client", "sexton-lifecycle"]),
    ("sexton-runtime", &["sexton-model", "sexton-client", "sexton-lifecycle", "sexton-collector"]),
    (
        "sexton-cli",
        &[
            "sexton-model",
            "sexton-store",
            "sexton-server",
            "sexton-client",
            "sexton-lifecycle",
            "sexton-collector",
            "sexton-runtime",
        ],
    ),
    (
        "sexton-testkit",
        &[
            "sexton-model",
            "sexton-store",
            "sexton-server",
            "sexton-client",
            "sexton-lifecycle",
            "sexton-collector",
            "sexton-runtime",
        ],
    ),
    // Measures any server alike, so it may know nothing of ours.
    ("sexton-bench", &[]),
];
const TESTKIT: &str = "sexton-testkit";

/// What a crate without IO and without async cannot need.
const IO_CRATES: &[&str] = &[
    "async-trait",
    "axum",
    "futures",
    "http",
    "hyper",
    "hyper-util",
    "kube",
    "mio",
    "reqwest",
    "rusqlite",
    "rustls",
    "tempfile",
    "tokio",
    "tokio-rustls",
    "tower",
    "tracing-subscriber",
];
/// The same in the standard library, the clock included.
const IO_PATHS: &[&str] = &[
    "std::fs",
    "std::net",
    "std::env",
    "std::process",
    "std::thread",
    "SystemTime::now",
    "Instant::now",
    "Timestamp::now",
    "Zoned::now",
];

/// Crates that may not come in, not even through others.
const BANNED: &[(&str, &str)] =
    &[("im", "unmaintained; use imbl"), ("openssl", "use rustls"), ("openssl-sys", "use rustls")];

fn dependencies(package: &Value) -> impl Iterator<Item = (&str, bool)> {
    let list = package["dependencies"].as_array().unwrap();
    list.iter().map(|dependency| (dependency["name"].as_str().unwrap(), dependency["kind"] == "dev"))
}

#[test]
fn crates_depend_only_as_drawn() {
    let mut problems = Vec::new();
    for package in packages() {
        let name = package["name"].as_str().unwrap();
        let Some((_, allowed)) = ALLOWED.iter().find(|(row, _)| *row == name) else {
            problems.push(format!("{name} is not in the table: which ban does it buy?"));
            continue;
        };
        for (on, dev) in dependencies(package).filter(|(on, _)| on.starts_with("sexton-")) {
            let as_test_help = dev && on == TESTKIT && name != "sexton-bench";
            if !allowed.contains(&on) && !as_test_help {
                problems.push(format!("{name} -> {on}{}", if dev { " (dev)" } else { "" }));
            }
        }
    }
    let advice = "The arrows are in ARCHITECTURE.md and in ALLOWED of this file. Turn the dependency around, move the \
                  shared type down into model, or change both places and say why in docs/decisions.";
    complain(&problems, advice);
}

#[test]
fn model_does_no_io() {
    let mut problems = Vec::new();
    let model = packages().iter().find(|package| package["name"] == "sexton-model").unwrap();
    let taken = dependencies(model).filter(|(on, dev)| !dev && IO_CRATES.contains(on));
    problems.extend(taken.map(|(on, _)| format!("sexton-model -> {on}")));
    for source in SOURCES.iter().filter(|source| source.path.starts_with("crates/model/src/")) {
        let used = IO_PATHS.iter().flat_map(|path| source.scanned.words(path).map(move |at| (path, at)));
        problems
            .extend(used.map(|(path, at)| format!("{}:{}: {path}", source.path, source.scanned.line(at))));
        let waits = source
            .scanned
            .words("async")
            .map(|at| format!("{}:{}: async", source.path, source.scanned.line(at)));
        problems.extend(waits);
    }
    complain(
        &problems,
        "model holds words and rules. Let the caller read, wait and look at the clock, and pass values in.",
    );
}

#[test]
fn every_crate_takes_the_lints_of_the_workspace() {
    let mut problems = Vec::new();
    for package in packages() {
        let manifest = relative(Path::new(package["manifest_path"].as_str().unwrap()));
        if section(text(&manifest), "[lints]") != ["workspace = true"] {
            problems.push(format!("{manifest}: needs [lints] with workspace = true"));
        }
    }
    if !section(text("Cargo.toml"), "[workspace.lints.rust]").contains(&"unsafe_code = \"forbid\"") {
        problems.push("Cargo.toml: [workspace.lints.rust] needs unsafe_code = \"forbid\"".into());
    }
    complain(&problems, "Lints, `unsafe_code = \"forbid\"` above all, hold for every crate.");
}

/// The lines of a section of a manifest.
fn section<'a>(manifest: &'a str, head: &str) -> Vec<&'a str> {
    let lines = manifest.lines().map(str::trim).skip_while(|line| *line != head).skip(1);
    lines.take_while(|line| !line.starts_with('[')).filter(|line| !line.is_empty()).collect()
}

/// The part of `deny.toml` that needs no tool: what is banned, and that everything comes from one registry.
#[test]
fn the_lock_file_is_clean() {
    let mut problems = Vec::new();
    let lock = text("Cargo.lock");
    for (name, instead) in BANNED {
        if lock.contains(&format!("\nname = \"{name}\"\n")) {
            problems.push(format!(
                "{name} is in Cargo.lock: {instead} (`cargo tree -i {name}` says who brings it)"
            ));
        }
    }
    let mut sources: Vec<&str> = lock.lines().filter(|line| line.starts_with("source = ")).collect();
    sources.sort_unstable();
    sources.dedup();
    if sources.len() > 1 || sources.iter().any(|source| !source.starts_with("source = \"registry+")) {
        problems.push(format!("Cargo.lock takes crates from {sources:?}"));
    }
    complain(
        &problems,
        "Crates come from the one public registry, and deny.toml lists what may not come at all.",
    );
}
