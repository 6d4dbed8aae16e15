//! What short documents may become in expressions: texts and lists are counted before they are made.

use serde_json::json;

use super::*;

fn said(rule: &str, name: &str, items: usize) -> String {
    let schema = json!({
        "type": "object",
        "properties": {"name": {"type": "string"}, "l": {"type": "array", "items": {"type": "integer"}}},
        "x-kubernetes-validations": [{"rule": rule, "message": "m"}],
    });
    let errors = super::super::check(&schema, "s");
    assert!(errors.is_empty(), "{rule}: {}", lines(&errors));
    let document = json!({"name": name, "l": vec![1; items]});
    lines(&Structural::compile(&schema).validate(&document, None))
}

/// Each of these would make between tens of megabytes and ten gigabytes.
#[test]
fn what_rules_make_is_bounded() {
    let long = "a".repeat(100_000);
    let constants = vec!["'abc'"; 500].join(", ");
    let clauses = "%.99f".repeat(50_000);
    for (rule, name, items) in [
        ("self.name.replace('a', self.name).size() > 0", &long, 0),
        ("self.name.replace('', self.name, 50000).size() > 0", &long, 0),
        ("self.name.split('').join(self.name).size() > 0", &long, 0),
        (
            "self.name.split('').size() > 0 && self.name.split('').size() > 0 && self.name.split('').size() > 0",
            &long,
            0,
        ),
        (
            "self.name.findAll('a').size() > 0 && self.name.findAll('a').size() > 0 && self.name.findAll('a') != []",
            &long,
            0,
        ),
        ("self.l.map(x, self.name).size() > 0", &long, 400),
        ("self.l.map(x, self.name + 'b').size() > 0", &long, 400),
        ("self.l.map(x, {'a': self.name}).size() > 0", &long, 400),
        ("self.l.map(x, {self.name: x}).size() > 0", &long, 400),
        (&format!("self.l.map(x, [{constants}]).size() > 0"), &long, 1_000),
        ("self.name.format(self.l).size() > 0", &clauses, 50_000),
        // What cannot be made is neither true nor false: nothing else makes up for it.
        ("self.name.replace('a', self.name) == '' || true", &long, 0),
    ] {
        let text = said(rule, name, items);
        assert!(text.contains("cost limit exceeded"), "{rule}: {text}");
    }
}

/// The functions that count do what those do that they stand for.
#[test]
fn what_is_within_bounds_is_made() {
    for rule in [
        "self.name.replace('a', 'bb') == 'bbxbbxbb' && self.name.replace('a', 'b', 1) == 'bxaxa'",
        "self.name.replace('', '-') == '-a-x-a-x-a-' && self.name.replace('a', 'b', 0) == self.name",
        "self.name.split('x') == ['a', 'a', 'a'] && self.name.split('x', 2) == ['a', 'axa']",
        "self.name.split('') == ['a', 'x', 'a', 'x', 'a'] && self.name.split('', 2) == ['a', 'xaxa']",
        "self.name.split('x', 0) == [] && ''.split('') == [] && 'ää'.split('') == ['ä', 'ä']",
        "['a', 'b'].join('-') == 'a-b' && ['a', 'b'].join() == 'ab' && [].join('-') == ''",
        "'%s-%d'.format([self.name, 3]) == 'axaxa-3' && strings.quote('a') == '\"a\"'",
        "self.l.map(x, x + 1) == [2, 2] && self.l.filter(x, x > 1) == [] && {'a': self.name}['a'] == 'axaxa'",
        "self.l.map(x, self.l.map(y, 'abc')).size() == 2",
        "self.name.findAll('a', 2) == ['a', 'a'] && self.name + 'b' == 'axaxab'",
    ] {
        assert_eq!(said(rule, "axaxa", 2), "", "{rule}");
    }
}

/// A chain of calls as long as may be is run on the stack of any thread; a longer one is not read.
#[test]
fn long_chains_of_calls_fit_the_stack() {
    let chain = |calls: usize| format!("self.name{} == ''", ".replace('a', 'b')".repeat(calls));
    assert!(said(&chain(33), "a", 0).ends_with(": m"));
    let sum = format!("({}{}).size() == 0", "self.name + ".repeat(24), chain(32).replace(" == ''", ""));
    assert!(said(&sum, "a", 0).ends_with(": m"));
    let schema = json!({"type": "object", "x-kubernetes-validations": [{"rule": chain(150)}]});
    let errors = lines(&super::super::check(&schema, "s"));
    assert!(errors.contains("nested too deep"), "{errors}");
}

/// A message is for reading.
#[test]
fn long_messages_are_not_told() {
    let schema = json!({"type": "object", "properties": {"name": {"type": "string"}}, "x-kubernetes-validations": [
        {"rule": "false", "messageExpression": "self.name", "message": "m"}]});
    let said = |name: String| lines(&Structural::compile(&schema).validate(&json!({"name": name}), None));
    assert!(said("because".into()).ends_with(": because"));
    assert!(said("a".repeat(6_000)).ends_with(": m"));
}
