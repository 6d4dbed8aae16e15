//! What is taken out of documents and what is filled in.

use super::*;

/// Schema, document, what is left of it, and what was taken out.
const PRUNED: &[(&str, &str, &str, &str)] = &[
    (
        "{type: object}",
        "{apiVersion: v1, kind: X, metadata: {any: 1}, spec: 1}",
        "{apiVersion: v1, kind: X, metadata: {any: 1}}",
        "spec",
    ),
    (
        "{type: object, properties: {spec: {type: object, properties: {a: {type: string}}}}}",
        "{spec: {a: x, b: 1}, status: {c: 1}}",
        "{spec: {a: x}}",
        "spec.b status",
    ),
    (
        "{type: object, properties: {l: {type: array, items: {type: object, properties: {a: {type: string}}}}}}",
        "{l: [{a: 1}, {a: 1, b: 2}, 5]}",
        "{l: [{a: 1}, {a: 1}, 5]}",
        "l[1].b",
    ),
    (
        "{type: object, properties: {m: {type: object, additionalProperties: {type: object, properties: {a: {type: string}}}}}}",
        "{m: {x: {a: 1, b: 2}, y: 3}}",
        "{m: {x: {a: 1}, y: 3}}",
        "m.x.b",
    ),
    (
        "{type: object, x-kubernetes-preserve-unknown-fields: true, properties: {spec: {type: object}}}",
        "{other: {a: 1}, spec: {b: 1}}",
        "{other: {a: 1}, spec: {}}",
        "spec.b",
    ),
    (
        "{type: object, properties: {spec: {type: object, x-kubernetes-preserve-unknown-fields: true}}}",
        "{other: 1, spec: {b: [{c: 1}]}}",
        "{spec: {b: [{c: 1}]}}",
        "other",
    ),
    (
        "{type: object, properties: {pod: {type: object, x-kubernetes-embedded-resource: true, properties: {spec: {type: object}}}}}",
        "{pod: {apiVersion: v1, kind: Pod, metadata: {name: a, wrong: 1}, spec: {}, status: {}}}",
        "{pod: {apiVersion: v1, kind: Pod, metadata: {name: a}, spec: {}}}",
        "pod.metadata.wrong pod.status",
    ),
];

#[test]
fn unknown_fields_go_and_are_told() {
    for (text, document, left, told) in PRUNED {
        let mut value = yaml(document);
        let paths = schema(text).prune(&mut value);
        assert_eq!((value, paths.join(" ").as_str()), (yaml(left), *told), "{text}");
    }
}

/// Schema of `spec`, `spec`, and what becomes of it.
const FILLED: &[(&str, &str, &str)] = &[
    ("{type: object, properties: {a: {type: integer, default: 3}}}", "{}", "{a: 3}"),
    ("{type: object, properties: {a: {type: integer, default: 3}}}", "{a: 4}", "{a: 4}"),
    ("{type: object, properties: {a: {type: integer, default: 3}}}", "{a: null}", "{a: 3}"),
    (
        "{type: object, properties: {a: {type: integer, default: 3, nullable: true}}}",
        "{a: null}",
        "{a: null}",
    ),
    ("{type: object, properties: {a: {type: integer}}}", "{a: null}", "{}"),
    (
        "{type: object, properties: {a: {type: object, default: {}, properties: {b: {type: integer, default: 1}}}}}",
        "{}",
        "{a: {b: 1}}",
    ),
    (
        "{type: object, properties: {a: {type: object, properties: {b: {type: integer, default: 1}}}}}",
        "{}",
        "{}",
    ),
    (
        "{type: array, items: {type: object, properties: {b: {type: integer, default: 1}}}}",
        "[{}, {b: 2}]",
        "[{b: 1}, {b: 2}]",
    ),
    ("{type: array, items: {type: string, default: x}}", "[null, y]", "[x, y]"),
    ("{type: object, additionalProperties: {type: string, default: x}}", "{a: null, b: y}", "{a: x, b: y}"),
];

#[test]
fn what_is_left_out_is_filled_in() {
    for (text, given, filled) in FILLED {
        let mut value = yaml(&format!("{{spec: {given}}}"));
        spec(text).fill(&mut value).unwrap();
        assert_eq!(value, yaml(&format!("{{spec: {filled}}}")), "{text}");
    }
    let mut nothing = yaml("{kind: X}");
    spec("{type: object, default: {a: 1}}").fill(&mut nothing).unwrap();
    assert_eq!(nothing, yaml("{kind: X, spec: {a: 1}}"));
}

#[test]
fn a_schema_that_says_nothing_is_known_as_such() {
    assert!(schema("{type: object, x-kubernetes-preserve-unknown-fields: true}").is_trivial());
    for more in [
        "required: [spec]",
        "properties: {spec: {type: object}}",
        "maxProperties: 7",
        "anyOf: [{required: [a]}]",
    ] {
        assert!(
            !schema(&format!("{{type: object, x-kubernetes-preserve-unknown-fields: true, {more}}}"))
                .is_trivial()
        );
    }
    assert!(!schema("{type: object}").is_trivial());
}

/// Four kilobytes of empty items must not become gigabytes of defaults.
#[test]
fn what_is_filled_in_is_bounded() {
    let large = "x".repeat(1 << 20);
    let list = spec(&format!(
        "{{type: array, items: {{type: object, properties: {{a: {{type: string, default: {large}}}}}}}}}"
    ));
    let document = |items: usize| serde_json::json!({"spec": vec![serde_json::json!({}); items]});
    let mut small = document(8);
    list.fill(&mut small).unwrap();
    assert_eq!(small["spec"][7]["a"], *large);
    let mut bomb = document(1300);
    assert_eq!(list.fill(&mut bomb), Err(crate::schema::DefaultsTooLarge));
    assert!(crate::weight::of(&bomb) < (32 << 20), "it grew on after it was refused");
    // Items that are null, fields that are null, and maps with any names are filled in by other lines.
    let nulls = spec(&format!("{{type: array, items: {{type: string, default: {large}}}}}"));
    let mut bomb = serde_json::json!({"spec": vec![Value::Null; 1300]});
    assert_eq!(nulls.fill(&mut bomb), Err(crate::schema::DefaultsTooLarge));
    let any = spec(&format!("{{type: object, additionalProperties: {{type: string, default: {large}}}}}"));
    let fields: serde_json::Map<String, Value> = (0..1300).map(|n| (n.to_string(), Value::Null)).collect();
    let mut bomb = serde_json::json!({"spec": fields});
    assert_eq!(any.fill(&mut bomb), Err(crate::schema::DefaultsTooLarge));
}
