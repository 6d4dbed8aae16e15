//! What is refused, and in which words; and what an envelope may leave out.

use prost::Message as _;
use serde_json::json;

use super::encoder::{
    FieldsV1, Lease, LeaseSpec, ManagedFields, ObjectMeta, Secret, Time, TypeMeta, Unknown,
};
use super::encoder::{enveloped, wrapped};
use super::read;

fn refusal(bytes: &[u8]) -> (u16, String) {
    read(bytes).unwrap_err()
}

#[test]
fn other_kinds_are_told_to_speak_json() {
    let (code, message) = refusal(&wrapped("policy/v1", "Eviction", &Secret::default()));
    assert_eq!(code, 415);
    assert!(
        message.starts_with("Eviction of policy/v1 is not read as protobuf here, send application/json"),
        "{message}"
    );
    assert_eq!(refusal(&wrapped("v2", "Secret", &Secret::default())).0, 415);
}

/// What a later version added is not dropped: wherever it stands, it is named.
#[test]
fn fields_of_the_future_are_named() {
    let field = |number: u64, value: &[u8]| {
        let mut bytes = Vec::new();
        prost::encoding::encode_varint(number << 3 | 2, &mut bytes);
        prost::encoding::encode_varint(value.len() as u64, &mut bytes);
        [bytes.as_slice(), value].concat()
    };
    let future = field(2026, b"x");
    let template = field(3, &field(2, &field(2, &future)));
    let cases = [
        ("apps/v1", "Deployment", future.clone(), "(field 2026)"),
        ("apps/v1", "Deployment", field(2, &template), "(field 2026 of spec.template.spec.containers)"),
        ("v1", "Pod", field(3, &field(7, &future)), "(field 2026 of status.startTime)"),
        ("v1", "Pod", field(2, &field(32, &field(2, &future))), "(field 2026 of spec.overhead)"),
        (
            "v1",
            "Pod",
            field(2, &field(2, &field(10, &field(1, &future)))),
            "of spec.containers.livenessProbe)",
        ),
        ("v1", "ConfigMap", field(2, &future), "(field 2026 of data)"),
        ("v1", "Service", field(2, &field(1, &field(4, &future))), "(field 2026 of spec.ports.targetPort)"),
        ("v1", "DeleteOptions", field(2, &future), "(field 2026 of preconditions)"),
    ];
    for (api_version, kind, raw, place) in cases {
        let type_meta = TypeMeta { api_version: Some(api_version.into()), kind: Some(kind.into()) };
        let envelope = Unknown { type_meta: Some(type_meta), raw: Some(raw), ..Unknown::default() };
        let (code, message) = refusal(&enveloped(&envelope));
        let begin = format!("{kind} of {api_version} has a field that is not known in protobuf here (");
        assert!(message.starts_with(&begin) && message.contains(place), "{place}: {message}");
        assert!(message.contains("send application/json"), "{message}");
        assert_eq!(code, 415);
    }
}

#[test]
fn what_cannot_be_read_is_a_bad_request() {
    let whole = wrapped("v1", "Secret", &Secret { of: Some("Opaque".into()), ..Secret::default() });
    assert_eq!(refusal(&whole[..whole.len() - 1]).0, 400);
    assert_eq!(
        refusal(b""),
        (400, r"the body is not application/vnd.kubernetes.protobuf: it does not begin with k8s\0".into())
    );
    assert_eq!(refusal(br#"{"kind":"Secret"}"#).0, 400);
    let packed = Unknown { content_encoding: Some("gzip".into()), ..Unknown::default() };
    assert_eq!(refusal(&enveloped(&packed)).0, 400);
    // The number where a text is expected, a text that is none, a time that is none, JSON that is none.
    let raw = |raw: &[u8]| enveloped(&Unknown { raw: Some(raw.to_vec()), ..Unknown::default() });
    assert!(refusal(&raw(&[0x08, 0x01])).1.ends_with("metadata: a value of another type was expected"));
    assert!(refusal(&raw(&[0x0a, 0x03, 0x0a, 0x01, 0xff])).1.ends_with("name: it is not UTF-8"));
    for time in [Time { seconds: Some(i64::MAX), nanos: None }, Time { seconds: Some(0), nanos: Some(-1) }] {
        let spec = Some(LeaseSpec { renewed: Some(time), ..LeaseSpec::default() });
        let (code, message) =
            refusal(&wrapped("coordination.k8s.io/v1", "Lease", &Lease { metadata: None, spec }));
        assert_eq!((code, message.ends_with("renewTime: there is no such time")), (400, true), "{message}");
    }
    for raw in ["{", &"[".repeat(100)] {
        let fields = Some(FieldsV1 { raw: Some(raw.into()) });
        let managed_fields = vec![ManagedFields { fields, ..ManagedFields::default() }];
        let metadata = Some(ObjectMeta { managed_fields, ..ObjectMeta::default() });
        let (code, message) = refusal(&wrapped("v1", "Secret", &Secret { metadata, ..Secret::default() }));
        assert_eq!((code, message.contains("fieldsV1: the body is")), (400, true), "{message}");
    }
}

/// Two bytes per value, and as many values as fit into a body: what comes of it has a bound.
#[test]
fn values_have_a_bound() {
    let owners = [0x6a, 0x00].repeat(1_000_000);
    let length = u32::try_from(owners.len()).unwrap();
    let mut raw = vec![0x0a];
    prost::encoding::encode_varint(u64::from(length), &mut raw);
    raw.extend(owners);
    let (code, message) = refusal(&enveloped(&Unknown { raw: Some(raw), ..Unknown::default() }));
    assert_eq!((code, message.ends_with("it holds more than 500000 values")), (400, true), "{message}");
}

/// What the envelope does not say is taken from where it was sent to.
#[test]
fn an_envelope_may_be_bare() {
    let raw = Some(Secret::default().encode_to_vec());
    let expected = json!({"apiVersion": "v1", "kind": "ConfigMap"});
    assert_eq!(read(&enveloped(&Unknown { raw: raw.clone(), ..Unknown::default() })), Ok(expected.clone()));
    let type_meta = Some(TypeMeta { api_version: Some(String::new()), kind: None });
    assert_eq!(read(&enveloped(&Unknown { type_meta, raw, ..Unknown::default() })), Ok(expected.clone()));
    assert_eq!(read(b"k8s\0"), Ok(expected));
}

/// A document that its sender had as JSON.
#[test]
fn an_envelope_may_hold_json() {
    let raw = Some(br#"{"data":{"a":"1"}}"#.to_vec());
    let envelope = Unknown { raw, content_type: Some("application/json".into()), ..Unknown::default() };
    let expected = json!({"apiVersion": "v1", "kind": "ConfigMap", "data": {"a": "1"}});
    assert_eq!(read(&enveloped(&envelope)), Ok(expected));
}

/// Parts of a message may come apart; the last word counts, also an empty one.
#[test]
fn pieces_are_put_together() {
    let piece =
        |metadata: ObjectMeta| Secret { metadata: Some(metadata), ..Secret::default() }.encode_to_vec();
    let name = |name: &str| Some(name.to_owned());
    let raw = [
        piece(ObjectMeta { name: name("a"), namespace: name("n"), ..ObjectMeta::default() }),
        piece(ObjectMeta { name: name("b"), namespace: name(""), ..ObjectMeta::default() }),
    ];
    let envelope = Unknown { raw: Some(raw.concat()), ..Unknown::default() };
    let expected = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "b"}});
    assert_eq!(read(&enveloped(&envelope)), Ok(expected));
}
