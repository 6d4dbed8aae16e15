//! The same commands against a server, over a socket.
#![allow(clippy::unwrap_used, reason = "a test may end so")]

mod common;

use std::io::{BufRead, BufReader};
use std::process::Stdio;
use std::sync::Arc;
use std::sync::mpsc;
use std::time::Duration;

use common::{Play, SHOP};
use sexton_client::connect::{Credentials, to_url};
use sexton_client::resources::PutAsk;
use sexton_client::{Kinds, Place, Resources};
use sexton_collector::hooks::Hooks;
use sexton_collector::{Collector, Means, Settings, Stop, SystemClock};
use sexton_server::api::{Api, OwnerChecks, RealNature};
use sexton_server::http::{App, Authentication, Metrics, RequestLimits, Tokens, router};
use sexton_store::{Retention, Store, memory};

/// A server on loopback; it ends with the runtime.
fn serve(runtime: &tokio::runtime::Runtime, authentication: Authentication) -> String {
    runtime.block_on(async {
        let store =
            Store::new(Arc::new(memory::open_indexed(Retention::default(), sexton_model::stored::terms)));
        let api = Api::open(store, Arc::new(RealNature), OwnerChecks::Warn).await.unwrap();
        let app = App::new(api, authentication, RequestLimits::default(), Metrics::default());
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        tokio::spawn(async move { axum::serve(listener, router(app)).await });
        url
    })
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap()
}

#[test]
fn commands_name_the_server() {
    let (play, runtime) = (Play::new(), runtime());
    let url = serve(&runtime, Authentication::LoopbackOpen);
    let put = play.run_with(&format!("put -f - --server {url}"), SHOP);
    put.says("+ ConfigMap/a created\n+ Deployment/web created\n");
    assert_eq!(put.err, format!("put on {url}\n"));
    play.run(&format!("get cm -o name --server {url}")).says("configmap/a\n");
    // Nobody collects on this server; what goes at once needs nobody.
    play.run(&format!("delete cm a --yes --policy background --server {url}"))
        .says("- ConfigMap/a destroyed\n");
    assert!(!play.data().exists());
}

#[test]
fn a_watch_sees_changes_as_they_come() {
    let (play, runtime) = (Play::new(), runtime());
    let url = serve(&runtime, Authentication::LoopbackOpen);
    let mut child = play.command(&format!("watch cm --server {url}")).stdout(Stdio::piped()).spawn().unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || lines.map_while(Result::ok).try_for_each(|line| sender.send(line)));
    let next = || receiver.recv_timeout(Duration::from_secs(120)).unwrap();
    assert_eq!(next(), "  NAME   DATA   AGE");
    let server = format!("--server {url}");
    assert_eq!(play.run_with(&format!("put -f - {server}"), SHOP).code, 0);
    assert!(next().starts_with("+ a"));
    assert_eq!(play.run_with(&format!("put -f - {server}"), &SHOP.replace("n: \"1\"", "n: \"2\"")).code, 0);
    assert!(next().starts_with("~ a"));
    assert_eq!(play.run(&format!("delete cm a --yes --policy background {server}")).code, 0);
    assert!(next().starts_with("- a"));
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn fields_of_others_are_taken_only_by_force() {
    let (play, runtime) = (Play::new(), runtime());
    let url = serve(&runtime, Authentication::LoopbackOpen);
    runtime.block_on(async {
        let client = to_url(&url, &Credentials::default()).await.unwrap().client;
        let kinds = Kinds::discover(&client).await.unwrap();
        let place = Place::new(kinds.resolve("cm").unwrap(), Some("default"));
        let document = serde_json::json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "data": {"n": "9"}});
        let ask = PutAsk { manager: "other".into(), ..PutAsk::default() };
        Resources::new(client).put(&place, "a", &document, &ask).await.unwrap();
    });
    let refused = play.run_with(&format!("put -f - --server {url}"), SHOP);
    refused.fails(4, &["ConfigMap/a: Apply failed with 1 conflict", "\"other\"", ".data.n", "--take-over"]);
    let forced = play.run_with(&format!("put -f - --force-conflicts --server {url}"), SHOP);
    forced.says("~ ConfigMap/a changed\n= Deployment/web unchanged\n");
}

#[test]
fn tokens_and_contexts() {
    let (play, runtime) = (Play::new(), runtime());
    let tokens = Tokens::parse("0123456789abcdef,ada\n").unwrap();
    let url = serve(&runtime, Authentication::Required(tokens));
    let refused = play.run(&format!("get ns --server {url}"));
    refused.fails(1, &[&url, "does not know who you are", "--token-file"]);
    play.file("token", "0123456789abcdef\n");
    play.run(&format!("get ns default -o name --token-file token --server {url}"))
        .says("namespace/default\n");
    play.run(&format!("kubeconfig --token-file token -o k --server {url}")).says("");
    let with_context = |arguments: &str| {
        let mut command = play.command(arguments);
        let command =
            command.env("KUBECONFIG", play.path().join("k")).stdout(Stdio::piped()).stderr(Stdio::piped());
        common::ended(command.spawn().unwrap())
    };
    with_context("get ns default -o name --context sexton").says("namespace/default\n");
    with_context("get ns default --context other").fails(1, &["there are: sexton"]);
    // The current context of the file is `sexton`, and it is not used unless it is named.
    let own = with_context("get cm");
    assert_eq!(own.err, "nothing found on .sexton (embedded, empty), namespace default\n");
}

#[test]
fn a_server_that_is_not_there_is_named() {
    let play = Play::new();
    play.run("get cm --server http://127.0.0.1:1")
        .fails(1, &["http://127.0.0.1:1: the server cannot be reached", "refused"]);
}

/// A collector for that server.
fn collect(runtime: &tokio::runtime::Runtime, url: &str) {
    let client = runtime.block_on(to_url(url, &Credentials::default())).unwrap().client;
    let resources = Resources::new(client);
    let means = Means {
        gateway: Arc::new(resources.clone()),
        resources,
        runner: Arc::new(Hooks::new()),
        clock: Arc::new(SystemClock),
    };
    runtime.spawn(async move {
        let (_stop, stopped) = tokio::sync::watch::channel(Stop::No);
        Collector::new(means, Settings::new("tests")).run(stopped).await;
    });
}

/// Somebody comes under a deletion while it is carried out: it is not destroyed, and the command says so and ends.
#[test]
fn more_than_was_approved_while_it_runs() {
    let (play, runtime) = (Play::new(), runtime());
    let url = serve(&runtime, Authentication::LoopbackOpen);
    let server = format!("--server {url}");
    let put = |text: &str| assert_eq!(play.run_with(&format!("put -f - {server}"), text).code, 0);
    put("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: root}\n");
    let root: serde_json::Value =
        serde_json::from_str(&play.run(&format!("get cm/root -o json {server}")).out).unwrap();
    let owned = |kind: &str, name: &str| {
        let uid = root["metadata"]["uid"].as_str().unwrap();
        format!(
            "apiVersion: v1\nkind: {kind}\nmetadata:\n  name: {name}\n  ownerReferences:\n  \
             - {{apiVersion: v1, kind: ConfigMap, name: root, uid: {uid}}}\n"
        )
    };
    play.file("late.yaml", &owned("ConfigMap", "late"));
    let (program, dir) = (env!("CARGO_BIN_EXE_sexton"), play.path().display().to_string());
    play.program("bear", &format!("#!/bin/sh\nexec {program} put -f {dir}/late.yaml {server} >&2\n"));
    put(&format!(
        "apiVersion: sexton.dev/v1\nkind: Class\nmetadata: {{name: s}}\nspec:\n  for: {{kind: Secret}}\n  \
         destroy: {{exec: {{argv: [{dir}/bear]}}}}\n"
    ));
    put(&owned("Secret", "s"));
    collect(&runtime, &url);
    let held = play.run(&format!("delete cm/root --yes {server}"));
    held.fails(4, &["ConfigMap/late was not in the plan", "sexton delete ConfigMap/late", "1 still there"]);
    assert_eq!(held.out, "! ConfigMap/root is marked, and still there\n");
    play.run(&format!("get cm,secret -o name {server}")).says("configmap/late\nconfigmap/root\n");
}
