//! Deleting on an embedded store: a plan, a yes, and exactly that.
#![allow(clippy::unwrap_used, reason = "a test may end so")]

mod common;

use common::{Play, SHOP};

/// root owns a and b; leaf is owned by a and by other.
fn family() -> Play {
    let play = Play::new();
    play.map("root", &[], "");
    play.map("other", &[], "");
    play.map("a", &["root"], "");
    play.map("b", &["root"], "");
    play.map("leaf", &["a", "other"], "");
    play
}

fn left(play: &Play) -> String {
    play.run("get cm -o name").out.replace("configmap/", "").replace('\n', " ").trim().to_owned()
}

/// EXT-31: a cascade is previewed with order and reason for every item, and nothing is written by that.
#[test]
fn a_preview_shows_order_and_reasons_and_writes_nothing() {
    let play = family();
    let before = play.run("get cm -o yaml --show-managed-fields").out;
    let digest = play.digest("cm/root");
    let short = &digest[..8];
    let expected = format!(
        ".sexton (embedded) · delete ConfigMap/root
- 1st  ┌─ ConfigMap/b         owned by ConfigMap/root
- 1st  │  ┌─ ConfigMap/leaf   owned by ConfigMap/a      although ConfigMap/other owns it, too
- 2nd  ├─ ConfigMap/a         owned by ConfigMap/root
- 3rd  ConfigMap/root         asked for
Plan: 4 to destroy in 3 waves.   digest {short}…
Nothing was written.
  do exactly this   sexton delete cm/root --approve {short}
  look at it        sexton plan delete cm/root -o svg > plan.svg
"
    );
    play.run("plan delete cm/root").says(&expected);
    play.run("delete cm/root --dry-run").says(&expected);
    assert_eq!(play.run("plan delete cm/root --detailed-exitcode").code, 2);
    assert_eq!(play.run("get cm -o yaml --show-managed-fields").out, before);
}

/// EXT-31: events are nobody's object. They are not in the plan of a namespace, and one that is told after the plan was
/// shown does not make it another one; but they go with the namespace.
#[test]
fn events_are_in_no_plan_and_go_nevertheless() {
    let play = Play::new();
    let event = |name: &str| {
        let about =
            "involvedObject: {kind: ConfigMap, name: a, namespace: b}\nreason: X\nmessage: m\ntype: Normal";
        format!("apiVersion: v1\nkind: Event\nmetadata: {{name: {name}, namespace: b}}\n{about}\n")
    };
    play.put("apiVersion: v1\nkind: Namespace\nmetadata: {name: b}\n");
    play.put("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: b}\n");
    play.put(&event("first"));
    play.run("plan delete ns/b -o name").says("ConfigMap/b/a\nNamespace/b\n");
    let digest = play.digest("ns/b");
    play.put(&event("second"));
    let deleted = play.run(&format!("delete ns/b --approve {digest}"));
    assert_eq!(deleted.code, 0, "{deleted:?}");
    assert!(deleted.out.contains("Namespace/b destroyed, and 1 other with it"), "{deleted:?}");
    play.run("get events -A -o name").says("");
    let tombstones = play.run("get tombstones -o json").out;
    assert!(!tombstones.contains("\"Event\""), "{tombstones}");
    // Whoever means an event gets one.
    play.put(
        "apiVersion: v1\nkind: Event\nmetadata: {name: own}\ninvolvedObject: {kind: ConfigMap, name: a}\n",
    );
    let deleted = play.run("delete event/own --yes");
    assert_eq!(deleted.code, 0, "{deleted:?}");
}

/// Other policies, other plans: who has another owner lives on.
#[test]
fn every_policy_has_its_plan() {
    let play = family();
    let foreground = play.run("plan delete cm/root --policy foreground");
    assert!(
        foreground.out.contains(
            "~ ConfigMap/leaf   lives on with ConfigMap/other, without its reference to ConfigMap/a\n\
             Plan: 3 to destroy in 2 waves, 1 loses a reference."
        ),
        "{}",
        foreground.out
    );
    let orphan = play.run("plan delete cm root --policy orphan");
    assert!(orphan.out.contains("Plan: 1 to destroy, 2 lose a reference."), "{}", orphan.out);
    play.run("plan delete cm root -o name")
        .says("ConfigMap/b\nConfigMap/leaf\nConfigMap/a\nConfigMap/root\n");
    assert!(play.run("plan delete cm root -o mermaid").out.contains("dies 3rd"));
    assert!(play.run("plan delete cm root -o dot").out.starts_with("digraph"));
    assert!(play.run("plan delete cm root -o svg").out.starts_with("<svg"));
    play.run("delete cm root -o svg").fails(1, &["sexton plan delete"]);
}

/// REQ-KRK-34: somebody deletes C with a command line, and A, which depends on it, goes first.
#[test]
fn a_cascade_ends_with_its_root() {
    for (flags, expected) in [
        ("", "other"),
        ("--policy cascade", "other"),
        ("--policy foreground", "leaf other"),
        ("--policy background", "leaf other"),
        ("--policy orphan", "a b leaf other"),
    ] {
        let play = family();
        let ran = play.run(&format!("delete cm/root --yes {flags}"));
        assert!(ran.out.starts_with("- ConfigMap/root destroyed") && ran.code == 0, "{flags} {ran:?}");
        assert!(ran.err.contains("✔ "), "{}", ran.err);
        assert_eq!(left(&play), expected, "{flags}");
    }
}

#[test]
fn nothing_dies_without_a_yes() {
    let play = family();
    let digest = play.digest("cm/root");
    let held = play.run("delete cm/root");
    let approve = format!("sexton delete cm/root --approve {}", &digest[..8]);
    held.fails(
        3,
        &["somebody must say yes", "Nothing was deleted.", &approve, "sexton delete cm/root --yes"],
    );
    assert_eq!(held.out, "");
    assert_eq!(left(&play), "a b leaf other root");
}

#[test]
fn a_digest_approves_exactly_one_plan() {
    let play = family();
    let digest = play.digest("cm/root");
    play.map("late", &["b"], "");
    let held = play.run(&format!("delete cm/root --approve {}", &digest[..8]));
    let now = play.digest("cm/root");
    assert_ne!(now, digest);
    held.fails(
        3,
        &["what was approved is another plan", "ConfigMap/late", &format!("--approve {}", &now[..8])],
    );
    // Not even a yes overrules a digest that is wrong.
    play.run(&format!("delete cm/root --yes --approve {digest}")).fails(3, &["another plan"]);
    assert_eq!(left(&play), "a b late leaf other root");
    play.run(&format!("delete cm/root --approve {}", &now[..4]))
        .says("- ConfigMap/root destroyed, and 4 others with it\n");
    assert_eq!(left(&play), "other");
}

#[test]
fn contents_go_only_with_a_digest() {
    let play = Play::new();
    play.put("apiVersion: v1\nkind: Namespace\nmetadata: {name: team}\n");
    play.put("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x, namespace: team}\n");
    play.run("delete ns team --yes").fails(3, &["takes its contents along", "--approve"]);
    let digest = play.digest("ns team");
    play.run(&format!("delete ns team --approve {digest}"))
        .says("- Namespace/team destroyed, and 1 other with it\n");
    play.run("get cm x -n team").fails(1, &["not found"]);
    play.put("apiVersion: v1\nkind: Namespace\nmetadata: {name: empty}\n");
    play.run("delete ns empty --yes").says("- Namespace/empty destroyed\n");
    // What is refused in any case is refused before anybody looks at a plan.
    play.map("x", &[], "");
    for command in ["delete ns default empty --yes", "delete ns kube-system", "plan delete ns/kube-public"] {
        let refused = play.run(command);
        refused.fails(3, &["may not be deleted", "Nothing was deleted."]);
        assert!(!refused.err.contains("Plan:") && refused.out.is_empty(), "{command} {refused:?}");
    }
}

/// What comes after the approval is held, named, and not destroyed: 4 if part of it is gone, 3 if nothing is.
#[test]
fn what_was_not_approved_is_held() {
    let play = family();
    assert_eq!(play.run("delete cm/root --yes --no-wait").code, 0);
    play.map("late", &["root"], "");
    let words = ["ConfigMap/late was not in the plan", "sexton delete ConfigMap/late", "1 still there"];
    let held = play.run("delete cm/root --yes");
    held.fails(4, &words);
    assert_eq!(held.out, "! ConfigMap/root is marked, and still there\n");
    assert_eq!(left(&play), "late other root");
    play.run("delete cm/root --yes").fails(3, &words);
    play.run("resume").fails(3, &words[..2]);
    play.run("delete cm/late --yes").says("- ConfigMap/late destroyed\n");
    play.run("resume").says("");
    assert_eq!(left(&play), "other");
}

/// What nobody asked for, and is too much, is told as held; whoever sees that can let it go on.
#[test]
fn too_many_orphans_are_held() {
    let play = Play::new();
    let orphan = |number: usize| {
        format!(
            "---\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: o{number}\n  ownerReferences:\n  \
             - {{apiVersion: v1, kind: ConfigMap, name: gone, uid: never-was}}\n"
        )
    };
    play.put(&(0..15).map(orphan).collect::<String>());
    play.run("resume --orphan-grace 0").fails(3, &["held: 15 of", "sexton collections"]);
    let name = play.run("collections -o name").out;
    let name = name.trim();
    let shown = play.run(&format!("collections {name}")).out;
    let force = format!("sexton force Collection.sexton.dev/{name} --blocker fuse:15");
    assert!(shown.contains("is held (orphans") && shown.contains(&force), "{shown}");
    play.run(&format!("force collection/{name} --blocker fuse:14 --reason old")).fails(3, &["fuse:15"]);
    assert_eq!(play.run(&format!("force collection/{name} --reason old")).code, 0);
    play.run("resume --orphan-grace 0").says("");
    assert_eq!(left(&play), "");
    play.run(&format!("force collection/{name} --reason old")).fails(3, &["is not held"]);
}

#[test]
fn what_is_protected_is_refused_and_says_how() {
    let play = family();
    let protect = ["protect", "cm/leaf", "--reason", "holds the orders"];
    assert!(play.command("").args(protect).status().unwrap().success());
    let refused = play.run("delete cm/leaf --yes");
    refused.fails(3, &["ConfigMap/leaf is protected", "holds the orders", "sexton unprotect ConfigMap/leaf"]);
    // As a dependent it stays, and whoever would have to wait for it does.
    let plan = play.run("plan delete cm/root").out;
    assert!(
        plan.contains("! ConfigMap/leaf   is protected: holds the orders; ConfigMap/a waits for it"),
        "{plan}"
    );
    let stuck = play.run("delete cm/root --yes");
    stuck.fails(4, &["waits for ConfigMap/a", "sexton unprotect", "1 gone · 2 still there"]);
    assert_eq!(stuck.out, "! ConfigMap/root is marked, and still there\n");
    assert_eq!(left(&play), "a leaf other root");
    play.run("unprotect cm/leaf").says("~ ConfigMap/leaf protected no longer\n");
    play.run("unprotect cm/leaf").says("= ConfigMap/leaf protected no longer\n");
    // It was not in the plan that was approved, so it does not follow by itself.
    play.run("resume").fails(3, &["was not in the plan", "sexton delete ConfigMap/leaf"]);
    play.run("delete cm/leaf --yes").says("- ConfigMap/leaf destroyed\n");
    play.run("resume").says("");
    assert_eq!(left(&play), "other");
}

#[test]
fn by_file_by_label_and_what_is_missing() {
    let play = Play::new();
    play.file("shop.yaml", SHOP);
    assert_eq!(play.run("put -f shop.yaml").code, 0);
    let partial = play.run("delete cm a nope --yes");
    partial.fails(4, &["there is no ConfigMap/nope in the namespace default"]);
    assert_eq!(partial.out, "- ConfigMap/a destroyed\n");
    play.run("delete cm/a --yes")
        .fails(1, &["there is no ConfigMap/a in the namespace default", "sexton get configmaps"]);
    play.run("delete cm/a --ignore-not-found").says("");
    play.run("delete -f shop.yaml --ignore-not-found --yes").says("- Deployment/web destroyed\n");
    assert_eq!(play.run("put -f shop.yaml").code, 0);
    play.run("delete cm,deploy -l app=web --yes -o name").says("ConfigMap/a\nDeployment/web\n");
    play.run("delete cm/default/a").fails(1, &["there is no ConfigMap/a"]);
    play.run("delete cm").fails(1, &["which of them?"]);
}

#[test]
fn programs_read_lines() {
    let play = family();
    let ran = play.run("delete cm/root --yes -o json");
    assert_eq!(ran.code, 0, "{ran:?}");
    let lines: Vec<serde_json::Value> =
        ran.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!((&lines[0]["version"], &lines[1]["kind"]), (&1.into(), &"Plan".into()));
    let gone = lines.iter().filter(|line| line["kind"] == "Gone").count();
    assert_eq!((gone, &lines.last().unwrap()["left"]), (4, &0.into()));
}

/// What is marked and not waited for is finished by whoever comes next.
#[test]
fn nobody_waits_and_somebody_resumes() {
    let play = family();
    let ran = play.run("delete cm/root --yes --no-wait");
    assert!(ran.code == 0 && ran.err.contains("sexton resume"), "{ran:?}");
    assert_eq!(left(&play), "a b leaf other root");
    let why = play.run("why cm/leaf").out;
    assert!(why.starts_with("ConfigMap/leaf is being destroyed: owned by ConfigMap/a"), "{why}");
    let resumed = play.run("resume");
    resumed.says("");
    assert!(
        resumed.err.contains("4 are being destroyed") && resumed.err.contains("✔ 4 gone"),
        "{}",
        resumed.err
    );
    assert_eq!(left(&play), "other");
    let collections = play.run("collections").out;
    assert!(collections.contains("done") && collections.contains("delete"), "{collections}");
    let gone = play.run("why cm/leaf").out;
    assert!(gone.starts_with("ConfigMap/leaf is gone") && gone.contains("sexton get tombstone"), "{gone}");
}

#[test]
fn a_name_that_is_nearly_right_is_proposed() {
    let play = family();
    play.run("why cm/laef").fails(1, &["there is no ConfigMap/laef", "did you mean leaf?"]);
    let why = play.run("why cm/leaf").out;
    assert!(why.starts_with("ConfigMap/leaf lives: 2 owners, protected: no."), "{why}");
    play.run("force cm/leaf --reason x").fails(3, &["is not being destroyed"]);
    play.run("retry cm/leaf").fails(3, &["is not being destroyed"]);
}

#[test]
fn pictures_of_what_is_connected() {
    let play = family();
    play.map("alone", &[], "");
    let whole = play.run("graph").out;
    assert!(
        whole.starts_with("digraph") && whole.contains("ConfigMap/leaf") && !whole.contains("alone"),
        "{whole}"
    );
    let one = play.run("graph cm/alone -o mermaid").out;
    assert!(one.contains("ConfigMap/alone") && !one.contains("leaf"), "{one}");
    play.run("graph --out g.svg").says("");
    assert!(std::fs::read_to_string(play.path().join("g.svg")).unwrap().starts_with("<svg"));
    play.run("graph --out g.svg").fails(1, &["g.svg exists"]);
    assert_eq!(play.run("delete cm/root --yes --no-wait").code, 0);
    assert!(play.run("graph cm/root -o json").out.contains("\"state\":\"doomed\",\"order\":3"));
}
