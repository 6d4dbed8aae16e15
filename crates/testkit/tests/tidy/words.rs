//! Words that may not stand in the repository: unfinished code, skipped tests, places that exist on one machine only.

use crate::complain;
use crate::tree::{SOURCES, TEXTS};

/// Code that is not finished, or was for looking at. Matched in code only, not in text.
const UNFINISHED: &[&str] = &["todo!(", "unimplemented!(", "dbg!(", "#[ignore]"];

/// Paths of one machine. Spelled in two pieces, so that this file does not hold them.
const MACHINE_PATHS: &[(&str, &str)] = &[("/wor", "k/"), ("/tmp/w", "t"), ("/roo", "t/"), ("/hom", "e/")];

/// Networks set aside for examples.
const EXAMPLE_NETWORKS: &[[u8; 3]] = &[[192, 0, 2], [198, 51, 100], [203, 0, 113]];

#[test]
fn nothing_is_unfinished() {
    let mut problems = Vec::new();
    for source in SOURCES.iter() {
        let code = &source.scanned.code;
        let found = UNFINISHED.iter().flat_map(|word| code.match_indices(word));
        problems
            .extend(found.map(|(at, word)| format!("{}:{}: {word}", source.path, source.scanned.line(at))));
        let daring = source.scanned.words("unsafe");
        problems.extend(daring.map(|at| format!("{}:{}: unsafe", source.path, source.scanned.line(at))));
    }
    complain(
        &problems,
        "Finish it, say `#[ignore = \"why\"]`, or take it out. `unsafe` has no place here at all.",
    );
}

#[test]
fn nothing_names_a_place_of_one_machine() {
    let mut problems = Vec::new();
    for file in TEXTS.iter() {
        for (number, line) in file.text.lines().enumerate() {
            let named = |(head, tail): &&(&str, &str)| line.contains(&format!("{head}{tail}"));
            if let Some((head, tail)) = MACHINE_PATHS.iter().find(named) {
                problems.push(format!("{}:{}: {head}{tail}…", file.path, number + 1));
            }
        }
    }
    complain(&problems, "Use paths from the root of the repository, or a temporary directory.");
}

/// Ways to stdout and stderr: words of code.
const WAYS_OUT: &[&str] =
    &["print!", "println!", "eprint!", "eprintln!", "stdout()", "stderr()", "io::stdout", "io::stderr"];

/// The one file that writes to them: what it is given, a terminal shows and does not obey.
const THE_WRITER: &str = "crates/cli/src/output/screen.rs";

#[test]
fn one_writer_writes_all_output() {
    let shipped =
        |path: &str| path.starts_with("crates/") && path.contains("/src/") && !path.contains("testkit");
    let mut problems = Vec::new();
    for source in SOURCES.iter().filter(|source| shipped(&source.path) && source.path != THE_WRITER) {
        // The parser of arguments prints its errors by itself, if it is told to.
        let parser = source.scanned.code.match_indices(".print()").map(|(at, _)| at);
        let found = WAYS_OUT.iter().flat_map(|word| source.scanned.words(word)).chain(parser);
        problems.extend(found.map(|at| format!("{}:{}", source.path, source.scanned.line(at))));
    }
    complain(
        &problems,
        &format!("Write through `Output`: only {THE_WRITER} neutralises the words of others."),
    );
}

/// Talk of the command line that holds a command of ours would lead to another target, and not be copied whole.
#[test]
fn commands_are_suggested_in_one_way() {
    let said = ["talk(", "line(", "mark(", "data(", "push_str("];
    let mut problems = Vec::new();
    for source in SOURCES.iter().filter(|source| source.path.starts_with("crates/cli/src/")) {
        let lines: Vec<&str> = source.text.lines().collect();
        for (number, line) in lines.iter().enumerate() {
            let before = number.checked_sub(1).and_then(|at| lines.get(at)).copied().unwrap_or_default();
            let says = said.iter().any(|word| line.contains(word) || before.trim_end().ends_with(word));
            let proposes = line.contains("   sexton ") || line.contains(": sexton ");
            if says && proposes && !line.trim_start().starts_with("//") {
                problems.push(format!("{}:{}", source.path, number + 1));
            }
        }
    }
    complain(&problems, "Use `Output::suggest`, `Failure::next` or `suggest::lines`, which name the target.");
}

#[test]
fn tests_stay_on_this_machine() {
    let mut problems = Vec::new();
    for source in SOURCES.iter() {
        for (number, line) in source.text.lines().enumerate() {
            let far = addresses(line).into_iter().filter(|address| !harmless(*address));
            problems
                .extend(far.map(|[a, b, c, d]| format!("{}:{}: {a}.{b}.{c}.{d}", source.path, number + 1)));
        }
    }
    complain(&problems, "Use 127.0.0.1 and port 0; for an address that is only text, one of 192.0.2.*.");
}

fn harmless([a, b, c, d]: [u8; 4]) -> bool {
    a == 127 || [a, b, c, d] == [0; 4] || EXAMPLE_NETWORKS.contains(&[a, b, c])
}

/// The IPv4 addresses in a line.
fn addresses(line: &str) -> Vec<[u8; 4]> {
    let words = line.split(|c: char| !c.is_ascii_alphanumeric() && c != '.' && c != '_' && c != '-');
    let address = |word: &str| {
        let parts: Vec<u8> = word.split('.').map(|part| part.parse().ok()).collect::<Option<_>>()?;
        parts.try_into().ok()
    };
    words.filter_map(address).collect()
}

#[test]
fn addresses_are_found() {
    assert_eq!(
        addresses(r#"("192.0.2.3:80", [127.0.0.1], v1.2.3.4, 1.2.3, 1.2.3.4.5, 300.1.1.1)"#),
        [[192, 0, 2, 3], [127, 0, 0, 1]]
    );
    assert!(harmless([127, 8, 9, 1]) && harmless([192, 0, 2, 7]) && !harmless([10, 0, 0, 1]));
}
