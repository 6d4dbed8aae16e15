//! Plain words: how many comment lines of each crate have a pronoun for a subject, and type names that are unique.
//!
//! The caps are in `docs/pronoun-lines.txt` and only shrink. `SEXTON_UPDATE=1` lowers them to what is there now.

use std::collections::{BTreeMap, BTreeSet};

use crate::complain;
use crate::tree::{ROOT, SOURCES, text};

const CAPS: &str = "docs/pronoun-lines.txt";
const HEADER: &str = "\
# How many comment lines of each crate may have one of the words who, whoever, whom, somebody, nobody, everybody, anybody.
# These only ever shrink: name the subject instead (docs/glossary.md). SEXTON_UPDATE=1 cargo test -p sexton-testkit --test tidy
";
const PRONOUNS: [&str; 7] = ["who", "whoever", "whom", "somebody", "nobody", "everybody", "anybody"];
/// Crates in which no two public types have the same name.
const UNIQUE_TYPES: [&str; 1] = ["lifecycle"];

/// Whether a line of Rust is a comment with a pronoun.
fn has_pronoun(line: &str) -> bool {
    let Some(comment) = line.trim_start().strip_prefix("//") else { return false };
    let words = comment.split(|c: char| !c.is_ascii_alphabetic());
    words.map(str::to_ascii_lowercase).any(|word| PRONOUNS.contains(&word.as_str()))
}

/// The crate that a path is in.
fn crate_of(path: &str) -> Option<&str> {
    path.strip_prefix("crates/")?.split('/').next()
}

fn counts() -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    for source in SOURCES.iter() {
        if let Some(name) = crate_of(&source.path) {
            let lines = source.text.lines().filter(|line| has_pronoun(line)).count();
            *counts.entry(name.to_owned()).or_default() += lines;
        }
    }
    counts
}

#[test]
fn pronouns_only_become_fewer() {
    let listed = text(CAPS);
    let caps: BTreeMap<&str, usize> = listed
        .lines()
        .filter_map(|line| line.split_once(' '))
        .filter_map(|(name, cap)| Some((name, cap.parse().ok()?)))
        .collect();
    let counts = counts();
    if std::env::var_os("SEXTON_UPDATE").is_some() {
        let lowered = |(name, count): (&String, &usize)| {
            let cap = caps.get(name.as_str()).copied().unwrap_or(*count);
            format!("{name} {}\n", cap.min(*count))
        };
        let lines: String = counts.iter().map(lowered).collect();
        std::fs::write(ROOT.join(CAPS), format!("{HEADER}{lines}")).unwrap();
        return;
    }
    let over = counts.iter().filter_map(|(name, count)| {
        let cap = caps.get(name.as_str()).copied().unwrap_or_default();
        (*count > cap).then(|| format!("crates/{name}: {count} comment lines with pronouns, {cap} allowed"))
    });
    complain(&over.collect::<Vec<String>>(), "Name the subject of the sentence: see docs/glossary.md.");
}

#[test]
fn public_types_have_unique_names() {
    let mut seen: BTreeSet<(&str, &str)> = BTreeSet::new();
    let mut problems = Vec::new();
    for source in SOURCES.iter().filter(|source| !source.is_test() && source.path.contains("/src/")) {
        let Some(name) = crate_of(&source.path).filter(|name| UNIQUE_TYPES.contains(name)) else { continue };
        for line in source.scanned.code.lines() {
            let line = line.trim_start();
            let kinds = ["pub struct ", "pub enum ", "pub trait ", "pub type "];
            let Some(rest) = kinds.iter().find_map(|kind| line.strip_prefix(kind)) else { continue };
            let end = rest.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(rest.len());
            if !seen.insert((name, &rest[..end])) {
                problems.push(format!("{}: {}", source.path, &rest[..end]));
            }
        }
    }
    complain(&problems, "Give the type a name that says what it is without its path.");
}

#[test]
fn pronouns_are_found_in_comments_only() {
    assert!(has_pronoun("    /// Somebody asked.") && has_pronoun("// nobody"));
    assert!(!has_pronoun("let who = 1;") && !has_pronoun("/// The whole."));
}
