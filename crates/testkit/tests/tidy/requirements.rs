//! Which requirements a test names. What none names is on a list that is checked in and only ever shrinks.
//!
//! A test names a requirement by its id in its doc comment. `SEXTON_UPDATE=1` rewrites the list: it takes off what is
//! named now and puts on what is new in `docs/requirements.md`, and nothing else.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use crate::complain;
use crate::tree::{ROOT, SOURCES, Source, text};

const REQUIREMENTS: &str = "docs/requirements.md";
const UNTESTED: &str = "docs/requirements-untested.txt";
const HEADER: &str = "\
# Requirements of docs/requirements.md that no test names yet. This list only ever shrinks.
# A test that names an id in its doc comment takes it off: SEXTON_UPDATE=1 cargo test -p sexton-testkit --test tidy
";
/// The line that remembers the highest number of each group, so that a new id can be told from a lost test.
const KNOWN: &str = "# known:";
const GROUPS: [&str; 5] = ["REQ-CLD", "REQ-KRK", "REQ-RSS", "REQ-MUR", "EXT"];

/// The id of a requirement: the place of its group in [`GROUPS`], and its number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Id(usize, u32);

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", GROUPS[self.0], self.1)
    }
}

/// All ids in a text.
fn ids(text: &str) -> Vec<Id> {
    let words = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '-');
    words.filter_map(id).collect()
}

fn id(word: &str) -> Option<Id> {
    let (group, number) = word.trim_end_matches('-').rsplit_once('-')?;
    let group = GROUPS.iter().position(|known| *known == group)?;
    Some(Id(group, number.parse().ok()?))
}

/// What is required: the ids at the beginning of list items.
fn required(text: &str) -> Vec<Id> {
    text.lines().filter_map(|line| id(line.strip_prefix("- ")?.split(' ').next()?)).collect()
}

/// The checked-in list.
#[derive(Debug, Default, PartialEq, Eq)]
struct Untested {
    ids: BTreeSet<Id>,
    /// The highest number of each group when the list was written.
    known: BTreeMap<usize, u32>,
}

impl Untested {
    fn parse(text: &str) -> Untested {
        let known = text.lines().filter_map(|line| line.strip_prefix(KNOWN)).flat_map(ids);
        let listed = text.lines().filter(|line| !line.starts_with('#')).flat_map(ids);
        Untested { ids: listed.collect(), known: known.map(|Id(group, number)| (group, number)).collect() }
    }

    fn is_new(&self, id: Id) -> bool {
        self.known.get(&id.0).is_none_or(|highest| id.1 > *highest)
    }

    /// The list after an update: only what was on it, or is new, and is not named.
    fn updated(&self, required: &[Id], named: &BTreeSet<Id>) -> Untested {
        let stays = |id: &&Id| !named.contains(id) && (self.ids.contains(id) || self.is_new(**id));
        let mut known = BTreeMap::new();
        for Id(group, number) in required {
            let highest = known.entry(*group).or_insert(*number);
            *highest = (*highest).max(*number);
        }
        Untested { ids: required.iter().filter(stays).copied().collect(), known }
    }

    fn write(&self) -> String {
        let known: Vec<String> =
            self.known.iter().map(|(group, number)| Id(*group, *number).to_string()).collect();
        let lines: String = self.ids.iter().map(|id| format!("{id}\n")).collect();
        format!("{HEADER}{KNOWN} {}\n{lines}", known.join(" "))
    }

    /// What does not fit together.
    fn problems(&self, required: &[Id], named: &BTreeMap<Id, String>) -> Vec<String> {
        let mut problems = Vec::new();
        let all: BTreeSet<Id> = required.iter().copied().collect();
        for (id, at) in named {
            if !all.contains(id) {
                problems.push(format!("{at} names {id}, which {REQUIREMENTS} does not have"));
            } else if self.ids.contains(id) {
                problems.push(format!("{id} is named by {at}: remove it from {UNTESTED}"));
            }
        }
        let gone = self.ids.difference(&all);
        problems.extend(gone.map(|id| format!("{id} is no requirement any more: remove it from {UNTESTED}")));
        for id in all.iter().filter(|id| !named.contains_key(id) && !self.ids.contains(id)) {
            problems.push(match self.is_new(*id) {
                true => format!("{id} is new and no test names it: write one, or add it to {UNTESTED}"),
                false => {
                    format!("{id} had a test and has none any more: bring it back, the list only shrinks")
                }
            });
        }
        problems
    }
}

/// The ids that tests name, each with a file that does.
fn named() -> BTreeMap<Id, String> {
    let docs = |source: &'static Source| {
        if source.is_test() {
            return source.scanned.docs.iter().map(|(_, text)| text.as_str()).collect();
        }
        source.scanned.test_docs()
    };
    let mut named = BTreeMap::new();
    for source in SOURCES.iter() {
        let found = docs(source).into_iter().flat_map(ids);
        found.for_each(|id| _ = named.entry(id).or_insert_with(|| source.path.clone()));
    }
    named
}

#[test]
fn every_requirement_has_a_test_or_is_on_the_list() {
    let required = required(text(REQUIREMENTS));
    let twice: Vec<String> = required
        .iter()
        .enumerate()
        .filter(|(at, id)| required[..*at].contains(id))
        .map(|(_, id)| format!("{id} stands in {REQUIREMENTS} twice"))
        .collect();
    complain(&twice, "Give it a number of its own.");
    let (mut list, named) = (Untested::parse(text(UNTESTED)), named());
    if std::env::var_os("SEXTON_UPDATE").is_some() {
        list = list.updated(&required, &named.keys().copied().collect());
        std::fs::write(ROOT.join(UNTESTED), list.write()).unwrap();
    } else if list.write() != text(UNTESTED) {
        complain(&[format!("{UNTESTED} is not in its written form")], "SEXTON_UPDATE=1 rewrites it.");
    }
    eprintln!("note: tests name {} of {} requirements", required.len() - list.ids.len(), required.len());
    complain(
        &list.problems(&required, &named),
        "SEXTON_UPDATE=1 takes off what is named and adds what is new.",
    );
}

#[test]
fn the_list_only_shrinks() {
    let (a, b, c) = (Id(0, 1), Id(0, 2), Id(4, 1));
    let list = Untested { ids: BTreeSet::from([b]), known: BTreeMap::from([(0, 2)]) };
    // `a` lost its test and stays missed; `b` found one; `c` is new.
    let updated = list.updated(&[a, b, c], &BTreeSet::from([b]));
    assert_eq!(updated.ids, BTreeSet::from([c]));
    let problems = updated.problems(&[a, b, c], &BTreeMap::from([(b, "t.rs".to_owned())]));
    assert_eq!(problems.len(), 1, "{problems:?}");
    assert!(problems[0].starts_with("REQ-CLD-1 had a test"), "{problems:?}");
    assert_eq!(Untested::parse(&updated.write()), updated);
}

#[test]
fn ids_are_read_exactly() {
    assert_eq!(
        ids("REQ-KRK-17, (EXT-3) REQ-KRK-x REQ-ABC-1 NEXT-2 REQ-MUR-100."),
        [Id(1, 17), Id(4, 3), Id(3, 100)]
    );
    assert_eq!(required("- EXT-1 text REQ-CLD-2\nREQ-CLD-3\n"), [Id(4, 1)]);
}
