//! Which files are meant, and their texts.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use crate::failure::Failure;

/// Files of a directory that hold documents.
const ENDINGS: [&str; 3] = ["yaml", "yml", "json"];

/// Files of a directory that say how its documents are deployed.
const SETTINGS: [&str; 2] = ["sexton.yaml", "sexton.yml"];

/// The names and texts of files; `-` is stdin, and a directory is all that is in it, in the order of names.
pub(super) fn texts(paths: &[String]) -> Result<Vec<(String, String)>, Failure> {
    let mut texts = Vec::new();
    for path in paths {
        if path == "-" {
            let mut text = String::new();
            let read = std::io::stdin().lock().read_to_string(&mut text);
            read.map_err(|error| Failure::new(format!("cannot read stdin: {error}")))?;
            texts.push(("stdin".to_owned(), text));
            continue;
        }
        for file in within(Path::new(path))? {
            let text = fs::read_to_string(&file).map_err(|error| cannot("read", &file, &error))?;
            texts.push((file.display().to_string(), text));
        }
    }
    Ok(texts)
}

fn cannot(verb: &str, path: &Path, error: &std::io::Error) -> Failure {
    Failure::new(format!("cannot {verb} {}: {error}", path.display()))
}

/// The file itself, or the files below a directory. What begins with a dot is passed over, as are links to directories,
/// so that no circle is walked.
fn within(path: &Path) -> Result<Vec<PathBuf>, Failure> {
    let found = fs::metadata(path).map_err(|error| cannot("read", path, &error))?;
    if !found.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let mut entries = Vec::new();
    for entry in fs::read_dir(path).map_err(|error| cannot("look into", path, &error))? {
        let entry = entry.map_err(|error| cannot("look into", path, &error))?;
        let link = entry.file_type().is_ok_and(|kind| kind.is_symlink()) && entry.path().is_dir();
        if !link && !entry.file_name().to_string_lossy().starts_with('.') {
            entries.push(entry.path());
        }
    }
    entries.sort();
    let mut files = Vec::new();
    for entry in entries {
        // What stands beside documents to say how they are deployed is none itself.
        let settings = SETTINGS.iter().any(|name| entry.file_name().is_some_and(|file| file == *name));
        let wanted =
            !settings && entry.extension().is_some_and(|ending| ENDINGS.iter().any(|known| ending == *known));
        if entry.is_dir() {
            files.extend(within(&entry)?);
        } else if wanted {
            files.push(entry);
        }
    }
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directories_are_read_in_the_order_of_names() {
        let dir = tempfile::tempdir().unwrap();
        for name in ["b.yaml", "a.json", "c.txt", ".hidden.yaml", "sub/x.yml"] {
            let file = dir.path().join(name);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, name).unwrap();
        }
        let found = texts(&[dir.path().display().to_string()]).unwrap();
        let texts: Vec<&str> = found.iter().map(|(_, text)| text.as_str()).collect();
        assert_eq!(texts, ["a.json", "b.yaml", "sub/x.yml"]);
        assert!(super::texts(&["/nowhere/at/all".into()]).is_err());
    }
}
