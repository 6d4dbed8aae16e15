//! The reference in `docs/cli.md`, which is written from what can be typed, and the test that it is up to date.

use std::path::Path;

use crate::arguments::program;

const HEAD: &str = "# The command line\n\nWritten from the program itself; a test keeps it up to date \
     (`SEXTON_UPDATE=1 cargo test -p sexton-cli reference`).\n\n\
     Exit codes: 0 done, 1 error, 2 changes pending (only when asked for), 3 held: somebody must say yes first, \
     4 partial: some of it was done, 5 another process uses the data directory, 130 interrupted.\n";

fn reference() -> String {
    let mut program = program().term_width(100);
    program.build();
    let mut text = HEAD.to_owned();
    text.push_str(&section("sexton", &mut program.clone()));
    for command in program.get_subcommands_mut().filter(|command| command.get_name() != "help") {
        // The flags of all commands stand at the top once.
        let shared: Vec<String> = command
            .get_arguments()
            .filter(|arg| arg.is_global_set())
            .map(|arg| arg.get_id().to_string())
            .collect();
        let mut own = command.clone();
        for id in shared {
            own = own.mut_arg(id, |arg| arg.hide(true));
        }
        let title = format!("sexton {}", own.get_name());
        text.push_str(&section(&title, &mut own));
    }
    text
}

fn section(title: &str, command: &mut clap::Command) -> String {
    let help = command.render_long_help().to_string();
    let lines: Vec<&str> = help.lines().map(str::trim_end).collect();
    format!("\n## {title}\n\n```text\n{}\n```\n", lines.join("\n").trim_end())
}

#[test]
fn the_reference_is_up_to_date() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/cli.md");
    let expected = reference();
    if std::env::var_os("SEXTON_UPDATE").is_some() {
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(&file, &expected).unwrap();
    }
    let found = std::fs::read_to_string(&file).unwrap_or_default();
    assert!(found == expected, "docs/cli.md is old: run SEXTON_UPDATE=1 cargo test -p sexton-cli reference");
}

#[test]
fn the_arguments_make_sense() {
    program().debug_assert();
}
