//! Planted bugs: small changes of the sources, each with the test that has to turn red. They stand in `mutants.txt`.
//!
//! The usual run only checks that each of them still fits the sources. `SEXTON_MUTANTS=all`, `quick`, or a part of a name
//! carries them out, one after the other, on a copy of the tree; `SEXTON_MUTANTS_TIMES=5` runs each test five times.
//! It must not change anything in the tree itself.

#![allow(missing_docs, clippy::unwrap_used, clippy::print_stderr)]

mod copy;
mod entries;
mod judge;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use copy::Copy;
use entries::{Mutant, read};
use judge::{Judge, Verdict};

/// The root of the repository.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// Each text that is to be replaced is in its file exactly once, its replacement is another one, and names are unique.
#[test]
fn each_fits_the_sources() {
    let mut problems = Vec::new();
    let mut names = BTreeMap::new();
    for mutant in read() {
        let source = std::fs::read_to_string(root().join(&mutant.file)).unwrap_or_default();
        let found = source.matches(&mutant.is).count();
        if found != 1 {
            problems.push(format!("{}: its text is {found} times in {}", mutant.name, mutant.file));
        }
        if mutant.is == mutant.becomes || mutant.is.trim().is_empty() {
            problems.push(format!("{}: it changes nothing", mutant.name));
        }
        if !mutant.has_test(&root()) {
            problems.push(format!("{}: there is no test {}", mutant.name, mutant.test));
        }
        if let Some(other) = names.insert(mutant.name.clone(), mutant.file.clone()) {
            problems.push(format!("{}: another one in {other} has this name", mutant.name));
        }
    }
    assert!(
        problems.is_empty(),
        "\n{} to fix:\n  {}\nmake the entry in crates/testkit/mutants.txt fit what the code is now\n",
        problems.len(),
        problems.join("\n  ")
    );
}

/// Plants the chosen bugs, and complains about each that no test notices.
#[test]
fn each_is_noticed() {
    let Ok(chosen) = std::env::var("SEXTON_MUTANTS") else { return };
    let mut mutants: Vec<Mutant> = read().into_iter().filter(|mutant| mutant.is_chosen(&chosen)).collect();
    assert!(!mutants.is_empty(), "no entry of mutants.txt is called {chosen}");
    // Neighbours share what has to be built.
    mutants.sort_by(|a, b| (&a.package, &a.target, &a.file).cmp(&(&b.package, &b.target, &b.file)));
    let mut judge = Judge::new(Copy::of(&root()));
    let mut bad = Vec::new();
    for mutant in &mutants {
        let verdict = judge.judge(mutant);
        let line = format!("{:<52} {verdict}", mutant.name);
        eprintln!("{line}");
        if verdict != Verdict::Caught {
            bad.push(line);
        }
    }
    assert!(
        bad.is_empty(),
        "\n{} of {} planted bugs are not noticed for certain:\n  {}\n",
        bad.len(),
        mutants.len(),
        bad.join("\n  ")
    );
}
