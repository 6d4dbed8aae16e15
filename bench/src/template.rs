//! The JSON of a ConfigMap built once, with the number in its name and its stamp patched per request.
//! Must not know: how it is sent, or what the stamp is compared with.

use bytes::Bytes;

/// Digits of the number at the end of a name.
const NUMBER_DIGITS: usize = 8;
/// Digits of a write's sequence number in the stamp.
pub(crate) const SEQUENCE_DIGITS: usize = 10;
/// Digits of a write's time in the stamp, in microseconds.
pub(crate) const TIME_DIGITS: usize = 14;
/// What stands in front of the stamp; managed fields spell the key differently, so this is unique.
pub(crate) const STAMP_MARK: &[u8] = b"\"a-stamp\":\"";

/// Says which object owns the new ones.
pub(crate) struct Owner {
    /// The owner's name.
    pub(crate) name: String,
    /// The owner's identity.
    pub(crate) uid: String,
}

/// A ConfigMap's JSON with holes.
pub(crate) struct Template {
    text: Vec<u8>,
    number_at: usize,
    stamp_at: usize,
    stem: String,
}

impl Template {
    /// Builds the JSON, filled up to `size` bytes. Names are `stem-NNNNNNNN`.
    pub(crate) fn new(namespace: &str, stem: &str, size: usize, owner: Option<&Owner>) -> Self {
        let mut text = format!(
            r#"{{"apiVersion":"v1","kind":"ConfigMap","metadata":{{"name":"{stem}-{:0NUMBER_DIGITS$}""#,
            0
        );
        let number_at = text.len() - 1 - NUMBER_DIGITS;
        text.push_str(&format!(r#","namespace":"{namespace}""#));
        if let Some(Owner { name, uid }) = owner {
            text.push_str(&format!(
                r#","ownerReferences":[{{"apiVersion":"v1","kind":"ConfigMap","name":"{name}","uid":"{uid}","blockOwnerDeletion":true}}]"#
            ));
        }
        text.push_str(r#"},"data":{"a-stamp":""#);
        let stamp_at = text.len();
        text.push_str(&format!("{:0SEQUENCE_DIGITS$}.{:0TIME_DIGITS$}\"", 0, 0));
        let (before, after) = (",\"payload\":\"", "\"}}");
        let room = size.saturating_sub(text.len() + before.len() + after.len());
        text.push_str(before);
        text.extend(filler().take(room));
        text.push_str(after);
        Self { text: text.into_bytes(), number_at, stamp_at, stem: stem.to_owned() }
    }

    /// The body of one object.
    pub(crate) fn body(&self, number: u64) -> Bytes {
        self.stamped(number, 0, 0)
    }

    /// The body of one write that its receivers can tell by its sequence number and time.
    pub(crate) fn stamped(&self, number: u64, sequence: u64, micros: u64) -> Bytes {
        let mut text = self.text.clone();
        put_digits(&mut text[self.number_at..self.number_at + NUMBER_DIGITS], number);
        let time_at = self.stamp_at + SEQUENCE_DIGITS + 1;
        put_digits(&mut text[self.stamp_at..self.stamp_at + SEQUENCE_DIGITS], sequence);
        put_digits(&mut text[time_at..time_at + TIME_DIGITS], micros);
        Bytes::from(text)
    }

    /// The name of one object.
    pub(crate) fn name(&self, number: u64) -> String {
        format!("{}-{number:0NUMBER_DIGITS$}", self.stem)
    }
}

fn put_digits(hole: &mut [u8], mut value: u64) {
    for digit in hole.iter_mut().rev() {
        *digit = b'0' + (value % 10) as u8;
        value /= 10;
    }
}

/// Letters without a pattern, so that no compression makes a server look better than it is.
pub(crate) fn filler() -> impl Iterator<Item = char> {
    let mut random = crate::random::Random::new(1);
    std::iter::repeat_with(move || char::from(b'a' + (random.below(26)) as u8))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn has_the_size_and_the_patches() {
        let owner = Owner { name: "o".to_owned(), uid: "u-1".to_owned() };
        let template = Template::new("ns", "bench-t", 1024, Some(&owner));
        let body = template.stamped(42, 7, 123);
        assert_eq!(body.len(), 1024);
        let value: serde_json::Value = serde_json::from_slice(&body).unwrap();
        assert_eq!(value["metadata"]["name"], template.name(42));
        assert_eq!(value["metadata"]["namespace"], "ns");
        assert_eq!(value["metadata"]["ownerReferences"][0]["uid"], "u-1");
        assert_eq!(value["metadata"]["ownerReferences"][0]["blockOwnerDeletion"], true);
        assert_eq!(value["data"]["a-stamp"], "0000000007.00000000000123");
    }

    #[test]
    fn too_small_a_size_is_still_an_object() {
        let body = Template::new("ns", "bench", 1, None).body(1);
        assert!(serde_json::from_slice::<serde_json::Value>(&body).is_ok());
    }
}
