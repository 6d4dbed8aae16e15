//! Every file says what it is, and neither files nor functions grow too long to be read in one go.

use crate::complain;
use crate::tree::SOURCES;

/// Longer files are refused.
const FILE_MOST: usize = 400;
/// Longer files are mentioned: a good moment to look for the seam.
const FILE_NOTE: usize = 230;
/// From `fn` to the closing brace.
const FUNCTION_MOST: usize = 70;

#[test]
fn every_file_begins_with_what_it_is() {
    let silent = SOURCES.iter().filter(|source| !source.text.starts_with("//! "));
    let problems: Vec<String> = silent.map(|source| source.path.clone()).collect();
    complain(
        &problems,
        "Begin each file with `//! ` and one sentence: what it is, and what it must not know.",
    );
}

#[test]
fn files_are_short() {
    let mut problems = Vec::new();
    for source in SOURCES.iter() {
        let lines = source.text.lines().count();
        if lines > FILE_MOST {
            problems.push(format!("{}: {lines} lines", source.path));
        } else if lines > FILE_NOTE {
            eprintln!("note: {} has {lines} lines; {FILE_MOST} is the end", source.path);
        }
    }
    complain(&problems, &format!("Split files above {FILE_MOST} lines by role, not by size."));
}

#[test]
fn functions_are_short() {
    let mut problems = Vec::new();
    for source in SOURCES.iter() {
        let long = source.scanned.functions().into_iter().filter(|function| function.lines > FUNCTION_MOST);
        problems
            .extend(long.map(|f| format!("{}:{}: fn {} has {} lines", source.path, f.line, f.name, f.lines)));
    }
    complain(&problems, &format!("Split functions above {FUNCTION_MOST} lines: name the steps."));
}
