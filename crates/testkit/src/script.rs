//! Requests and expected answers as text, so that a reader sees what goes in and what comes out.
//!
//! ```text
//! # a comment
//! DELETE configmaps/a            method and path; without a leading slash: a core kind in `default`
//! Accept: application/json       headers, if any
//! {"preconditions": {"uid": "x"}}   the body, if any, on any number of lines
//! -> 409 Conflict                the code, and the reason of the Status
//!    details.name = "a"          a field equals a JSON value
//!    message ~ UID in object     a text contains
//!    details.causes absent       a field is not there
//!    warning ~ duplicate         some Warning header contains
//! ```
//!
//! Steps are separated by empty lines and run one after the other on one world.

use serde_json::Value;

use crate::call::Answer;
use crate::world::World;

/// Runs a script; the first step that does not answer as expected panics with its text.
pub async fn run(world: &World, script: &str) {
    for block in script.split("\n\n") {
        let lines: Vec<&str> =
            block.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#')).collect();
        if !lines.is_empty() {
            step(world, &lines).await;
        }
    }
}

async fn step(world: &World, lines: &[&str]) {
    let (method, path) =
        lines[0].split_once(' ').unwrap_or_else(|| panic!("no method and path: {}", lines[0]));
    let answer_at = lines.iter().position(|line| line.starts_with("->"));
    let answer_at = answer_at.unwrap_or_else(|| panic!("no expected answer: {lines:?}"));
    let mut call = world.call(method, path.trim());
    let mut body = String::new();
    for line in &lines[1..answer_at] {
        match header(line).filter(|_| body.is_empty()) {
            Some((name, value)) => call = call.header(name, value),
            None => body.push_str(line),
        }
    }
    let answer = call.bytes(body).send().await;
    let wrong = |why: String| -> ! {
        let got = String::from_utf8_lossy(&answer.text).into_owned();
        panic!("{why}\n{}\ngot {} {:?} {got}", lines.join("\n"), answer.code, answer.warnings());
    };
    let mut words = lines[answer_at].trim_start_matches("->").split_whitespace();
    if words.next() != Some(answer.code.to_string().as_str()) {
        wrong("another code".into());
    }
    if let Some(reason) = words.next()
        && answer.text_at("reason") != reason
    {
        wrong("another reason".into());
    }
    for line in &lines[answer_at + 1..] {
        if let Err(why) = check(&answer, line) {
            wrong(why);
        }
    }
}

/// A header line; bodies begin with a bracket or a letter of YAML, never with `Word-Word: `.
fn header(line: &str) -> Option<(&str, &str)> {
    let (name, value) = line.split_once(": ")?;
    matches!(name, "Accept" | "Content-Type" | "User-Agent").then_some((name, value))
}

fn check(answer: &Answer, line: &str) -> Result<(), String> {
    if let Some(path) = line.strip_suffix(" absent") {
        let found = answer.at(path.trim());
        return if found.is_null() { Ok(()) } else { Err(format!("{path} is there: {found}")) };
    }
    if let Some((path, expected)) = line.split_once(" = ") {
        let expected: Value = serde_json::from_str(expected).map_err(|error| format!("{line}: {error}"))?;
        let found = answer.at(path.trim());
        return if *found == expected {
            Ok(())
        } else {
            Err(format!("{path} is {found}, expected {expected}"))
        };
    }
    let (path, part) = line.split_once(" ~ ").ok_or_else(|| format!("not an expectation: {line}"))?;
    let found = match path.trim() {
        "warning" => answer.warnings().join("\n"),
        path => answer.text_at(path).to_owned(),
    };
    if found.contains(part) {
        Ok(())
    } else {
        Err(format!("{path} is {found:?}, expected it to contain {part:?}"))
    }
}
