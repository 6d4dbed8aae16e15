//! Rules in CEL: what they refuse, in which words, and which rules are refused themselves.

use super::*;
use crate::schema::check;

fn ruled(rules: &str) -> String {
    format!(
        "{{type: object, x-kubernetes-validations: [{rules}], properties: {{min: {{type: integer}}, max: {{type: integer}}, \
         name: {{type: string}}, my-list: {{type: array, items: {{type: integer}}}}}}}}"
    )
}

fn said(rules: &str, given: &str, old: Option<&str>) -> String {
    let document = |text: &str| yaml(&format!("{{spec: {text}}}"));
    lines(&spec(&ruled(rules)).validate(&document(given), old.map(document).as_ref()))
}

#[test]
fn rules_are_run() {
    let cases: &[(&str, &str, Option<&str>, &str)] = &[
        ("{rule: self.min <= self.max}", "{min: 1, max: 2}", None, ""),
        (
            "{rule: self.min <= self.max, message: min above max}",
            "{min: 3, max: 2}",
            None,
            "spec: Invalid value: \"object\": min above max",
        ),
        (
            "{rule: self.min <= self.max}",
            "{min: 3, max: 2}",
            None,
            "spec: Invalid value: \"object\": failed rule: self.min <= self.max",
        ),
        ("{rule: '!has(self.min) || self.min > 0'}", "{}", None, ""),
        (
            "{rule: 'self.my__dash__list.all(x, x < 5)', message: m}",
            "{my-list: [1, 7]}",
            None,
            "spec: Invalid value: \"object\": m",
        ),
        (
            "{rule: \"self.name.startsWith('a')\", fieldPath: .name, message: m}",
            "{name: b}",
            None,
            "spec.name: Invalid value: \"object\": m",
        ),
        (
            "{rule: \"self.name == 'a'\", messageExpression: \"'not ' + self.name\"}",
            "{name: b}",
            None,
            "spec: Invalid value: \"object\": not b",
        ),
        (
            "{rule: self.min == 1, reason: FieldValueForbidden, message: m}",
            "{min: 2}",
            None,
            "spec: Forbidden: m",
        ),
        ("{rule: self.name == oldSelf.name, message: immutable}", "{name: a}", None, ""),
        (
            "{rule: self.name == oldSelf.name, message: immutable}",
            "{name: b}",
            Some("{name: a}"),
            "spec: Invalid value: \"object\": immutable",
        ),
        ("{rule: self.name == oldSelf.name, message: immutable}", "{name: a, min: 1}", Some("{name: a}"), ""),
        ("{rule: self.min > 5, message: m}", "{min: 1, max: 1}", Some("{min: 1, max: 1}"), ""),
    ];
    for (rules, given, old, expected) in cases {
        assert_eq!(said(rules, given, *old), *expected, "{rules} on {given}");
    }
    assert!(said("{rule: self.min > 1, message: m}", "{}", None).ends_with("evaluating rule: m"));
    assert!(
        said("{rule: self.min > 1}", "{min: x}", None).contains("some validation rules were not checked")
    );
}

#[test]
fn rules_that_cannot_be_run_are_refused() {
    for (rule, expected) in [
        ("self.min >", "compilation failed"),
        ("other > 1", "undeclared reference to 'other'"),
        ("isUrl(self.name)", "undeclared reference to the function 'isUrl'"),
        ("", "rule is not specified"),
    ] {
        let text = lines(&check(
            &yaml(&format!(
                "{{type: object, properties: {{spec: {}}}}}",
                ruled(&format!("{{rule: {rule:?}}}"))
            )),
            "s",
        ));
        assert!(
            text.starts_with("s.properties[spec].x-kubernetes-validations[0].rule: Invalid value: ")
                && text.contains(expected),
            "{text}"
        );
    }
}

/// Loops in loops come to an end.
#[test]
fn work_of_rules_is_bounded() {
    let rule = "{rule: 'self.my__dash__list.all(a, self.my__dash__list.all(b, self.my__dash__list.all(c, a + b + c >= 0)))'}";
    let items = vec!["1"; 500].join(", ");
    let text = said(rule, &format!("{{my-list: [{items}]}}"), None);
    assert!(text.contains("cost limit exceeded"), "{text}");
    assert!(
        check(&yaml(&ruled(&format!("{{rule: '{}true{}'}}", "(".repeat(3_000), ")".repeat(3_000)))), "s")
            .len()
            == 1
    );
}

/// What is just within the bounds on nesting is read and run on the stack of any thread.
#[test]
fn deep_rules_fit_the_stack() {
    let plus = vec!["1"; 25].join(" + ");
    let not = format!("{}true", "!".repeat(160));
    let choice = format!("{}true", "true ? true : ".repeat(80));
    let or = vec!["true"; 80].join(" || ");
    let brackets = format!("{}{plus} > 0{}", "(".repeat(7), ")".repeat(7));
    let lists = format!("{}{plus}{} != self", "[".repeat(7), "]".repeat(7));
    let index = format!("self{} == 1", "[0]".repeat(24));
    let both = format!("{}self{} + {plus} > 0{}", "(".repeat(6), "[0]".repeat(23), ")".repeat(6))
        .replacen("1 + ", "", 1);
    for rule in [not, choice, or, brackets, lists, index, both] {
        let schema = serde_json::json!({"type": "object", "x-kubernetes-validations": [{"rule": rule}]});
        check(&schema, "s");
        Structural::compile(&schema).validate(&serde_json::json!({"min": 1}), None);
    }
    let select = format!("self{} == 1", ".a".repeat(158));
    let schema = serde_json::json!({"type": "object", "x-kubernetes-validations": [{"rule": select}]});
    Structural::compile(&schema).validate(&serde_json::json!({"min": 1}), None);
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig::with_cases(64))]

    #[test]
    fn never_panics(rule in "[a-z().!&|<>=+*/%?:\\[\\]{}'\" 0-9-]{0,40}|(self|oldSelf|[.]min|[.]all[(]x, x[)]|==|[+]|1|'a'){0,6}") {
        let rule = serde_json::json!({"type": "object", "x-kubernetes-validations": [{"rule": rule}]});
        check(&rule, "s");
        Structural::compile(&rule).validate(&serde_json::json!({"min": 1}), None);
    }
}
