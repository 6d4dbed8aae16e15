//! The values of Secrets stand in the Secrets and nowhere else: not in plans, records, events, answers of methods, logs.
#![allow(clippy::unwrap_used, reason = "a test may end so")]

mod common;

use std::os::unix::fs::PermissionsExt;
use std::process::Stdio;

use common::{Play, Ran, finish};

/// What must be found nowhere, and what it is in base64; the same for another value.
const CANARIES: [(&str, &str); 2] =
    [("canary-one-4711", "Y2FuYXJ5LW9uZS00NzEx"), ("canary-two-0815", "Y2FuYXJ5LXR3by0wODE1")];

/// Everything that was said, with what said it.
#[derive(Default)]
struct Heard(Vec<(String, String)>);

impl Heard {
    /// Runs a command that tells everything it does.
    fn run(&mut self, play: &Play, words: &str) -> Ran {
        let ran = finish(play.command(words).env("SEXTON_LOG", "debug").stdin(Stdio::null()));
        self.0.push((words.to_owned(), format!("{}\n{}", ran.out, ran.err)));
        ran
    }

    #[track_caller]
    fn has_no_canary(&self) {
        for (words, said) in &self.0 {
            for canary in CANARIES.iter().flat_map(|(plain, encoded)| [plain, encoded]) {
                assert!(!said.contains(canary), "{words} says {canary}:\n{said}");
            }
        }
    }
}

fn secret(name: &str, value: &str) -> String {
    let applied = format!("{{\\\"stringData\\\":{{\\\"password\\\":\\\"{value}\\\"}}}}");
    format!(
        "apiVersion: v1\nkind: Secret\nmetadata:\n  name: {name}\n  annotations:\n    \
         kubectl.kubernetes.io/last-applied-configuration: \"{applied}\"\nstringData: {{password: {value}}}\n"
    )
}

/// A method that says all that it was told, and fails until something is mended.
const LOUD: &str = r#"#!/bin/sh
told=$(cat)
echo "$told" >&2
password=$(echo "$told" | sed -n 's/.*"password":"\([A-Za-z0-9=]*\)".*/\1/p' | base64 -d)
if [ -e DIR/mended ]
then printf '{"verdict":"done","output":"revoked %s"}\n' "$password"
else printf '{"verdict":"failed","reason":"cannot revoke %s"}\n' "$password"
fi
"#;

const CLASS: &str = "apiVersion: sexton.dev/v1\nkind: Class\nmetadata: {name: secret}\nspec:\n  for: {kind: Secret}\n  \
    destroy: {exec: {argv: [\"DIR/loud\"]}, deadlineSeconds: 60}\n  retry: {limit: 1, backoffSeconds: 1}\n";

#[test]
fn values_of_secrets_stand_nowhere_else() {
    let (play, mut heard) = (Play::new(), Heard::default());
    play.file("shop/sexton.yaml", "manager: shop\n");
    play.file("shop/a.yaml", &secret("a", CANARIES[0].0));
    play.file("shop/b.yaml", &secret("b", CANARIES[0].0));
    play.file("put.yaml", &secret("c", CANARIES[0].0));
    for words in ["plan -f shop", "plan -f shop -o json", "apply -f shop", "put -f put.yaml"] {
        assert_eq!(heard.run(&play, words).code, 0, "{words}: {:?}", heard.0.last());
    }
    // Drift of a field that another manager owns, and a change of our own.
    play.file("theirs.yaml", &secret("a", CANARIES[1].0));
    assert_eq!(heard.run(&play, "put -f theirs.yaml --take-over").code, 0);
    play.file("shop/b.yaml", &secret("b", CANARIES[1].0));
    for words in ["plan -f shop", "plan -f shop -o json"] {
        let plan = heard.run(&play, words);
        assert_eq!(plan.code, 3, "{plan:?}");
        assert!(plan.out.contains("data.password") && plan.out.contains("(redacted)"), "{}", plan.out);
    }
    assert_eq!(heard.run(&play, "apply -f shop --take-over --yes").code, 0);
    // A document that is refused is not told again either.
    play.file("bad.yaml", &secret("d", CANARIES[0].0).replace("stringData: {", "data: {"));
    play.file("worse.yaml", &format!("{}  oops: [\n", secret("d", CANARIES[0].0)));
    play.file(
        "mistyped.yaml",
        &secret("d", CANARIES[0].0).replace("stringData: {password: ", "stringData: {password: 1, x: "),
    );
    for words in ["put -f bad.yaml", "put -f worse.yaml", "put -f mistyped.yaml"] {
        assert_eq!(heard.run(&play, words).code, 1, "{words}: {:?}", heard.0.last());
    }
    // Swept, deleted, and destroyed by a method that tells everything.
    std::fs::remove_file(play.path().join("shop/b.yaml")).unwrap();
    assert_eq!(heard.run(&play, "apply -f shop --yes --allow-empty").code, 0);
    assert_eq!(heard.run(&play, "delete secret/c --yes").code, 0);
    play.program("loud", &LOUD.replace("DIR", &play.path().display().to_string()));
    play.file("class.yaml", &CLASS.replace("DIR", &play.path().display().to_string()));
    assert_eq!(heard.run(&play, "put -f class.yaml").code, 0);
    let blocked = heard.run(&play, "destroy shop --yes");
    assert_ne!(blocked.code, 0, "{blocked:?}");
    assert!(blocked.err.contains("cannot revoke (redacted)"), "{}", blocked.err);
    heard.run(&play, "why secret/a");
    play.file("mended", "");
    heard.run(&play, "retry secret/a");
    heard.run(&play, "destroy shop --yes");
    assert_eq!(
        play.run("get secrets -o name").out,
        "",
        "all of them are gone; what a method or a sweep ended has a tombstone"
    );

    for words in [
        "get tombstones -o yaml",
        "get collections -o yaml",
        "get modules -o yaml",
        "get events -A -o yaml --show-managed-fields",
        "get tombstones,collections,modules,classes,leases -A -o json --show-managed-fields",
        "collections",
        "graph -o json",
        "orphans",
    ] {
        assert_eq!(heard.run(&play, words).code, 0, "{words}: {:?}", heard.0.last());
    }
    let tombstones = &heard.0.iter().find(|(words, _)| words == "get tombstones -o yaml").unwrap().1;
    assert_eq!(tombstones.matches("password: (redacted)").count(), 2, "{tombstones}");
    assert!(tombstones.contains("revoked (redacted)"), "{tombstones}");
    heard.has_no_canary();
}

/// A digest is shown and typed: no value can be guessed from it. What is there is known by its version instead.
#[test]
fn a_digest_tells_nothing_of_values() {
    let digest = |play: &Play| {
        let plan = play.run("plan -f shop -o json");
        let head: serde_json::Value = serde_json::from_str(plan.out.lines().nth(1).unwrap()).unwrap();
        head["digest"].as_str().unwrap().to_owned()
    };
    let play = Play::new();
    play.file("shop/sexton.yaml", "manager: shop\n");
    let with = |value: &str| {
        play.file(
            "shop/a.yaml",
            &format!("apiVersion: v1\nkind: Secret\nmetadata: {{name: a}}\nstringData: {{pin: '{value}'}}\n"),
        );
        digest(&play)
    };
    assert_eq!(with("1111"), with("2222"));
    assert_eq!(play.run("apply -f shop").code, 0);
    let before = with("3333");
    assert_eq!(before, with("4444"));
    assert_ne!(before, with("2222"), "no change is another plan");
    play.put("apiVersion: v1\nkind: Secret\nmetadata: {name: a, labels: {other: x}}\n");
    assert_ne!(before, with("4444"), "the Secret was changed since");
}

/// What all users of the machine can read is refused with the command that mends it: a store, and the token of a client.
#[test]
fn what_all_users_can_read_is_refused() {
    let play = Play::new();
    play.put("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n");
    let mode = |path: &std::path::Path, mode| {
        std::fs::set_permissions(path, PermissionsExt::from_mode(mode)).unwrap();
    };
    mode(&play.data(), 0o755);
    assert_eq!(play.run("get cm").code, 0, "what is in it is private");
    mode(&play.data().join("store.db"), 0o644);
    play.run("get cm").fails(1, &["can be read by every user", "chmod 700 .sexton"]);
    play.run("serve --listen 127.0.0.1:0").fails(1, &["chmod 700 .sexton"]);
    mode(&play.data(), 0o700);
    assert_eq!(play.run("get cm").code, 0);
    play.file("token", "0123456789abcdef\n");
    mode(&play.path().join("token"), 0o644);
    play.run("get cm --server http://127.0.0.1:1 --token-file token").fails(1, &["chmod 600 token"]);
}
