//! Users with few rights on a cluster that is not ours: what they can do is done in their namespace, and what they cannot
//! is said, with nothing half done.
#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a test may end so")]

mod common;
#[path = "serve/process.rs"]
#[allow(dead_code, reason = "the other tests of it use more")]
mod process;

use std::io::Write;
use std::net::TcpStream;

use common::authorizer::Authorizer;
use common::{Play, Ran};
use process::Server;

const ORPHAN: &str = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: orphan\n  ownerReferences:\n  - \
     {apiVersion: v1, kind: ConfigMap, name: gone, uid: 11111111-1111-1111-1111-111111111111}\n";

/// A cluster, and what its administrator types.
struct Cluster {
    play: Play,
    server: Server,
}

impl Cluster {
    fn new() -> Cluster {
        let play = Play::new();
        let server = Server::start(&play.data(), &["--plain"]);
        Cluster { play, server }
    }

    #[track_caller]
    fn admin(&self, arguments: &str, input: &str) -> String {
        let ran = self.play.run_with(&format!("{arguments} --server {}", self.server.url), input);
        assert_eq!(ran.code, 0, "{arguments}: {ran:?}");
        ran.out
    }

    /// The same command as the user behind `line`.
    fn user(&self, line: &Authorizer, arguments: &str, input: &str) -> Ran {
        self.play.run_with(&format!("{arguments} --server {}", line.url), input)
    }

    /// A request as other clients make it, and the whole answer.
    fn raw(&self, method: &str, path: &str, (content, body): (&str, &str)) -> String {
        let mut socket = TcpStream::connect(&self.server.address).unwrap();
        let length = body.len();
        let head = format!("{method} {path} HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: close\r\n");
        let about = format!("content-type: {content}\r\ncontent-length: {length}\r\n\r\n");
        socket.write_all(format!("{head}{about}{body}").as_bytes()).unwrap();
        std::io::read_to_string(socket).unwrap()
    }

    /// All leases and records of modules, as `namespace/name`.
    fn leases_and_records(&self) -> Vec<String> {
        let mut found = Vec::new();
        for kind in ["leases", "cm"] {
            let listed = self.admin(&format!("get {kind} -A --no-headers"), "");
            let words = |line: &str| line.split_whitespace().take(2).collect::<Vec<_>>().join("/");
            found.extend(listed.lines().map(words).filter(|name| name.contains("/sexton-")));
        }
        found
    }
}

fn maps(names: &[&str]) -> String {
    let map = |name: &&str| format!("---\napiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {name}}}\n");
    names.iter().map(map).collect()
}

/// A user with a Role in one namespace: the record, its lease and the lease of the collector are there, and nowhere else.
#[test]
fn rights_in_one_namespace_are_enough_for_a_module_there() {
    let cluster = Cluster::new();
    cluster.admin("put -f -", "apiVersion: v1\nkind: Namespace\nmetadata: {name: team}\n");
    let line = Authorizer::of_namespace(&cluster.server.address, "team");
    let user = |arguments: &str, input: &str| cluster.user(&line, &format!("{arguments} -n team"), input);
    let apply = "apply -f - --manager shop --gc-scope manager=shop,namespace=team --yes";

    let first = user(apply, &maps(&["a", "b"]));
    assert_eq!(first.code, 0, "{first:?}");
    assert_eq!(cluster.leases_and_records(), ["team/sexton-module-shop", "team/sexton-module-shop"]);
    let swept = user(apply, &maps(&["a"]));
    assert_eq!(swept.code, 0, "{swept:?}");
    let left = cluster.admin("get cm -n team -o name", "");
    assert!(left.contains("configmap/a\n") && !left.contains("configmap/b\n"), "{left}");
    assert!(cluster.leases_and_records().contains(&"team/sexton-collector".to_owned()));

    assert!(user("modules", "").out.contains("shop"));
    let why = user("why cm/a", "");
    assert!(why.code == 0 && why.out.contains("belongs to the module shop"), "{why:?}");
    let plan = user("plan delete cm/a", "");
    assert!(plan.code == 0 && plan.out.contains("Plan: 1 to destroy"), "{plan:?}");
    assert_eq!(user("orphans", "").code, 0);
    assert_eq!(user("resume", "").code, 0);

    let destroyed = user("destroy shop --yes", "");
    assert!(!cluster.admin("get cm -n team -o name", "").contains("configmap/a\n"), "{destroyed:?}");
    let elsewhere: Vec<String> =
        cluster.leases_and_records().into_iter().filter(|name| !name.starts_with("team/")).collect();
    assert_eq!(elsewhere, Vec::<String>::new());
}

/// A module that is not limited to a namespace, of a user who is: what can be seen is destroyed, what cannot is one line,
/// and the record stays with what to do about that.
#[test]
fn a_module_without_a_scope_is_destroyed_as_far_as_it_is_seen() {
    let cluster = Cluster::new();
    cluster.admin("put -f -", "apiVersion: v1\nkind: Namespace\nmetadata: {name: team}\n");
    let line = Authorizer::of_namespace(&cluster.server.address, "team");
    let user = |arguments: &str, input: &str| cluster.user(&line, &format!("{arguments} -n team"), input);
    let applied = user("apply -f - --manager shop --yes", &maps(&["a", "b"]));
    assert_eq!(applied.code, 0, "{applied:?}");
    let forbidden = |text: &str| text.lines().filter(|line| line.contains("may not be listed")).count();
    assert!(forbidden(&applied.err) == 1 && applied.err.lines().count() < 12, "{applied:?}");
    let destroyed = user("destroy shop --yes", "");
    destroyed.fails(4, &["- ConfigMap/b", "- ConfigMap/a", "2 gone", "gcScope namespace=NAME"]);
    assert!(
        destroyed.out.contains("the record of shop stays") && destroyed.err.lines().count() < 12,
        "{destroyed:?}"
    );
    let left = cluster.admin("get cm -n team -o name", "");
    assert!(!left.contains("configmap/a\n") && !left.contains("configmap/b\n"), "{left}");
    let scoped = "apply -f - --manager shop --gc-scope manager=shop,namespace=team --allow-empty --yes";
    assert_eq!(user(scoped, "").code, 0);
    assert_eq!(user("destroy shop --yes", "").code, 0);
    assert!(!user("modules", "").out.contains("shop"));
}

/// A class may run code at the end of objects. A user without the right to read classes deletes nothing, by any command.
#[test]
fn nothing_is_deleted_where_classes_may_not_be_read() {
    let cluster = Cluster::new();
    cluster.admin("install-crds", "");
    cluster.admin("put -f -", &format!("{}---\n{ORPHAN}", maps(&["a"])));
    cluster.admin("apply -f - --manager shop --yes", &maps(&["m"]));
    let line = Authorizer::new(&cluster.server.address, |_, path| !path.ends_with("/classes"));
    // What a command that was killed left: terminating, and with a mark of ours.
    let metadata = "{name: left, finalizers: [example.com/hold], annotations: {sexton.dev/approved: x}}";
    cluster.admin("put -f -", &format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {metadata}\n"));
    let background = ("application/json", r#"{"propagationPolicy": "Background"}"#);
    let deleted = cluster.raw("DELETE", "/api/v1/namespaces/default/configmaps/left", background);
    assert!(deleted.contains("deletionTimestamp"), "{deleted}");

    for command in
        ["delete cm a --yes", "destroy shop --yes", "orphans --collect --min-age 0s --yes", "resume"]
    {
        let ran = cluster.user(&line, command, "");
        assert_eq!(ran.code, 3, "{command}: {ran:?}");
        assert!(
            ran.err.contains("they may not be read") && ran.err.contains("read-classes"),
            "{command}: {ran:?}"
        );
    }
    let left = cluster.admin("get cm -o name", "");
    for name in ["a", "m", "orphan", "left"] {
        assert!(left.contains(&format!("configmap/{name}\n")), "{name} is gone: {left}");
    }
}

/// A standing collector without rights says which ones are missing, and does not begin.
#[test]
fn a_collector_without_rights_names_them_and_ends() {
    let cluster = Cluster::new();
    let line = Authorizer::of_namespace(&cluster.server.address, "team");
    let ran = cluster.user(&line, "collect", "");
    ran.fails(
        1,
        &["rights are missing", "get leases.coordination.k8s.io in the namespace kube-system", "list, watch"],
    );
}

/// What the server refuses to delete is alive: it is not called marked, nor anything that would have gone with it.
#[test]
fn a_forbidden_deletion_is_refused_and_nothing_is_said_to_be_marked() {
    let cluster = Cluster::new();
    cluster.admin("put -f -", &maps(&["a", "b"]));
    let line = Authorizer::new(&cluster.server.address, |method, path| {
        method != "DELETE" || !path.ends_with("/configmaps/a")
    });
    let refused = cluster.user(&line, "delete cm a --yes", "");
    refused.fails(1, &["ConfigMap/a", "is forbidden"]);
    let some = cluster.user(&line, "delete cm a b --yes", "");
    some.fails(4, &["ConfigMap/a", "is forbidden"]);
    for ran in [refused, some] {
        assert!(!ran.out.contains("marked") && !ran.err.contains("marked"), "{ran:?}");
    }
    assert!(!cluster.admin("get cm a -o yaml", "").contains("deletionTimestamp"));
    assert!(!cluster.admin("get cm -o name", "").contains("configmap/b\n"));
}

/// A class or a rule that makes no sense is refused by commands and by the definitions; one that is stored all the same is
/// named by everything that meets it.
#[test]
fn nonsense_of_our_kinds_is_refused_and_what_is_stored_is_named() {
    let cluster = Cluster::new();
    let class = |destroy: &str| {
        format!(
            "apiVersion: sexton.dev/v1\nkind: Class\nmetadata: {{name: maps}}\nspec: {{for: {{kind: ConfigMap}}, destroy: {destroy}}}\n"
        )
    };
    let rule = "apiVersion: sexton.dev/v1\nkind: Rule\nmetadata: {name: all}\nspec: {detector: orphaned, kinds: [], intervall: 1m}\n";
    cluster.admin("install-crds", "");
    let at = format!("--server {}", cluster.server.url);
    let wrong = class("{exec: {argv: [\"true\"]}, timeout: 20s}");
    let put = cluster.play.run_with(&format!("put -f - {at}"), &wrong);
    put.fails(1, &["Class/maps makes no sense", "spec.destroy.timeout", "nothing was put"]);
    cluster
        .play
        .run_with(&format!("put -f - {at}"), rule)
        .fails(1, &["Rule/all", "spec.kinds", "spec.intervall"]);
    let apply = cluster.play.run_with(&format!("apply -f - --manager x --yes {at}"), &wrong);
    apply.fails(1, &["spec.destroy.timeout"]);
    assert_eq!(cluster.admin("get classes,rules -o name", ""), "");

    // Other clients: the definition refuses what it can, the rest is stored.
    let create =
        |document: &str| cluster.raw("POST", "/apis/sexton.dev/v1/classes", ("application/yaml", document));
    let both = create(&class("{exec: {argv: [\"true\"]}, http: {url: \"http://127.0.0.1:1\"}}"));
    assert!(both.starts_with("HTTP/1.1 422") && both.contains("one of exec, http and lua"), "{both}");
    let stored = create(&wrong);
    assert!(stored.starts_with("HTTP/1.1 201"), "{stored}");

    cluster.admin("put -f -", &maps(&["a"]));
    let told = "the class maps cannot be understood, so objects of the kind ConfigMap are not destroyed until it is mended or deleted: spec.destroy.timeout";
    for (command, code) in [("why cm/a", 0), ("plan delete cm/a", 0), ("delete cm a --yes", 3)] {
        let ran = cluster.play.run(&format!("{command} {at}"));
        assert!(ran.code == code && ran.err.contains(told), "{command}: {ran:?}");
    }
    let kept = cluster.admin("get cm -o yaml", "");
    assert!(kept.contains("name: a") && !kept.contains("deletionTimestamp"), "{kept}");
}
