//! Questions about rights. Their answers are ours to give: what a client sends in their place is not read.

use super::meta::{FIELD_SELECTOR_REQUIREMENT, LABEL_SELECTOR_REQUIREMENT, OBJECT_META};
use crate::http::protobuf::decode::{Field, Is, Message};

super::messages! {
    SELF_SUBJECT_ACCESS_REVIEW {
        1 "metadata" Part(OBJECT_META), 2 "spec" Part(SELF_SUBJECT_ACCESS_REVIEW_SPEC), 3 "status" Ignored,
    }
    SELF_SUBJECT_ACCESS_REVIEW_SPEC {
        1 "resourceAttributes" PartKept(RESOURCE_ATTRIBUTES),
        2 "nonResourceAttributes" PartKept(NON_RESOURCE_ATTRIBUTES),
    }
    RESOURCE_ATTRIBUTES {
        1 "namespace" Text, 2 "verb" Text, 3 "group" Text, 4 "version" Text, 5 "resource" Text,
        6 "subresource" Text, 7 "name" Text, 8 "fieldSelector" PartKept(FIELD_SELECTOR_ATTRIBUTES),
        9 "labelSelector" PartKept(LABEL_SELECTOR_ATTRIBUTES),
    }
    FIELD_SELECTOR_ATTRIBUTES { 1 "rawSelector" Text, 2 "requirements" Parts(FIELD_SELECTOR_REQUIREMENT) }
    LABEL_SELECTOR_ATTRIBUTES { 1 "rawSelector" Text, 2 "requirements" Parts(LABEL_SELECTOR_REQUIREMENT) }
    NON_RESOURCE_ATTRIBUTES { 1 "path" Text, 2 "verb" Text }
    SUBJECT_ACCESS_REVIEW {
        1 "metadata" Part(OBJECT_META), 2 "spec" Part(SUBJECT_ACCESS_REVIEW_SPEC), 3 "status" Ignored,
    }
    SUBJECT_ACCESS_REVIEW_SPEC {
        1 "resourceAttributes" PartKept(RESOURCE_ATTRIBUTES),
        2 "nonResourceAttributes" PartKept(NON_RESOURCE_ATTRIBUTES), 3 "user" Text, 4 "groups" Texts,
        5 "extra" TextsMap, 6 "uid" Text,
    }
    SELF_SUBJECT_RULES_REVIEW {
        1 "metadata" Part(OBJECT_META), 2 "spec" Part(SELF_SUBJECT_RULES_REVIEW_SPEC), 3 "status" Ignored,
    }
    SELF_SUBJECT_RULES_REVIEW_SPEC { 1 "namespace" Text }
    SELF_SUBJECT_REVIEW { 1 "metadata" Part(OBJECT_META), 2 "status" Ignored }
}
