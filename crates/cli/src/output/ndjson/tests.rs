//! The form as it is written, documented and asked for.

use clap::CommandFactory;

use super::*;
use crate::arguments::Arguments;
use crate::output::Style;

/// Commands that do not answer with a stream, each with the reason.
const OTHERS: [(&str, &str); 8] = [
    ("get", "documents, as kubectl prints them"),
    ("demo", "a tour for people"),
    ("serve", "logs of its own: --log-format"),
    ("collect", "logs of its own"),
    ("kubeconfig", "-o names a file"),
    ("complete", "words for a shell"),
    ("completions", "a script for a shell"),
    ("script-worker", "speaks with its caller"),
];

/// Every command that answers has `-o json`, and all of them the same form.
#[test]
fn every_command_has_it() {
    let mut program = Arguments::command();
    program.build();
    let takes_json = |command: &clap::Command| {
        let output = command.get_arguments().find(|argument| argument.get_id() == "output");
        output.is_some_and(|output| {
            let forms = output.get_possible_values();
            forms.iter().any(|form| form.get_name() == "json")
        })
    };
    let is_own = |command: &&clap::Command| command.get_name() != "help";
    for command in program.get_subcommands().filter(is_own) {
        let name = command.get_name();
        let other = OTHERS.iter().any(|(other, _)| *other == name);
        assert_eq!(takes_json(command), !other, "{name}");
        for inner in command.get_subcommands().filter(is_own) {
            assert!(takes_json(inner), "{name} {}", inner.get_name());
        }
    }
}

#[test]
fn what_was_asked_for_is_found_however_it_is_typed() {
    let asked = |typed: &str| asked(&Arguments::command().get_matches_from(typed.split(' ')));
    assert_eq!(asked("sexton plan delete cm/a -o json").as_deref(), Some("plan delete"));
    assert_eq!(asked("sexton watch cm -Ao json").as_deref(), Some("watch"));
    assert_eq!(asked("sexton why cm/a --output=json").as_deref(), Some("why"));
    assert_eq!(asked("sexton modules --json").as_deref(), Some("modules"));
    for other in ["sexton get cm -o json", "sexton install-crds -o json", "sexton why cm/a"] {
        assert_eq!(asked(other), None, "{other}");
    }
    let in_vain = |typed: &str| asked_in_vain(&typed.split(' ').map(OsString::from).collect::<Vec<_>>());
    for typed in ["sexton why -o json", "sexton why a b -ojson", "sexton nothing --output json"] {
        assert!(in_vain(typed), "{typed}");
    }
    for typed in ["sexton get -o json --none", "sexton why", "sexton why -- -o json"] {
        assert!(!in_vain(typed), "{typed}");
    }
}

/// The page says what there is, and nothing else.
#[test]
fn every_kind_of_line_is_documented() {
    let source = include_str!("event.rs");
    let inside = source.split_once("enum Event<'a> {").unwrap().1.split_once("\n}\n").unwrap().0;
    let is_variant = |line: &&str| {
        line.starts_with("    ") && line.chars().nth(4).is_some_and(|first| first.is_ascii_uppercase())
    };
    let word = |line: &str| line.trim().split(|c: char| !c.is_ascii_alphabetic()).next().unwrap().to_owned();
    let kinds: Vec<String> = inside.lines().filter(is_variant).map(word).collect();
    let file = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/output.md");
    let page = std::fs::read_to_string(file).unwrap();
    let row = |line: &str| Some(line.strip_prefix("| `")?.split_once('`')?.0.to_owned());
    let rows = page.lines().filter_map(row).filter(|row| row.starts_with(|c: char| c.is_ascii_uppercase()));
    let (mut kinds, mut rows): (Vec<String>, Vec<String>) = (kinds, rows.collect());
    kinds.sort();
    rows.sort();
    assert_eq!(rows, kinds, "docs/output.md has one row for each kind of line");
    assert!(page.contains(&format!("`version` is {VERSION}")));
}

#[test]
fn the_last_line_has_the_exit_code_and_what_the_command_says() {
    let stream = Stream::new("delete".into(), None);
    let output = Output { data: Style::PLAIN, talk: Style::PLAIN, stream: Some(stream.into()) };
    output.summarize(json!({"gone": 2}));
    output.summarize(json!({"left": 1}));
    let stream = output.stream.unwrap();
    let result: Value = serde_json::from_str(&stream.result(Exit::Partial)).unwrap();
    assert_eq!(result["kind"], "Result");
    assert_eq!((&result["exit"], &result["result"]), (&json!(4), &json!("partial")));
    assert_eq!((&result["gone"], &result["left"]), (&json!(2), &json!(1)));
    assert_eq!(
        stream.header(),
        format!(
            "{{\"kind\":\"Header\",\"version\":1,\"sexton\":\"{}\",\"command\":\"delete\"}}\n",
            env!("CARGO_PKG_VERSION")
        )
    );
}
