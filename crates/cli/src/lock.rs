//! Who uses a data directory, in words that its lock file holds for people.
//!
//! It must not take part in locking: it only looks.

use std::fs::{File, TryLockError};
use std::io::Read;
use std::path::Path;

/// What stands between the words of a holder and its address.
const ADDRESS: &str = "listening on ";

/// The address in the words of a holder, as a URL.
pub(crate) fn address(holder: &str) -> Option<String> {
    let (_, rest) = holder.split_once(ADDRESS)?;
    let address = rest.split([',', ' ', '\n']).next().filter(|address| !address.is_empty())?;
    Some(if address.contains("://") { address.to_owned() } else { format!("http://{address}") })
}

/// The process that uses a directory now, in its own words.
pub(crate) fn holder(dir: &Path) -> Option<String> {
    let mut file = File::open(dir.join("lock")).ok()?;
    match file.try_lock_shared() {
        Err(TryLockError::WouldBlock) => {}
        // Nobody holds it: what it says is about somebody who has gone.
        Ok(()) | Err(TryLockError::Error(_)) => return None,
    }
    let mut text = String::new();
    file.by_ref().take(4096).read_to_string(&mut text).ok()?;
    Some(text.trim().to_owned()).filter(|text| !text.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_become_urls() {
        let words = |address: &str| {
            format!("process 7 (sexton serve), since 2026-01-01T00:00:00Z, listening on {address}")
        };
        assert_eq!(address(&words("127.0.0.1:8180")).as_deref(), Some("http://127.0.0.1:8180"));
        assert_eq!(address(&words("https://127.0.0.1:1")).as_deref(), Some("https://127.0.0.1:1"));
        assert_eq!(address("process 7 (sexton get), since 2026-01-01T00:00:00Z"), None);
    }

    #[test]
    fn only_a_held_lock_names_somebody() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(holder(dir.path()), None);
        std::fs::write(dir.path().join("lock"), "process 7\n").unwrap();
        assert_eq!(holder(dir.path()), None);
        let file = File::open(dir.path().join("lock")).unwrap();
        file.lock().unwrap();
        assert_eq!(holder(dir.path()).as_deref(), Some("process 7"));
    }
}
