//! The files of the workspace and what cargo says of it.
//!
//! It must not know any rule.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;

use serde_json::Value;

use crate::scan::Scanned;

/// A file that people wrote.
#[derive(Debug)]
pub(crate) struct Text {
    /// Its path from the root of the workspace, with `/` between the parts.
    pub(crate) path: String,
    pub(crate) text: String,
}

/// A file of Rust.
#[derive(Debug)]
pub(crate) struct Source {
    pub(crate) path: String,
    pub(crate) text: String,
    pub(crate) scanned: Scanned,
}

impl Source {
    /// Whether all of the file is test code.
    pub(crate) fn is_test(&self) -> bool {
        self.path.split('/').any(|part| part == "tests" || part == "tests.rs")
    }
}

/// The root of the workspace.
pub(crate) static ROOT: LazyLock<PathBuf> = LazyLock::new(|| {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.ancestors().nth(2).unwrap().to_owned()
});

/// Every text of the workspace, in order of paths.
pub(crate) static TEXTS: LazyLock<Vec<Text>> = LazyLock::new(|| {
    let mut paths = Vec::new();
    walk(&ROOT, &mut paths);
    paths.sort();
    let read = |path: PathBuf| {
        let text = std::fs::read_to_string(&path).ok()?;
        Some(Text { path: relative(&path), text })
    };
    paths.into_iter().filter_map(read).collect()
});

/// Every Rust file of the workspace.
pub(crate) static SOURCES: LazyLock<Vec<Source>> = LazyLock::new(|| {
    let rust = TEXTS.iter().filter(|file| file.path.ends_with(".rs"));
    rust.map(|file| Source {
        path: file.path.clone(),
        text: file.text.clone(),
        scanned: Scanned::new(&file.text),
    })
    .collect()
});

/// What `cargo metadata --no-deps` says.
pub(crate) static METADATA: LazyLock<Value> = LazyLock::new(|| {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .args(["metadata", "--no-deps", "--offline", "--format-version", "1"])
        .current_dir(&*ROOT)
        .output()
        .unwrap();
    assert!(output.status.success(), "cargo metadata: {}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
});

/// The packages of the workspace.
pub(crate) fn packages() -> &'static [Value] {
    METADATA["packages"].as_array().unwrap()
}

/// A path from the root of the workspace.
pub(crate) fn relative(path: &Path) -> String {
    let path = path.strip_prefix(&*ROOT).unwrap_or(path);
    path.components().map(|part| part.as_os_str().to_string_lossy()).collect::<Vec<_>>().join("/")
}

/// The text of a file that has to be there.
pub(crate) fn text(path: &str) -> &'static str {
    let found = TEXTS.iter().find(|file| file.path == path);
    &found.unwrap_or_else(|| panic!("{path} is missing")).text
}

fn walk(dir: &Path, into: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(dir).unwrap() {
        let entry = entry.unwrap();
        let name = entry.file_name().to_string_lossy().into_owned();
        let hidden = name.starts_with('.') && name != ".ci";
        if entry.file_type().unwrap().is_dir() {
            if !hidden && name != "target" {
                walk(&entry.path(), into);
            }
        } else if !hidden {
            into.push(entry.path());
        }
    }
}
