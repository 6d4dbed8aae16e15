//! What is wrong is said with its place and with what to type next, and nothing is done.

mod common;

use common::{Play, SHOP};

#[test]
fn broken_documents_are_shown_with_their_line() {
    let play = Play::new();
    play.file("bad.yaml", &format!("{SHOP}---\napiVersion: v1\nkind: ConfigMap\n  data: [\n"));
    let expected = "error: bad.yaml:14:7 (document 3): not YAML: mapping values are not allowed in this context\n  \
         14 |   data: [\n     |       ^\n  nothing was put\n";
    let ran = play.run("put -f bad.yaml");
    assert_eq!((ran.code, ran.err.as_str(), ran.out.as_str()), (1, expected, ""));
    assert!(!play.data().exists());
    play.file("bad.json", "{\n  \"kind\": }\n");
    play.run("put -f bad.json")
        .fails(1, &["bad.json:2:11 (document 1): not JSON: expected value", "2 |   \"kind\": }"]);
    play.run("put -f bad.yaml -f bad.json")
        .fails(1, &["2 files cannot be read", "bad.yaml:14:7", "bad.json:2:11"]);
    play.run("put -f nowhere.yaml").fails(1, &["cannot read nowhere.yaml"]);
    play.run_with("put -f -", "# nothing\n").fails(1, &["there are no documents in -"]);
}

#[test]
fn documents_must_say_what_they_are() {
    let play = Play::new();
    let put = |text: &str| play.run_with("put -f -", text);
    put("kind: ConfigMap\n").fails(1, &["stdin:1 (document 1): apiVersion is missing"]);
    put("- a\n- b\n").fails(1, &["stdin:1 (document 1): a document must be a mapping"]);
    put("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: 7}\n")
        .fails(1, &["metadata.name must be a string, and is 7"]);
    put(&format!("{SHOP}---\n{SHOP}"))
        .fails(1, &["ConfigMap/a stands here a second time", "the first time is stdin:1"]);
    let unknown = put("---\napiVersion: v1\nkind: Confgimap\nmetadata: {name: a}\n");
    unknown.fails(
        1,
        &[
            "stdin:1 (document 1): there is no kind Confgimap of apiVersion v1",
            "did you mean ConfigMap?",
            "sexton kinds",
            "nothing was put",
        ],
    );
    put(&SHOP.replace("apps/v1", "extensions/v1beta1"))
        .fails(1, &["stdin:6 (document 2)", "there is one of apiVersion apps/v1"]);
    assert!(!play.run("get cm,deploy -o name").out.contains("configmap/a"));
}

#[test]
fn some_of_several_is_partial() {
    let play = Play::new();
    let ran = play.run_with("put -f -", &SHOP.replace("name: a,", "name: A_B,"));
    ran.fails(4, &["stdin:1 (document 1): ConfigMap/A_B: ", "metadata.name", "1 of 2 were not put"]);
    assert_eq!(ran.out, "+ Deployment/web created\n");
    let ran = play.run("get deploy web nope");
    ran.fails(4, &["deployments.apps \"nope\" not found"]);
    assert_eq!(ran.out.lines().count(), 2);
}

#[test]
fn words_that_mean_nothing() {
    let play = Play::new();
    play.run("get confgmaps")
        .fails(1, &["there is no kind \"confgmaps\"", "did you mean configmaps?", "sexton kinds"]);
    play.run("get cm x/y").fails(1, &["names have no slash"]);
    play.run("get cm/a -A").fails(1, &["-n NAMESPACE"]);
    play.run("get cm a -l x=y").fails(1, &["exclude each other"]);
    play.run("get cm -l =").fails(1, &["selector"]);
    play.run("delete cm").fails(1, &["which of them?", "-l app=web"]);
    play.run("delete").fails(1, &["required"]);
    play.run("get cm --server http://127.0.0.1:1 --context x").fails(1, &["cannot be used with"]);
    play.run("get cm --server 127.0.0.1:1").fails(1, &["http://"]);
    play.run("get cm --context x").fails(1, &["there is no context \"x\""]);
    play.run("frobnicate").fails(1, &["unrecognized subcommand"]);
    play.run("put -f - -n b").fails(1, &["no documents"]);
    let given = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: c}\n";
    play.run_with("put -f - -n b", given).fails(1, &["metadata.namespace is \"c\", but -n says \"b\""]);
}

#[test]
fn help_and_version_are_data() {
    let play = Play::new();
    for (arguments, word) in [
        ("--help", "Usage: sexton"),
        ("get -h", "KIND/NAME"),
        ("--version", "sexton 0."),
        ("version", "sexton 0."),
    ] {
        let ran = play.run(arguments);
        assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{arguments}");
        assert!(ran.out.contains(word), "{}", ran.out);
    }
    assert!(play.run("version --json").out.contains("{\"kind\":\"Version\",\"sexton\":"));
}

#[test]
fn a_closed_pipe_ends_quietly() {
    let play = Play::new();
    let many: String = (0..400)
        .map(|n| format!("---\napiVersion: v1\nkind: ConfigMap\nmetadata: {{name: c{n}}}\n"))
        .collect();
    assert_eq!(play.run_with("put -f -", &many).code, 0);
    let piped = play
        .command("get cm -o yaml")
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn();
    let mut child = piped.unwrap();
    drop(child.stdout.take());
    let ran = common::ended(child);
    assert_eq!((ran.code, ran.err.as_str()), (0, ""));
}

#[test]
fn no_colours_unless_on_a_terminal() {
    let play = Play::new();
    let ran = play.run_with("put -f - -vv", SHOP);
    assert!(!ran.out.contains('\u{1b}') && !ran.err.contains('\u{1b}'), "{ran:?}");
    assert!(ran.err.contains("store opened") && ran.err.contains("/api/v1"), "{}", ran.err);
}

/// What was asked for is done although nobody reads about it: half of it would be worse than either.
#[test]
fn a_closed_pipe_leaves_nothing_half_done() {
    let play = Play::new();
    let many: String = (0..50)
        .map(|n| {
            format!("---\napiVersion: v1\nkind: ConfigMap\nmetadata: {{name: c{n}, labels: {{a: b}}}}\n")
        })
        .collect();
    play.file("many.yaml", &many);
    for (command, left) in [("put -f many.yaml", 50), ("delete cm -l a=b --yes", 0)] {
        let piped = std::process::Stdio::piped;
        let mut child = play.command(command).stdout(piped()).stderr(piped()).spawn().unwrap();
        drop(child.stdout.take());
        assert_eq!(common::ended(child).code, 0, "{command}");
        let listed = play.run("get cm -l a=b -o name");
        assert_eq!(listed.out.lines().count(), left, "{command}");
    }
}

/// A document that names another namespace than was typed is refused, by put and by delete alike.
#[test]
fn a_namespace_that_contradicts_is_refused() {
    let play = Play::new();
    play.file("a.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: default}\n");
    assert_eq!(play.run("put -f a.yaml").code, 0);
    for verb in ["put", "delete"] {
        let refused = play.run(&format!("{verb} -f a.yaml -n kube-public"));
        refused.fails(1, &["metadata.namespace is \"default\", but -n says \"kube-public\""]);
    }
    play.run("get cm -o name").says("configmap/a\n");
}

/// What cannot be a data directory is refused by each command before anything is made, with what to type next; and so is
/// a store that is none.
#[test]
fn a_data_directory_that_is_none() {
    let play = Play::new();
    play.file("afile", "");
    play.file("copy", "");
    play.file("a.yaml", SHOP);
    let commands = ["get cm", "put -f a.yaml", "serve --listen 127.0.0.1:0", "backup x", "restore copy"];
    for command in commands {
        let ran = play.run(&format!("{command} --data afile"));
        ran.fails(1, &["afile is a file, not a data directory", "the same command with --data DIR"]);
    }
    play.file("bad/store.db", &"no store ".repeat(1000));
    let private = std::os::unix::fs::PermissionsExt::from_mode(0o700);
    std::fs::set_permissions(play.path().join("bad"), private).unwrap();
    play.run("get cm --data bad").fails(1, &["is not a store", "sexton restore FILE --data DIR"]);
}
