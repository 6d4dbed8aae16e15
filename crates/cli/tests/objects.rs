//! put, get, delete, kinds and backup on an embedded store.

mod common;

use common::{Play, SHOP, still};

#[test]
fn put_says_what_came_of_it() {
    let play = Play::new();
    play.file("shop.yaml", SHOP);
    let created = play.run("put -f shop.yaml");
    created.says("+ configmap/a created\n+ deployment.apps/web created\n");
    assert_eq!(created.err, "put on .sexton (embedded)\n");
    play.run("put -f shop.yaml").says("= configmap/a unchanged\n= deployment.apps/web unchanged\n");
    play.file("shop.yaml", &SHOP.replace("replicas: 2", "replicas: 3"));
    let changed = "= configmap/a unchanged\n~ deployment.apps/web changed\n";
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
        .says("+ configmap/a created (dry run)\n+ deployment.apps/web created (dry run)\n");
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
    play.run_with("put -f -", &shown).says("= configmap/a unchanged\n= deployment.apps/web unchanged\n");
    let again = play.run("get cm a -o json").out;
    assert_eq!(play.run_with("put -f -", &again).out, "= configmap/a unchanged\n");
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
        "+ namespace/shop created\n+ customresourcedefinition.apiextensions.k8s.io/vms.x.example created\n\
         + vm.x.example/web created\n",
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
    put.says("+ configmap/o created\n");
    assert!(put.err.contains("warning: configmap/o: metadata.ownerReferences[0]"), "{}", put.err);
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
