//! The built program in a directory of its own: text in, text out.
#![allow(dead_code, reason = "every test file uses its part of it")]
#![allow(clippy::unwrap_used, reason = "a test may end so")]

pub(crate) mod authorizer;
pub(crate) mod modules;

use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// A directory in which the program runs.
pub(crate) struct Play(tempfile::TempDir);

/// How a run ended.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Ran {
    /// It ended well and said this.
    #[track_caller]
    pub(crate) fn says(&self, expected: &str) {
        assert_eq!((self.code, self.out.as_str()), (0, expected), "stderr: {}", self.err);
    }

    /// It ended like this, and talked about these.
    #[track_caller]
    pub(crate) fn fails(&self, code: i32, words: &[&str]) {
        assert_eq!(self.code, code, "{self:?}");
        for word in words {
            assert!(self.err.contains(word), "no {word:?} in:\n{}", self.err);
        }
    }
}

impl Play {
    pub(crate) fn new() -> Play {
        Play(tempfile::tempdir().unwrap())
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    pub(crate) fn data(&self) -> PathBuf {
        self.path().join(".sexton")
    }

    pub(crate) fn file(&self, name: &str, text: &str) {
        let file = self.path().join(name);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(&file, text).unwrap();
        // A token that all users can read is refused.
        std::fs::set_permissions(file, PermissionsExt::from_mode(0o600)).unwrap();
    }

    /// The program with arguments separated by spaces, in a clean environment.
    pub(crate) fn command(&self, arguments: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_sexton"));
        command
            .args(arguments.split_whitespace())
            .current_dir(self.path())
            .env_clear()
            .env("HOME", self.path());
        command
    }

    pub(crate) fn run(&self, arguments: &str) -> Ran {
        finish(self.command(arguments).stdin(Stdio::null()))
    }

    pub(crate) fn run_with(&self, arguments: &str, input: &str) -> Ran {
        let mut command = self.command(arguments);
        let piped = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = piped.spawn().unwrap();
        child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
        ended(child)
    }
}

impl Play {
    /// Puts a ConfigMap with owners, and further metadata as it stands in YAML.
    #[track_caller]
    pub(crate) fn map(&self, name: &str, owners: &[&str], metadata: &str) {
        let mut text = format!("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {name}\n{metadata}");
        if !owners.is_empty() {
            text.push_str("  ownerReferences:\n");
        }
        for owner in owners {
            let uid = self.uid(&format!("cm/{owner}"));
            text.push_str(&format!("  - {{apiVersion: v1, kind: ConfigMap, name: {owner}, uid: {uid}}}\n"));
        }
        let put = self.run_with("put -f -", &text);
        assert_eq!(put.code, 0, "{put:?}");
    }

    /// Puts documents.
    #[track_caller]
    pub(crate) fn put(&self, text: &str) {
        let put = self.run_with("put -f -", text);
        assert_eq!(put.code, 0, "{put:?}");
    }

    /// The uid of an object.
    #[track_caller]
    pub(crate) fn uid(&self, object: &str) -> String {
        let shown = self.run(&format!("get {object} -o json"));
        let object: serde_json::Value = serde_json::from_str(&shown.out).unwrap();
        object["metadata"]["uid"].as_str().unwrap().to_owned()
    }

    /// The digest of the plan of a deletion.
    #[track_caller]
    pub(crate) fn digest(&self, what: &str) -> String {
        let shown = self.run(&format!("plan delete {what} -o json"));
        let plan: serde_json::Value = serde_json::from_str(shown.out.lines().nth(1).unwrap()).unwrap();
        plan["digest"].as_str().unwrap().to_owned()
    }

    /// An executable file. Somebody else writes it: a file that this process has open for writing is, for a moment,
    /// open in every process that another test begins just then, and cannot be run as long as it is.
    pub(crate) fn program(&self, name: &str, text: &str) {
        let mut writing = Command::new("sh");
        let writing = writing.args(["-c", r#"cat > "$0" && chmod 755 "$0""#]).arg(self.path().join(name));
        let mut writing = writing.stdin(Stdio::piped()).spawn().unwrap();
        writing.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
        assert!(writing.wait().unwrap().success());
    }
}

pub(crate) fn finish(command: &mut Command) -> Ran {
    ended(command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap())
}

pub(crate) fn ended(child: Child) -> Ran {
    let output = child.wait_with_output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    Ran { code: output.status.code().unwrap_or(-1), out: text(output.stdout), err: text(output.stderr) }
}

/// Ages and ids differ from run to run.
pub(crate) fn still(text: &str) -> String {
    let mut lines = Vec::new();
    for line in text.lines() {
        let line = match line.split_once("uid: ") {
            Some((before, _)) => format!("{before}uid: ID"),
            None => line.to_owned(),
        };
        let line = match line.split_once("Timestamp: ") {
            Some((before, _)) => format!("{before}Timestamp: TIME"),
            None => line,
        };
        let age = line.rsplit(' ').next().filter(|word| word.len() > 1 && word.ends_with('s'));
        let age = age.filter(|word| word[..word.len() - 1].chars().all(|c| c.is_ascii_digit()));
        lines.push(age.map_or(line.clone(), |age| format!("{}AGE", &line[..line.len() - age.len()])));
    }
    lines.join("\n") + "\n"
}

pub(crate) const SHOP: &str = r#"# the shop
apiVersion: v1
kind: ConfigMap
metadata: {name: a, labels: {app: web}}
data: {on: "yes", n: "1", text: "line 1\nline 2\n"}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, labels: {app: web}}
spec: {replicas: 2}
"#;
