//! What bash completes, asked as bash asks: the script is sourced, and `COMPREPLY` is read.
#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a test may end so")]

mod common;

use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use common::{Play, SHOP};

/// What bash offers at the end of a line.
fn offered(play: &Play, line: &str) -> Vec<String> {
    let program = Path::new(env!("CARGO_BIN_EXE_sexton")).parent().unwrap();
    // Split where bash splits: at spaces, and at the sign behind a flag.
    let words = line.replace('=', " = ");
    let script = format!(
        "source <(sexton completions bash); COMP_WORDS=({}{}); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1)); _sexton; \
         printf '%s\\n' \"${{COMPREPLY[@]}}\"",
        words,
        if words.ends_with(' ') { "''" } else { "" }
    );
    let mut bash = Command::new("bash");
    bash.args(["--norc", "-c", &script]).current_dir(play.path()).env_clear();
    let path = format!("{}:/usr/bin:/bin", program.display());
    let output = bash.env("PATH", path).env("HOME", play.path()).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stderr), "", "{line}");
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines().filter(|word| !word.is_empty()).map(str::to_owned).collect()
}

#[test]
fn bash_completes_what_the_target_has() {
    let play = Play::new();
    play.put(SHOP);
    play.map("ab", &[], "");
    play.file("mod/sexton.yaml", "manager: shop\n");
    play.file("mod/a.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: m}\n");
    assert_eq!(play.run("apply -f mod").code, 0);
    for (line, expected) in [
        ("sexton wh", &["why"][..]),
        ("sexton plan d", &["delete"]),
        ("sexton get confi", &["configmaps"]),
        ("sexton get cm ", &["a", "ab", "m"]),
        ("sexton get cm/a", &["cm/a", "cm/ab"]),
        ("sexton why configm", &["configmaps/"]),
        ("sexton why configmaps/a", &["configmaps/a", "configmaps/ab"]),
        ("sexton destroy ", &["shop"]),
        ("sexton transfer cm/a --to s", &["shop"]),
        ("sexton delete cm --pol", &["--policy"]),
        ("sexton graph -o sv", &["svg"]),
        ("sexton graph --output=sv", &["svg"]),
        ("sexton get cm -n defau", &["default"]),
        ("sexton get cm -n nowhere ", &[]),
        ("sexton get nonsense ", &[]),
        ("sexton put -f ", &[]),
        ("sexton complet", &["completions"]),
    ] {
        assert_eq!(offered(&play, line), expected, "{line}");
    }
    assert!(!play.path().join("elsewhere").exists());
    assert_eq!(offered(&play, "sexton get --data elsewhere cm "), [""; 0]);
    assert!(!play.path().join("elsewhere").exists(), "asking makes no store");
}

/// A target that does not answer offers nothing, says nothing, and does not keep anybody waiting.
#[test]
fn a_silent_target_is_not_waited_for() {
    let play = Play::new();
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let since = Instant::now();
    let url = format!("http://{}", silent.local_addr().unwrap());
    assert_eq!(offered(&play, &format!("sexton get --server {url} cm ")), [""; 0]);
    assert!(since.elapsed() < Duration::from_secs(30), "{:?}", since.elapsed());
    assert_eq!(offered(&play, "sexton get --server nonsense cm "), [""; 0]);
    assert_eq!(offered(&play, "sexton get --context nowhere cm "), [""; 0]);
}
