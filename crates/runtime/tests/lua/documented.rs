//! The documentation of programs: it names everything, and its programs do what it says.

use std::path::Path;

use sexton_runtime::lua::Host;

use crate::harness::run_with;

fn page() -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/gc.md");
    std::fs::read_to_string(path).unwrap()
}

/// REQ-MUR-101, REQ-MUR-75: the collector with its functions, the session with its methods, the phases, and guidelines
/// for authors of classes.
#[test]
fn everything_is_named() {
    let page = page();
    for word in [
        "GC.collect()",
        "GC.isDestroyed(",
        "GC.subscribe(",
        "GC.unsubscribe(",
        "gc.phase",
        "gc:isDoomed(",
        "gc:cancel(",
        "`warning`",
        "`notifying`",
        "`destroying`",
        "`destroyed`",
        "## Guidelines for authors of classes",
        "## What is not possible",
    ] {
        assert!(page.contains(word), "{word} is not in docs/gc.md");
    }
}

/// The complete programs of the page say what stands there.
#[test]
fn its_programs_say_what_it_says() {
    let page = page();
    let blocks: Vec<&str> = page.split("```").skip(1).step_by(2).collect();
    let programs = blocks.iter().filter_map(|block| block.strip_prefix("lua\n"));
    let complete: Vec<&str> =
        programs.filter(|text| text.starts_with("format") && text.contains("function deploy")).collect();
    assert!(!complete.is_empty(), "there is a complete program");
    for program in complete {
        let ran = run_with(program, Host::default());
        for line in ran.said().lines() {
            assert!(page.contains(&format!("\n{line}\n")), "the page does not show {line:?} of\n{program}");
        }
    }
}
