//! Durations as people type them after a flag.

use std::time::Duration;

use sexton_model::rule::duration;

/// Reads a duration; a number without a unit is seconds.
pub(crate) fn read(text: &str) -> Result<Duration, String> {
    let seconds = text.parse().ok().map(Duration::from_secs);
    seconds.or_else(|| duration::parse(text)).ok_or_else(|| "write it like 90s, 10m, 1h30m or 2d".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bare_number_is_seconds() {
        for (text, seconds) in [("0", 0), ("90", 90), ("90s", 90), ("1h30m", 5_400)] {
            assert_eq!(read(text), Ok(Duration::from_secs(seconds)), "{text}");
        }
        for nonsense in ["", "-1", "1.5", "h", "10 m", "99999999999999999999"] {
            assert!(read(nonsense).is_err(), "{nonsense}");
        }
    }
}
