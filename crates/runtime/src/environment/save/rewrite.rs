//! Changes of a recorded model that cannot be stored as it is: other names for objects if their names are taken, and
//! objects that are left out. References to them are changed as well.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};
use sexton_client::resources::text;
use sexton_model::environment::{OBJECT_ID, OBJECT_NAME, REF, plural_of};
use sexton_model::marks;
use sexton_model::subscription::{self, Target};

use super::SaveError;
use super::written::{Written, raw};
use crate::stored::annotation;

/// Renames new objects with taken names to their uids, and changes all references to them. Returns only what was
/// changed. Idempotent: the same objects get the same names.
pub(super) fn renamed(all: Vec<Written>, taken: &[Written]) -> Result<Vec<Written>, SaveError> {
    let uids: BTreeSet<&str> = taken.iter().map(|one| one.uid.as_str()).collect();
    let mut changed = Vec::new();
    for mut one in all {
        let is_taken = uids.contains(one.uid.as_str());
        if !is_taken && !uids.iter().any(|uid| one.resource.text().contains(uid)) {
            continue;
        }
        let mut resource = one.parsed()?;
        if is_taken {
            rename(&mut resource);
            one.name.clone_from(&one.uid);
        }
        rename_references(&mut resource, &uids);
        one.resource = raw(&resource)?;
        changed.push(one);
    }
    Ok(changed)
}

/// The name of the uid. What the object itself is called stays.
fn rename(resource: &mut Value) {
    let (name, uid) = (text(resource, "/metadata/name"), text(resource, "/metadata/uid").to_owned());
    if annotation(resource, OBJECT_NAME).is_none() {
        let id = annotation(resource, OBJECT_ID).unwrap_or(&uid);
        let called = if name == id { String::new() } else { name.to_owned() };
        resource["metadata"]["annotations"][OBJECT_NAME] = called.into();
    }
    resource["metadata"]["name"] = uid.into();
}

fn rename_references(resource: &mut Value, uids: &BTreeSet<&str>) {
    let mut open = vec![&mut resource["spec"]];
    while let Some(value) = open.pop() {
        match value {
            Value::Array(items) => open.extend(items),
            Value::Object(map) => {
                let names = map.get_mut(REF).filter(|to| uids.contains(text(to, "/uid")));
                match names {
                    Some(to) => to["name"] = to["uid"].clone(),
                    None => open.extend(map.values_mut()),
                }
            }
            _ => {}
        }
    }
    let owners = resource.pointer_mut("/metadata/ownerReferences").and_then(Value::as_array_mut);
    for owner in owners.into_iter().flatten().filter(|owner| uids.contains(text(owner, "/uid"))) {
        owner["name"] = owner["uid"].clone();
    }
    let written = annotation(resource, marks::DEPENDENCIES).unwrap_or_default();
    let Ok(mut all) = subscription::parse(written) else { return };
    for one in &mut all {
        if let (Target::Named { name, .. }, Some(uid)) = (&mut one.target, &one.uid)
            && uids.contains(uid.as_str())
        {
            name.clone_from(uid);
        }
    }
    if let Some(text) = subscription::format(&all) {
        resource["metadata"]["annotations"][marks::DEPENDENCIES] = text.into();
    }
}

/// Leaves out some objects, by `kind/name`, `KIND/NAME` or `plural/name`. What they own belongs to none of them then:
/// it would be an orphan.
pub(super) fn without(all: Vec<Written>, left_out: &[String]) -> Result<Vec<Written>, SaveError> {
    if left_out.is_empty() {
        return Ok(all);
    }
    let named = |one: &Written| {
        let kinds = [one.kind.clone(), one.kind.to_lowercase(), plural_of(&one.kind)];
        kinds.iter().any(|kind| left_out.contains(&format!("{kind}/{}", one.name)))
    };
    let (gone, mut kept): (Vec<Written>, Vec<Written>) = all.into_iter().partition(named);
    let uids: BTreeMap<&str, ()> = gone.iter().map(|one| (one.uid.as_str(), ())).collect();
    for one in kept.iter_mut().filter(|one| one.owners.iter().any(|uid| uids.contains_key(uid.as_str()))) {
        let mut resource = one.parsed()?;
        let owners = resource["metadata"]["ownerReferences"].as_array().cloned().unwrap_or_default();
        let stays = |owner: &Value| !uids.contains_key(text(owner, "/uid"));
        let owners: Vec<Value> = owners.into_iter().filter(stays).collect();
        resource["metadata"]["ownerReferences"] = json!(owners);
        one.owners.retain(|uid| !uids.contains_key(uid.as_str()));
        one.resource = raw(&resource)?;
    }
    Ok(kept)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(kind: &str, name: &str, owner: Option<&str>, more: Value) -> Written {
        let uid = format!("u-{name}");
        let mut resource =
            json!({"kind": kind, "metadata": {"name": name, "uid": uid}, "spec": more["spec"]});
        if let Some(text) = more["dependencies"].as_str() {
            resource["metadata"]["annotations"][marks::DEPENDENCIES] = text.into();
        }
        if let Some(owner) = owner {
            let owner = json!({"kind": kind, "name": owner, "uid": format!("u-{owner}")});
            resource["metadata"]["ownerReferences"] = json!([owner]);
        }
        Written {
            kind: kind.into(),
            namespace: "prod".into(),
            name: name.into(),
            uid,
            version: None,
            owners: owner.map(|owner| format!("u-{owner}")).into_iter().collect(),
            resource: raw(&resource).unwrap(),
            destroyed: false,
        }
    }

    fn model() -> Vec<Written> {
        let to = |name: &str| json!({"$ref": {"kind": "Vm", "name": name, "uid": format!("u-{name}")}});
        let on_web = r#"[{"target": "Vm.classes.sexton.dev/web", "uid": "u-web", "handler": "gone"}]"#;
        vec![
            written("Vm", "web", None, json!({"spec": {"peer": to("db")}})),
            written("Vm", "db", Some("web"), json!({"spec": {"peers": [{"a": to("web")}, to("db")]}})),
            written("Net", "net", None, json!({"spec": {}, "dependencies": on_web})),
            written("Net", "other", None, json!({"spec": {"peer": to("db")}})),
        ]
    }

    /// A new name of an object appears in everything that names it: references, owners, dependencies.
    #[test]
    fn a_taken_name_is_changed_everywhere() {
        let changed = renamed(model(), &model()[..1]).unwrap();
        let names: Vec<&str> = changed.iter().map(|one| one.name.as_str()).collect();
        assert_eq!(names, ["u-web", "db", "net"]);
        let web = changed[0].parsed().unwrap();
        assert_eq!(web["metadata"]["name"], "u-web");
        assert_eq!(annotation(&web, OBJECT_NAME), Some("web"));
        assert_eq!(web["spec"]["peer"]["$ref"]["name"], "db");
        let db = changed[1].parsed().unwrap();
        assert_eq!(db["metadata"]["ownerReferences"][0]["name"], "u-web");
        assert_eq!(db["spec"]["peers"][0]["a"]["$ref"]["name"], "u-web");
        assert_eq!(db["spec"]["peers"][1]["$ref"]["name"], "db");
        let net = changed[2].parsed().unwrap();
        let dependencies = annotation(&net, marks::DEPENDENCIES).unwrap();
        assert!(dependencies.contains("Vm.classes.sexton.dev/u-web"), "{dependencies}");
    }

    /// What was owned by an object that is left out is not its orphan.
    #[test]
    fn what_is_left_out_owns_nothing() {
        let kept = without(model(), &["vm/web".to_owned()]).unwrap();
        let names: Vec<&str> = kept.iter().map(|one| one.name.as_str()).collect();
        assert_eq!(names, ["db", "net", "other"]);
        assert_eq!(kept[0].owners, Vec::<String>::new());
        assert_eq!(kept[0].parsed().unwrap()["metadata"]["ownerReferences"], json!([]));
    }
}
