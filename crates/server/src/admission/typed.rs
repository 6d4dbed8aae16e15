//! The small kinds that are always there, field by field, and that fields hold what they are made for. They are written
//! so often that no write should have to look into their schemas.

use sexton_model::{Document, Status};

use crate::api::{Result, Target};
use crate::kinds::Type::{self, Bool, Bytes, Fields, List, Map, Text, Whole};
use crate::kinds::{KindRef, Mistyped, Special, mistyped};

/// A kind without what every resource has: group, name, fields.
type Small = (&'static str, &'static str, &'static [(&'static str, Type)]);

const TEXTS: Type = Map(&Text);
const REFERENCE: Type = Fields(&[
    ("kind", Text),
    ("namespace", Text),
    ("name", Text),
    ("uid", Text),
    ("apiVersion", Text),
    ("resourceVersion", Text),
    ("fieldPath", Text),
]);

const SMALL: [Small; 6] = [
    ("", "ConfigMap", &[("data", TEXTS), ("binaryData", Map(&Bytes)), ("immutable", Bool)]),
    ("", "Secret", &[("data", Map(&Bytes)), ("stringData", TEXTS), ("type", Text), ("immutable", Bool)]),
    (
        "",
        "Namespace",
        &[("spec", Fields(&[("finalizers", List(&Text))])), ("status", Fields(&[("phase", Text)]))],
    ),
    (
        "",
        "ServiceAccount",
        &[
            ("secrets", List(&REFERENCE)),
            ("imagePullSecrets", List(&REFERENCE)),
            ("automountServiceAccountToken", Bool),
        ],
    ),
    (
        "",
        "Event",
        &[
            ("involvedObject", REFERENCE),
            ("reason", Text),
            ("message", Text),
            ("source", Fields(&[("component", Text), ("host", Text)])),
            ("firstTimestamp", Text),
            ("lastTimestamp", Text),
            ("count", Whole),
            ("type", Text),
            ("eventTime", Text),
            ("series", Fields(&[("count", Whole), ("lastObservedTime", Text)])),
            ("action", Text),
            ("related", REFERENCE),
            ("reportingComponent", Text),
            ("reportingInstance", Text),
        ],
    ),
    (
        "coordination.k8s.io",
        "Lease",
        &[(
            "spec",
            Fields(&[
                ("holderIdentity", Text),
                ("leaseDurationSeconds", Whole),
                ("acquireTime", Text),
                ("renewTime", Text),
                ("leaseTransitions", Whole),
                ("strategy", Text),
                ("preferredHolder", Text),
            ]),
        )],
    ),
];

/// The fields of a small kind.
pub(super) fn small(kind: &KindRef) -> Option<&'static [(&'static str, Type)]> {
    let small = SMALL.iter().find(|(group, name, _)| *name == kind.kind && *group == kind.resource.group);
    small.filter(|_| !kind.is_custom()).map(|small| small.2)
}

/// A document of a kind of Kubernetes must be one that its typed clients can read.
pub(crate) fn refuse_mistyped(target: &Target, document: &Document) -> Result<()> {
    match wrong(target, document) {
        Some(wrong) => Err(refused(target, &wrong).into()),
        None => Ok(()),
    }
}

/// The same for a patch, which is not to blame for what was there before.
pub(crate) fn refuse_patch_mistyped(target: &Target, old: &Document, new: &Document) -> Result<()> {
    match wrong(target, new) {
        Some(wrong_now) if wrong(target, old).as_ref() != Some(&wrong_now) => {
            Err(refused(target, &wrong_now).into())
        }
        _ => Ok(()),
    }
}

fn wrong(target: &Target, document: &Document) -> Option<Mistyped> {
    let kind = &target.kind;
    if let Some(fields) = small(kind) {
        return Fields(fields).mistyped(document.value());
    }
    // Definitions have checks of their own, which tell more.
    if kind.is_custom() || kind.special == Special::Definition {
        return None;
    }
    mistyped(kind.known_fields()?, document.value())
}

fn refused(target: &Target, wrong: &Mistyped) -> Status {
    let (kind, version) = (&target.kind.kind, target.kind.version.as_str());
    Status::bad_request(format!("{kind} in version {version:?} cannot be handled as a {kind}: {wrong}"))
}
