//! What may stand in the record of a module and in its settings.

use serde_json::{Value, json};

use super::*;

fn wrong(document: &Value) -> Vec<String> {
    ModuleSpec::parse(document).unwrap_err().iter().map(ToString::to_string).collect()
}

fn module(spec: Value) -> Value {
    json!({"apiVersion": "sexton.dev/v1", "kind": "Module", "metadata": {"name": "shop"}, "spec": spec})
}

/// REQ-CLD-12, REQ-CLD-13: the scope is the module's own manager unless more is said, and the module defines that.
#[test]
fn a_module_is_what_its_name_says() {
    let usual = ModuleSpec::parse(&module(json!({}))).unwrap();
    assert_eq!(usual, ModuleSpec::new("shop"));
    assert_eq!(usual.scope, Scope::from([("manager".into(), "shop".into())]));
    assert_eq!(ModuleSpec::parse(&usual.document()), Ok(usual));
    let more = module(json!({
        "manager": "shop", "scope": {"manager": "shop", "namespace": "a", "tier": "web"},
        "supportGc": false, "maxDelete": 5,
    }));
    let more = ModuleSpec::parse(&more).unwrap();
    assert_eq!((more.support_gc, more.max_delete.as_deref(), more.scope.len()), (false, Some("5"), 3));
}

/// EXT-1: a scope without a manager, or with another module's, is refused.
#[test]
fn a_scope_needs_the_own_manager() {
    for scope in [json!({}), json!({"kind": "ConfigMap"}), json!({"manager": "other"}), json!([]), json!("x")]
    {
        let errors = wrong(&module(json!({"scope": scope})));
        assert!(errors[0].starts_with("spec.scope: Invalid value"), "{errors:?}");
    }
    assert!(check_scope(&Scope::new(), "shop").unwrap_err().contains("'manager'"));
    assert!(check_scope(&default_scope("a"), "b").unwrap_err().contains("only what it manages itself"));
}

#[test]
fn what_makes_no_sense_is_refused_with_its_place() {
    let cases = [
        (json!({"manager": "other"}), "spec.manager"),
        (json!({"supportGc": "yes"}), "spec.supportGc"),
        (json!({"maxDelete": "many"}), "spec.maxDelete"),
        (json!({"maxDelete": "101%"}), "spec.maxDelete"),
        (json!({"order": "sideways"}), "spec.order"),
        (json!({"parallel": 0}), "spec.parallel"),
        (json!({"parallel": "many"}), "spec.parallel"),
        (json!({"gcScope": {}}), "spec.gcScope"),
        (json!({"scope": {"manager": "shop", "not a label": "x"}}), "spec.scope"),
        (json!({"scope": {"manager": "shop", "tier": 1}}), "spec.scope.tier"),
        (json!({"scope": {"manager": "shop", "tier": "x".repeat(600)}}), "spec.scope.tier"),
    ];
    for (spec, place) in cases {
        let errors = wrong(&module(spec));
        assert!(errors.iter().any(|error| error.starts_with(place)), "{place}: {errors:?}");
    }
    let named = json!({"metadata": {"name": "a.b"}});
    assert!(wrong(&named)[0].starts_with("metadata.name"), "a label's value has no dots here");
}

#[test]
fn a_record_never_grows_without_end() {
    let past = |number: usize| Past {
        deployment_id: number.to_string(),
        at: String::new(),
        by: "ada".into(),
        phase: ModulePhase::Failed,
        count: 1,
        swept: 0,
        error: Some("x".repeat(10_000)),
    };
    let status = ModuleStatus {
        history: (0..100).map(past).collect(),
        kinds: (0..5_000).map(|number| number.to_string()).chain(["7".into()]).collect(),
        ..ModuleStatus::default()
    };
    let bounded = status.bounded();
    assert_eq!((bounded.history.len(), bounded.kinds.len()), (MAX_HISTORY, MAX_KINDS));
    assert!(serde_json::to_string(&bounded).unwrap().len() < 40_000);
    assert!(bounded.knows("3") && !bounded.knows("99"));
}

#[test]
fn settings_say_what_a_command_line_can_say() {
    let settings = ModuleSettings::parse(&json!({
        "manager": "shop", "gcScope": {"manager": "shop", "namespace": "a"}, "supportGc": true, "maxDelete": "30%",
        "allowEmpty": false, "onFailure": "continue", "dependencies": [{"first": "Network/lan", "then": "Vm/a/web"}],
    }))
    .unwrap();
    assert_eq!((settings.support_gc, settings.allow_empty), (Some(true), Some(false)));
    assert_eq!(settings.on_failure, Some(OnFailure::Continue));
    assert_eq!(settings.dependencies[0].then, "Vm/a/web");
    assert!(settings.scope_for("shop").is_ok() && settings.scope_for("other").is_err());
    let nothing = ModuleSettings::parse(&Value::Null).unwrap();
    assert_eq!(
        (nothing.clone(), nothing.scope_for("a")),
        (ModuleSettings::default(), Ok(default_scope("a")))
    );
}

/// An order that is said is kept in the record, and the usual one is not written.
#[test]
fn an_order_is_read_and_written() {
    for order in ModuleOrder::ALL {
        let said = json!({"order": order.word(), "parallel": 4});
        let settings = ModuleSettings::parse(&said).unwrap();
        assert_eq!((settings.order, settings.parallel), (Some(order), Some(4)));
        let spec = ModuleSpec::parse(&module(said)).unwrap();
        assert_eq!((spec.order, spec.parallel), (order, Some(4)));
        assert_eq!(spec.document()["spec"].get("order").is_some(), order != ModuleOrder::Documents);
        assert_eq!(ModuleSpec::parse(&spec.document()), Ok(spec));
    }
}

#[test]
fn unknown_settings_are_named() {
    let cases = [
        (json!({"gc_scope": {}}), "gc_scope: Forbidden: unknown field; there are manager, gcScope"),
        (json!({"onFailure": "retry"}), "onFailure: Unsupported value"),
        (json!({"order": "random"}), "order: Unsupported value: \"random\": supported values: \"documents\""),
        (json!({"order": 3}), "order: Unsupported value"),
        (json!({"parallel": -1}), "parallel: Invalid value"),
        (
            json!({"parallel": 1001}),
            "parallel: Invalid value: 1001: must be a number of objects from 1 to 1000",
        ),
        (json!({"manager": "Not So"}), "manager: Invalid value"),
        (json!({"gcScope": {"kind": "x"}}), "gcScope: Invalid value"),
        (json!({"dependencies": [{"first": "a", "then": "Vm/b"}]}), "dependencies[0].first: Invalid value"),
        (json!({"dependencies": [{"after": "Vm/b"}]}), "dependencies[0].after: Forbidden"),
        (json!([1]), ": Invalid value"),
    ];
    for (document, begin) in cases {
        let errors = ModuleSettings::parse(&document).unwrap_err();
        let texts: Vec<String> = errors.iter().map(ToString::to_string).collect();
        assert!(texts.iter().any(|text| text.starts_with(begin)), "{begin}: {texts:?}");
    }
}
