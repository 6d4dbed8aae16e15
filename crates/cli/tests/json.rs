//! `-o json` of every command: the frame is checked, the lines are compared with `json.txt`. `SEXTON_UPDATE=1` writes it anew.
#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a test may end so")]

mod common;

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader};
use std::process::Stdio;

use common::{Play, SHOP, ended};
use serde_json::{Map, Value, json};

/// Lines of one kind in a row that are compared; the rest is the same again.
const SHOWN: usize = 2;
/// Fields that differ from run to run.
const UNSTABLE: [&str; 8] =
    ["seconds", "sweepSeconds", "sexton", "bytes", "revision", "since", "renewed", "holder"];
/// Fields in words for people: how something is said is not the business of this form.
const PROSE: [&str; 13] = [
    "message", "details", "next", "why", "what", "reason", "evidence", "headline", "footer", "text", "aside",
    "title", "commands",
];

const MODULE: &str = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: m-1}\ndata: {n: \"1\"}\n---\n\
     apiVersion: v1\nkind: ConfigMap\nmetadata: {name: m-2}\n";

const PROGRAM: &str = r#"
local Machine = class("Machine", {
    properties = { name = { usage = "In", type = "string" } },
    destroy = function(self) log("destroy " .. self.name) end,
})
function deploy(env)
    local there = env.applications and #env.applications > 0
    env.applications = if there then {} else { new(Machine, { name = "web" }, env) }
    log("deployed")
end
"#;

/// What happened so far, as text.
struct Story {
    play: Play,
    text: String,
    commands: BTreeSet<String>,
}

impl Story {
    /// Runs a command, checks the frame of its answer, and writes it down.
    #[track_caller]
    fn run(&mut self, arguments: &str, code: i32) {
        let ran = self.play.run(&format!("{arguments} -o json"));
        assert_eq!(ran.code, code, "{arguments}: {ran:?}");
        let lines: Vec<Value> = ran.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let (first, last) = (&lines[0], &lines[lines.len() - 1]);
        assert_eq!((&first["kind"], &first["version"]), (&json!("Header"), &json!(1)), "{arguments}");
        assert_eq!((&last["kind"], &last["exit"]), (&json!("Result"), &json!(code)), "{arguments}");
        assert!(lines.iter().all(|line| line["kind"].is_string()), "{arguments}");
        let frame = |kind: &str| lines.iter().filter(|line| line["kind"] == kind).count();
        assert_eq!((frame("Header"), frame("Result")), (1, 1), "{arguments}");
        self.commands.insert(first["command"].as_str().unwrap_or_default().to_owned());
        self.text.push_str(&format!("$ sexton {arguments} -o json\n"));
        let mut row: Vec<&Value> = Vec::new();
        for line in &lines {
            if row.last().is_some_and(|before| before["kind"] != line["kind"]) {
                row.clear();
            }
            row.push(line);
            match row.len() {
                1..=SHOWN => {
                    self.text.push_str(&format!("{}\n", calm(line, self.play.path().to_str().unwrap())))
                }
                shown if shown == SHOWN + 1 => self.text.push_str("…\n"),
                _ => {}
            }
        }
        self.text.push('\n');
    }
}

/// A line without what differs from run to run.
fn calm(value: &Value, folder: &str) -> Value {
    match value {
        Value::Object(fields) => {
            let calmed = fields.iter().map(|(name, value)| {
                let value = match name.as_str() {
                    name if UNSTABLE.contains(&name) => json!("…"),
                    name if PROSE.contains(&name) && !value.is_null() => json!("…"),
                    "command" if fields["kind"] == "Next" => json!("…"),
                    // Documents are put side by side: which is done first is chance.
                    "object" if fields["kind"] == "Done" => json!("…"),
                    // What an object looks like is not the business of this form.
                    "object" if value.is_object() => json!({"kind": value["kind"], "metadata": "…"}),
                    "status" => json!({"phase": value["phase"], "sealed": value["sealed"]["count"]}),
                    _ => calm(value, folder),
                };
                (name.clone(), value)
            });
            Value::Object(calmed.collect::<Map<String, Value>>())
        }
        Value::Array(items) => items.iter().map(|item| calm(item, folder)).collect(),
        Value::String(text) => {
            let text = text.replace(folder, "DIR");
            json!(
                text.split_inclusive([' ', '\n', '/', ',', '"', '(', ')']).map(calm_word).collect::<String>()
            )
        }
        other => other.clone(),
    }
}

/// A word without ids, digests and ages.
fn calm_word(word: &str) -> String {
    let bare = word.trim_end_matches(|c: char| !c.is_alphanumeric());
    let hex = !bare.is_empty() && bare.chars().all(|c| c.is_ascii_hexdigit() || c == '-');
    let id = bare.len() == 16 && bare.starts_with("01") && bare.chars().all(|c| c.is_ascii_alphanumeric());
    let is_digest = hex && bare.len() >= 8 && bare.chars().any(|c| c.is_ascii_digit());
    let age = bare.strip_suffix('s').is_some_and(|n| !n.is_empty() && n.chars().all(|c| c.is_ascii_digit()));
    let time = bare.len() == 20 && bare.ends_with('Z') && bare.contains('T');
    // Collections that a command began are named after the moment.
    let collection = bare.len() > 16 && bare.ends_with(|c: char| c.is_ascii_digit()) && bare.contains("-20");
    match () {
        () if is_digest || id || collection => word.replacen(bare, "ID", 1),
        () if time => word.replacen(bare, "TIME", 1),
        () if age => word.replacen(bare, "AGE", 1),
        () => word.to_owned(),
    }
}

fn modules(story: &mut Story) {
    story.play.file("mod/sexton.yaml", "manager: shop\n");
    story.play.file("mod/a.yaml", MODULE);
    story.run("plan -f mod", 0);
    story.run("apply -f mod", 0);
    story.run("modules", 0);
    story.run("modules shop", 0);
    story.run("modules nothing", 1);
    story.run("modules unlock shop", 0);
    story.play.file("mod/a.yaml", MODULE.split_once("---").unwrap().0);
    story.run("plan -f mod --detailed-exitcode", 2);
    story.run("apply -f mod", 3);
    story.run("transfer ConfigMap/m-2 --to other", 0);
    story.run("transfer ConfigMap/m-2 --to shop --dry-run", 0);
    story.run("transfer ConfigMap/m-2 --to shop", 0);
    story.run("apply -f mod --yes", 0);
    story.run("destroy shop --dry-run", 0);
    story.run("destroy shop", 3);
    story.run("destroy shop --yes", 0);
}

fn objects(story: &mut Story) {
    story.play.file("shop.yaml", SHOP);
    story.run("version", 0);
    story.run("put -f shop.yaml", 0);
    story.run("put -f missing.yaml", 1);
    story.run("kinds", 0);
    story.run("protect cm/a", 0);
    story.run("protect cm/a", 0);
    story.run("delete cm/a --yes", 3);
    story.run("unprotect cm/a", 0);
    story.run("subscribe cm/a deployment/web", 0);
    story.run("graph cm/a", 0);
    story.run("unsubscribe cm/a deployment/web", 0);
    story.run("unsubscribe cm/a deployment/web", 0);
    story.run("why cm/a", 0);
    story.run("why cm/b", 1);
    story.run("why nonsense/a", 1);
    story.run("why cm/a --nonsense", 1);
}

fn deletions(story: &mut Story) {
    story.play.map("root", &[], "");
    story.play.map("leaf", &["root"], "");
    story.run("plan delete cm/root", 0);
    story.run("delete cm/root", 3);
    story.run("delete cm/root cm/nothing --yes", 4);
    story.run("delete cm/nothing --ignore-not-found", 0);
    story.run("collections", 0);
    story.play.map("h", &[], "  finalizers: [x.example/wait]\n");
    story.run("delete cm/h --yes", 3);
    story.run("retry cm/h", 3);
    story.run("resume", 3);
    story.run("force cm/h --reason gone", 0);
    story.run("resume", 0);
    story.run("orphans --kinds cm", 0);
    let owner = "  ownerReferences:\n  - {apiVersion: v1, kind: ConfigMap, name: gone, uid: \
         11111111-2222-4333-8444-555555555555}\n";
    story.play.map("orphan", &[], owner);
    story.run("orphans --kinds cm --min-age 0s --collect --yes", 0);
}

/// Every command answers programs in the same form, documented in docs/output.md.
#[test]
fn every_answer_is_a_stream() {
    let mut story = Story { play: Play::new(), text: String::new(), commands: BTreeSet::new() };
    objects(&mut story);
    modules(&mut story);
    deletions(&mut story);
    story.play.file("machine.luau", PROGRAM);
    story.run("run machine.luau --env e", 0);
    story.run("run machine.luau --env e", 0);
    story.run("environments", 0);
    story.run("environments e", 0);
    story.run("environments nothing", 1);
    story.run("environments retry e", 0);
    story.run("environments give-up e", 0);
    story.run("delete env/e --yes", 3);
    story.run("destroy --env e --dry-run", 0);
    story.run("destroy --env e", 3);
    story.run("destroy --env e --yes", 0);
    story.run("backup copy.db", 0);
    let file = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/json.txt");
    if std::env::var_os("SEXTON_UPDATE").is_some() {
        std::fs::write(&file, &story.text).unwrap();
    }
    let expected = std::fs::read_to_string(&file).unwrap_or_default();
    for (is, should) in story.text.lines().zip(expected.lines()) {
        assert_eq!(is, should, "if that is meant: SEXTON_UPDATE=1");
    }
    assert_eq!(story.text.lines().count(), expected.lines().count(), "if that is meant: SEXTON_UPDATE=1");
}

/// A reader that closes the pipe early ends the command, quietly.
#[test]
fn a_closed_pipe_is_no_error() {
    let play = Play::new();
    let many =
        |number: usize| format!("---\napiVersion: v1\nkind: ConfigMap\nmetadata: {{name: m-{number}}}\n");
    play.put(&(0..2000).map(many).collect::<String>());
    for arguments in ["plan delete cm -l !x -o json", "graph -o json", "kinds -o json"] {
        let mut child =
            play.command(arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut first = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut first).unwrap();
        assert!(first.starts_with("{\"kind\":\"Header\""), "{first}");
        let ran = ended(child);
        assert!(ran.code == 0 && !ran.err.contains("error"), "{ran:?}");
    }
}
