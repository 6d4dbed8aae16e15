//! Words of others on the screen: whatever objects, files and servers say, a terminal is given no orders.
#![allow(clippy::unwrap_used, reason = "a test may end so")]

mod common;

use common::{Play, Ran};
use serde_json::{Value, json};

/// What a terminal would obey: a sequence of ESC, of the one character that stands for it, a title, a bell, and what
/// turns the direction of text.
const TRICK: &str = "\u{1b}[2J\u{9b}31m\u{1b}]0;t\u{7}\u{202e}x\u{2066}\u{200b}";

/// Nothing in it but text, line ends and tabs.
#[track_caller]
fn is_harmless(what: &str, ran: &Ran) {
    let loud = |c: char| {
        let turns = matches!(c, '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
        turns || c.is_control() && c != '\n' && c != '\t'
    };
    for text in [&ran.out, &ran.err] {
        assert!(!text.contains(loud), "{what}: {text:?}");
    }
}

fn run(play: &Play, arguments: &[&str]) -> Ran {
    common::finish(play.command("").args(arguments).stdin(std::process::Stdio::null()))
}

#[test]
fn words_of_others_give_no_orders_to_a_terminal() {
    let play = Play::new();
    let map = json!({"apiVersion": "v1", "kind": "ConfigMap",
        "metadata": {"name": "a", "annotations": {"note": TRICK}, "finalizers": ["example.com/hold"]},
        "data": {"k": TRICK, "lines": format!("{TRICK}\nb")}});
    let file = format!("doc{TRICK}.json");
    play.file(&file, &map.to_string());
    let put = run(&play, &["put", "-f", &file]);
    assert_eq!(put.code, 0, "{put:?}");
    is_harmless("put", &put);

    let shown = run(&play, &["get", "cm/a", "-o", "json"]);
    is_harmless("json", &shown);
    let read: Value = serde_json::from_str(&shown.out).unwrap();
    assert_eq!(read["data"], map["data"], "it means the same");
    let shown = run(&play, &["get", "cm/a", "-o", "yaml"]);
    is_harmless("yaml", &shown);
    let read: Value = serde_saphyr::from_str(&shown.out).unwrap();
    assert_eq!(read["data"], map["data"], "it means the same");
    // Another program gets the value that it asked for.
    let value = run(&play, &["get", "cm/a", "-o", "jsonpath={.data.k}"]);
    assert_eq!(value.out, TRICK);

    let typed: [&[&str]; 9] = [
        &["get", TRICK],
        &["get", &format!("cm/{TRICK}")],
        &["get", &format!("--{TRICK}")],
        &["put", "-f", &format!("{TRICK}.yaml")],
        &["-vv", "get", &format!("cm/{TRICK}")],
        &["why", "cm/a", "-n", TRICK],
        &["watch", TRICK, "-o", "json"],
        &["get", "cm", "-o", &format!("jsonpath={{{TRICK}")],
        &["--server", &format!("http://127.0.0.1:1/{TRICK}"), "get", "cm"],
    ];
    for words in typed {
        let ran = run(&play, words);
        assert_eq!(ran.code, 1, "{words:?}: {ran:?}");
        is_harmless(&format!("{words:?}"), &ran);
    }
}

/// What a document is refused for is told in its own words, which make no lines of their own.
#[test]
fn words_of_others_make_no_lines_of_ours() {
    let play = Play::new();
    let name = format!("a\nerror: all is well\n{TRICK}");
    play.file(
        "doc.json",
        &json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}}).to_string(),
    );
    let ran = run(&play, &["put", "-f", "doc.json"]);
    assert_eq!(ran.code, 1, "{ran:?}");
    is_harmless("put", &ran);
    let own = ran.err.lines().filter(|line| line.starts_with("error: ")).count();
    assert_eq!(own, 1, "{}", ran.err);
}
