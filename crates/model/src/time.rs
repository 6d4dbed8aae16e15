//! Timestamps as Kubernetes writes them: RFC 3339, whole seconds, UTC. Reading the clock is the caller's job.

use jiff::Timestamp;

/// Seconds since 1970 as `2026-11-15T20:00:00Z`.
pub fn format(seconds: i64) -> String {
    match Timestamp::from_second(seconds) {
        Ok(time) => time.strftime("%Y-%m-%dT%H:%M:%SZ").to_string(),
        Err(_) => String::from("0001-01-01T00:00:00Z"),
    }
}

/// Seconds since 1970 of an RFC 3339 text; fractions are cut off.
pub fn parse(text: &str) -> Option<i64> {
    text.parse::<Timestamp>().ok().map(Timestamp::as_second)
}

/// An age as people read it: `12s`, `3m`, `5h`, `7d`, `2y41d`.
pub fn age(seconds: i64) -> String {
    const MINUTE: i64 = 60;
    const HOUR: i64 = 60 * MINUTE;
    const DAY: i64 = 24 * HOUR;
    const YEAR: i64 = 365 * DAY;
    let two = |big: i64, unit: &str, small: i64, small_unit: &str| match small {
        0 => format!("{big}{unit}"),
        _ => format!("{big}{unit}{small}{small_unit}"),
    };
    match seconds.max(0) {
        s if s < 2 * MINUTE => format!("{s}s"),
        s if s < 10 * MINUTE => two(s / MINUTE, "m", s % MINUTE, "s"),
        s if s < 3 * HOUR => format!("{}m", s / MINUTE),
        s if s < 8 * HOUR => two(s / HOUR, "h", s % HOUR / MINUTE, "m"),
        s if s < 2 * DAY => format!("{}h", s / HOUR),
        s if s < 8 * DAY => two(s / DAY, "d", s % DAY / HOUR, "h"),
        s if s < 2 * YEAR => format!("{}d", s / DAY),
        s if s < 8 * YEAR => two(s / YEAR, "y", s % YEAR / DAY, "d"),
        s => format!("{}y", s / YEAR),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timestamps_round_trip() {
        assert_eq!(format(1_794_772_800), "2026-11-15T20:00:00Z");
        assert_eq!(parse("2026-11-15T20:00:00Z"), Some(1_794_772_800));
        assert_eq!(parse("2026-11-15T21:00:00.75+01:00"), Some(1_794_772_800));
        assert_eq!(parse("yesterday"), None);
    }

    #[test]
    fn ages_read_like_kubectl() {
        let ages: Vec<String> =
            [0, 119, 120, 599, 600, 10_799, 10_800, 172_800, 864_000, 63_072_000].map(age).to_vec();
        assert_eq!(ages, ["0s", "119s", "2m", "9m59s", "10m", "179m", "3h", "2d", "10d", "2y"]);
    }
}
