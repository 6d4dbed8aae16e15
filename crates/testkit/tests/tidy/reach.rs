//! Every Rust file is compiled: a file that nobody declares looks alive, is edited, and tests nothing.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::complain;
use crate::scan::Scanned;
use crate::tree::{ROOT, SOURCES, packages, relative};

#[test]
fn no_file_is_undeclared() {
    let mut reached = BTreeSet::new();
    for package in packages() {
        for target in package["targets"].as_array().unwrap() {
            let root = relative(Path::new(target["src_path"].as_str().unwrap()));
            follow(&root, true, &mut reached);
        }
    }
    let forgotten = SOURCES.iter().filter(|source| !reached.contains(&source.path));
    let problems: Vec<String> = forgotten.map(|source| source.path.clone()).collect();
    complain(&problems, "Declare the file with `mod` in the file above it, make it a target, or remove it.");
}

/// Adds a file and all that it declares.
fn follow(path: &str, root: bool, reached: &mut BTreeSet<String>) {
    let Some(source) = SOURCES.iter().find(|source| source.path == path) else { return };
    if !reached.insert(path.to_owned()) {
        return;
    }
    let folder = Path::new(path).parent().unwrap_or(Path::new(""));
    let named = named_files(&source.text).map(|name| folder.join(name));
    for candidate in candidates(path, root, &source.scanned).into_iter().chain(named) {
        // Without `..`, and only if it exists.
        let Ok(file) = ROOT.join(&candidate).canonicalize() else { continue };
        if file.is_file() {
            follow(&relative(&file), false, reached);
        }
    }
}

/// The files that a file names for its modules: `#[path = "../common/mod.rs"]`.
fn named_files(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter_map(|line| line.trim().strip_prefix("#[path = \"")?.strip_suffix("\"]"))
}

/// Where the modules that a file declares may be.
fn candidates(path: &str, root: bool, scanned: &Scanned) -> Vec<PathBuf> {
    let path = Path::new(path);
    let folder = path.parent().unwrap_or(Path::new(""));
    let stem = path.file_stem().unwrap_or_default();
    let below = if root || stem == "mod" { folder.to_owned() } else { folder.join(stem) };
    let places = |name: &str| [below.join(format!("{name}.rs")), below.join(name).join("mod.rs")];
    scanned.outer_modules().into_iter().flat_map(places).collect()
}

#[test]
fn modules_are_looked_for_where_rust_looks() {
    let found = |path: &str, root: bool| {
        let paths = candidates(path, root, &Scanned::new("mod a;\nmod b { }\n"));
        paths.iter().map(|path| path.to_string_lossy().into_owned()).collect::<Vec<_>>()
    };
    assert_eq!(found("x/src/lib.rs", true), ["x/src/a.rs", "x/src/a/mod.rs"]);
    assert_eq!(found("x/src/y/mod.rs", false), ["x/src/y/a.rs", "x/src/y/a/mod.rs"]);
    assert_eq!(found("x/src/y.rs", false), ["x/src/y/a.rs", "x/src/y/a/mod.rs"]);
}
