//! What is said of documents that do not fit, word by word, and of updates that leave what does not fit as it was.

use super::*;

fn said(schema: &str, document: &str) -> String {
    lines(&spec(schema).validate(&yaml(&format!("{{spec: {document}}}")), None))
}

/// Schema of `spec`, `spec` itself, and what is said.
const CASES: &[(&str, &str, &str)] = &[
    ("{type: integer}", "1", ""),
    ("{type: integer}", "1.0", ""),
    (
        "{type: integer}",
        "1.5",
        r#"spec: Invalid value: "number": spec in body must be of type integer: "number""#,
    ),
    (
        "{type: integer}",
        "three",
        r#"spec: Invalid value: "string": spec in body must be of type integer: "string""#,
    ),
    ("{type: number}", "1", ""),
    (
        "{type: string}",
        "1",
        r#"spec: Invalid value: "integer": spec in body must be of type string: "integer""#,
    ),
    (
        "{type: boolean}",
        "[]",
        r#"spec: Invalid value: "array": spec in body must be of type boolean: "array""#,
    ),
    ("{type: object}", "null", r#"spec: Invalid value: "null": spec in body must be of type object: "null""#),
    ("{type: object, nullable: true}", "null", ""),
    ("{x-kubernetes-int-or-string: true}", "80", ""),
    ("{x-kubernetes-int-or-string: true}", "http", ""),
    (
        "{x-kubernetes-int-or-string: true}",
        "true",
        r#"spec: Invalid value: "boolean": spec in body must be of type integer,string: "boolean""#,
    ),
    (
        "{type: integer, maximum: 10}",
        "11",
        "spec: Invalid value: 11: spec in body should be less than or equal to 10",
    ),
    (
        "{type: integer, maximum: 10, exclusiveMaximum: true}",
        "10",
        "spec: Invalid value: 10: spec in body should be less than 10",
    ),
    (
        "{type: integer, minimum: 1}",
        "0",
        "spec: Invalid value: 0: spec in body should be greater than or equal to 1",
    ),
    (
        "{type: number, minimum: 0.5, exclusiveMinimum: true}",
        "0.5",
        "spec: Invalid value: 0.5: spec in body should be greater than 0.5",
    ),
    ("{type: integer, multipleOf: 5}", "10", ""),
    (
        "{type: integer, multipleOf: 5}",
        "11",
        "spec: Invalid value: 11: spec in body should be a multiple of 5",
    ),
    ("{type: number, multipleOf: 0.1}", "0.3", ""),
    (
        "{type: integer, format: int32}",
        "3000000000",
        "spec: Invalid value: 3000000000: Checked value must be of type integer with format int32",
    ),
    ("{type: integer, maximum: 9007199254740993}", "9007199254740993", ""),
    ("{type: string, maxLength: 2}", "äöü", "spec: Too long: may not be more than 2 bytes"),
    ("{type: string, maxLength: 3}", "äöü", ""),
    (
        "{type: string, minLength: 2}",
        "a",
        r#"spec: Invalid value: "a": spec in body should be at least 2 chars long"#,
    ),
    (
        "{type: string, pattern: '^a+$'}",
        "ab",
        r#"spec: Invalid value: "ab": spec in body should match '^a+$'"#,
    ),
    (
        "{type: string, format: ipv4}",
        "x",
        r#"spec: Invalid value: "x": spec in body must be of type ipv4: "x""#,
    ),
    ("{type: string, format: unheard-of}", "x", ""),
    ("{type: string, enum: [a, b]}", "c", r#"spec: Unsupported value: "c": supported values: "a", "b""#),
    ("{type: integer, enum: [1, 2]}", "2.0", ""),
    ("{type: array, minItems: 1}", "[]", "spec: Invalid value: 0: spec in body should have at least 1 items"),
    ("{type: array, maxItems: 1}", "[1, 2]", "spec: Too many: 2: must have at most 1 items"),
    (
        "{type: array, items: {type: string}}",
        "[a, 1]",
        r#"spec[1]: Invalid value: "integer": spec[1] in body must be of type string: "integer""#,
    ),
    (
        "{type: object, minProperties: 1}",
        "{}",
        "spec: Invalid value: 0: spec in body should have at least 1 properties",
    ),
    ("{type: object, maxProperties: 1}", "{a: 1, b: 2}", "spec: Too many: 2: must have at most 1 items"),
    ("{type: object, required: [a, b]}", "{b: 1}", "spec.a: Required value"),
    (
        "{type: object, additionalProperties: {type: string}}",
        "{a: x, b: 1}",
        r#"spec.b: Invalid value: "integer": spec.b in body must be of type string: "integer""#,
    ),
    (
        "{type: array, x-kubernetes-list-type: set, items: {type: string}}",
        "[a, b, a, a]",
        r#"spec[2]: Duplicate value: "a""#,
    ),
    (
        "{type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [k], items: {type: object}}",
        "[{k: a, v: 1}, {k: b}, {k: a, v: 2}]",
        r#"spec[2]: Duplicate value: {"k":"a"}"#,
    ),
    (
        "{type: object, anyOf: [{required: [a]}, {required: [b]}]}",
        "{c: 1}",
        "<nil>: Invalid value: \"\": \"spec\" must validate at least one schema (anyOf)\nspec.a: Required value",
    ),
    ("{type: object, anyOf: [{required: [a]}, {required: [b]}]}", "{b: 1}", ""),
    (
        "{type: object, oneOf: [{required: [a]}, {required: [b]}]}",
        "{a: 1, b: 1}",
        "<nil>: Invalid value: \"\": \"spec\" must validate one and only one schema (oneOf). Found 2 valid alternatives",
    ),
    (
        "{type: integer, allOf: [{minimum: 1}, {maximum: 3}]}",
        "4",
        "spec: Invalid value: 4: spec in body should be less than or equal to 3\n\
         <nil>: Invalid value: \"\": \"spec\" must validate all the schemas (allOf)",
    ),
    (
        "{type: string, not: {pattern: '^x'}}",
        "xy",
        "<nil>: Invalid value: \"\": \"spec\" must not validate the schema (not)",
    ),
    (
        "{type: object, x-kubernetes-embedded-resource: true, x-kubernetes-preserve-unknown-fields: true}",
        "{kind: Pod, metadata: 1}",
        "spec.apiVersion: Required value: must not be empty\nspec.metadata: Invalid value: 1: must be an object",
    ),
];

#[test]
fn documents_that_do_not_fit() {
    for (schema, document, expected) in CASES {
        assert_eq!(said(schema, document), *expected, "{schema} and {document}");
    }
}

/// Several wrongs are told at once, each with the sort that clients branch on.
#[test]
fn all_is_told_with_its_sort() {
    let schema = schema(
        "{type: object, required: [spec], properties: {spec: {type: object, required: [size], properties: \
         {size: {type: integer}, mode: {type: string, enum: [a]}}}}}",
    );
    assert_eq!(lines(&schema.validate(&yaml("{kind: X}"), None)), "spec: Required value");
    let errors = schema.validate(&yaml("{spec: {mode: b, size: x}}"), None);
    let sorts: Vec<String> = errors.iter().map(|error| error.cause().reason).collect();
    assert_eq!(sorts, ["FieldValueNotSupported", "FieldValueTypeInvalid"]);
}

/// A schema that became stricter does not keep users from changing something else.
#[test]
fn what_stays_as_it_was_may_stay() {
    let schema = schema(
        "{type: object, required: [more], properties: {spec: {type: object, properties: {a: {type: integer, maximum: 3}, \
         b: {type: string}, l: {type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [k], \
         items: {type: object, properties: {k: {type: string}, n: {type: integer, maximum: 3}}}}}}}}",
    );
    let old = yaml("{metadata: {}, spec: {a: 5, b: x, l: [{k: a, n: 9}, {k: b, n: 1}]}}");
    let update = |text: &str| lines(&schema.validate(&yaml(text), Some(&old)));
    assert_eq!(
        update("{metadata: {labels: {a: b}}, spec: {a: 5, b: x, l: [{k: a, n: 9}, {k: b, n: 1}]}}"),
        ""
    );
    assert_eq!(update("{more: 1, spec: {a: 5, b: z, l: [{k: b, n: 2}, {k: a, n: 9}]}}"), "");
    assert_eq!(
        update("{more: 1, spec: {a: 6, l: [{k: a, n: 8}]}}"),
        "spec.a: Invalid value: 6: spec.a in body should be less than or equal to 3\n\
         spec.l[0].n: Invalid value: 8: spec.l[0].n in body should be less than or equal to 3"
    );
    assert_eq!(update("{spec: {b: z}}"), "more: Required value");
}

/// A schema that looks at everything again and again comes to an end, and is no permission.
#[test]
fn work_is_bounded() {
    let many = vec!["{not: {enum: [1]}}"; 2_000].join(", ");
    let schema = spec(&format!("{{type: array, items: {{type: integer, allOf: [{many}]}}}}"));
    let items = vec!["2"; 20_000].join(",");
    let errors = schema.validate(&serde_json::from_str(&format!("{{\"spec\":[{items}]}}")).unwrap(), None);
    assert!(lines(&errors).contains("too much work"));
    let schema = spec("{type: array, items: {type: string}}");
    let errors = schema.validate(&serde_json::from_str(&format!("{{\"spec\":[{items}]}}")).unwrap(), None);
    assert_eq!(errors.len(), 64);
}
