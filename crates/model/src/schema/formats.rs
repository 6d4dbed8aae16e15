//! The formats that are checked. What is not among them says nothing, as in Kubernetes.

use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::sync::LazyLock;

use regex::Regex;

use crate::names;

/// A format that is checked.
#[derive(Debug, Clone, Copy)]
pub(super) struct Format {
    /// As it is written.
    pub(super) name: &'static str,
    /// For texts; numbers are bounded by name.
    pub(super) check: Option<fn(&str) -> bool>,
}

type Known = (&'static str, Option<fn(&str) -> bool>);

const KNOWN: &[Known] = &[
    ("int32", None),
    ("int64", None),
    ("float", None),
    ("double", None),
    ("date", Some(is_date)),
    ("date-time", Some(is_date_time)),
    ("datetime", Some(is_date_time)),
    ("duration", Some(is_duration)),
    ("uuid", Some(|text| is_uuid(text, None))),
    ("uuid3", Some(|text| is_uuid(text, Some('3')))),
    ("uuid4", Some(|text| is_uuid(text, Some('4')))),
    ("uuid5", Some(|text| is_uuid(text, Some('5')))),
    ("ipv4", Some(|text| text.parse::<Ipv4Addr>().is_ok())),
    ("ipv6", Some(|text| text.parse::<Ipv6Addr>().is_ok())),
    ("cidr", Some(is_cidr)),
    ("mac", Some(|text| MAC.is_match(text))),
    ("uri", Some(is_uri)),
    ("email", Some(is_email)),
    ("hostname", Some(is_hostname)),
    ("byte", Some(is_base64)),
    ("password", Some(|_| true)),
    ("bsonobjectid", Some(|text| text.len() == 24 && text.bytes().all(|byte| byte.is_ascii_hexdigit()))),
    ("hexcolor", Some(|text| HEX_COLOR.is_match(text))),
    ("rgbcolor", Some(|text| RGB_COLOR.is_match(text))),
    ("ssn", Some(|text| SSN.is_match(text))),
    ("creditcard", Some(is_credit_card)),
    ("isbn", Some(|text| is_isbn10(text) || is_isbn13(text))),
    ("isbn10", Some(is_isbn10)),
    ("isbn13", Some(is_isbn13)),
    ("k8s-short-name", Some(|text| names::dns_label(text).is_ok())),
    ("k8s-long-name", Some(|text| names::dns_subdomain(text).is_ok())),
];

impl Format {
    pub(super) fn named(name: &str) -> Option<Format> {
        let known = KNOWN.iter().find(|(known, _)| *known == name);
        known.map(|(name, check)| Format { name, check: *check })
    }
}

static MAC: LazyLock<Regex> =
    LazyLock::new(|| fixed(r"^[0-9A-Fa-f]{2}(?:(?::[0-9A-Fa-f]{2}){5,7}|(?:-[0-9A-Fa-f]{2}){5,7})$"));
static HEX_COLOR: LazyLock<Regex> = LazyLock::new(|| fixed("^#?(?:[0-9a-fA-F]{3}|[0-9a-fA-F]{6})$"));
static RGB_COLOR: LazyLock<Regex> = LazyLock::new(|| {
    let part = "(?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])";
    fixed(&format!(r"^rgb\(\s*{part}\s*,\s*{part}\s*,\s*{part}\s*\)$"))
});
static SSN: LazyLock<Regex> = LazyLock::new(|| fixed("^[0-9]{3}[- ]?[0-9]{2}[- ]?[0-9]{4}$"));
static TIME: LazyLock<Regex> =
    LazyLock::new(|| fixed(r"^([0-9]{2}):([0-9]{2}):([0-9]{2})(?:\.[0-9]+)?(?:z|[+-][0-9]{2}:[0-9]{2})$"));
static DURATION: LazyLock<Regex> = LazyLock::new(|| {
    let unit = "(?:ns|us|µs|μs|ms|nanoseconds?|microseconds?|millis(?:econds?)?|s|secs?|seconds?|m|mins?|minutes?\
                |h|hrs?|hours?|d|days?|w|wks?|weeks?)";
    fixed(&format!(
        r"^[+-]?(?:0|(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)\s*{unit}(?:\s*(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)\s*{unit})*)$"
    ))
});

/// An expression of this file. One that cannot be read matches nothing, and a test tells.
fn fixed(text: &str) -> Regex {
    Regex::new(text)
        .or_else(|_| Regex::new(r"[^\s\S]"))
        .unwrap_or_else(|_| unreachable!("an expression of our own"))
}

fn is_date(text: &str) -> bool {
    text.len() == 10 && text.is_ascii() && text.parse::<jiff::civil::Date>().is_ok()
}

fn is_date_time(text: &str) -> bool {
    let lower = text.to_lowercase();
    let Some((date, time)) = lower.split_once('t') else { return false };
    let Some(parts) = TIME.captures(time) else { return false };
    let within = |at: usize, most: u8| {
        parts.get(at).is_some_and(|part| part.as_str().parse::<u8>().is_ok_and(|n| n <= most))
    };
    is_date(date) && within(1, 23) && within(2, 59) && within(3, 59)
}

fn is_duration(text: &str) -> bool {
    DURATION.is_match(text)
}

fn is_uuid(text: &str, version: Option<char>) -> bool {
    let dashes: Vec<usize> = text.char_indices().filter(|(_, c)| *c == '-').map(|(at, _)| at).collect();
    let digits: Vec<char> = text.chars().filter(|c| *c != '-').collect();
    (dashes.is_empty() || dashes == [8, 13, 18, 23])
        && digits.len() == 32
        && digits.iter().all(char::is_ascii_hexdigit)
        && version.is_none_or(|version| digits[12] == version)
        && (!matches!(version, Some('4' | '5'))
            || matches!(digits[16].to_ascii_lowercase(), '8' | '9' | 'a' | 'b'))
}

fn is_cidr(text: &str) -> bool {
    let Some((address, length)) = text.split_once('/') else { return false };
    let digits = !length.is_empty() && length.bytes().all(|byte| byte.is_ascii_digit());
    let most = match address.parse() {
        Ok(IpAddr::V4(_)) => 32,
        Ok(IpAddr::V6(_)) => 128,
        Err(_) => return false,
    };
    digits
        && !(length.len() > 1 && length.starts_with('0'))
        && length.parse::<u8>().is_ok_and(|length| length <= most)
}

/// An absolute URI, or an absolute path.
fn is_uri(text: &str) -> bool {
    if text.is_empty() || text.bytes().any(|byte| byte.is_ascii_control() || byte == b' ') {
        return false;
    }
    if text.starts_with('/') {
        return true;
    }
    let Some((scheme, rest)) = text.split_once(':') else { return false };
    let starts = scheme.starts_with(|c: char| c.is_ascii_alphabetic());
    starts && scheme.chars().all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c)) && !rest.is_empty()
}

fn is_email(text: &str) -> bool {
    let address = match (text.rfind('<'), text.strip_suffix('>')) {
        (Some(start), Some(inner)) => &inner[start + 1..],
        (None, None) => text,
        _ => return false,
    };
    let Some((local, domain)) = address.rsplit_once('@') else { return false };
    let fits = |part: &str| {
        !part.is_empty()
            && !part.chars().any(|c| c.is_whitespace() || c.is_control() || "<>()[],;:\\\"@".contains(c))
    };
    fits(local) && fits(domain) && !local.starts_with('.') && !local.ends_with('.') && !domain.contains("..")
}

fn is_hostname(text: &str) -> bool {
    let label = |label: &str| {
        !label.is_empty()
            && label.chars().count() <= 63
            && !label.starts_with('-')
            && !label.ends_with('-')
            && label.chars().all(|c| c.is_alphanumeric() || c == '-')
    };
    text.len() <= 255 && text.strip_suffix('.').unwrap_or(text).split('.').all(label)
}

fn is_base64(text: &str) -> bool {
    let body = text.trim_end_matches('=');
    text.len().is_multiple_of(4)
        && text.len() - body.len() <= 2
        && body.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'+' || byte == b'/')
}

fn digits_of(text: &str) -> String {
    text.chars().filter(|c| !matches!(c, '-' | ' ')).collect()
}

fn is_credit_card(text: &str) -> bool {
    let digits = digits_of(text);
    if !(13..=19).contains(&digits.len()) || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return false;
    }
    let doubled = |(at, byte): (usize, u8)| {
        let digit = u32::from(byte - b'0') * if at % 2 == 1 { 2 } else { 1 };
        digit / 10 + digit % 10
    };
    digits.bytes().rev().enumerate().map(doubled).sum::<u32>() % 10 == 0
}

fn is_isbn10(text: &str) -> bool {
    let digits = digits_of(text);
    let value = |(at, c): (usize, char)| match c {
        'X' | 'x' if at == 9 => Some(10),
        c => c.to_digit(10),
    };
    let values: Option<Vec<u32>> = digits.chars().enumerate().map(value).collect();
    let weighted = |values: Vec<u32>| {
        values.iter().zip((1..=10).rev()).map(|(value, weight)| value * weight).sum::<u32>()
    };
    values.filter(|values| values.len() == 10).is_some_and(|values| weighted(values) % 11 == 0)
}

fn is_isbn13(text: &str) -> bool {
    let values: Option<Vec<u32>> = digits_of(text).chars().map(|c| c.to_digit(10)).collect();
    let weighted = |values: Vec<u32>| {
        values.iter().zip([1, 3].iter().cycle()).map(|(value, weight)| value * weight).sum::<u32>()
    };
    values.filter(|values| values.len() == 13).is_some_and(|values| weighted(values) % 10 == 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each format with texts that fit and texts that do not.
    #[test]
    fn texts_fit_or_do_not() {
        let cases: &[(&str, &[&str], &[&str])] = &[
            ("date", &["2024-02-29"], &["2023-02-29", "24-1-1", "2024-01-01T00:00:00Z", ""]),
            (
                "date-time",
                &["2024-01-01T00:00:00Z", "2024-01-01t10:00:00.123+02:00"],
                &["2024-01-01", "2024-01-01T25:00:00Z", "x"],
            ),
            ("duration", &["1h30m", "5s", "0", "1.5h", "3 days", "-2m"], &["5", "h", "1x", ""]),
            (
                "uuid",
                &["123e4567-e89b-12d3-a456-426614174000"],
                &["123e4567", "g23e4567-e89b-12d3-a456-426614174000"],
            ),
            ("uuid4", &["123e4567-e89b-42d3-a456-426614174000"], &["123e4567-e89b-12d3-a456-426614174000"]),
            ("ipv4", &["192.0.2.1"], &["192.0.2", "::1"]),
            ("ipv6", &["2001:db8::1"], &["192.0.2.1", "x"]),
            ("cidr", &["192.0.2.0/24", "2001:db8::/32"], &["192.0.2.0", "192.0.2.0/33", "192.0.2.0/024"]),
            ("mac", &["01:23:45:67:89:ab"], &["01:23:45:67:89", "01:23-45:67:89:ab"]),
            (
                "uri",
                &["https://example.com/a?b=c", "/path", "mailto:a@example.com"],
                &["example", "", "a b:c", ":x"],
            ),
            (
                "email",
                &["a@example.com", "A <a@example.com>"],
                &["a", "a@", "@b", "a b@example.com", "<a@example.com"],
            ),
            ("hostname", &["example.com", "a-b.c"], &["-a", "a..b", "a_b", ""]),
            ("byte", &["", "aGVsbG8=", "aGk="], &["aGVsbG8", "====", "a*=="]),
            ("hexcolor", &["#fff", "A0B1C2"], &["#ffff", "red"]),
            ("rgbcolor", &["rgb(1, 2,255)"], &["rgb(1,2,256)", "1,2,3"]),
            ("ssn", &["111-22-3333"], &["111-22-333"]),
            ("creditcard", &["4111 1111 1111 1111"], &["4111 1111 1111 1112", "1"]),
            ("isbn10", &["0-306-40615-2"], &["0-306-40615-3"]),
            ("isbn13", &["978-0-306-40615-7"], &["978-0-306-40615-8"]),
            ("k8s-short-name", &["a-b"], &["a.b", "A"]),
            ("k8s-long-name", &["a.b"], &["a_b"]),
        ];
        for (name, good, bad) in cases {
            let check = Format::named(name).and_then(|format| format.check).unwrap();
            good.iter().for_each(|text| assert!(check(text), "{name}: {text:?} fits"));
            bad.iter().for_each(|text| assert!(!check(text), "{name}: {text:?} does not fit"));
        }
        assert!(Format::named("whatever").is_none());
    }

    proptest::proptest! {
        #[test]
        fn never_panics(text in "\\PC{0,40}|[0-9a-f:./@<>+=T-]{0,40}") {
            KNOWN.iter().filter_map(|(_, check)| *check).for_each(|check| { check(&text); });
        }
    }
}
