//! What the documents say is there: the code map, the decisions, the links.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use crate::complain;
use crate::tree::{ROOT, TEXTS, packages, relative, text};

const ARCHITECTURE: &str = "ARCHITECTURE.md";

/// The folders and files of the code map: a heading per crate, a bullet per module.
fn code_map(text: &str) -> BTreeMap<String, BTreeSet<String>> {
    let lines = text.lines().skip_while(|line| line.trim() != "## Code map").skip(1);
    let mut map: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let mut current = None;
    for line in lines.take_while(|line| !line.starts_with("## ")) {
        let quoted = |line: &str| line.split('`').nth(1).map(str::to_owned);
        if line.starts_with("### ") {
            current = quoted(line);
            map.extend(current.clone().map(|folder| (folder, BTreeSet::new())));
        } else if let (true, Some(folder), Some(module)) = (line.starts_with("- `"), &current, quoted(line)) {
            map.entry(folder.clone()).or_default().insert(module);
        }
    }
    map
}

/// The same as it is on disk: folders with a `/` behind their name, roots left out.
fn tree() -> BTreeMap<String, BTreeSet<String>> {
    let mut map = BTreeMap::new();
    for package in packages() {
        let manifest = Path::new(package["manifest_path"].as_str().unwrap());
        let folder = manifest.parent().unwrap();
        let modules = std::fs::read_dir(folder.join("src")).unwrap().map(|entry| {
            let entry = entry.unwrap();
            let slash = if entry.file_type().unwrap().is_dir() { "/" } else { "" };
            format!("{}{slash}", entry.file_name().to_string_lossy())
        });
        let named = |name: &String| name.ends_with('/') || name.ends_with(".rs");
        let modules = modules.filter(named).filter(|name| name != "lib.rs" && name != "main.rs");
        map.insert(relative(folder), modules.collect());
    }
    map
}

#[test]
fn the_code_map_is_true() {
    let (said, is) = (code_map(text(ARCHITECTURE)), tree());
    let mut problems = Vec::new();
    let nothing = BTreeSet::new();
    for folder in said.keys().chain(is.keys()).collect::<BTreeSet<_>>() {
        match (said.contains_key(folder), is.contains_key(folder)) {
            (false, _) => problems.push(format!("the crate {folder} is not in the map")),
            (_, false) => problems.push(format!("the map speaks of {folder}, which is no crate")),
            _ => {}
        }
        let (said, is) = (said.get(folder).unwrap_or(&nothing), is.get(folder).unwrap_or(&nothing));
        problems.extend(is.difference(said).map(|module| format!("{folder}/src/{module} is not in the map")));
        problems
            .extend(said.difference(is).map(|module| format!("{folder}/src/{module} is in the map only")));
    }
    complain(
        &problems,
        "Bring `## Code map` of ARCHITECTURE.md up to date: `### `folder``, then `- `module` what it is`.",
    );
}

#[test]
fn a_code_map_is_read() {
    let map =
        code_map("## Code map\n### `a/b`: words\n- `x.rs` one\n- `y/` two\nother `z`\n## Next\n- `no`\n");
    let modules = BTreeSet::from(["x.rs".to_owned(), "y/".to_owned()]);
    assert_eq!(map, BTreeMap::from([("a/b".to_owned(), modules)]));
}

#[test]
fn every_decision_is_linked() {
    let linked = [text(ARCHITECTURE), text("docs/README.md")].concat();
    let decisions = TEXTS.iter().filter_map(|file| file.path.strip_prefix("docs/decisions/"));
    let problems: Vec<String> = decisions.filter(|name| !linked.contains(*name)).map(str::to_owned).collect();
    complain(&problems, "Link it in docs/README.md with one line.");
}

#[test]
fn links_lead_somewhere() {
    let mut problems = Vec::new();
    for file in TEXTS.iter().filter(|file| file.path.ends_with(".md")) {
        let folder = Path::new(&file.path).parent().unwrap();
        for target in links(&file.text) {
            let to = target.split('#').next().unwrap_or("");
            if !to.is_empty() && !to.contains("://") && !ROOT.join(folder).join(to).exists() {
                problems.push(format!("{}: {target}", file.path));
            }
        }
    }
    complain(&problems, "Links between documents are relative to the document and have to exist.");
}

/// The targets of `[text](target)`.
fn links(text: &str) -> Vec<&str> {
    text.split("](").skip(1).filter_map(|rest| rest.split(')').next()).collect()
}

#[test]
fn what_the_architecture_names_exists() {
    let mut problems = Vec::new();
    for name in text(ARCHITECTURE).split('`').skip(1).step_by(2).filter(|name| is_path(name)) {
        let (path, function) = name.split_once("::").unwrap_or((name, ""));
        let whole = ROOT.join(path);
        if !whole.exists() {
            problems.push(format!("{name}: there is no {path}"));
        } else if !function.is_empty() {
            let text = std::fs::read_to_string(whole).unwrap_or_default();
            if !text.contains(&format!("fn {function}(")) {
                problems.push(format!("{name}: {path} has no such function"));
            }
        }
    }
    complain(
        &problems,
        "An invariant names the test that shows it, as `path::function`. Name another one, or keep it.",
    );
}

fn is_path(name: &str) -> bool {
    ["crates/", "docs/", "bench/", "examples/"].iter().any(|folder| name.starts_with(folder))
}
