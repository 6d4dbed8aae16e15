//! Schemas that are refused, word by word.

use super::*;
use crate::schema::check;

fn said(text: &str) -> String {
    lines(&check(&yaml(text), "s"))
}

/// Schema of a field `f`, and what is said, where `@` is the path of the field.
const FIELDS: &[(&str, &str)] = &[
    ("{type: string}", ""),
    ("{}", "@.type: Required value: must not be empty for specified object fields"),
    ("{x-kubernetes-preserve-unknown-fields: true}", ""),
    ("{x-kubernetes-int-or-string: true, anyOf: [{type: integer}, {type: string}]}", ""),
    (
        "{x-kubernetes-int-or-string: true, allOf: [{anyOf: [{type: integer}, {type: string}]}, {maximum: 3}]}",
        "",
    ),
    ("{type: string, anyOf: [{type: string}]}", "@.anyOf[0].type: Forbidden: must be empty to be structural"),
    (
        "{type: text}",
        "@.type: Unsupported value: \"text\": supported values: \"array\", \"boolean\", \"integer\", \"number\", \"object\", \"string\"",
    ),
    ("{type: array, items: {}}", "@.items.type: Required value: must not be empty for specified array items"),
    ("{type: array}", "@.items: Required value: must be specified"),
    (
        "{type: array, items: [{type: string}]}",
        "@.items: Forbidden: items must be a schema object and not an array",
    ),
    (
        "{type: array, uniqueItems: true, items: {type: string}}",
        "@.uniqueItems: Forbidden: uniqueItems cannot be set to true since the runtime complexity becomes quadratic",
    ),
    ("{type: object, $ref: a}", "@.$ref: Forbidden: $ref is not supported"),
    (
        "{type: object, additionalProperties: false}",
        "@.additionalProperties: Forbidden: additionalProperties cannot be set to false",
    ),
    (
        "{type: object, properties: {a: {type: string}}, additionalProperties: {type: string}}",
        "@.additionalProperties: Forbidden: additionalProperties and properties are mutual exclusive",
    ),
    (
        "{type: object, x-kubernetes-preserve-unknown-fields: false}",
        "@.x-kubernetes-preserve-unknown-fields: Invalid value: false: must be true or undefined",
    ),
    (
        "{type: string, pattern: '('}",
        "@.pattern: Invalid value: \"(\": must be a valid regular expression, but isn't: unclosed group",
    ),
    (
        "{type: object, anyOf: [{required: [a], properties: {a: {minimum: 1}}}]}",
        "@.properties[a]: Required value: because it is defined in @.anyOf[0].properties[a]",
    ),
    ("{type: object, properties: {a: {type: integer}}, anyOf: [{properties: {a: {minimum: 1}}}]}", ""),
    (
        "{type: object, properties: {a: {type: integer}}, anyOf: [{properties: {a: {minimum: 1, default: 1}}}]}",
        "@.anyOf[0].properties[a].default: Forbidden: must be undefined to be structural",
    ),
    (
        "{type: array, x-kubernetes-list-type: map, items: {type: object}}",
        "@.x-kubernetes-list-map-keys: Required value: must not be empty if x-kubernetes-list-type is map",
    ),
    (
        "{type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [k], items: {type: object, properties: {k: {type: string}}}}",
        "@.items.properties[k].default: Required value: this property is in x-kubernetes-list-map-keys, so it must have a \
         default or be a required property",
    ),
    (
        "{type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [k], items: {type: object, required: [k], properties: {k: {type: string}}}}",
        "",
    ),
    (
        "{type: string, x-kubernetes-list-type: set}",
        "@.type: Invalid value: \"string\": must be array if x-kubernetes-list-type is specified\n@.items: Required value: must have a schema if x-kubernetes-list-type is set",
    ),
    (
        "{type: array, x-kubernetes-list-type: bag, items: {type: string}}",
        "@.x-kubernetes-list-type: Unsupported value: \"bag\": supported values: \"atomic\", \"map\", \"set\"",
    ),
    (
        "{type: object, x-kubernetes-embedded-resource: true}",
        "@.properties: Required value: must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields",
    ),
    (
        "{type: integer, default: x}",
        "@.default: Invalid value: \"string\": @.default in body must be of type integer: \"string\"",
    ),
    ("{type: object, default: {a: 1}}", "@.default: Invalid value: {\"a\":1}: must not have unknown fields"),
    ("{type: object, default: {}, properties: {a: {type: integer, default: 1}}, required: [a]}", ""),
    ("{type: string, maxLength: -1}", "@.maxLength: Invalid value: -1: must be a whole number of at least 0"),
    ("{type: object, properties: 5}", "@.properties: Invalid value: 5: must be an object"),
    ("5", "@: Invalid value: 5: must be an object"),
];

#[test]
fn fields_that_are_refused() {
    for (field, expected) in FIELDS {
        let text = said(&format!("{{type: object, properties: {{f: {field}}}}}"));
        assert_eq!(text, expected.replace('@', "s.properties[f]"), "{field}");
    }
}

#[test]
fn roots_that_are_refused() {
    let cases = [
        ("{type: object}", ""),
        ("{}", "s.type: Required value: must not be empty at the root"),
        (
            "{type: array, items: {type: string}}",
            "s.type: Invalid value: \"array\": must be object at the root",
        ),
        (
            "{type: object, additionalProperties: {type: string}}",
            "s.additionalProperties: Forbidden: must not be used at the root",
        ),
        (
            "{type: object, properties: {kind: {type: integer}}}",
            "s.properties[kind].type: Invalid value: \"integer\": must be string",
        ),
        (
            "{type: object, properties: {metadata: {type: object, properties: {labels: {type: object}}}}}",
            "s.properties[metadata]: Forbidden: must not specify anything other than name and generateName, but metadata is implicitly specified",
        ),
        (
            "{type: object, properties: {metadata: {type: object, properties: {name: {type: string, maxLength: 9}}}}}",
            "",
        ),
        ("[]", "s: Invalid value: []: must be an object"),
    ];
    for (text, expected) in cases {
        assert_eq!(said(text), expected, "{text}");
    }
}

#[test]
fn schemas_are_bounded() {
    let object = serde_json::json!({"type": "object"});
    let deep =
        (0..80).fold(object, |below, _| serde_json::json!({"type": "object", "properties": {"a": below}}));
    assert!(lines(&check(&deep, "s")).contains("must not be nested deeper than 64 levels"));
    let many: Vec<String> = (0..1100).map(|n| format!("a{n}: {{type: string, pattern: a}}")).collect();
    assert!(
        said(&format!("{{type: object, properties: {{{}}}}}", many.join(", "))).contains("Too many: 1100")
    );
}
