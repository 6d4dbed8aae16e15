//! Real kubectl against a real server: a transcript of commands and what a person sees.
//!
//! `transcript.txt` holds lines beginning with `$` (commands, run by `sh` with `kubectl` being the one under test) and
//! what they print. Ages, times, uids and versions are replaced by words before comparing. `SEXTON_UPDATE=1` records
//! it anew with the first kubectl found. Versions 1.29 to 1.33 are tried, as many as there are.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::process::Server;

const TRANSCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/serve/transcript.txt");
const FILES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/serve/files");

/// Every kubectl there is: those with a version in their name, else the one on the path.
fn kubectls() -> Vec<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let plain: Vec<PathBuf> =
        std::env::split_paths(&path).map(|dir| dir.join("kubectl")).filter(|file| file.is_file()).collect();
    let mut folders: Vec<PathBuf> = std::env::split_paths(&path).collect();
    folders.extend(plain.iter().filter_map(|file| file.canonicalize().ok()?.parent().map(Path::to_owned)));
    let mut versioned: Vec<PathBuf> = (29..=33)
        .flat_map(|minor| folders.iter().map(move |dir| dir.join(format!("kubectl.1.{minor}"))))
        .filter(|file| file.is_file())
        .collect();
    versioned.dedup();
    if versioned.is_empty() {
        plain.into_iter().find(|file| is_known(file)).into_iter().collect()
    } else {
        versioned
    }
}

/// The same; where there is none, and none is required, that is said.
pub(crate) fn kubectls_or_skip() -> Vec<PathBuf> {
    let kubectls = kubectls();
    if kubectls.is_empty() {
        let required = std::env::var_os("SEXTON_REQUIRE_EXTERNAL").is_some();
        assert!(!required, "kubectl is required and not on the PATH");
        let _ = writeln!(std::io::stdout(), "skipped: needs kubectl");
    }
    kubectls
}

/// Whether a kubectl is of a version that the transcript speaks of.
fn is_known(kubectl: &Path) -> bool {
    let output = Command::new(kubectl).args(["version", "--client", "-o", "json"]).output();
    let text = output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).unwrap_or_default();
    (29..=33).any(|minor| text.contains(&format!("\"gitVersion\": \"v1.{minor}.")))
}

/// The kubectl rows of the API: apply, server-side apply, label, annotate, patch, get in its forms, create, replace,
/// diff, delete with each cascade, wait, api-resources. REQ-KRK-34: deleting with a command line utility.
#[test]
fn kubectl_sees_a_small_kubernetes() {
    let kubectls = kubectls_or_skip();
    let recorded = std::fs::read_to_string(TRANSCRIPT).unwrap();
    for (at, kubectl) in kubectls.iter().enumerate() {
        let played = play(kubectl, &recorded);
        if at == 0 && std::env::var_os("SEXTON_UPDATE").is_some() {
            std::fs::write(TRANSCRIPT, &played).unwrap();
            continue;
        }
        let expected = if std::env::var_os("SEXTON_UPDATE").is_some() {
            std::fs::read_to_string(TRANSCRIPT).unwrap()
        } else {
            recorded.clone()
        };
        assert!(played == expected, "{}:\n{}", kubectl.display(), difference(&expected, &played));
    }
}

fn difference(expected: &str, played: &str) -> String {
    let mut text = String::new();
    for (was, is) in expected.lines().zip(played.lines()) {
        if was != is {
            let _ = writeln!(text, "expected: {was}\n     got: {is}");
            break;
        }
    }
    format!("{text}the whole of it:\n{played}")
}

fn play(kubectl: &Path, transcript: &str) -> String {
    let dir = tempfile::tempdir().unwrap();
    let server = Server::start(&dir.path().join("data"), &["--collector", "off"]);
    std::os::unix::fs::symlink(kubectl, dir.path().join("kubectl")).unwrap();
    let config = format!(
        "apiVersion: v1\nkind: Config\nclusters: [{{name: s, cluster: {{server: \"http://{}\"}}}}]\n\
         contexts: [{{name: s, context: {{cluster: s, user: u}}}}]\nusers: [{{name: u, user: {{}}}}]\ncurrent-context: s\n",
        server.address
    );
    std::fs::write(dir.path().join("config"), config).unwrap();
    let mut out = String::new();
    for line in transcript.lines().filter(|line| line.starts_with('$') || line.starts_with('#')) {
        let _ = writeln!(out, "{line}");
        if let Some(command) = line.strip_prefix("$ ") {
            out.push_str(&plain(&run(dir.path(), command)));
        }
    }
    out
}

fn run(home: &Path, command: &str) -> String {
    let path = format!("{}:{}", home.display(), std::env::var("PATH").unwrap_or_default());
    let output = Command::new("sh")
        .args(["-c", &format!("exec 2>&1; {command}")])
        .current_dir(FILES)
        .env("PATH", path)
        .env("HOME", home)
        .env("KUBECONFIG", home.join("config"))
        .env_remove("KUBECTL_EXTERNAL_DIFF")
        .output()
        .unwrap();
    let mut text = String::from_utf8_lossy(&output.stdout).into_owned();
    if !output.status.success() {
        let _ = writeln!(text, "[exit {}]", output.status.code().unwrap_or(-1));
    }
    text
}

/// What differs from run to run becomes a word.
fn plain(text: &str) -> String {
    let mut out = String::new();
    for line in text.lines() {
        let line = if line.starts_with("--- ") || line.starts_with("+++ ") || line.starts_with("diff ") {
            line.split_whitespace().next().unwrap_or_default().to_owned()
        } else {
            line.split_inclusive(' ').map(word).collect()
        };
        let _ = writeln!(out, "{}", line.trim_end());
    }
    out
}

fn word(word: &str) -> String {
    let bare = word.trim_matches(|c: char| c == ' ' || c == '"' || c == ',');
    let is_time = bare.len() == 20 && bare.ends_with('Z') && bare.contains('T');
    let is_uid = bare.len() == 36 && bare.matches('-').count() == 4;
    // From two minutes on, on a slow machine, minutes come before the seconds: `2m`, `3m20s`, `12m`.
    let (minutes, rest) = bare.split_once('m').unwrap_or(("", bare));
    let digits = |text: &str| text.chars().all(|c| c.is_ascii_digit());
    let seconds = rest.strip_suffix('s').is_some_and(|seconds| !seconds.is_empty() && digits(seconds));
    let is_age = digits(minutes) && (seconds || (rest.is_empty() && !minutes.is_empty()));
    match (is_time, is_uid, is_age) {
        (true, ..) => word.replace(bare, "TIME"),
        (_, true, _) => word.replace(bare, "UID"),
        (.., true) => word.replace(bare, "AGE"),
        _ => word.to_owned(),
    }
}
