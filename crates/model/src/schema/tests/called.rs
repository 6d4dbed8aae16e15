//! What rules may call, on values of the types that their schema says; and rules as long as real definitions have them.

use super::*;
use crate::schema::check;

fn schema(rule: &str) -> serde_json::Value {
    let mut schema = yaml(
        "{type: object, properties: {s: {type: string}, x: {type: string}, n: {type: integer}, f: {type: number},
          l: {type: array, items: {type: integer}}, m: {type: object, additionalProperties: {type: integer}},
          at: {type: string, format: date-time}, day: {type: string, format: date},
          span: {type: string, format: duration}}}",
    );
    schema["x-kubernetes-validations"] = serde_json::json!([{"rule": rule, "message": "m"}]);
    schema
}

fn said(rule: &str) -> String {
    let schema = schema(rule);
    let refused = lines(&check(&schema, "s"));
    let document = yaml(
        "{s: ab12, n: 2, f: 2, l: [1, 2, 3], m: {a: 1}, at: '2020-01-01T00:00:00Z', day: '2020-01-02', span: 5m}",
    );
    refused + &lines(&Structural::compile(&schema).validate(&document, None))
}

#[test]
fn functions_of_kubernetes_are_there() {
    for rule in [
        "self.s.find('[0-9]+') == '12' && self.s.find('z') == ''",
        "self.s.findAll('[0-9]') == ['1', '2'] && self.s.findAll('[0-9]', 1).size() == 1",
        "self.l.isSorted() && ![2, 1].isSorted() && ['a', 'b'].isSorted()",
        "self.l.sum() == 6 && [1.5, 2.0].sum() == 3.5 && [].sum() == 0",
        "self.l.min() == 1 && self.l.max() == 3",
        "self.l.indexOf(2) == 1 && [1, 1].lastIndexOf(1) == 1 && self.l.indexOf(9) == -1",
        "self.s.indexOf('b') == 1",
        "isURL('https://a.b:80/c?d=e') && !isURL('a b') && isURL('/path') && !isURL('no')",
        "url('https://a.b:80/c?d=e').getHost() == 'a.b:80' && url('https://a.b:80').getPort() == '80'",
        "url('https://[::1]:80/c').getHostname() == '::1' && url('https://a/c').getEscapedPath() == '/c'",
        "url('HTTPS://a').getScheme() == 'https' && url('https://u:p@a').getHost() == 'a'",
        "quantity('1Gi').isGreaterThan(quantity('500Mi')) && quantity('1500m').compareTo(quantity('1.5')) == 0",
        "quantity('50k').add(quantity('20k')) == quantity('70k') && quantity('5').sub(7).sign() == -1",
        "isQuantity('1e3') && !isQuantity('1Zi') && !isQuantity('') && quantity('2k').asInteger() == 2000",
        "!quantity('500m').isInteger() && quantity('500m').asApproximateFloat() == 0.5",
        "ip('192.0.2.1').family() == 4 && ip('::1').isLoopback() && isIP('fe80::1') && !isIP('1.2.3')",
        "ip.isCanonical('192.0.2.1') && string(ip('192.0.2.1')) == '192.0.2.1'",
        "cidr('192.0.2.0/24').containsIP('192.0.2.7') && !cidr('192.0.2.0/25').containsIP(ip('192.0.2.200'))",
        "cidr('192.0.2.9/24').masked() == cidr('192.0.2.0/24') && cidr('192.0.2.0/24').containsCIDR('192.0.2.0/25')",
        "isCIDR('::/0') && !isCIDR('192.0.2.0/33') && cidr('192.0.2.1/24').ip() == ip('192.0.2.1') && cidr('::/9').prefixLength() == 9",
        "self.?x.orValue('d') == 'd' && !self.?x.hasValue() && self.?s.hasValue()",
        "self[?'x'].optMap(v, v == 'z').orValue(true) && optional.none().orValue(1) == 1",
        "!format.dns1123Label().validate('abc').hasValue() && format.dns1123Label().validate('A_').value().size() == 1",
        "format.named('uuid').hasValue() && !format.named('other').hasValue()",
        "'%s %d'.format(['a', 1]) == 'a 1' && 'abc'.reverse() == 'cba'",
        "sets.contains([1, 2], [1]) && sets.intersects([1, 2], [2, 3]) && sets.equivalent([1], [1, 1])",
    ] {
        assert_eq!(said(rule), "", "{rule}");
    }
    assert!(said("quantity('x').isInteger()").contains("not a quantity"));
    assert!(said("[].min() == 1").contains("empty list"));
}

/// A number may have a fraction wherever it has none, and a time is more than its text.
#[test]
fn values_have_the_types_of_their_schema() {
    for rule in [
        "self.f * 1.5 == 3.0 && self.n * 2 == 4",
        "self.at.getFullYear() == 2020 && self.at < timestamp('2020-01-01T00:00:01Z')",
        "self.day - self.at == duration('24h')",
        "self.span == duration('300s')",
    ] {
        assert_eq!(said(rule), "", "{rule}");
    }
}

/// A rule that is to be run without an old value, too, asks whether there is one.
#[test]
fn what_was_there_may_be_optional() {
    let mut schema = schema("!oldSelf.hasValue() || oldSelf.value().n <= self.n");
    schema["x-kubernetes-validations"][0]["optionalOldSelf"] = true.into();
    let schema = Structural::compile(&schema);
    let said = |new: &str, old: Option<&str>| lines(&schema.validate(&yaml(new), old.map(yaml).as_ref()));
    assert_eq!(said("{n: 1}", None), "");
    assert_eq!(said("{n: 2}", Some("{n: 1}")), "");
    assert!(said("{n: 1}", Some("{n: 2}")).ends_with(": m"), "{}", said("{n: 1}", Some("{n: 2}")));
}

/// Routes of gateways count the matches of up to sixteen rules in one sum.
#[test]
fn long_rules_are_read_and_run() {
    let part = |at: usize| format!("(self.l.size() > {at} ? self.l[{at}] : 0)");
    let sum = (0..16).map(part).collect::<Vec<_>>().join(" + ");
    assert_eq!(said(&format!("{sum} == 6")), "");
    assert!(said(&format!("{sum} == 7")).ends_with(": m"));
    for rule in [vec!["1"; 26].join(" + ") + " > 1", format!("{}true{}", "(".repeat(8), ")".repeat(8))] {
        assert!(said(&rule).contains("nested too deep"), "{rule}");
    }
}

/// A field that no document can have is a mistake, and found before there is one.
#[test]
fn fields_that_cannot_be_there_are_refused() {
    let told = |rule: &str| lines(&check(&schema(rule), "s"));
    for rule in [
        "self.nope == 1",
        "has(self.nope)",
        "self.l.all(x, x == self.nope)",
        "oldSelf.nope == 1 || true",
        "[self.nope] == [1]",
    ] {
        assert!(told(rule).ends_with("compilation failed: undefined field 'nope'"), "{rule}: {}", told(rule));
    }
    for rule in [
        "self.m.anything == 1",
        "self.metadata.name == 'a' && self.kind == 'b'",
        "dyn(self).nope == 1",
        "self.m.all(nope, self.m[nope] == 1)",
        "self.?nope.orValue(1) == 1",
    ] {
        assert_eq!(told(rule), "", "{rule}");
    }
    let mut nested = yaml(
        "{type: object, properties: {l: {type: array, items: {type: object, properties: {a-b: {type: string}}}}}}",
    );
    for (rule, expected) in [
        ("self.l.all(x, x.a__dash__b == '')", ""),
        ("self.l[0].a__dash__b == ''", ""),
        ("self.l.filter(x, x.ab == '').size() == 1", "undefined field 'ab'"),
        ("self.l[0].ab == ''", "undefined field 'ab'"),
    ] {
        nested["x-kubernetes-validations"] = serde_json::json!([{"rule": rule}]);
        assert!(lines(&check(&nested, "s")).ends_with(expected), "{rule}");
    }
}
