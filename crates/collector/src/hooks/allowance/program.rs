//! Which programs may be run: those inside of the directories that the operator names, by their real paths.

use std::collections::BTreeMap;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Component, Path, PathBuf};

use sexton_model::hook::{ALLOW_EXEC, Allowance};

use super::{EXAMPLE_DIR, NotAllowed, shown, variables};

/// Where a program that is only named is looked for, wherever the collector was started.
pub(in crate::hooks) const PATH: &str = "/usr/local/bin:/usr/bin:/bin";
/// Directories in which a system has its programs: to allow one of them is to allow everything.
const SYSTEM_DIRS: [&str; 6] =
    ["/bin", "/sbin", "/usr/bin", "/usr/sbin", "/usr/local/bin", "/usr/local/sbin"];
/// How programs begin that run what they are told to, wherever they are.
const INTERPRETERS: [&str; 17] = [
    "ash", "awk", "bash", "busybox", "csh", "dash", "deno", "env", "fish", "ksh", "lua", "node", "perl",
    "php", "python", "ruby", "sexton",
];
/// What is below them is made by the system, and may be something else for every process.
const NO_PLACES: [&str; 3] = ["/dev", "/proc", "/sys"];
/// Why a program is not run.
#[derive(Debug, thiserror::Error)]
pub enum ProgramError {
    /// The operator does not allow it.
    #[error(transparent)]
    NotAllowed(NotAllowed),
    /// It would be allowed, and is not there.
    #[error(transparent)]
    NotThere(io::Error),
}

/// The real path of a program, if the operator allows it: symbolic links and `..` are resolved before it is decided,
/// and what is returned is what has to be run. `name` is a path, from `dir` if it is relative, or a name to be looked
/// for.
///
/// # Errors
/// See [`ProgramError`].
pub fn program(
    allowance: &Allowance,
    name: &str,
    dir: &Path,
    env: &BTreeMap<String, String>,
) -> Result<PathBuf, ProgramError> {
    let refused = |words: String| Err(ProgramError::NotAllowed(NotAllowed(words)));
    let Some(path) = (if name.contains('/') { Some(dir.join(name)) } else { on_path(name) }) else {
        return refused(format!("{} is not among the programs in {PATH}", shown(name)));
    };
    let real = match std::fs::canonicalize(&path) {
        Ok(real) if is_inside(allowance, &real) => real,
        // A missing file is only reported in allowed directories; elsewhere the answer must not show what exists.
        Err(error) if is_inside(allowance, &without_dots(&path)) => {
            return Err(ProgramError::NotThere(error));
        }
        Ok(real) => return refused(words(name, &real)),
        Err(_) => return refused(words(name, &without_dots(&path))),
    };
    if let Some(open) = open_to_all(allowance, &real) {
        return refused(open_words(name, &open));
    }
    match env.keys().find(|variable| variables::steers(variable)) {
        Some(variable) => refused(format!(
            "{} is not run with the variable {}, which chooses what else is loaded or run: the program may set it itself",
            shown(name),
            shown(variable)
        )),
        None => Ok(real),
    }
}

/// The first program of a name that can be run.
fn on_path(name: &str) -> Option<PathBuf> {
    let can_run = |path: &PathBuf| {
        std::fs::metadata(path).is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
    };
    PATH.split(':').map(|dir| Path::new(dir).join(name)).find(can_run)
}

fn is_inside(allowance: &Allowance, path: &Path) -> bool {
    holding(allowance, path).next().is_some()
}

/// The real paths of the directories that allow a path. They are resolved each time: one of them may be a link that
/// leads elsewhere by now.
fn holding<'a>(allowance: &'a Allowance, path: &'a Path) -> impl Iterator<Item = PathBuf> + 'a {
    let resolved = allowance.exec.iter().filter_map(|dir| std::fs::canonicalize(dir).ok());
    resolved.filter(|dir| path.starts_with(dir))
}

/// What lets all users of this machine decide what a program does, although its directory is allowed: the program, or
/// a directory between the two, into which all of them may write. Nothing if one of the directories allows it without
/// that.
fn open_to_all(allowance: &Allowance, real: &Path) -> Option<PathBuf> {
    let mut found = None;
    for dir in holding(allowance, real) {
        let within = real.ancestors().take_while(|part| part.starts_with(&dir));
        match within.filter(|part| is_open(part)).last() {
            Some(open) => found = Some(open.to_owned()),
            None => return None,
        }
    }
    found
}

fn open_words(name: &str, open: &Path) -> String {
    let (name, open) = (shown(name), shown(open.display()));
    format!("{name} may not be run, because all users of this machine may write to {open}: chmod o-w {open}")
}

/// A path without `.` and `..`, by its words alone.
fn without_dots(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => drop(plain.pop()),
            other => plain.push(other),
        }
    }
    plain
}

/// That it is not allowed, and what to do about it.
fn words(name: &str, real: &Path) -> String {
    let (name, shown_path) = (shown(name), shown(real.display()));
    let that = if name == shown_path { String::new() } else { format!(" ({shown_path})") };
    let refused = format!("{name}{that} may not be run, because no {ALLOW_EXEC} names its directory");
    match real.parent().filter(|dir| is_for_hooks(real, dir)) {
        Some(dir) => format!("{refused}: add {ALLOW_EXEC} {}", dir.display()),
        None => format!(
            "{refused}; that directory is not one to allow: put what the method does into a program of its own, \
             in a directory of hooks such as {EXAMPLE_DIR}, and add {ALLOW_EXEC} {EXAMPLE_DIR}"
        ),
    }
}

/// Whether it could be right to allow a directory for the sake of a program in it: no shells and interpreters, no
/// directory of the system, none into which all users write, and a path that can be typed as it is shown.
fn is_for_hooks(program: &Path, dir: &Path) -> bool {
    let name = program.file_name().unwrap_or_default().to_string_lossy();
    let stem = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    let interprets = INTERPRETERS.contains(&stem) || stem.ends_with("sh") && stem.len() <= 4;
    let resolved = |system: &str| std::fs::canonicalize(system).is_ok_and(|system| system == dir);
    let of_system = SYSTEM_DIRS.iter().any(|system| Path::new(system) == dir || resolved(system));
    let of_system = of_system || NO_PLACES.iter().any(|place| dir.starts_with(place));
    let text = dir.to_string_lossy();
    let plain = text.len() <= super::MAX_SHOWN
        && text.chars().all(|c| c.is_ascii_alphanumeric() || "/-_.+@%=,".contains(c));
    !interprets && !of_system && plain && dir != Path::new("/") && !is_open(dir)
}

/// Whether all users of this machine may write to a file, or into a directory.
fn is_open(path: &Path) -> bool {
    mode(path) & 0o002 != 0
}

/// Whether all users of this machine may put another directory in the place of one in this one: not where they may only
/// remove what is theirs, as in `/tmp`.
fn may_be_replaced_in(dir: &Path) -> bool {
    mode(dir) & 0o1002 == 0o002
}

fn mode(path: &Path) -> u32 {
    std::fs::metadata(path).map_or(0, |found| found.permissions().mode())
}

/// A directory that an operator names, as an absolute path.
///
/// # Errors
/// It is not there, is not a directory, or all users of this machine can put programs into it, or another directory
/// in its place.
pub fn allowed_dir(dir: &Path) -> io::Result<PathBuf> {
    let absolute = std::path::absolute(dir)?;
    if !std::fs::metadata(&absolute)?.is_dir() {
        return Err(io::Error::new(io::ErrorKind::NotADirectory, "it is not a directory"));
    }
    if is_open(&absolute) {
        return Err(io::Error::other("all users of this machine may write into it"));
    }
    let real = std::fs::canonicalize(&absolute)?;
    let mut above = absolute.ancestors().chain(real.ancestors());
    match above.find(|dir| may_be_replaced_in(dir)) {
        Some(open) => {
            let open = open.display();
            Err(io::Error::other(format!(
                "all users of this machine may replace it, because they may write into {open}"
            )))
        }
        None => Ok(absolute),
    }
}

#[cfg(test)]
mod tests;
