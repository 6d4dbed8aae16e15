//! Terms: opaque hashes that say what a stored resource is and which objects it refers to, equal exactly when the words
//! are.
//!
//! They are derived from a resource whenever it is read in and are never stored themselves, so how they are made may
//! change. It must not know what looks them up.

use std::hash::Hasher;

use siphasher::sip128::{Hasher128, SipHasher13};
use smallvec::SmallVec;

/// Sixteen bytes that stand for a few words. Two different lists of words never have the same term in practice; if they
/// ever did, an object would be held that need not be, and nothing would be removed that must not be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Term([u8; 16]);

/// The terms of one resource: few, and usually no reason to allocate.
pub type Terms = SmallVec<[Term; 4]>;

/// What the words of a term mean, so that the same words in different meanings are different terms.
#[derive(Clone, Copy)]
enum Tag {
    Uid = 1,
    Owner = 2,
    SubscriptionUid = 3,
    SubscriptionSlot = 4,
    Marked = 5,
}

impl Term {
    /// From its bytes.
    pub const fn new(bytes: [u8; 16]) -> Term {
        Term(bytes)
    }

    /// Its bytes.
    pub const fn bytes(self) -> [u8; 16] {
        self.0
    }

    /// The object with this uid exists.
    pub fn uid(uid: &str) -> Term {
        Term::of(Tag::Uid, &[uid])
    }

    /// The object with this uid is terminating, and not with the policy `Orphan`, which leaves its dependents behind.
    pub fn marked(uid: &str) -> Term {
        Term::of(Tag::Marked, &[uid])
    }

    /// Something names the object with this uid as its owner.
    pub fn owner(uid: &str) -> Term {
        Term::of(Tag::Owner, &[uid])
    }

    /// Something subscribes to the object with this uid.
    pub fn subscription_uid(uid: &str) -> Term {
        Term::of(Tag::SubscriptionUid, &[uid])
    }

    /// Something subscribes to any object with this key. The namespace is empty for cluster-scoped kinds.
    pub fn subscription_slot(group: &str, kind: &str, namespace: &str, name: &str) -> Term {
        Term::of(Tag::SubscriptionSlot, &[group, kind, namespace, name])
    }

    fn of(tag: Tag, words: &[&str]) -> Term {
        // Fixed keys: a term must be the same in every process that ever asks for it. The keys are digits of pi.
        let mut hasher = SipHasher13::new_with_keys(0x243f_6a88_85a3_08d3, 0x1319_8a2e_0370_7344);
        hasher.write_u8(tag as u8);
        for word in words {
            // With its length, so that no word can run into the next.
            hasher.write_u64(word.len() as u64);
            hasher.write(word.as_bytes());
        }
        Term(hasher.finish128().as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Written down, because two processes that disagree would miss each other's references.
    #[test]
    fn terms_are_the_same_everywhere() {
        let hex = |term: Term| term.bytes().iter().map(|byte| format!("{byte:02x}")).collect::<String>();
        assert_eq!(hex(Term::uid("u")), hex(Term::uid("u")));
        assert_ne!(hex(Term::uid("u")), hex(Term::owner("u")));
        assert_ne!(hex(Term::uid("u")), hex(Term::subscription_uid("u")));
    }

    proptest! {
        #[test]
        fn words_do_not_run_into_each_other(
            one in proptest::array::uniform4("[ab\\x00]{0,3}"),
            other in proptest::array::uniform4("[ab\\x00]{0,3}"),
        ) {
            let term = |words: &[String; 4]| Term::subscription_slot(&words[0], &words[1], &words[2], &words[3]);
            prop_assert_eq!(one == other, term(&one) == term(&other));
        }
    }
}
