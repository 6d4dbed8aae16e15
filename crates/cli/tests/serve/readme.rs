//! The commands of README.md, typed from top to bottom: one terminal serves, in the other one everything else is typed.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use crate::kubectl::kubectls_or_skip;

const REPOSITORY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// What is not typed here: it takes minutes, or opens this machine to others.
const LEFT_OUT: [&str; 3] = ["cargo test", "cargo install", "sexton serve --listen 0.0.0.0"];

/// The commands of the blocks for a shell, without their comments.
fn commands(text: &str) -> Vec<String> {
    let blocks = text.split("```sh\n").skip(1).filter_map(|rest| rest.split("\n```").next());
    let lines = blocks.flat_map(str::lines).map(|line| line.split(" #").next().unwrap_or_default().trim());
    lines.filter(|line| !line.is_empty()).map(|line| line.replace("cargo run -- ", "sexton ")).collect()
}

/// A clone as far as the commands need it, with the programs that they call.
struct Clone {
    dir: tempfile::TempDir,
    variables: Vec<(String, String)>,
    server: Option<(Child, BufReader<std::process::ChildStdout>)>,
}

impl Drop for Clone {
    fn drop(&mut self) {
        if let Some((server, _)) = &mut self.server {
            let _ = server.kill();
            let _ = server.wait();
        }
    }
}

impl Clone {
    fn new(kubectl: Option<&Path>) -> Clone {
        let dir = tempfile::tempdir().unwrap();
        let copied = Command::new("cp")
            .arg("-r")
            .arg(Path::new(REPOSITORY).join("examples"))
            .arg(dir.path().join("examples"))
            .status();
        assert!(copied.unwrap().success());
        std::fs::create_dir(dir.path().join("bin")).unwrap();
        let link = |program: &Path, name: &str| {
            std::os::unix::fs::symlink(program, dir.path().join("bin").join(name)).unwrap();
        };
        link(Path::new(env!("CARGO_BIN_EXE_sexton")), "sexton");
        kubectl.iter().for_each(|kubectl| link(kubectl, "kubectl"));
        Clone { dir, variables: Vec::new(), server: None }
    }

    fn shell(&self, command: &str) -> Command {
        let path = format!("{}/bin:/usr/bin:/bin", self.dir.path().display());
        let mut shell = Command::new("sh");
        shell.args(["-c", command]).current_dir(self.dir.path()).env_clear();
        shell.env("PATH", path).env("HOME", self.dir.path()).envs(self.variables.iter().cloned());
        shell
    }

    fn type_in(&mut self, command: &str) {
        if let Some((name, value)) = command.strip_prefix("export ").and_then(|rest| rest.split_once('=')) {
            self.variables.push((name.to_owned(), value.to_owned()));
        } else if command == "sexton serve" {
            // Any port, because tests run side by side; all else finds it.
            let mut shell = self.shell("exec sexton serve --listen 127.0.0.1:0");
            let mut child = shell.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
            let (mut stdout, mut line) = (BufReader::new(child.stdout.take().unwrap()), String::new());
            stdout.read_line(&mut line).unwrap();
            assert!(line.starts_with("serving .sexton on https://127.0.0.1:"), "{line}");
            self.server = Some((child, stdout));
        } else {
            let output = self.shell(command).stdin(Stdio::null()).output().unwrap();
            assert!(output.status.success(), "{command}: {output:?}");
        }
    }
}

#[test]
fn the_readme_works_as_it_is_typed() {
    let text = std::fs::read_to_string(Path::new(REPOSITORY).join("README.md")).unwrap();
    let kubectl = kubectls_or_skip().into_iter().next();
    let mut clone = Clone::new(kubectl.as_deref());
    let mut typed = Vec::new();
    for command in commands(&text) {
        let left_out = LEFT_OUT.iter().any(|start| command.starts_with(start));
        if !left_out && (kubectl.is_some() || !command.starts_with("kubectl")) {
            clone.type_in(&command);
            typed.push(command);
        }
    }
    for needed in ["sexton apply -f examples/shop", "sexton serve", "sexton run examples/programs/cafe.luau"]
    {
        assert!(typed.iter().any(|command| command.starts_with(needed)), "{needed} is not in {typed:?}");
    }
}
