//! What programs get as input, and what becomes of their output.

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt;

use serde_json::{Value, json};
use sexton_collector::hooks::{HookError, Hooks};
use sexton_model::class::Run;
use sexton_model::hook::{BadVerdict, Verdict};

use crate::{answer, big_call, call, done, exec, sh};

#[tokio::test]
async fn silence_is_done() {
    assert_eq!(answer(&sh("exit 0")).await.unwrap(), done());
    assert_eq!(answer(&exec(&["true"])).await.unwrap(), done());
}

#[tokio::test]
async fn the_call_is_on_standard_input() {
    let dir = tempfile::tempdir().unwrap();
    let method = sh(&format!("cat > {}/document", dir.path().display()));
    assert_eq!(Hooks::new().call(&method, &call()).await.unwrap(), done());
    let document: Value =
        serde_json::from_slice(&std::fs::read(dir.path().join("document")).unwrap()).unwrap();
    assert_eq!((&document["kind"], &document["phase"]), (&json!("HookCall"), &json!("destroying")));
    assert_eq!(document["object"]["metadata"]["name"], "web-1");
}

/// A program that outlives its killed collector has the whole call: no process has to send the rest.
#[tokio::test]
async fn the_call_is_complete_before_the_program_begins() {
    assert_eq!(answer(&sh("test ! -p /dev/stdin")).await.unwrap(), done());
}

#[tokio::test]
async fn a_verdict_is_read_even_with_words_around_it() {
    let script =
        r#"echo deleting; echo '{"verdict":"blocked","by":"disk","reason":"busy"}'; echo bye; echo; echo"#;
    let blocked = Verdict::Blocked { by: Some("disk".into()), reason: "busy".into() };
    assert_eq!(answer(&sh(script)).await.unwrap(), blocked);
    let script = r#"echo '{"verdict":"done","output":"freed"}' ; echo "on the other stream" >&2"#;
    assert_eq!(answer(&sh(script)).await.unwrap(), Verdict::Done { output: Some("freed".into()) });
}

#[tokio::test]
async fn words_that_are_no_verdict_are_a_failure() {
    for script in ["echo deleted", "printf '\\377\\376\\000'", r#"echo '{"verdict":"maybe"}'"#] {
        let error = answer(&sh(script)).await.unwrap_err();
        assert!(matches!(error, HookError::NoVerdict(_)), "{script}: {error}");
        assert!(!error.is_before_anything());
    }
}

#[tokio::test]
async fn a_bad_end_is_a_failure_whatever_was_said() {
    for (script, expected) in [
        ("echo no space >&2; exit 1", "exit code 1: no space"),
        ("exit 3", "exit code 3"),
        (r#"echo '{"verdict":"done"}'; exit 2"#, "exit code 2"),
        ("kill -9 $$", "ended by signal 9"),
    ] {
        let reason = expected.to_owned();
        assert_eq!(answer(&sh(script)).await.unwrap(), Verdict::Failed { reason }, "{script}");
    }
}

#[tokio::test]
async fn of_a_long_complaint_the_end_is_kept() {
    for stuff in ["x", "\\377"] {
        let script =
            format!("head -c 10000000 /dev/zero | tr '\\0' '{stuff}' >&2; echo the reason >&2; exit 1");
        let Verdict::Failed { reason } = answer(&sh(&script)).await.unwrap() else { panic!("a failure") };
        assert!(reason.starts_with("exit code 1: ") && reason.ends_with("the reason"), "{reason}");
        assert!((900..1_024).contains(&reason.len()), "{reason}");
    }
}

#[tokio::test]
async fn who_says_too_much_is_ended() {
    for script in ["head -c 10000000 /dev/zero", "yes", "trap '' PIPE TERM; while :; do echo no end; done"] {
        let error = answer(&sh(script)).await.unwrap_err();
        assert!(matches!(error, HookError::TooMuch { limit: 65_536 }), "{script}: {error}");
    }
}

#[tokio::test]
async fn as_much_as_allowed_is_not_too_much() {
    let mut method = sh(r#"head -c 1005 /dev/zero | tr '\0' ' '; echo '{"verdict":"gone"}'"#);
    method.max_output = 1024;
    assert_eq!(answer(&method).await.unwrap(), Verdict::Gone);
    method.max_output = 1023;
    assert!(matches!(answer(&method).await, Err(HookError::TooMuch { limit: 1023 })));
}

/// However reading and writing are interleaved, neither side waits for the other forever.
#[tokio::test]
async fn a_big_call_meets_every_way_of_not_reading_it() {
    let gone = r#"echo '{"verdict":"gone"}'"#;
    for script in [
        gone.to_owned(),
        format!("exec 0<&-; {gone}"),
        format!("head -c 500000 /dev/zero | tr '\\0' ' '; echo; cat >/dev/null; {gone}"),
        format!("head -c 10 >/dev/null; {gone}"),
        format!("cat >/dev/null; {gone}"),
    ] {
        let mut method = sh(&script);
        method.max_output = 1 << 20;
        assert_eq!(Hooks::new().call(&method, &big_call()).await.unwrap(), Verdict::Gone, "{script}");
    }
}

#[tokio::test]
async fn the_environment_is_clean() {
    let mut method = exec(&["env"]);
    let Run::Exec { env, .. } = &mut method.run else { panic!("a program") };
    env.insert("A".into(), "b".into());
    let Err(HookError::NoVerdict(BadVerdict::Missing(words))) = answer(&method).await else {
        panic!("variables are no verdict")
    };
    let mut words: Vec<&str> = words.split(' ').collect();
    words.sort_unstable();
    let expected =
        ["A=b", "LANG=C.UTF-8", "PATH=/usr/local/bin:/usr/bin:/bin", "SEXTON_IDEMPOTENCY_KEY=0123abcd"];
    assert_eq!(words, expected);
}

#[tokio::test]
async fn a_program_is_looked_for_in_its_directory_and_runs_there() {
    let dir = tempfile::tempdir().unwrap();
    // A link, because a file that was just written may still be open for writing in a process that is being born.
    std::os::unix::fs::symlink("/bin/pwd", dir.path().join("here")).unwrap();
    let dir_text = dir.path().canonicalize().unwrap().display().to_string();
    let run = Run::Exec { argv: vec!["./here".into()], dir: Some(dir_text.clone()), env: BTreeMap::new() };
    let mut method = exec(&["true"]);
    method.run = run;
    let Err(HookError::NoVerdict(BadVerdict::Missing(words))) = answer(&method).await else {
        panic!("a path is no verdict")
    };
    assert_eq!(words, dir_text);
}

#[tokio::test]
async fn what_cannot_be_started_says_so() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("file");
    std::fs::write(&file, "not a program").unwrap();
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o644)).unwrap();
    let mut nowhere = exec(&["true"]);
    if let Run::Exec { dir, .. } = &mut nowhere.run {
        *dir = Some("/nonexistent".into());
    }
    for method in
        [exec(&["no-such-program"]), exec(&["/nonexistent/x"]), exec(&[file.to_str().unwrap()]), nowhere]
    {
        let error = answer(&method).await.unwrap_err();
        assert!(matches!(error, HookError::NotStarted { .. }), "{error}");
        assert!(error.is_before_anything());
    }
}
