//! Whether what is secret can be read by all users of this machine.

use std::path::Path;

use super::schema;

/// Whether other users, neither its owner nor of its group, may read a file or look into a directory. What cannot be
/// looked at is not: opening it tells why.
#[cfg(unix)]
pub fn is_open_to_others(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;

    std::fs::metadata(path).is_ok_and(|found| {
        // To read a file, or to reach what is in a directory.
        let bits = if found.is_dir() { 0o005 } else { 0o004 };
        found.permissions().mode() & bits != 0
    })
}

/// Whether all users may read the store in a directory. What we make is private, wherever it is; a store that was copied
/// there by other means may not be.
pub fn is_exposed(dir: &Path) -> bool {
    let file = dir.join(schema::FILE);
    let log = schema::beside(&file, "-wal");
    is_open_to_others(dir) && (is_open_to_others(&file) || is_open_to_others(&log))
}

/// Other systems have no such bits.
#[cfg(not(unix))]
pub fn is_open_to_others(_: &Path) -> bool {
    false
}
