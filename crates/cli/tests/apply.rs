//! Modules on an embedded store: put, mark, sweep; and everything that must not be swept.
#![allow(clippy::unwrap_used, reason = "a test may end so")]

mod common;

use common::modules::{SETTINGS, map, shop, state};
use common::{Play, Ran};

fn drop_document(play: &Play, name: &str) {
    std::fs::remove_file(play.path().join(format!("shop/{name}.yaml"))).unwrap();
}

fn left(play: &Play) -> String {
    play.run("get cm -o name").out.replace("configmap/", "").replace('\n', " ").trim().to_owned()
}

fn digest(ran: &Ran) -> String {
    let at = ran.out.find("digest ").unwrap() + 7;
    ran.out[at..].split_whitespace().next().unwrap().to_owned()
}

/// REQ-CLD-1, REQ-CLD-5, REQ-CLD-6, REQ-CLD-12, REQ-CLD-13: what is put is marked, and what is not put any more is swept.
#[test]
fn applied_dropped_and_swept() {
    let play = shop(3);
    let first = play.run("apply -f shop");
    assert!(first.code == 0 && first.out.starts_with("✔ put 3 · sealed · swept 0"), "{first:?}");
    assert!(first.err.contains("shop on .sexton (embedded) · scope manager=shop · deployment "), "{first:?}");
    play.run("put -f -").fails(1, &[]);
    play.put(&map("stranger", ""));
    drop_document(&play, "m-2");
    play.file("shop/m-1.yaml", &map("m-1", "data: {a: two}\n"));
    let plan = play.run("plan -f shop");
    assert_eq!(plan.code, 0, "{plan:?}");
    for words in [
        "- ConfigMap/m-2  no document names it any more",
        "~ ConfigMap/m-1\n    data.a  \"one\" → \"two\"",
        "Plan: 0 to put, 1 to change, 1 to destroy, 1 unchanged.",
        "Nothing was written.",
    ] {
        assert!(plan.out.contains(words), "no {words:?} in:\n{}", plan.out);
    }
    assert_eq!(play.run("plan -f shop --detailed-exitcode").code, 2);
    play.run("apply -f shop")
        .fails(3, &["somebody must say yes before deleting 1 of 3 in shop", "--approve"]);
    assert_eq!(left(&play), "m-1 m-2 m-3 stranger");
    play.run("apply -f shop --approve 00000000").fails(3, &["another plan"]);
    let done = play.run(&format!("apply -f shop --approve {}", digest(&plan)));
    assert!(done.code == 0 && done.out.starts_with("✔ put 1 · 1 unchanged · sealed · swept 1"), "{done:?}");
    assert_eq!(left(&play), "m-1 m-3 stranger");
    let again = play.run("apply -f shop");
    assert!(again.code == 0 && again.out.starts_with("✔ put 0 · 2 unchanged"), "{again:?}");
}

/// A preview leaves the store as it was, and a store that is not there is not made for it.
#[test]
fn a_preview_writes_nothing() {
    let play = shop(2);
    assert_eq!(play.run("plan -f shop").code, 0);
    assert!(!play.data().exists());
    play.run("apply -f shop");
    drop_document(&play, "m-2");
    let before = state(&play);
    for flags in ["", "--dry-gc", "-o json", "-o svg", "--only ConfigMap/m-1"] {
        assert_eq!(play.run(&format!("plan -f shop {flags}")).code, 0, "{flags}");
        assert_eq!(play.run(&format!("apply -f shop --dry-run {flags}")).code, 0, "{flags}");
    }
    assert_eq!(play.run("destroy shop --dry-run").code, 0);
    assert_eq!(state(&play), before);
}

/// REQ-CLD-18, REQ-CLD-19, REQ-CLD-20: nothing is swept, and the next sweep still knows the order.
#[test]
fn deployed_without_a_sweep() {
    let play = shop(3);
    play.run("apply -f shop");
    drop_document(&play, "m-1");
    for _ in 0..2 {
        let done = play.run("apply -f shop --dry-gc");
        assert!(done.code == 0 && done.out.contains("not swept: 1 keep their order"), "{done:?}");
        assert!(done.err.contains("= ConfigMap/m-1  stays:"), "{done:?}");
    }
    assert_eq!(left(&play), "m-1 m-2 m-3");
    let order = |name: &str| {
        let shown = play.run(&format!("get cm/{name} -o json")).out;
        let object: serde_json::Value = serde_json::from_str(&shown).unwrap();
        let order = object["metadata"]["annotations"]["sexton.dev/dependency-order"].as_str().unwrap();
        order.parse::<i64>().unwrap()
    };
    assert!(order("m-1") > order("m-2").max(order("m-3")));
    assert_eq!(play.run("apply -f shop --yes").code, 0);
    assert_eq!(left(&play), "m-2 m-3");
}

/// EXT-5: a part of a module sweeps nothing, and says so.
#[test]
fn only_a_part() {
    let play = shop(3);
    play.run("apply -f shop");
    drop_document(&play, "m-3");
    let done = play.run("apply -f shop --only ConfigMap/m-1");
    assert!(done.code == 0 && done.out.contains("not swept"), "{done:?}");
    assert_eq!(left(&play), "m-1 m-2 m-3");
    play.run("apply -f shop --only ConfigMap/nobody").fails(1, &["none of the 2 documents"]);
}

/// An empty module is a mistake until somebody says that it is none.
#[test]
fn nothing_is_everything() {
    let play = shop(2);
    play.run("apply -f shop");
    drop_document(&play, "m-1");
    drop_document(&play, "m-2");
    play.run("apply -f shop --yes").fails(3, &["has no documents", "--allow-empty"]);
    assert_eq!(left(&play), "m-1 m-2");
    assert_eq!(play.run("apply -f shop --yes --allow-empty").code, 0);
    assert_eq!(left(&play), "");
}

/// EXT-1, EXT-8, and other things that make no sense: nothing is put.
#[test]
fn what_makes_no_sense_is_refused() {
    let play = shop(1);
    play.run("apply -f shop --gc-scope namespace=default").fails(1, &["manager"]);
    play.run("apply -f shop --gc-scope manager=other").fails(1, &["manager"]);
    play.run("apply -f shop --gc-scope nonsense").fails(1, &["KEY=VALUE"]);
    play.run("apply -f shop --max-delete some").fails(1, &["some"]);
    play.file("shop/twice.yaml", &map("m-1", ""));
    play.run("apply -f shop").fails(1, &["shop/m-1.yaml:1", "shop/twice.yaml:1", "Nothing was put"]);
    std::fs::remove_file(play.path().join("shop/twice.yaml")).unwrap();
    play.run("apply -f shop/m-1.yaml").fails(1, &["the module has no name", "--manager", "sexton.yaml"]);
    play.file("shop/sexton.yaml", "manager: shop\ngcScop: {}\n");
    play.run("apply -f shop").fails(1, &["shop/sexton.yaml", "gcScop"]);
    play.file("shop/sexton.yaml", SETTINGS);
    play.file("shop/bad.yaml", "apiVersion: v1\nkind: Nothing\nmetadata: {name: x}\n");
    play.run("apply -f shop").fails(1, &["there is no kind Nothing", "sexton kinds"]);
    assert_eq!(play.run("get cm -o name").out, "");
}

/// EXT-2: what cannot be put ends the deployment before anything is swept.
#[test]
fn a_failed_put_sweeps_nothing() {
    let play = shop(2);
    play.run("apply -f shop");
    drop_document(&play, "m-2");
    play.file("shop/m-9.yaml", &map("m-9", "  labels: {app: no good}\n"));
    let failed = play.run("apply -f shop --yes");
    assert_eq!(failed.code, 1, "{failed:?}");
    assert!(failed.err.contains("shop/m-9.yaml:1"), "{failed:?}");
    assert_eq!(left(&play), "m-1 m-2");
}

/// The fuse: many are not destroyed without being counted.
#[test]
fn too_many_are_held() {
    let play = shop(24);
    play.run("apply -f shop");
    for number in 2..=24 {
        drop_document(&play, &format!("m-{number}"));
    }
    play.run("apply -f shop --yes").fails(3, &["23", "of 24", "--max-delete 23", "nothing was destroyed"]);
    assert_eq!(left(&play).split_whitespace().count(), 24);
    assert_eq!(play.run("plan -f shop").code, 3);
    assert_eq!(play.run("apply -f shop --yes --max-delete 23").code, 0);
    assert_eq!(left(&play), "m-1");
}

/// Kinds that nobody defined are made after asking only.
#[test]
fn unknown_kinds_are_not_made_silently() {
    let play = shop(0);
    play.file("shop/vm.yaml", "apiVersion: example.com/v1\nkind: Vm\nmetadata: {name: a}\nspec: {cpus: 2}\n");
    play.run("apply -f shop").fails(3, &["there is no kind Vm", "--register-kinds"]);
    assert!(!play.run("kinds").out.contains("Vm"));
    let made = play.run("apply -f shop --register-kinds");
    assert_eq!(made.code, 0, "{made:?}");
    assert!(play.run("get vms -o name").out.contains("vm.example.com/a"));
}

/// EXT-6: a module ends in the reverse order, without its files, and a second time is no mistake.
#[test]
fn a_whole_module_is_destroyed() {
    let play = shop(3);
    play.run("apply -f shop");
    play.put(&map("stranger", ""));
    std::fs::remove_dir_all(play.path().join("shop")).unwrap();
    let plan = play.run("destroy shop --dry-run");
    let places: Vec<usize> = ["m-3", "m-2", "m-1"].iter().map(|name| plan.out.find(*name).unwrap()).collect();
    assert!(places.is_sorted(), "{}", plan.out);
    play.run("destroy shop").fails(3, &["somebody must say yes"]);
    assert_eq!(play.run("destroy shop --yes").code, 0);
    assert_eq!(left(&play), "stranger");
    assert!(play.run("modules").err.contains("there are no modules"));
    let again = play.run("destroy shop --yes");
    assert!(again.code == 0 && again.err.contains("there is nothing of a module shop"), "{again:?}");
}

/// From one module to another: neither of them sweeps it on the way.
#[test]
fn transferred_before_it_is_dropped() {
    let play = shop(2);
    play.run("apply -f shop");
    play.file("other/sexton.yaml", "manager: other\n");
    play.file("other/m-2.yaml", &map("m-2", "data: {a: one}\n"));
    play.run("apply -f other").fails(1, &["shop", "sexton transfer"]);
    let moved = play.run("transfer ConfigMap/m-2 --to other");
    assert!(moved.code == 0 && moved.out.contains("moved from shop to other"), "{moved:?}");
    drop_document(&play, "m-2");
    assert_eq!(play.run("apply -f shop --yes").code, 0);
    assert_eq!(left(&play), "m-1 m-2");
    let taken = play.run("apply -f other --yes");
    assert_eq!(taken.code, 0, "{taken:?}");
    assert_eq!(left(&play), "m-1 m-2");
    play.run("transfer ConfigMap/m-2 --to third --from shop").fails(3, &["other"]);
}

/// REQ-CLD-3: every round has a name of its own, and modules remember theirs.
#[test]
fn modules_tell_their_history() {
    let play = shop(1);
    play.run("apply -f shop --deployment-id first");
    play.run("apply -f shop --deployment-id second");
    play.run("apply -f shop --deployment-id first").fails(1, &["used before"]);
    let shown = play.run("modules shop").out;
    let first_line = shown.lines().next().unwrap();
    assert_eq!(first_line, "shop · sealed · scope manager=shop");
    assert!(shown.contains("second") && shown.contains("first"), "{shown}");
    assert!(play.run("modules").out.contains("shop     sealed"), "{}", play.run("modules").out);
    play.run("modules nobody").fails(1, &["there is no module nobody"]);
    assert!(play.run("modules unlock shop").err.contains("nobody holds the lease"));
}

/// Every line is a document, and the first says which form it is.
#[test]
fn lines_for_programs() {
    let play = shop(2);
    play.run("apply -f shop");
    drop_document(&play, "m-2");
    let lines: Vec<serde_json::Value> = play
        .run("apply -f shop --yes -o json")
        .out
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let kinds: Vec<&str> = lines.iter().map(|line| line["kind"].as_str().unwrap()).collect();
    assert_eq!(
        kinds,
        ["Header", "DeploymentPlan", "Death", "Put", "Done", "Sealed", "Gone", "Result"],
        "{lines:#?}"
    );
    let (all, sweep) = (lines[7]["seconds"].as_f64(), lines[7]["sweepSeconds"].as_f64());
    assert!(sweep > Some(0.0) && sweep <= all, "{lines:#?}");
    assert_eq!((&lines[0]["version"], &lines[1]["destroy"]), (&1.into(), &1.into()));
    assert_eq!((&lines[7]["swept"], &lines[7]["left"]), (&1.into(), &0.into()));
}

/// A picture of nothing is a picture, and what is said is said once.
#[test]
fn nothing_is_told_twice_or_not_at_all() {
    let play = shop(2);
    play.run("apply -f shop");
    for (form, begin) in [("svg", "<svg"), ("dot", "digraph"), ("mermaid", "---")] {
        let drawn = play.run(&format!("plan -f shop -o {form}"));
        assert!(drawn.out.starts_with(begin) && drawn.out.contains("nothing is destroyed"), "{drawn:?}");
    }
    let partial = play.run("apply -f shop --only ConfigMap/m-1");
    assert_eq!(partial.err.matches("nothing is swept").count(), 1, "{partial:?}");
    play.run("apply -f shop --kubeconfig nowhere").fails(1, &["--kubeconfig alone", "--context NAME"]);
    play.file("shop/sub/sexton.yaml", "manager: other\n");
    play.run("apply -f shop --yes").fails(1, &["there are two settings files"]);
    std::fs::remove_file(play.path().join("shop/sexton.yaml")).unwrap();
    play.run("apply -f shop --manager shop").fails(1, &["shop/sub/sexton.yaml", "a module of its own"]);
}

/// EXT-1: more can go than a module has, and the message says so; a plan says what to type.
#[test]
fn a_held_plan_says_how_to_do_it() {
    let play = shop(1);
    play.file("shop/0.yaml", "apiVersion: v1\nkind: Namespace\nmetadata: {name: full}\n");
    play.run("apply -f shop");
    for number in 0..12 {
        play.put(&map(&format!("x-{number}"), "  namespace: full\n"));
    }
    std::fs::remove_file(play.path().join("shop/0.yaml")).unwrap();
    let held = play.run("plan -f shop");
    assert_eq!(held.code, 3, "{held:?}");
    for told in ["! held: in shop, 13 would be destroyed for 2, and", "--max-delete 13 --approve"] {
        assert!(held.out.contains(told), "{held:?}");
    }
}

/// REQ-CLD-7, REQ-CLD-14, REQ-CLD-17: which documents are equal is a setting; another one is shown, and gives new places.
#[test]
fn the_order_is_a_setting() {
    let play = shop(3);
    let places = |play: &Play| -> Vec<String> {
        let shown: serde_json::Value = serde_json::from_str(&play.run("get cm -o json").out).unwrap();
        let place = |item: &serde_json::Value| {
            item["metadata"]["annotations"]["sexton.dev/dependency-order"].as_str().unwrap().to_owned()
        };
        shown["items"].as_array().unwrap().iter().map(place).collect()
    };
    let first = play.run("apply -f shop");
    assert!(first.code == 0 && first.err.contains(" · order documents\n"), "{first:?}");
    assert_eq!(places(&play), ["1", "2", "3"]);
    let edge = "{first: ConfigMap/m-1, then: ConfigMap/m-3}";
    play.file("shop/sexton.yaml", &format!("{SETTINGS}order: edges\nparallel: 2\ndependencies: [{edge}]\n"));
    play.run("apply -f shop --only ConfigMap/m-1")
        .fails(1, &["the order of the module was documents and is edges"]);
    let changed = play.run("apply -f shop");
    assert!(changed.code == 0 && changed.err.contains(" · order edges, at most 2 at once\n"), "{changed:?}");
    assert!(changed.err.contains("the order was documents, and is edges"), "{changed:?}");
    assert_eq!(places(&play), ["1", "1", "2"]);
    let again = play.run("apply -f shop");
    assert!(!again.err.contains("the order was"), "{again:?}");
    drop_document(&play, "m-2");
    assert_eq!(play.run("apply -f shop --dry-gc").code, 0);
    assert_eq!(places(&play), ["1", "3", "2"], "who is not in the module any more stands behind all others");
    let end = play.run("destroy shop --dry-run");
    assert!(end.out.contains(" · order edges, at most 2 at once\n"), "{end:?}");
    play.file("shop/sexton.yaml", &format!("{SETTINGS}order: sideways\n"));
    play.run("apply -f shop").fails(1, &["order: Unsupported value", "documents", "files", "edges"]);
}
