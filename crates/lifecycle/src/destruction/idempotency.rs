//! Idempotency keys: the same call has the same key before and after any crash, as it is a hash of what is called.

use sha2::{Digest, Sha256};

use super::state::{Callee, Phase};

/// How many bytes of the hash make up the key.
const KEY_BYTES: usize = 16;
const HEX_DIGITS: &[u8; 16] = b"0123456789abcdef";

/// The key of a call: a method of one callee, in one phase of the destruction of one object.
pub fn idempotency_key(doomed: &str, phase: Phase, method: &str, callee: &str) -> String {
    let mut hash = Sha256::new();
    for word in [doomed, phase.word(), method, callee] {
        // With its length in front of each word, no two lists of words have the same bytes.
        hash.update((word.len() as u64).to_be_bytes());
        hash.update(word.as_bytes());
    }
    let digit = |four: u8| char::from(HEX_DIGITS[usize::from(four)]);
    let bytes = hash.finalize();
    bytes.iter().take(KEY_BYTES).flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
}

impl Callee {
    /// The method that is called, as the key names it.
    pub fn method(&self) -> &'static str {
        match self {
            Callee::Destroy => "destroy",
            Callee::Subscriber(_) => "handler",
        }
    }

    /// The key of a call to this callee.
    pub fn key(&self, doomed: &str, phase: Phase) -> String {
        let uid = match self {
            Callee::Destroy => doomed,
            Callee::Subscriber(uid) => uid,
        };
        idempotency_key(doomed, phase, self.method(), uid)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_differ_where_any_word_differs_and_never_change() {
        let key = idempotency_key("u-1", Phase::Warning, "handler", "u-2");
        assert_eq!(key, "b786a41967bff0dedf34a75d4fccfaad");
        for (doomed, phase, method, callee) in [
            ("u-12", Phase::Warning, "handler", "u-2"),
            ("u-1", Phase::Notifying, "handler", "u-2"),
            ("u-1", Phase::Warning, "destroy", "u-2"),
            ("u-1", Phase::Warning, "handler", "u-"),
            ("u-1", Phase::Warning, "handle", "ru-2"),
        ] {
            assert_ne!(idempotency_key(doomed, phase, method, callee), key);
        }
    }
}
