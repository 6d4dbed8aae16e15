//! Classes as people write them, rightly and wrongly.

use proptest::prelude::*;
use serde_json::json;

use super::*;

fn with(spec: Value) -> Value {
    json!({"apiVersion": API_VERSION, "kind": "Class", "metadata": {"name": "vm"}, "spec": spec})
}

fn errors(spec: Value) -> Vec<String> {
    Class::parse(&with(spec)).unwrap_err().iter().map(ToString::to_string).collect()
}

/// REQ-MUR-1: a class can have a `destroy` method.
#[test]
fn a_class_says_what_it_is_for_and_what_is_run() {
    let class = Class::parse(&with(json!({
        "for": {"group": "example.com", "kind": "Vm"},
        "destroy": {"exec": {"argv": ["./hooks/vm-rm"], "dir": "/srv", "env": {"A": "b"}},
                    "deadlineSeconds": 5, "maxOutputBytes": 1024},
        "handlers": {"vmGone": {"http": {"url": "http://[::1]:9000/gone?x=1"}}},
        "retry": {"limit": 3, "backoffSeconds": 2},
    })))
    .unwrap();
    assert_eq!((class.group.as_str(), class.kind.as_str()), ("example.com", "Vm"));
    let destroy = class.method("destroy").unwrap();
    assert_eq!((destroy.deadline.as_secs(), destroy.max_output, destroy.run.word()), (5, 1024, "exec"));
    let handler = class.method("vmGone").unwrap();
    assert_eq!((handler.deadline, handler.max_output), (DEFAULT_DEADLINE, DEFAULT_OUTPUT));
    assert_eq!(handler.run, Run::Http { url: "http://[::1]:9000/gone?x=1".into() });
    assert_eq!((class.retry.limit, class.retry.max_backoff.as_secs()), (3, 300));
    assert_eq!(class.method("other"), None);
}

/// A plan is approved by what it shows, so nothing of a command is left out.
#[test]
fn a_command_is_shown_whole() {
    let command = |exec: Value| {
        let spec = json!({"for": {"kind": "Vm"}, "destroy": {"exec": exec}});
        Class::parse(&with(spec)).unwrap().destroy.unwrap().run.command()
    };
    let script = format!("{}rm -rf \"$HOME\"", "true; ".repeat(100));
    let shown = command(json!({"argv": ["/bin/sh", "-c", script]}));
    assert_eq!(shown, format!("/bin/sh -c '{script}'"));
    let shown =
        command(json!({"argv": ["hooks/vm-rm", "it's", ""], "dir": "/srv/", "env": {"REGION": "a b"}}));
    assert_eq!(shown, r"REGION='a b' /srv/hooks/vm-rm 'it'\''s' ''");
    assert_eq!(command(json!({"argv": ["vm-rm"], "dir": "/srv"})), "vm-rm");
}

#[test]
fn a_class_may_only_name_a_kind_of_the_core_group() {
    let class = Class::parse(&with(json!({"for": {"kind": "ConfigMap"}}))).unwrap();
    assert_eq!((class.group.as_str(), class.destroy, class.retry), ("", None, Retry::default()));
}

#[test]
fn each_mistake_is_named_with_its_place() {
    let method = |method: Value| json!({"for": {"kind": "Vm"}, "destroy": method});
    let exec = |exec: Value| method(json!({"exec": exec}));
    let url = |url: &str| method(json!({"http": {"url": url}}));
    for (spec, place, words) in [
        (json!({}), "spec.for", "Required"),
        (json!({"for": {}}), "spec.for.kind", "Required"),
        (json!({"for": {"kind": "a b"}}), "spec.for.kind", "name of a kind"),
        (json!({"for": {"kind": "Vm", "group": "A"}}), "spec.for.group", "subdomain"),
        (json!({"for": {"kind": "Vm"}, "destory": {}}), "spec.destory", "there are for, destroy"),
        (json!({"for": {"kind": "Vm"}, "handlers": []}), "spec.handlers", "map of names"),
        (json!({"for": {"kind": "Vm"}, "handlers": {"1x": {}}}), "spec.handlers", "vmGone"),
        (json!({"for": {"kind": "Vm"}, "handlers": {"destroy": {}}}), "spec.handlers", "cannot be called"),
        (json!({"for": {"kind": "Vm"}, "handlers": {"a": {}}}), "spec.handlers[a]", "what is run"),
        (json!({"for": {"kind": "Vm"}, "retry": {"limit": -1}}), "spec.retry.limit", "from 0 to 1000"),
        (
            json!({"for": {"kind": "Vm"}, "retry": {"backoffSeconds": 9, "maxBackoffSeconds": 8}}),
            "spec.retry.maxBackoffSeconds",
            "which is 9",
        ),
        (method(json!("x")), "spec.destroy", "must be a map"),
        (method(json!({"exec": {}, "http": {}})), "spec.destroy", "not more"),
        (
            method(json!({"exec": {"argv": ["a"]}, "deadlineSeconds": 0})),
            "spec.destroy.deadlineSeconds",
            "from 1 to 86400",
        ),
        (
            method(json!({"exec": {"argv": ["a"]}, "maxOutputBytes": 1023})),
            "spec.destroy.maxOutputBytes",
            "from 1024",
        ),
        (exec(json!({})), "spec.destroy.exec.argv", "Required"),
        (exec(json!({"argv": "rm -r"})), "spec.destroy.exec.argv", "list of texts"),
        (exec(json!({"argv": []})), "spec.destroy.exec.argv", "no program"),
        (exec(json!({"argv": ["", "x"]})), "spec.destroy.exec.argv", "no program"),
        (exec(json!({"argv": ["a\0b"]})), "spec.destroy.exec.argv", "zero byte"),
        (exec(json!({"argv": ["./a"]})), "spec.destroy.exec.argv[0]", "needs a dir"),
        (exec(json!({"argv": ["a"], "dir": "b"})), "spec.destroy.exec.dir", "absolute"),
        (exec(json!({"argv": ["a"], "env": {"N": 1}})), "spec.destroy.exec.env[N]", "quotes"),
        (exec(json!({"argv": ["a"], "env": {"A=": "b"}})), "spec.destroy.exec.env[A=]", "variable"),
        (exec(json!({"argv": ["a"], "env": {"SEXTON_X": "b"}})), "spec.destroy.exec.env[SEXTON_X]", "set by"),
        (exec(json!({"argv": ["a"], "shell": true})), "spec.destroy.exec.shell", "unknown field"),
        (url("ftp://a/"), "spec.destroy.http.url", "http://"),
        (url("http://"), "spec.destroy.http.url", "no host"),
        (url("http://a b/"), "spec.destroy.http.url", "escaped"),
        (url("http://me:secret@a/"), "spec.destroy.http.url", "password"),
        (url("http://a:0/"), "spec.destroy.http.url", "not a port"),
        (url("http://a:+80/"), "spec.destroy.http.url", "not a port"),
        (url("http://a:99999/"), "spec.destroy.http.url", "not a port"),
        (url("http://[::x]/"), "spec.destroy.http.url", "no host"),
        (url("https://a/#b"), "spec.destroy.http.url", "fragment"),
    ] {
        let found = errors(spec.clone());
        assert_eq!(found.len(), 1, "{spec}: {found:?}");
        assert!(found[0].starts_with(&format!("{place}: ")), "{spec}: {found:?}");
        assert!(found[0].contains(words), "{spec}: {found:?}");
    }
}

#[test]
fn all_mistakes_are_told_at_once() {
    let found = errors(json!({
        "for": {"kind": "Vm", "x": 1},
        "destroy": {"exec": {"argv": [], "dir": 7}, "deadlineSeconds": "long"},
        "handlers": {"a": {"http": {"url": "x"}}, "b-c": {}},
    }));
    assert_eq!(found.len(), 6, "{found:#?}");
}

#[test]
fn documents_of_another_kind_are_refused() {
    assert!(Class::parse(&json!(7)).is_err());
    assert!(Class::parse(&json!({})).is_err());
    let other = json!({"apiVersion": "v1", "kind": "Vm", "spec": {"for": {"kind": "Vm"}}});
    assert_eq!(Class::parse(&other).unwrap_err().len(), 2);
}

#[test]
fn pauses_double_up_to_a_limit() {
    let retry = Retry { limit: 3, backoff: Duration::from_secs(2), max_backoff: Duration::from_secs(10) };
    let pauses: Vec<u64> = [1, 2, 3, 4, 99].map(|attempt| retry.pause_after(attempt).as_secs()).to_vec();
    assert_eq!(pauses, [2, 4, 8, 10, 10]);
    assert!(retry.allows_after(3) && !retry.allows_after(4));
}

fn arbitrary() -> impl Strategy<Value = Value> {
    let words = prop::sample::select(vec![
        "for",
        "kind",
        "group",
        "destroy",
        "handlers",
        "retry",
        "exec",
        "http",
        "argv",
        "dir",
        "env",
        "url",
        "limit",
        "deadlineSeconds",
        "http://a",
        "/x",
        "Vm",
        "",
    ]);
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        words.clone().prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 40, 6, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map(words.clone(), inner, 0..6).prop_map(|map| {
                Value::Object(map.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
            }),
        ]
    })
}

proptest! {
    /// Whatever stands there: a class or reasons, never both, never neither.
    #[test]
    fn nonsense_is_refused_with_reasons(spec in arbitrary()) {
        if let Err(errors) = Class::parse(&with(spec)) {
            prop_assert!(!errors.is_empty());
        }
    }
}

/// A method may be a script of its own, or that of the program to which the object belongs.
#[test]
fn methods_in_scripts() {
    let class = |lua: serde_json::Value| {
        Class::parse(&json!({"spec": {"for": {"kind": "Vm"}, "destroy": {"lua": lua}}}))
    };
    let run = |lua| class(lua).unwrap().destroy.unwrap().run;
    assert_eq!(run(json!({})), Run::Lua { source: None });
    assert_eq!(run(json!({"source": "format \"1.4\""})), Run::Lua { source: Some("format \"1.4\"".into()) });
    assert_eq!(run(json!({})).word(), "lua");
    let long = class(json!({"source": "x".repeat(MAX_SOURCE + 1)})).unwrap_err();
    assert!(long[0].to_string().contains("spec.destroy.lua.source"), "{long:?}");
    assert!(class(json!({"code": 1})).is_err());
}
