//! Paths by example, and by chance.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::JsonPath;

fn world() -> Value {
    json!({
        "metadata": {"name": "w", "annotations": {"a.b": "dotted", "it's": "quoted"}},
        "spec": {"replicas": 3, "ports": [{"port": 80}, {"port": 443, "tls": true}, {"port": 22}]},
        "status": {"conditions": [
            {"type": "Ready", "status": "True"}, {"type": "Broken", "status": "False", "why": "a]b"},
        ]},
    })
}

fn found(path: &str) -> Value {
    let world = world();
    JsonPath::parse(path).unwrap().all(&world).into_iter().cloned().collect()
}

#[test]
fn paths_lead_where_they_lead_in_kubernetes() {
    for (path, expected) in [
        (".spec.replicas", json!([3])),
        ("$.spec.replicas", json!([3])),
        (".spec.nothing.at.all", json!([])),
        (".metadata.annotations.a\\.b", json!(["dotted"])),
        (".metadata.annotations['a.b']", json!(["dotted"])),
        (".metadata.annotations[\"it's\"]", json!(["quoted"])),
        (".metadata['name','nothing']", json!(["w"])),
        (".status.conditions[?(@.type==\"Ready\")].status", json!(["True"])),
        (".status.conditions[?(@.type == 'Broken')].status", json!(["False"])),
        (".status.conditions[?(@.why=='a]b')].type", json!(["Broken"])),
        (".status.conditions[?(@.type!='Ready')].type", json!(["Broken"])),
        (".status.conditions[?(@.why)].type", json!(["Broken"])),
        (".spec.ports[?(@.port>=80)].port", json!([80, 443])),
        (".spec.ports[?(@.port<80)].port", json!([22])),
        (".spec.ports[?(@.tls==true)].port", json!([443])),
        (".spec.ports[0].port", json!([80])),
        (".spec.ports[-1].port", json!([22])),
        (".spec.ports[7].port", json!([])),
        (".spec.ports[0,2].port", json!([80, 22])),
        (".spec.ports[*].port", json!([80, 443, 22])),
        (".spec.ports.*.port", json!([80, 443, 22])),
        (".spec.ports[0:2].port", json!([80, 443])),
        (".spec.ports[1:].port", json!([443, 22])),
        (".spec.ports[:3:2].port", json!([80, 22])),
        (".spec.ports[2:1].port", json!([])),
        ("..port", json!([80, 443, 22])),
        (".spec..port", json!([80, 443, 22])),
        (".metadata.name[0]", json!([])),
        (".spec['replicas']", json!([3])),
    ] {
        assert_eq!(found(path), expected, "{path}");
    }
    assert_eq!(found(".").as_array().map(Vec::len), Some(1));
}

/// A list of one's own may be longer than what is looked at by default.
#[test]
fn a_long_list_is_followed_to_its_end_if_that_is_allowed() {
    let list = json!({"items": (0..30_000).map(|n| json!({"n": n})).collect::<Vec<_>>()});
    let path = JsonPath::parse(".items[*].n").unwrap();
    assert_eq!(path.all_within(&list, usize::MAX).len(), 30_000);
    assert!(path.all(&list).is_empty());
}

#[test]
fn what_is_no_path_is_refused() {
    let long = format!(".{}", "a".repeat(2000));
    let deep = ".a".repeat(100);
    for path in [
        "spec",
        ".a b",
        ".a[",
        ".a]",
        ".a[x]",
        ".a[?(",
        ".a[?()]",
        ".a[?(@.b===1)]",
        ".a[?(@.b==)]",
        ".a[?(b==1)]",
        ".a['b]",
        ".a['b'x]",
        ".a[1:2:3:4]",
        ".a[::0]",
        ".a[::-1]",
        ".a{.b}",
        ".a...b",
        ".a\\",
        ".a[]",
        &long,
        &deep,
    ] {
        let parsed = JsonPath::parse(path);
        assert!(parsed.is_err(), "{path}: {parsed:?}");
    }
}

#[test]
fn simple_paths_name_their_fields() {
    let fields = |path: &str| JsonPath::parse(path).unwrap().fields().map(|names| names.join("/"));
    assert_eq!(fields(".spec.replicas").as_deref(), Some("spec/replicas"));
    assert_eq!(fields(".spec['a.b']").as_deref(), Some("spec/a.b"));
    assert_eq!(fields(".spec.list[0]"), None);
    assert_eq!(fields("..spec"), None);
}

/// A short path can lead through a document very often; that ends.
#[test]
fn looks_are_bounded() {
    let row: Vec<Value> = (0..300).map(|n| json!(n)).collect();
    let wide = json!({"a": vec![json!(row); 300]});
    for path in
        ["..*", "..*..*..*..*", ".a[*][*]", ".a[?(@..x)]", ".a[?(@[?(@[?(@..x)])])]", "..[?(@..y==1)]..z"]
    {
        let found = JsonPath::parse(path).unwrap().all(&wide).len();
        assert!(found <= 3 * super::MOST_LOOKS, "{path}: {found}");
    }
}

fn values() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(json!(null)),
        any::<bool>().prop_map(Value::from),
        (-3..9).prop_map(Value::from),
        "[a-c]{0,2}".prop_map(Value::from)
    ];
    leaf.prop_recursive(4, 40, 5, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::btree_map("[a-c]", inner, 0..4).prop_map(|map| json!(map)),
        ]
    })
}

proptest! {
    #[test]
    fn never_panics(path in "([.\\[\\]'\"?(@)=<>!*:,\\\\a-c0-9$ -]|\\PC){0,40}", value in values()) {
        if let Ok(path) = JsonPath::parse(&path) {
            let _ = path.all(&value);
            let _ = path.fields();
        }
    }

    /// Plain fields and items lead where a naive walk leads.
    #[test]
    fn as_a_naive_walk(words in prop::collection::vec(prop_oneof!["[a-c]", "\\[[0-3]\\]"], 0..5), value in values()) {
        let text: String = words.iter().map(|w| if w.starts_with('[') { w.clone() } else { format!(".{w}") }).collect();
        let path = JsonPath::parse(&text).unwrap();
        let mut naive = Some(&value);
        for word in &words {
            naive = naive.and_then(|value| match word.strip_prefix('[') {
                Some(at) => value.as_array()?.get(at.trim_end_matches(']').parse::<usize>().unwrap()),
                None => value.as_object()?.get(word),
            });
        }
        prop_assert_eq!(path.first(&value), naive);
    }
}
