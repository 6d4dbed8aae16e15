//! A cluster, a user and a context put into a kubeconfig that is there, which keeps everything else.
//!
//! Pure: it must not know files.

use serde_json::{Map, Value, json};

/// What is put in.
#[derive(Debug, Clone)]
pub(super) struct Entries {
    /// What all three are called.
    pub(super) name: String,
    pub(super) cluster: Value,
    pub(super) user: Value,
    /// The namespace of the context, if one was named.
    pub(super) namespace: Option<String>,
}

/// How it is put in.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct How {
    /// Makes it the current context, whatever that was.
    pub(super) switch: bool,
    /// Another file that counts as well has a current context: without `switch`, that stays.
    pub(super) has_current: bool,
    /// Also over entries of the same name that belong to something else.
    pub(super) force: bool,
}

/// Why nothing is put in.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub(super) enum MergeError {
    /// It is something else.
    #[error("it is not a kubeconfig: {0}")]
    NotOne(String),
    /// The name is taken.
    #[error("its {list} have one called {name:?} already, {what}")]
    Taken { list: &'static str, name: String, what: String },
}

/// Puts the entries in. Gives back whether their context is the current one then.
pub(super) fn merge(config: &mut Value, entries: &Entries, how: How) -> Result<bool, MergeError> {
    if config.is_null() {
        *config = json!({"apiVersion": "v1", "kind": "Config"});
    }
    let Some(config) = config.as_object_mut() else {
        return Err(MergeError::NotOne("it holds no fields".to_owned()));
    };
    match config.get("kind").map(|kind| kind.as_str().unwrap_or_default()) {
        None | Some("Config") => {}
        Some(other) => return Err(MergeError::NotOne(format!("its kind is {other:?}"))),
    }
    let name = entries.name.as_str();
    let (cluster, user, context) =
        (get(config, "clusters", name)?, get(config, "users", name)?, get(config, "contexts", name)?);
    let same_server = cluster.as_ref().is_some_and(|cluster| cluster["server"] == entries.cluster["server"]);
    if !how.force {
        check(entries, cluster.as_ref(), user.as_ref(), context.as_ref(), same_server)?;
    }
    let kept = |before: Option<Value>| before.filter(|_| same_server).unwrap_or_else(|| json!({}));
    put(config, "clusters", name, "cluster", over(kept(cluster), &entries.cluster));
    put(config, "users", name, "user", over(kept(user), &entries.user));
    let mut new = json!({"cluster": name, "user": name});
    if let Some(namespace) = &entries.namespace {
        new["namespace"] = namespace.as_str().into();
    }
    put(config, "contexts", name, "context", over(kept(context), &new));
    let current = config.get("current-context").and_then(Value::as_str).unwrap_or_default();
    if how.switch || (current.is_empty() && !how.has_current) {
        config.insert("current-context".to_owned(), name.into());
        return Ok(true);
    }
    Ok(current == name)
}

/// Whether everything of this name is ours to change.
fn check(
    entries: &Entries,
    cluster: Option<&Value>,
    user: Option<&Value>,
    context: Option<&Value>,
    same_server: bool,
) -> Result<(), MergeError> {
    let name = entries.name.as_str();
    let taken =
        |list: &'static str, what: String| Err(MergeError::Taken { list, name: name.to_owned(), what });
    if let Some(cluster) = cluster.filter(|_| !same_server) {
        return taken(
            "clusters",
            format!("for the server {}", cluster["server"].as_str().unwrap_or("(none)")),
        );
    }
    if user.is_some_and(|user| !same_server && *user != entries.user) {
        return taken("users", "with other credentials".to_owned());
    }
    match context {
        Some(context) if context["cluster"] != name || context["user"] != name => {
            let of = |field: &str| context[field].as_str().unwrap_or("(none)").to_owned();
            taken("contexts", format!("for the cluster {} and the user {}", of("cluster"), of("user")))
        }
        _ => Ok(()),
    }
}

/// The content of the entry of a name, if there is one.
fn get(config: &Map<String, Value>, list: &'static str, name: &str) -> Result<Option<Value>, MergeError> {
    let entries = match config.get(list) {
        None | Some(Value::Null) => return Ok(None),
        Some(Value::Array(entries)) => entries,
        Some(_) => return Err(MergeError::NotOne(format!("its {list} are no list"))),
    };
    let found = entries.iter().find(|entry| entry["name"] == name);
    Ok(found.map(|entry| entry[list.trim_end_matches('s')].clone()))
}

/// Puts the content into the entry of a name, which keeps its place and whatever else it says.
fn put(config: &mut Map<String, Value>, list: &str, name: &str, field: &str, content: Value) {
    let entries = config.entry(list).or_insert_with(|| json!([]));
    if entries.is_null() {
        *entries = json!([]);
    }
    let Some(entries) = entries.as_array_mut() else { return };
    match entries.iter_mut().find(|entry| entry["name"] == name) {
        Some(entry) => entry[field] = content,
        None => entries.push(json!({"name": name, field: content})),
    }
}

/// The fields of both; those of the second win.
fn over(mut before: Value, new: &Value) -> Value {
    match (before.as_object_mut(), new.as_object()) {
        (Some(fields), Some(new)) => {
            fields.extend(new.clone());
            before
        }
        _ => new.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::yaml;

    fn entries() -> Entries {
        Entries {
            name: "sexton".into(),
            cluster: json!({"server": "http://127.0.0.1:8180"}),
            user: json!({"token": "t"}),
            namespace: None,
        }
    }

    fn merged(text: &str, how: How) -> Result<(String, bool), MergeError> {
        let mut config = if text.is_empty() { Value::Null } else { serde_saphyr::from_str(text).unwrap() };
        let used = merge(&mut config, &entries(), how)?;
        Ok((yaml::text(&config).unwrap(), used))
    }

    const OURS: &str = "\
apiVersion: v1
clusters:
- cluster:
    server: http://127.0.0.1:8180
  name: sexton
contexts:
- context:
    cluster: sexton
    user: sexton
  name: sexton
current-context: sexton
kind: Config
users:
- name: sexton
  user:
    token: t
";

    fn value(text: &str) -> Value {
        serde_saphyr::from_str(text).unwrap()
    }

    #[test]
    fn into_nothing() {
        for nothing in ["", "{}", "apiVersion: v1\nkind: Config\nclusters: null\nusers: []\n"] {
            let (text, used) = merged(nothing, How::default()).unwrap();
            let mut found = value(&text);
            found["apiVersion"] = "v1".into();
            found["kind"] = "Config".into();
            assert_eq!((found, used), (value(OURS), true), "{nothing}");
        }
    }

    #[test]
    fn the_current_context_of_another_file_stays() {
        let (text, used) = merged("", How { has_current: true, ..How::default() }).unwrap();
        assert_eq!((value(&text).get("current-context"), used), (None, false));
        let (_, used) = merged("", How { has_current: true, switch: true, ..How::default() }).unwrap();
        assert!(used);
    }

    const OTHERS: &str = "\
apiVersion: v1
kind: Config
preferences: {colors: true}
extensions: [{name: x, extension: {deep: [1, 'yes', null]}}]
clusters: [{name: prod, cluster: {server: 'https://prod', insecure-skip-tls-verify: true, tls-server-name: x}}]
users: [{name: me, user: {exec: {command: aws, args: [a, '1']}}}]
contexts: [{name: prod, context: {cluster: prod, user: me, namespace: shop}}]
current-context: prod
";

    #[test]
    fn what_others_wrote_stays_as_it_is() {
        let (text, used) = merged(OTHERS, How::default()).unwrap();
        assert!(!used);
        let (before, mut after) = (value(OTHERS), value(&text));
        assert_eq!(after["current-context"], "prod");
        for list in ["clusters", "users", "contexts"] {
            assert_eq!(after[list].as_array_mut().unwrap().pop(), Some(value(OURS)[list][0].clone()));
        }
        assert_eq!(after, before);
        let (text, used) = merged(OTHERS, How { switch: true, ..How::default() }).unwrap();
        assert_eq!((value(&text)["current-context"].as_str(), used), (Some("sexton"), true));
        // Once more changes nothing.
        let again = merged(&text, How::default()).unwrap();
        assert_eq!(again, (text, true));
    }

    #[test]
    fn the_same_server_is_brought_up_to_date() {
        let before = OURS
            .replace("token: t", "token: old\n    extra: kept")
            .replace("user: sexton\n", "user: sexton\n    namespace: shop\n");
        let (text, _) = merged(&before, How::default()).unwrap();
        let after = value(&text);
        assert_eq!(after["users"][0]["user"], json!({"token": "t", "extra": "kept"}));
        assert_eq!(after["contexts"][0]["context"]["namespace"], "shop");
    }

    #[test]
    fn another_server_of_the_same_name_is_not_overwritten() {
        let taken = OURS.replace(":8180", ":9");
        let error = merged(&taken, How::default()).unwrap_err();
        assert_eq!(
            error.to_string(),
            "its clusters have one called \"sexton\" already, for the server http://127.0.0.1:9"
        );
        let (text, _) = merged(&taken, How { force: true, ..How::default() }).unwrap();
        assert_eq!(value(&text), value(OURS));
        let error = merged("users: [{name: sexton, user: {token: other}}]", How::default()).unwrap_err();
        assert!(matches!(error, MergeError::Taken { list: "users", .. }), "{error}");
        let error =
            merged("contexts: [{name: sexton, context: {cluster: a, user: b}}]", How::default()).unwrap_err();
        assert!(error.to_string().ends_with("for the cluster a and the user b"), "{error}");
    }

    #[test]
    fn what_is_no_kubeconfig_is_refused() {
        for text in ["[1]", "words", "kind: ConfigMap", "clusters: {a: b}"] {
            assert!(matches!(merged(text, How::default()), Err(MergeError::NotOne(_))), "{text}");
        }
    }
}
