//! put, get, delete, kinds and backup on an embedded store.

mod common;

use common::{Play, SHOP, still};

#[test]
fn put_says_what_came_of_it() {
    let play = Play::new();
    play.file("shop.yaml", SHOP);
    let created = play.run("put -f shop.yaml");
    created.says("+ ConfigMap/a created\n+ Deployment/web created\n");
    assert_eq!(created.err, "put on .sexton (embedded)\n");
    play.run("put -f shop.yaml").says("= ConfigMap/a unchanged\n= Deployment/web unchanged\n");
    play.file("shop.yaml", &SHOP.replace("replicas: 2", "replicas: 3"));
    let changed = "= ConfigMap/a unchanged\n~ Deployment/web changed\n";
    play.run("put -f shop.yaml --dry-run").says(&changed.replace('\n', " (dry run)\n"));
    play.run("put -f shop.yaml").says(changed);
    play.run("put -f shop.yaml -o name").says("configmap/a\ndeployment.apps/web\n");
    assert!(play.run("put -f shop.yaml -o yaml").out.contains("kind: List"));
}

#[test]
fn looking_and_previews_make_no_store() {
    let play = Play::new();
    let nothing = play.run("get cm");
    nothing.says("");
    assert_eq!(nothing.err, "nothing found on .sexton (embedded, empty), namespace default\n");
    play.run_with("put -f - --dry-run", SHOP)
        .says("+ ConfigMap/a created (dry run)\n+ Deployment/web created (dry run)\n");
    play.run("delete cm nope --ignore-not-found").says("");
    assert!(!play.data().exists());
}

#[test]
fn get_in_every_form() {
    let play = Play::new();
    assert_eq!(play.run_with("put -f -", SHOP).code, 0);
    assert_eq!(still(&play.run("get cm").out), "NAME   DATA   AGE\na      3      AGE\n");
    assert_eq!(
        still(&play.run("get configmaps -A").out),
        "NAMESPACE   NAME   DATA   AGE\ndefault     a      3      AGE\n"
    );
    let two = "NAME          DATA   AGE\nconfigmap/a   3      AGE\n\n\
         NAME                  READY   UP-TO-DATE   AVAILABLE   AGE\ndeployment.apps/web   0/2     0            0           AGE\n";
    assert_eq!(still(&play.run("get ConfigMap,deploy").out), two);
    assert_eq!(still(&play.run("get cm/a deployments.apps/web").out), two);
    play.run("get all -o name").says("deployment.apps/web\n");
    play.run("get cm -l app=web -o name").says("configmap/a\n");
    play.run("get cm -l app!=web -o name").says("");
    play.run("get cm --field-selector metadata.name=a -o name").says("configmap/a\n");
    let yaml = "apiVersion: v1\ndata:\n  \"n\": \"1\"\n  \"on\": \"yes\"\n  text: |\n    line 1\n    line 2\nkind: ConfigMap\n\
         metadata:\n  creationTimestamp: TIME\n  labels:\n    app: web\n  name: a\n  namespace: default\n  \
         resourceVersion: \"4\"\n  uid: ID\n";
    assert_eq!(still(&play.run("get cm a -o yaml").out), yaml);
    assert!(play.run("get cm a -o yaml --show-managed-fields").out.contains("managedFields"));
    let json: serde_json::Value = serde_json::from_str(&play.run("get cm -o json").out).unwrap();
    assert_eq!((&json["kind"], &json["items"][0]["data"]["on"]), (&"List".into(), &"yes".into()));
}

#[test]
fn what_get_writes_put_reads() {
    let play = Play::new();
    assert_eq!(play.run_with("put -f -", SHOP).code, 0);
    let shown = play.run("get cm,deploy -o yaml").out;
    play.run_with("put -f -", &shown).says("= ConfigMap/a unchanged\n= Deployment/web unchanged\n");
    let again = play.run("get cm a -o json").out;
    assert_eq!(play.run_with("put -f -", &again).out, "= ConfigMap/a unchanged\n");
}

#[test]
fn limits_and_pages() {
    let play = Play::new();
    let many: String = (0..1203)
        .map(|n| format!("---\napiVersion: v1\nkind: ConfigMap\nmetadata: {{name: c{n:04}}}\n"))
        .collect();
    assert_eq!(play.run_with("put -f -", &many).code, 0);
    assert_eq!(play.run("get cm -o name").out.lines().count(), 1203);
    let some = play.run("get cm --limit 501");
    assert_eq!(some.out.lines().count(), 502);
    assert_eq!(some.err, "there are more configmaps than the limit shows\n");
}

#[test]
fn directories_definitions_and_their_objects_in_one_put() {
    let play = Play::new();
    play.file("d/1-vm.yaml", "apiVersion: x.example/v1\nkind: Vm\nmetadata: {name: web, namespace: shop}\n");
    play.file("d/2-rest/ns.yml", "apiVersion: v1\nkind: Namespace\nmetadata: {name: shop}\n");
    play.file(
        "d/3-crd.json",
        r#"{"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
            "metadata": {"name": "vms.x.example"}, "spec": {"group": "x.example", "scope": "Namespaced",
            "names": {"plural": "vms", "kind": "Vm", "shortNames": ["v"]},
            "versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema":
            {"type": "object", "x-kubernetes-preserve-unknown-fields": true}}}]}}"#,
    );
    play.file("d/readme.txt", "not a document");
    play.run("put -f d").says(
        "+ Namespace/shop created\n+ CustomResourceDefinition/vms.x.example created\n\
         + Vm/shop/web created\n",
    );
    play.run("get v -n shop -o name").says("vm.x.example/web\n");
    assert!(
        play.run("kinds")
            .out
            .contains("vms                         v             x.example/v1              true         Vm")
    );
    assert!(play.run("kinds -o name").out.contains("deployments.apps\n"));
    assert!(play.run("kinds -o json").out.contains("\"shortNames\""));
    assert!(play.run("kinds -o yaml").out.contains("- apiVersion: v1"));
}

#[test]
fn warnings_of_the_server_are_told() {
    let play = Play::new();
    let orphan = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: o\n  ownerReferences:\n  \
         - {apiVersion: v1, kind: ConfigMap, name: gone, uid: no-such-uid}\n";
    let put = play.run_with("put -f -", orphan);
    put.says("+ ConfigMap/o created\n");
    assert!(put.err.contains("warning: ConfigMap/o: metadata.ownerReferences[0]"), "{}", put.err);
}

#[test]
fn a_backup_is_a_store() {
    let play = Play::new();
    play.run("backup copy.db").fails(1, &["there is no store in .sexton", "--data DIR"]);
    assert_eq!(play.run_with("put -f -", SHOP).code, 0);
    let backup = play.run("backup copy.db");
    assert!(backup.out.starts_with("copy.db: 5 objects at revision 5, "), "{backup:?}");
    play.run("backup copy.db").fails(1, &["exists"]);
    play.file("other/note", "");
    std::fs::rename(play.path().join("copy.db"), play.path().join("other/store.db")).unwrap();
    play.run("get cm -o name --data other").says("configmap/a\n");
    play.run("backup x.db --server http://127.0.0.1:1").fails(1, &["must run where that is"]);
}

/// Templates, order and headings are as kubectl has them; nonsense is refused before anything is asked for.
#[test]
fn get_with_templates_and_in_order() {
    let play = Play::new();
    let map = |name: &str, n: u32| {
        format!("---\napiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {name}}}\ndata: {{n: \"{n}\"}}\n")
    };
    play.put(&[map("m-10", 1), map("m-9", 30), map("other", 4)].concat());
    let run = |arguments: &[&str]| {
        let output = play.command("get cm").args(arguments).output().unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
    };
    let shown = |arguments: &[&str]| {
        let (code, out, err) = run(arguments);
        assert_eq!(code, 0, "{arguments:?}: {err}");
        out
    };
    assert_eq!(shown(&["-o", "jsonpath={.items[*].metadata.name}"]), "m-10 m-9 other");
    let range = r#"jsonpath={range .items[*]}{.metadata.name}={.data.n}{"\n"}{end}"#;
    assert_eq!(shown(&["-o", range]), "m-10=1\nm-9=30\nother=4\n");
    assert_eq!(shown(&["m-9", "-o", "jsonpath={.data.n}"]), "30");
    assert_eq!(
        shown(&["-o", "name", "--sort-by", ".data.n"]),
        "configmap/m-10\nconfigmap/other\nconfigmap/m-9\n"
    );
    let sorted = shown(&["--sort-by", "metadata.name", "--no-headers"]);
    let names: Vec<&str> = sorted.lines().map(|line| line.split(' ').next().unwrap()).collect();
    assert_eq!(names, ["m-9", "m-10", "other"]);
    for (arguments, word) in [
        (&["-o", "jsonpath={.items["][..], "not closed"),
        (&["-o", "jsonpath={range .items[*]}"], "has no {end}"),
        (&["-o", "tables"], "jsonpath=TEMPLATE"),
        (&["--sort-by", ".data["], "unterminated"),
        (&["--sort-by", ".spec.nothing"], "none of the objects has that field"),
        (&["-w", "--sort-by", ".data.n"], "cannot be used with"),
    ] {
        let (code, out, err) = run(arguments);
        assert_eq!((code, out.as_str()), (1, ""), "{arguments:?}");
        assert!(err.contains(word), "{arguments:?}: {err}");
    }
}

/// All of a kind in a namespace, after the plan was shown; the others stay.
#[test]
fn all_of_a_kind_are_deleted() {
    let play = Play::new();
    play.put(SHOP);
    play.put("apiVersion: v1\nkind: Namespace\nmetadata: {name: team}\n");
    play.put("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: b, namespace: team}\n");
    play.map("c", &[], "");
    play.run("delete cm/a --all --yes").fails(1, &["needs no name"]);
    play.run("delete cm --all -l app=web --yes").fails(1, &["cannot be used with"]);
    play.run("delete cm --all").fails(3, &["ConfigMap/a", "ConfigMap/c", "sexton delete cm --all --approve"]);
    play.run("delete cm --all --yes").says("- ConfigMap/a destroyed\n- ConfigMap/c destroyed\n");
    play.run("get cm -A -o name").says("configmap/b\n");
    play.run("get deploy -o name").says("deployment.apps/web\n");
    play.run("delete cm --all --yes").says("");
}

/// A copy goes through a pipe and becomes a store; half of one does not.
#[test]
fn copies_come_and_go_through_pipes() {
    let play = Play::new();
    play.put(SHOP);
    let copied = play.command("backup -").output().unwrap();
    assert!(copied.status.success() && copied.stdout.starts_with(b"SQLite format 3\0"));
    play.run("backup - -o json").fails(1, &["stdout has the copy"]);
    std::fs::write(play.path().join("copy.db"), &copied.stdout).unwrap();
    std::fs::write(play.path().join("half.db"), &copied.stdout[..copied.stdout.len() / 2]).unwrap();
    play.file("nonsense.db", "nonsense");
    play.run("restore copy.db").fails(1, &["is not empty: it holds", "Nothing was restored."]);
    for (file, word) in
        [("half.db", "not complete"), ("nonsense.db", "not a SQLite file"), ("x.db", "No such")]
    {
        play.run(&format!("restore {file} --data new")).fails(1, &[file, word]);
        assert!(!play.path().join("new").exists());
    }
    play.run("restore .sexton --data new").fails(1, &["is a directory", "sexton backup FILE --data .sexton"]);
    assert!(play.run("restore copy.db --data new").out.starts_with("new: "));
    play.run("get cm -o name --data new").says("configmap/a\n");
    let piped = std::process::Stdio::from(std::fs::File::open(play.path().join("copy.db")).unwrap());
    let restored = play.command("restore - --data piped -o json").stdin(piped).output().unwrap();
    assert!(restored.status.success(), "{restored:?}");
    play.run("get cm -o name --data piped").says("configmap/a\n");
}
