//! Durations as people write them: `90s`, `10m`, `1h30m`.

use std::time::Duration;

/// The units, the largest first, in seconds.
const UNITS: [(char, u64); 4] = [('d', 86_400), ('h', 3_600), ('m', 60), ('s', 1)];

/// Reads a duration; `None` for anything that is not one. A bare `0` is one, any other number lacks its unit.
pub fn parse(text: &str) -> Option<Duration> {
    if text == "0" {
        return Some(Duration::ZERO);
    }
    let (mut rest, mut seconds, mut below) = (text, 0_u64, 0);
    if rest.is_empty() {
        return None;
    }
    while !rest.is_empty() {
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        let number: u64 = rest.get(..digits)?.parse().ok()?;
        let letter = rest.get(digits..)?.chars().next()?;
        // Each unit once, and in order: `5m1h` is a slip of the pen.
        let at = UNITS.iter().skip(below).position(|(unit, _)| *unit == letter)? + below;
        seconds = seconds.checked_add(number.checked_mul(UNITS[at].1)?)?;
        below = at + 1;
        rest = rest.get(digits + 1..)?;
    }
    Some(Duration::from_secs(seconds))
}

/// Writes a duration, in the largest units that it is made of; fractions of a second are cut off.
pub fn format(duration: Duration) -> String {
    let mut left = duration.as_secs();
    let mut text = String::new();
    for (letter, unit) in UNITS {
        if left >= unit {
            text.push_str(&format!("{}{letter}", left / unit));
            left %= unit;
        }
    }
    if text.is_empty() { "0s".into() } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_is_a_duration_and_what_is_not() {
        let seconds = |text: &str| parse(text).map(|duration| duration.as_secs());
        for (text, right) in
            [("0", 0), ("0s", 0), ("90s", 90), ("10m", 600), ("1h30m", 5_400), ("1d", 86_400)]
        {
            assert_eq!(seconds(text), Some(right), "{text}");
        }
        for bad in [
            "",
            "10",
            "-1s",
            "+1s",
            "m",
            "1.5h",
            "5m1h",
            "1s1s",
            "1 h",
            "1ü",
            "99999999999999999999s",
            "10ms",
        ] {
            assert_eq!(seconds(bad), None, "{bad}");
        }
    }

    proptest! {
        #[test]
        fn what_is_written_can_be_read(seconds in 0..10_000_000_u64) {
            let duration = Duration::from_secs(seconds);
            prop_assert_eq!(parse(&format(duration)), Some(duration));
        }

        #[test]
        fn nothing_makes_it_panic(text in ".{0,12}") {
            _ = parse(&text);
        }
    }
}
