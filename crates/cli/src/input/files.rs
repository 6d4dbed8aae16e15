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

/// What is found below a path.
#[derive(Debug, Default)]
struct Found {
    documents: Vec<PathBuf>,
    settings: Vec<PathBuf>,
}

/// The settings files below some paths. Files that are named themselves are none: they are documents.
pub(super) fn settings(paths: &[String]) -> Result<Vec<PathBuf>, Failure> {
    let mut found = Found::default();
    for path in paths.iter().filter(|path| *path != "-") {
        walk(Path::new(path), &mut Vec::new(), &mut found)?;
    }
    Ok(found.settings)
}

/// The file itself, or the files below a directory.
fn within(path: &Path) -> Result<Vec<PathBuf>, Failure> {
    let mut found = Found::default();
    walk(path, &mut Vec::new(), &mut found)?;
    Ok(found.documents)
}

/// Gathers what is below a path. What begins with a dot is passed over, as are links back to where we come from, so that
/// no circle is walked. Nothing else may be passed over in silence: what is not seen here is swept.
fn walk(path: &Path, above: &mut Vec<PathBuf>, found: &mut Found) -> Result<(), Failure> {
    let is_dir = fs::metadata(path).map_err(|error| cannot("read", path, &error))?.is_dir();
    if !is_dir {
        found.documents.push(path.to_owned());
        return Ok(());
    }
    let real = fs::canonicalize(path).map_err(|error| cannot("look into", path, &error))?;
    if above.contains(&real) {
        return Ok(());
    }
    let mut entries = Vec::new();
    for entry in fs::read_dir(path).map_err(|error| cannot("look into", path, &error))? {
        let entry = entry.map_err(|error| cannot("look into", path, &error))?;
        if !entry.file_name().to_string_lossy().starts_with('.') {
            entries.push(entry.path());
        }
    }
    entries.sort();
    above.push(real);
    for entry in entries {
        let is_settings = SETTINGS.iter().any(|name| entry.file_name().is_some_and(|file| file == *name));
        let ending = entry.extension().unwrap_or_default();
        let is_document = ENDINGS.iter().any(|known| ending.eq_ignore_ascii_case(known));
        if entry.is_dir() {
            walk(&entry, above, found)?;
        } else if is_settings {
            found.settings.push(entry);
        } else if is_document {
            // A pipe among files would be waited for without end.
            let file = fs::metadata(&entry).map_err(|error| cannot("read", &entry, &error))?;
            if !file.is_file() {
                return Err(Failure::new(format!("cannot read {}: it is not a file", entry.display())));
            }
            found.documents.push(entry);
        }
    }
    above.pop();
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directories_are_read_in_the_order_of_names() {
        let dir = tempfile::tempdir().unwrap();
        for name in ["b.yaml", "a.json", "c.txt", ".hidden.yaml", "sub/x.yml", "z.YAML", "sub/sexton.yaml"] {
            let file = dir.path().join(name);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, name).unwrap();
        }
        let found = texts(&[dir.path().display().to_string()]).unwrap();
        let texts: Vec<&str> = found.iter().map(|(_, text)| text.as_str()).collect();
        assert_eq!(texts, ["a.json", "b.yaml", "sub/x.yml", "z.YAML"]);
        assert!(super::texts(&["/nowhere/at/all".into()]).is_err());
        let settings = settings(&[dir.path().display().to_string()]).unwrap();
        assert_eq!(settings, [dir.path().join("sub/sexton.yaml")]);
    }

    /// REQ-CLD-6: what is passed over would be swept, so directories behind links count, and circles end.
    #[cfg(unix)]
    #[test]
    fn links_to_directories_are_followed_but_not_in_circles() {
        use std::os::unix::fs::symlink;
        let dir = tempfile::tempdir().unwrap();
        let (here, elsewhere) = (dir.path().join("here"), dir.path().join("elsewhere"));
        for (folder, name) in [(&here, "a.yaml"), (&elsewhere, "b.yaml")] {
            fs::create_dir(folder).unwrap();
            fs::write(folder.join(name), name).unwrap();
        }
        symlink(&elsewhere, here.join("linked")).unwrap();
        symlink(&here, elsewhere.join("back")).unwrap();
        let found = texts(&[here.display().to_string()]).unwrap();
        let texts: Vec<&str> = found.iter().map(|(_, text)| text.as_str()).collect();
        assert_eq!(texts, ["a.yaml", "b.yaml"]);
        let _socket = std::os::unix::net::UnixListener::bind(here.join("s.yaml")).unwrap();
        let refused = super::texts(&[here.display().to_string()]).unwrap_err();
        assert!(refused.what.ends_with("s.yaml: it is not a file"), "{refused:?}");
    }
}
