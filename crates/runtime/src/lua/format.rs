//! The format of a program: the version of the functions that it may use.

use std::fmt;

/// A version of the format, as `format "1.4"` names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Format {
    major: u32,
    minor: u32,
}

impl Format {
    /// The format of programs that do not name one.
    pub const FIRST: Format = Format { major: 1, minor: 0 };
    /// The first format with `GC`.
    pub const WITH_GC: Format = Format { major: 1, minor: 4 };
    /// The newest supported format.
    pub const NEWEST: Format = Format::WITH_GC;

    /// Parses a format such as `1.4`.
    pub fn parse(text: &str) -> Option<Format> {
        let (major, minor) = text.split_once('.')?;
        let number = |part: &str| {
            let digits =
                !part.is_empty() && part.len() <= 4 && part.bytes().all(|byte| byte.is_ascii_digit());
            digits.then(|| part.parse().ok()).flatten()
        };
        Some(Format { major: number(major)?, minor: number(minor)? })
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_are_two_numbers() {
        assert_eq!(Format::parse("1.4"), Some(Format::WITH_GC));
        assert!(Format::parse("1.10").unwrap() > Format::WITH_GC);
        for bad in ["", "1", "1.", ".4", "1.4.0", "v1.4", "1.+4", "1.99999"] {
            assert_eq!(Format::parse(bad), None, "{bad}");
        }
    }
}
