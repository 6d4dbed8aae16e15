//! Numbers of documents compared with numbers of schemas, without losing digits of whole ones.

use std::cmp::Ordering;

use serde_json::Number;

fn whole(number: &Number) -> Option<i128> {
    number.as_i64().map(i128::from).or_else(|| number.as_u64().map(i128::from))
}

/// Which of two numbers is larger.
pub(super) fn compare(a: &Number, b: &Number) -> Ordering {
    match (whole(a), whole(b)) {
        (Some(a), Some(b)) => a.cmp(&b),
        _ => float(a).total_cmp(&float(b)),
    }
}

fn float(number: &Number) -> f64 {
    // Zero has two signs, which are not meant to differ.
    number.as_f64().unwrap_or(f64::NAN) + 0.0
}

/// Whether a number has nothing after its point.
pub(super) fn is_whole(number: &Number) -> bool {
    /// Where neighbours of floating numbers are more than one apart.
    const SAFE: f64 = 9_007_199_254_740_991.0;
    !number.is_f64() || (float(number).fract() == 0.0 && float(number).abs() <= SAFE)
}

/// Whether a number is so many times another, which is more than nothing.
pub(super) fn is_multiple(number: &Number, of: &Number) -> bool {
    match (whole(number), whole(of)) {
        (_, Some(0)) => true,
        (Some(number), Some(of)) => number % of == 0,
        _ => {
            let times = float(number) / float(of);
            (times - times.round()).abs() < 1e-9
        }
    }
}

/// As a number is written in complaints.
pub(super) fn shown(number: &Number) -> String {
    match whole(number) {
        Some(number) => number.to_string(),
        None => format!("{}", float(number)),
    }
}

/// Whether a number fits the format of its type, where the format says how large it may be.
pub(super) fn fits(number: &Number, format: &str) -> bool {
    let whole = whole(number).or_else(|| is_whole(number).then(|| float(number) as i128));
    match (format, whole) {
        ("int32", Some(number)) => i32::try_from(number).is_ok(),
        ("int64", Some(number)) => i64::try_from(number).is_ok(),
        ("float", _) => float(number).abs() <= f64::from(f32::MAX),
        _ => true,
    }
}
