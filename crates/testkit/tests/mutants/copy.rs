//! A copy of the tree, in which bugs are planted. What did not change keeps its time, so that builds stay incremental.

use std::fs;
use std::path::{Path, PathBuf};

/// What is not copied.
const LEFT_OUT: [&str; 4] = ["target", ".git", ".sexton", "proptest-regressions"];

/// The copy.
pub(crate) struct Copy {
    pub(crate) place: PathBuf,
    root: PathBuf,
}

impl Copy {
    /// Brings the copy up to date. It is in `target/mutants`, or where `SEXTON_MUTANTS_DIR` says.
    pub(crate) fn of(root: &Path) -> Copy {
        let place = std::env::var("SEXTON_MUTANTS_DIR").map(PathBuf::from);
        let place = place.unwrap_or_else(|_| root.join("target/mutants"));
        update(root, &place);
        Copy { place, root: root.to_owned() }
    }

    /// The directory of what is built.
    pub(crate) fn target(&self) -> PathBuf {
        match std::env::var("CARGO_TARGET_DIR") {
            Ok(target) => self.root.join(target),
            Err(_) => self.root.join("target"),
        }
    }

    /// Replaces a text in a file of the copy; whether it was there exactly once.
    pub(crate) fn plant(&self, file: &str, is: &str, becomes: &str) -> bool {
        let source = fs::read_to_string(self.root.join(file)).unwrap();
        let once = source.matches(is).count() == 1;
        if once {
            fs::write(self.place.join(file), source.replacen(is, becomes, 1)).unwrap();
        }
        once
    }

    /// Takes the change back.
    pub(crate) fn restore(&self, file: &str) {
        fs::write(self.place.join(file), fs::read(self.root.join(file)).unwrap()).unwrap();
    }
}

/// Copies what differs, and removes what is not there any more.
fn update(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    let mut known = Vec::new();
    for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
        let name = entry.file_name();
        if LEFT_OUT.iter().any(|left_out| name == *left_out) {
            continue;
        }
        let (source, target) = (entry.path(), to.join(&name));
        if source.is_dir() {
            update(&source, &target);
        } else if let Ok(content) = fs::read(&source)
            && fs::read(&target).ok().as_ref() != Some(&content)
        {
            fs::copy(&source, &target).unwrap();
        }
        known.push(name);
    }
    for entry in fs::read_dir(to).unwrap().map(Result::unwrap) {
        if !known.contains(&entry.file_name()) && !LEFT_OUT.iter().any(|one| entry.file_name() == *one) {
            let path = entry.path();
            if path.is_dir() { fs::remove_dir_all(path).unwrap() } else { fs::remove_file(path).unwrap() }
        }
    }
}
