//! Messages made by chance after our own tables: they are read, damaged ones are refused, and another implementation
//! that has its numbers from elsewhere understands every field of them.

use k8s_pb::api::{
    apps::v1 as apps, authentication::v1 as authentication, authorization::v1 as authorization,
    autoscaling::v1 as scales, batch::v1 as batch, coordination::v1 as coordination, core::v1 as core,
};
use k8s_pb::apiextensions_apiserver::pkg::apis::apiextensions::v1 as definitions;
use k8s_pb::apimachinery::pkg::apis::meta::v1 as meta;
use proptest::prelude::*;
use proptest::sample::Index;
use prost::encoding::encode_varint;

use super::super::decode::{Is, Message};
use super::super::messages;
use super::encoder::{TypeMeta, Unknown, enveloped};
use super::read;

/// Reads and writes a message with the other implementation. What it does not know is gone afterwards.
type Passed = fn(&[u8]) -> Vec<u8>;

fn passed<T: prost::Message + Default>(bytes: &[u8]) -> Vec<u8> {
    T::decode(bytes).unwrap().encode_to_vec()
}

/// All kinds, and what the other implementation calls them.
pub(super) const KINDS: &[(&str, &str, Passed)] = &[
    ("v1", "Namespace", passed::<core::Namespace>),
    ("v1", "ConfigMap", passed::<core::ConfigMap>),
    ("v1", "Secret", passed::<core::Secret>),
    ("v1", "ServiceAccount", passed::<core::ServiceAccount>),
    ("v1", "Event", passed::<core::Event>),
    ("v1", "Service", passed::<core::Service>),
    ("v1", "ReplicationController", passed::<core::ReplicationController>),
    ("v1", "Pod", passed::<core::Pod>),
    ("apps/v1", "Deployment", passed::<apps::Deployment>),
    ("apps/v1", "ReplicaSet", passed::<apps::ReplicaSet>),
    ("apps/v1", "StatefulSet", passed::<apps::StatefulSet>),
    ("apps/v1", "DaemonSet", passed::<apps::DaemonSet>),
    ("batch/v1", "Job", passed::<batch::Job>),
    ("batch/v1", "CronJob", passed::<batch::CronJob>),
    ("autoscaling/v1", "Scale", passed::<scales::Scale>),
    ("coordination.k8s.io/v1", "Lease", passed::<coordination::Lease>),
    ("apiextensions.k8s.io/v1", "CustomResourceDefinition", passed::<definitions::CustomResourceDefinition>),
    ("authorization.k8s.io/v1", "SelfSubjectAccessReview", passed::<authorization::SelfSubjectAccessReview>),
    ("authorization.k8s.io/v1", "SubjectAccessReview", passed::<authorization::SubjectAccessReview>),
    ("authorization.k8s.io/v1", "SelfSubjectRulesReview", passed::<authorization::SelfSubjectRulesReview>),
    ("authentication.k8s.io/v1", "SelfSubjectReview", passed::<authentication::SelfSubjectReview>),
    ("v1", "DeleteOptions", passed::<meta::DeleteOptions>),
];

/// Numbers by chance.
struct Chance(u64);

impl Chance {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % end
    }
}

fn bytes_of(number: u64, bytes: &[u8], out: &mut Vec<u8>) {
    encode_varint(number << 3 | 2, out);
    encode_varint(bytes.len() as u64, out);
    out.extend(bytes);
}

fn number_of(number: u64, value: u64, out: &mut Vec<u8>) {
    encode_varint(number << 3, out);
    encode_varint(value, out);
}

fn entry_of(number: u64, chance: &mut Chance, value: &[u8], out: &mut Vec<u8>) {
    let mut entry = Vec::new();
    bytes_of(1, word(chance).as_bytes(), &mut entry);
    bytes_of(2, value, &mut entry);
    bytes_of(number, &entry, out);
}

fn word(chance: &mut Chance) -> &'static str {
    ["", "a", "bé", "cc"][usize::try_from(chance.below(4)).unwrap()]
}

/// How deep messages of a kind are at most. Schemas hold eleven schemas each, so these few levels are many messages.
fn levels(kind: &str) -> usize {
    if kind == "CustomResourceDefinition" { 6 } else { 12 }
}

/// A message of the fields that chance takes: one out of so many. It is not deeper than told.
fn written(message: &Message, one_in: u64, chance: &mut Chance, levels: usize) -> Vec<u8> {
    let mut out = Vec::new();
    for field in message.0 {
        let number = field.number;
        if chance.below(one_in) != 0 {
            continue;
        }
        let part = |message: &Message, chance: &mut Chance| {
            if levels == 0 { Vec::new() } else { written(message, one_in, chance, levels - 1) }
        };
        let small = chance.below(3);
        match field.is {
            Is::Text | Is::TextKept | Is::Texts | Is::Bytes => {
                bytes_of(number, word(chance).as_bytes(), &mut out);
            }
            Is::Number | Is::NumberKept | Is::Numbers => number_of(number, small, &mut out),
            Is::Bool | Is::BoolKept => number_of(number, small % 2, &mut out),
            Is::Double => {
                encode_varint(number << 3 | 1, &mut out);
                out.extend((f64::from(u32::try_from(small).unwrap()) / 2.0).to_le_bytes());
            }
            Is::Part(inner)
            | Is::PartKept(inner)
            | Is::Inline(inner)
            | Is::Either(inner)
            | Is::Parts(inner) => {
                let inner = part(inner, chance);
                bytes_of(number, &inner, &mut out);
            }
            Is::TextMap | Is::BytesMap => {
                let value = word(chance);
                entry_of(number, chance, value.as_bytes(), &mut out);
            }
            Is::TextsMap | Is::QuantityMap => entry_of(number, chance, b"\x0a\x01x", &mut out),
            Is::PartMap(inner) => {
                let inner = part(inner, chance);
                entry_of(number, chance, &inner, &mut out);
            }
            Is::Quantity => bytes_of(number, b"\x0a\x035Mi", &mut out),
            Is::IntOrText | Is::IntOrTextKept if small == 0 => {
                bytes_of(number, b"\x08\x01\x10\x00\x1a\x0210", &mut out);
            }
            Is::IntOrText | Is::IntOrTextKept => bytes_of(number, b"\x08\x00\x10\x07\x1a\x00", &mut out),
            Is::Time | Is::MicroTime => bytes_of(number, b"\x08\x07\x10\x00", &mut out),
            Is::Json | Is::Jsons => bytes_of(number, b"\x0a\x04null", &mut out),
            Is::Ignored => bytes_of(number, b"", &mut out),
        }
    }
    out
}

fn body(api_version: &str, kind: &str, raw: Vec<u8>) -> Vec<u8> {
    let type_meta = TypeMeta { api_version: Some(api_version.into()), kind: Some(kind.into()) };
    enveloped(&Unknown { type_meta: Some(type_meta), raw: Some(raw), ..Unknown::default() })
}

/// Every field of every kind has the number and the form that others give it.
#[test]
fn others_know_every_field() {
    for (api_version, kind, passed) in KINDS {
        let message = messages::of(api_version, kind).unwrap();
        for seed in 0..2 {
            let raw = written(message, 1, &mut Chance(seed), levels(kind));
            let again = passed(&raw);
            let (ours, theirs) = (read(&body(api_version, kind, raw)), read(&body(api_version, kind, again)));
            assert!(ours.is_ok(), "{kind}: {ours:?}");
            assert_eq!(ours, theirs, "{kind}");
        }
    }
}

/// Numbers and names are there once in every table.
#[test]
fn tables_are_well_formed() {
    let mut seen: Vec<*const Message> = Vec::new();
    let mut left: Vec<&'static Message> =
        KINDS.iter().filter_map(|(version, kind, _)| messages::of(version, kind)).collect();
    while let Some(message) = left.pop() {
        if seen.contains(&std::ptr::from_ref(message)) {
            continue;
        }
        seen.push(message);
        for pair in message.0.windows(2) {
            assert!(pair[0].number < pair[1].number, "{message:?}");
        }
        for field in message.0 {
            assert!(message.0.iter().filter(|other| other.name == field.name).count() == 1, "{message:?}");
            match field.is {
                Is::Part(inner)
                | Is::PartKept(inner)
                | Is::Inline(inner)
                | Is::Either(inner)
                | Is::Parts(inner)
                | Is::PartMap(inner) => left.push(inner),
                _ => {}
            }
        }
    }
    assert!(seen.len() > 200, "{}", seen.len());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    /// Some fields are there, some bytes are wrong.
    #[test]
    fn by_chance(
        which in any::<Index>(), seed in any::<u64>(), one_in in 1..4_u64,
        changes in proptest::collection::vec((any::<Index>(), any::<u8>()), 1..4),
    ) {
        let (api_version, kind, passed) = which.get(KINDS);
        let raw = written(messages::of(api_version, kind).unwrap(), one_in, &mut Chance(seed), levels(kind));
        let mut bytes = body(api_version, kind, raw.clone());
        let ours = read(&bytes);
        prop_assert!(ours.is_ok(), "{ours:?}");
        prop_assert_eq!(ours, read(&body(api_version, kind, passed(&raw))));
        for (at, byte) in changes {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        prop_assert!(super::chance::fine(&bytes));
    }
}
