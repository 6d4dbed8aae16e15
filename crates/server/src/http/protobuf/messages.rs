//! The messages that are understood: the field numbers of Kubernetes' own definitions, as tables.

use super::decode::Is::{
    BoolPointer, BytesMap, Json, MicroTime, Number, NumberPointer, Part, PartPointer, Parts, Text, TextMap,
    TextPointer, Texts, TextsMap, Time,
};
use super::decode::{Field, Is, Message};

/// The message of a kind, if it is understood. Options of a deletion belong to every group.
pub(super) fn of(api_version: &str, kind: &str) -> Option<&'static Message> {
    let message = match (api_version, kind) {
        ("v1", "Namespace") => &NAMESPACE,
        ("v1", "ConfigMap") => &CONFIG_MAP,
        ("v1", "Secret") => &SECRET,
        ("v1", "ServiceAccount") => &SERVICE_ACCOUNT,
        ("v1", "Event") => &EVENT,
        ("coordination.k8s.io/v1", "Lease") => &LEASE,
        ("authorization.k8s.io/v1", "SelfSubjectAccessReview") => &SELF_ACCESS_REVIEW,
        ("authorization.k8s.io/v1", "SubjectAccessReview" | "LocalSubjectAccessReview") => &ACCESS_REVIEW,
        ("authorization.k8s.io/v1", "SelfSubjectRulesReview") => &SELF_RULES_REVIEW,
        ("authentication.k8s.io/v1", "SelfSubjectReview") => &SELF_REVIEW,
        (_, "DeleteOptions") => &DELETE_OPTIONS,
        _ => return None,
    };
    Some(message)
}

const fn field(number: u64, name: &'static str, is: Is) -> Field {
    Field { number, name, is }
}

const METADATA: Field = field(1, "metadata", Part(&OBJECT_META));

static OBJECT_META: Message = Message(&[
    field(1, "name", Text),
    field(2, "generateName", Text),
    field(3, "namespace", Text),
    field(4, "selfLink", Text),
    field(5, "uid", Text),
    field(6, "resourceVersion", Text),
    field(7, "generation", Number),
    field(8, "creationTimestamp", Time),
    field(9, "deletionTimestamp", Time),
    field(10, "deletionGracePeriodSeconds", NumberPointer),
    field(11, "labels", TextMap),
    field(12, "annotations", TextMap),
    field(13, "ownerReferences", Parts(&OWNER_REFERENCE)),
    field(14, "finalizers", Texts),
    field(17, "managedFields", Parts(&MANAGED_FIELDS)),
]);

static OWNER_REFERENCE: Message = Message(&[
    field(1, "kind", Text),
    field(3, "name", Text),
    field(4, "uid", Text),
    field(5, "apiVersion", Text),
    field(6, "controller", BoolPointer),
    field(7, "blockOwnerDeletion", BoolPointer),
]);

static MANAGED_FIELDS: Message = Message(&[
    field(1, "manager", Text),
    field(2, "operation", Text),
    field(3, "apiVersion", Text),
    field(4, "time", Time),
    field(6, "fieldsType", Text),
    field(7, "fieldsV1", Json),
    field(8, "subresource", Text),
]);

static OBJECT_REFERENCE: Message = Message(&[
    field(1, "kind", Text),
    field(2, "namespace", Text),
    field(3, "name", Text),
    field(4, "uid", Text),
    field(5, "apiVersion", Text),
    field(6, "resourceVersion", Text),
    field(7, "fieldPath", Text),
]);

static LOCAL_REFERENCE: Message = Message(&[field(1, "name", Text)]);

static NAMESPACE: Message = Message(&[
    METADATA,
    field(2, "spec", Part(&NAMESPACE_SPEC)),
    field(3, "status", Part(&NAMESPACE_STATUS)),
]);

static NAMESPACE_SPEC: Message = Message(&[field(1, "finalizers", Texts)]);

static NAMESPACE_STATUS: Message =
    Message(&[field(1, "phase", Text), field(2, "conditions", Parts(&NAMESPACE_CONDITION))]);

static NAMESPACE_CONDITION: Message = Message(&[
    field(1, "type", Text),
    field(2, "status", Text),
    field(4, "lastTransitionTime", Time),
    field(5, "reason", Text),
    field(6, "message", Text),
]);

static CONFIG_MAP: Message = Message(&[
    METADATA,
    field(2, "data", TextMap),
    field(3, "binaryData", BytesMap),
    field(4, "immutable", BoolPointer),
]);

static SECRET: Message = Message(&[
    METADATA,
    field(2, "data", BytesMap),
    field(3, "type", Text),
    field(4, "stringData", TextMap),
    field(5, "immutable", BoolPointer),
]);

static SERVICE_ACCOUNT: Message = Message(&[
    METADATA,
    field(2, "secrets", Parts(&OBJECT_REFERENCE)),
    field(3, "imagePullSecrets", Parts(&LOCAL_REFERENCE)),
    field(4, "automountServiceAccountToken", BoolPointer),
]);

static EVENT: Message = Message(&[
    METADATA,
    field(2, "involvedObject", Part(&OBJECT_REFERENCE)),
    field(3, "reason", Text),
    field(4, "message", Text),
    field(5, "source", Part(&EVENT_SOURCE)),
    field(6, "firstTimestamp", Time),
    field(7, "lastTimestamp", Time),
    field(8, "count", Number),
    field(9, "type", Text),
    field(10, "eventTime", MicroTime),
    field(11, "series", PartPointer(&EVENT_SERIES)),
    field(12, "action", Text),
    field(13, "related", PartPointer(&OBJECT_REFERENCE)),
    field(14, "reportingComponent", Text),
    field(15, "reportingInstance", Text),
]);

static EVENT_SOURCE: Message = Message(&[field(1, "component", Text), field(2, "host", Text)]);

static EVENT_SERIES: Message = Message(&[field(1, "count", Number), field(2, "lastObservedTime", MicroTime)]);

static LEASE: Message = Message(&[METADATA, field(2, "spec", Part(&LEASE_SPEC))]);

static LEASE_SPEC: Message = Message(&[
    field(1, "holderIdentity", TextPointer),
    field(2, "leaseDurationSeconds", NumberPointer),
    field(3, "acquireTime", MicroTime),
    field(4, "renewTime", MicroTime),
    field(5, "leaseTransitions", NumberPointer),
    field(6, "strategy", TextPointer),
    field(7, "preferredHolder", TextPointer),
]);

const RESOURCE_ATTRIBUTES: Field = field(1, "resourceAttributes", PartPointer(&RESOURCE));
const PATH_ATTRIBUTES: Field = field(2, "nonResourceAttributes", PartPointer(&PATH));

static RESOURCE: Message = Message(&[
    field(1, "namespace", Text),
    field(2, "verb", Text),
    field(3, "group", Text),
    field(4, "version", Text),
    field(5, "resource", Text),
    field(6, "subresource", Text),
    field(7, "name", Text),
    field(8, "fieldSelector", PartPointer(&SELECTOR)),
    field(9, "labelSelector", PartPointer(&SELECTOR)),
]);

static SELECTOR: Message =
    Message(&[field(1, "rawSelector", Text), field(2, "requirements", Parts(&REQUIREMENT))]);

static REQUIREMENT: Message =
    Message(&[field(1, "key", Text), field(2, "operator", Text), field(3, "values", Texts)]);

static PATH: Message = Message(&[field(1, "path", Text), field(2, "verb", Text)]);

static SELF_ACCESS_REVIEW: Message = Message(&[METADATA, field(2, "spec", Part(&SELF_ACCESS_SPEC))]);

static SELF_ACCESS_SPEC: Message = Message(&[RESOURCE_ATTRIBUTES, PATH_ATTRIBUTES]);

static ACCESS_REVIEW: Message = Message(&[METADATA, field(2, "spec", Part(&ACCESS_SPEC))]);

static ACCESS_SPEC: Message = Message(&[
    RESOURCE_ATTRIBUTES,
    PATH_ATTRIBUTES,
    field(3, "user", Text),
    field(4, "groups", Texts),
    field(5, "extra", TextsMap),
    field(6, "uid", Text),
]);

static SELF_RULES_REVIEW: Message = Message(&[METADATA, field(2, "spec", Part(&SELF_RULES_SPEC))]);

static SELF_RULES_SPEC: Message = Message(&[field(1, "namespace", Text)]);

static SELF_REVIEW: Message = Message(&[METADATA]);

static DELETE_OPTIONS: Message = Message(&[
    field(1, "gracePeriodSeconds", NumberPointer),
    field(2, "preconditions", PartPointer(&PRECONDITIONS)),
    field(3, "orphanDependents", BoolPointer),
    field(4, "propagationPolicy", TextPointer),
    field(5, "dryRun", Texts),
    field(6, "ignoreStoreReadErrorWithClusterBreakingPotential", BoolPointer),
]);

static PRECONDITIONS: Message =
    Message(&[field(1, "uid", TextPointer), field(2, "resourceVersion", TextPointer)]);
