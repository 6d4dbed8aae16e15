//! Whatever comes, it is read or refused with a 4xx.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::Index;

use super::encoder::{TypeMeta, Unknown, enveloped};
use super::golden::{FIXTURES, parse};
use super::read;

pub(super) fn fine(bytes: &[u8]) -> bool {
    read(bytes).map_or_else(|(code, _)| (400..500).contains(&code), |value| !value.is_null())
}

proptest! {
    #[test]
    fn bytes_of_chance(bytes in vec(any::<u8>(), 0..200)) {
        prop_assert!(fine(&bytes));
        prop_assert!(fine(&[b"k8s\0".as_slice(), &bytes].concat()));
    }

    /// Nonsense in a good envelope.
    #[test]
    fn messages_of_chance(
        kind in prop_oneof![Just("Secret"), Just("Event"), Just("Namespace"), Just("DeleteOptions"), Just("Pod")],
        raw in vec(any::<u8>(), 0..200),
    ) {
        let type_meta = Some(TypeMeta { api_version: Some("v1".into()), kind: Some(kind.into()) });
        let envelope = Unknown { type_meta, raw: Some(raw), ..Unknown::default() };
        prop_assert!(fine(&enveloped(&envelope)));
    }

    /// Real bodies with some bytes changed, left out, or cut off.
    #[test]
    fn damaged_bodies(
        which in any::<Index>(), changes in vec((any::<Index>(), any::<u8>()), 0..4), gone in of_index(), end in any::<Index>(),
        cut in any::<bool>(),
    ) {
        let (mut bytes, _) = parse(which.get(FIXTURES).1);
        for (at, byte) in changes {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        if let Some(gone) = gone {
            bytes.remove(gone.index(bytes.len()));
        }
        if cut {
            bytes.truncate(end.index(bytes.len()));
        }
        prop_assert!(fine(&bytes));
    }
}

fn of_index() -> impl Strategy<Value = Option<Index>> {
    proptest::option::of(any::<Index>())
}
