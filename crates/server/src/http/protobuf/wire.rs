//! Protobuf on the wire: numbered values, one after the other. It does not know what the numbers mean.

/// Why bytes are not what they claim to be.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum Garbled {
    /// They end within a value.
    #[error("it ends within a value")]
    Truncated,
    /// A number without an end, or a type that no encoder writes.
    #[error("it is not protobuf")]
    Nonsense,
    /// A known field of another type.
    #[error("{0}: a value of another type was expected")]
    OtherType(&'static str),
    /// Text that is no text.
    #[error("{0}: it is not UTF-8")]
    NotText(&'static str),
    /// A time that no calendar has.
    #[error("{0}: there is no such time")]
    NotATime(&'static str),
    /// JSON within it that is none.
    #[error("{0}: {1}")]
    NotJson(&'static str, String),
    /// A number that JSON does not have.
    #[error("{0}: it is not a number")]
    NotANumber(&'static str),
    /// More values than any object needs.
    #[error("it holds more than {0} values")]
    TooMany(usize),
    /// More messages within each other than any object needs.
    #[error("it is nested deeper than {0} levels")]
    TooDeep(usize),
    /// A field that its table does not have, and where it stands: a path with a point behind it, or nothing.
    #[error("field {within}{number} is not known")]
    Unknown { number: u64, within: String },
}

impl Garbled {
    /// A field that its table does not have.
    pub(super) fn unknown(number: u64) -> Self {
        Self::Unknown { number, within: String::new() }
    }

    /// Told from one level further up.
    pub(super) fn within(mut self, name: &str) -> Self {
        if let Self::Unknown { within, .. } = &mut self
            && !name.is_empty()
        {
            within.insert(0, '.');
            within.insert_str(0, name);
        }
        self
    }
}

/// A value as it is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Raw<'a> {
    /// A whole number.
    Number(u64),
    /// Bytes, text, or a message.
    Bytes(&'a [u8]),
    /// Eight bytes.
    Eight(u64),
    /// Four bytes: no field that is known here has them.
    Four,
}

impl<'a> Raw<'a> {
    /// The bytes of the field of this name.
    pub(super) fn bytes(self, name: &'static str) -> Result<&'a [u8], Garbled> {
        if let Self::Bytes(bytes) = self { Ok(bytes) } else { Err(Garbled::OtherType(name)) }
    }

    /// The number of the field of this name.
    pub(super) fn number(self, name: &'static str) -> Result<i64, Garbled> {
        if let Self::Number(number) = self { Ok(number.cast_signed()) } else { Err(Garbled::OtherType(name)) }
    }
}

/// Reads values one by one.
#[derive(Debug)]
pub(super) struct Reader<'a>(pub(super) &'a [u8]);

impl<'a> Reader<'a> {
    /// The next value and its number; nothing at the end.
    pub(super) fn next(&mut self) -> Result<Option<(u64, Raw<'a>)>, Garbled> {
        const HIGHEST: u64 = (1 << 29) - 1;
        if self.0.is_empty() {
            return Ok(None);
        }
        let tag = self.number()?;
        let number = tag >> 3;
        if number == 0 || number > HIGHEST {
            return Err(Garbled::Nonsense);
        }
        let value = match tag & 7 {
            0 => Raw::Number(self.number()?),
            1 => Raw::Eight(u64::from_le_bytes(self.fixed()?)),
            2 => {
                let length = usize::try_from(self.number()?).map_err(|_| Garbled::Truncated)?;
                Raw::Bytes(self.take(length)?)
            }
            5 => self.fixed::<4>().map(|_| Raw::Four)?,
            _ => return Err(Garbled::Nonsense),
        };
        Ok(Some((number, value)))
    }

    /// Seven bits at a time, the lowest first; ten bytes hold them all.
    pub(super) fn number(&mut self) -> Result<u64, Garbled> {
        let mut number = 0;
        for at in 0..10 {
            let (first, rest) = self.0.split_first().ok_or(Garbled::Truncated)?;
            self.0 = rest;
            number |= u64::from(first & 0x7f) << (7 * at);
            if first & 0x80 == 0 {
                return Ok(number);
            }
        }
        Err(Garbled::Nonsense)
    }

    fn take(&mut self, length: usize) -> Result<&'a [u8], Garbled> {
        let (taken, rest) = self.0.split_at_checked(length).ok_or(Garbled::Truncated)?;
        self.0 = rest;
        Ok(taken)
    }

    fn fixed<const N: usize>(&mut self) -> Result<[u8; N], Garbled> {
        let (taken, rest) = self.0.split_first_chunk().ok_or(Garbled::Truncated)?;
        self.0 = rest;
        Ok(*taken)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn all(bytes: &[u8]) -> Result<Vec<(u64, Raw<'_>)>, Garbled> {
        let (mut reader, mut found) = (Reader(bytes), Vec::new());
        while let Some(value) = reader.next()? {
            found.push(value);
        }
        Ok(found)
    }

    #[test]
    fn values_are_read_in_turn() {
        let bytes =
            [0x08, 0x96, 0x01, 0x12, 0x02, b'h', b'i', 0x1d, 1, 2, 3, 4, 0x21, 1, 2, 3, 4, 5, 6, 7, 8];
        let eight = Raw::Eight(0x0807_0605_0403_0201);
        let expected = [(1, Raw::Number(150)), (2, Raw::Bytes(b"hi")), (3, Raw::Four), (4, eight)];
        assert_eq!(all(&bytes), Ok(expected.to_vec()));
        assert_eq!(
            all(&[0x08, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01]).unwrap()[0].1,
            Raw::Number(u64::MAX)
        );
    }

    #[test]
    fn what_is_cut_or_nonsense_is_refused() {
        assert_eq!(all(&[0x12, 0x05, b'h']), Err(Garbled::Truncated));
        assert_eq!(all(&[0x08]), Err(Garbled::Truncated));
        assert_eq!(all(&[0x08; 1]), Err(Garbled::Truncated));
        assert_eq!(
            all(&[0x08, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01]),
            Err(Garbled::Nonsense)
        );
        // The number 0, a group, and a length beyond all memory.
        assert_eq!(all(&[0x00, 0x00]), Err(Garbled::Nonsense));
        assert_eq!(all(&[0x0b]), Err(Garbled::Nonsense));
        assert_eq!(
            all(&[0x12, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f]),
            Err(Garbled::Truncated)
        );
    }

    proptest! {
        #[test]
        fn never_panics(bytes in proptest::collection::vec(any::<u8>(), 0..64)) {
            let _ = all(&bytes);
        }
    }
}
