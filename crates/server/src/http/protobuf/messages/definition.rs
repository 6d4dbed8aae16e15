//! Custom resource definitions. Their schemas hold schemas; how deep is bounded where they are read.

use super::meta::OBJECT_META;
use crate::http::protobuf::decode::{Field, Is, Message};

super::messages! {
    CUSTOM_RESOURCE_DEFINITION {
        1 "metadata" Part(OBJECT_META), 2 "spec" Part(DEFINITION_SPEC), 3 "status" Part(DEFINITION_STATUS),
    }
    DEFINITION_SPEC {
        1 "group" TextKept, 3 "names" Part(DEFINITION_NAMES), 4 "scope" TextKept,
        7 "versions" Parts(DEFINITION_VERSION), 9 "conversion" PartKept(CONVERSION),
        10 "preserveUnknownFields" Bool,
    }
    DEFINITION_NAMES {
        1 "plural" TextKept, 2 "singular" Text, 3 "shortNames" Texts, 4 "kind" TextKept, 5 "listKind" Text,
        6 "categories" Texts,
    }
    DEFINITION_VERSION {
        1 "name" TextKept, 2 "served" BoolKept, 3 "storage" BoolKept, 4 "schema" PartKept(VALIDATION),
        5 "subresources" PartKept(SUBRESOURCES), 6 "additionalPrinterColumns" Parts(COLUMN),
        7 "deprecated" Bool, 8 "deprecationWarning" TextKept, 9 "selectableFields" Parts(SELECTABLE_FIELD),
    }
    VALIDATION { 1 "openAPIV3Schema" PartKept(SCHEMA) }
    SCHEMA {
        1 "id" Text, 2 "$schema" Text, 3 "$ref" TextKept, 4 "description" Text, 5 "type" Text,
        6 "format" Text, 7 "title" Text, 8 "default" Json, 9 "maximum" Double, 10 "exclusiveMaximum" Bool,
        11 "minimum" Double, 12 "exclusiveMinimum" Bool, 13 "maxLength" NumberKept, 14 "minLength" NumberKept,
        15 "pattern" Text, 16 "maxItems" NumberKept, 17 "minItems" NumberKept, 18 "uniqueItems" Bool,
        19 "multipleOf" Double, 20 "enum" Jsons, 21 "maxProperties" NumberKept, 22 "minProperties" NumberKept,
        23 "required" Texts, 24 "items" Either(SCHEMA_OR_LIST), 25 "allOf" Parts(SCHEMA),
        26 "oneOf" Parts(SCHEMA), 27 "anyOf" Parts(SCHEMA), 28 "not" PartKept(SCHEMA),
        29 "properties" PartMap(SCHEMA), 30 "additionalProperties" Either(SCHEMA_OR_BOOL),
        31 "patternProperties" PartMap(SCHEMA), 33 "additionalItems" Either(SCHEMA_OR_BOOL),
        34 "definitions" PartMap(SCHEMA), 35 "externalDocs" PartKept(EXTERNAL_DOCUMENTATION),
        36 "example" Json, 37 "nullable" Bool, 38 "x-kubernetes-preserve-unknown-fields" BoolKept,
        39 "x-kubernetes-embedded-resource" Bool, 40 "x-kubernetes-int-or-string" Bool,
        41 "x-kubernetes-list-map-keys" Texts, 42 "x-kubernetes-list-type" TextKept,
        43 "x-kubernetes-map-type" TextKept, 44 "x-kubernetes-validations" Parts(VALIDATION_RULE),
    }
    SCHEMA_OR_LIST { 1 "schema" PartKept(SCHEMA), 2 "schemas" Parts(SCHEMA) }
    SCHEMA_OR_BOOL { 1 "allows" BoolKept, 2 "schema" PartKept(SCHEMA) }
    EXTERNAL_DOCUMENTATION { 1 "description" Text, 2 "url" Text }
    VALIDATION_RULE {
        1 "rule" TextKept, 2 "message" Text, 3 "messageExpression" Text, 4 "reason" TextKept,
        5 "fieldPath" Text, 6 "optionalOldSelf" BoolKept,
    }
    SUBRESOURCES { 1 "status" PartKept(EMPTY), 2 "scale" PartKept(SUBRESOURCE_SCALE) }
    EMPTY {}
    SUBRESOURCE_SCALE {
        1 "specReplicasPath" TextKept, 2 "statusReplicasPath" TextKept, 3 "labelSelectorPath" TextKept,
    }
    COLUMN {
        1 "name" TextKept, 2 "type" TextKept, 3 "format" Text, 4 "description" Text, 5 "priority" Number,
        6 "jsonPath" TextKept,
    }
    SELECTABLE_FIELD { 1 "jsonPath" TextKept }
    CONVERSION { 1 "strategy" TextKept, 2 "webhook" PartKept(WEBHOOK_CONVERSION) }
    WEBHOOK_CONVERSION {
        2 "clientConfig" PartKept(WEBHOOK_CLIENT_CONFIG), 3 "conversionReviewVersions" Texts,
    }
    WEBHOOK_CLIENT_CONFIG { 1 "service" PartKept(SERVICE_REFERENCE), 2 "caBundle" Bytes, 3 "url" TextKept }
    SERVICE_REFERENCE { 1 "namespace" TextKept, 2 "name" TextKept, 3 "path" TextKept, 4 "port" NumberKept }
    DEFINITION_STATUS {
        1 "conditions" Parts(DEFINITION_CONDITION), 2 "acceptedNames" Part(DEFINITION_NAMES),
        3 "storedVersions" Texts, 4 "observedGeneration" Number,
    }
    DEFINITION_CONDITION {
        1 "type" TextKept, 2 "status" TextKept, 3 "lastTransitionTime" Time, 4 "reason" Text,
        5 "message" Text, 6 "observedGeneration" Number,
    }
}
