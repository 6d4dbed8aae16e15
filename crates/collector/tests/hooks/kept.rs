//! Programs under keepers: of one key there is never more than one call, whatever is killed in between.

use std::io::Write;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use sexton_collector::hooks::{HookError, Hooks, Keeper};
use sexton_model::hook::{Call, Verdict};
use tempfile::TempDir;

use crate::fifo::Fifo;
use crate::{LONG, call, done, exec, sh, within};

/// The keeper, and a collector that can be killed.
const PROCESS: &str = env!("CARGO_BIN_EXE_sexton-collector-test-process");

fn hooks(dir: &Path) -> Hooks {
    let program = vec![PROCESS.to_owned(), "keep".to_owned()];
    Hooks::new().kept_by(Keeper::new(program, dir).unwrap())
}

/// A collector in a process of its own that makes the call of [`call`].
struct Other {
    process: Child,
    records: TempDir,
}

impl Other {
    fn calls(script: &str) -> Other {
        let records = tempfile::tempdir().unwrap();
        let command = &mut Command::new(PROCESS);
        let command = command.arg("call").arg(records.path()).arg(script).stdin(Stdio::piped());
        let mut process = command.spawn().unwrap();
        let told = serde_json::to_vec(&call()).unwrap();
        process.stdin.take().unwrap().write_all(&told).unwrap();
        Other { process, records }
    }

    fn kill(&mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }

    /// Kills the keeper of the call, too.
    fn kill_keeper(&self) {
        let record = std::fs::read(self.records.path().join(&call().idempotency_key)).unwrap();
        let record: serde_json::Value = serde_json::from_slice(&record).unwrap();
        let pid = record["keeper"]["pid"].as_i64().unwrap().to_string();
        assert!(Command::new("kill").args(["-9", &pid]).status().unwrap().success());
    }

    /// Makes the same call with a program that says whether the process of this number lives.
    async fn repeat(&self, pid: &Path) -> Verdict {
        // A process that was ended and that no parent has buried yet is no process any more.
        let look = r#"state=$(cut -d ')' -f 2 "/proc/$(cat "$0")/stat" 2>/dev/null | cut -c 2)
            case "$state" in '' | Z | X) ;; *) echo '{"verdict":"failed","reason":"it lives"}' ;; esac"#;
        let method = exec(&["sh", "-c", look, pid.to_str().unwrap()]);
        hooks(self.records.path()).call(&method, &call()).await.unwrap()
    }
}

/// The beginning of a script that says its number in a file.
fn numbered(dir: &TempDir) -> (std::path::PathBuf, String) {
    let pid = dir.path().join("pid");
    let script = format!("echo $$ > {}; ", pid.display());
    (pid, script)
}

/// Kills a collector during a call, then calls again: the first hook is dead before the second one begins.
async fn survivor_is_ended(wrap: impl Fn(&str) -> String, with_keeper: bool) {
    let (mut fifo, dir) = (Fifo::new(), tempfile::tempdir().unwrap());
    let (pid, script) = numbered(&dir);
    let mut other = Other::calls(&wrap(&format!("{script}{}sleep 300", fifo.held())));
    fifo.wait_until_held().await;
    if with_keeper {
        other.kill_keeper();
    }
    other.kill();
    assert_eq!(other.repeat(&pid).await, done());
    fifo.wait_until_free().await;
}

#[tokio::test]
async fn the_survivor_of_a_killed_collector_is_ended_before_a_repeat() {
    survivor_is_ended(str::to_owned, false).await;
}

#[tokio::test]
async fn a_survivor_that_refuses_to_end_is_ended() {
    survivor_is_ended(|script| format!("trap '' TERM HUP INT; {script} & wait; sleep 300"), false).await;
}

/// A script that is run by a process in a session of its own, without the environment, after its parent has ended.
fn left_the_group(script: &str) -> String {
    assert!(!script.contains('\''), "it stands in quotes");
    format!("(env -i setsid sh -c '{script}' &) ; sleep 300")
}

#[tokio::test]
async fn a_survivor_that_left_its_group_is_ended() {
    survivor_is_ended(left_the_group, false).await;
}

/// Nothing but the record and what is inherited tells of it.
#[tokio::test]
async fn a_survivor_is_found_without_its_keeper() {
    survivor_is_ended(str::to_owned, true).await;
}

#[tokio::test]
async fn a_survivor_that_left_its_group_is_found_without_its_keeper() {
    survivor_is_ended(left_the_group, true).await;
}

#[tokio::test]
async fn what_left_the_group_ends_with_the_call() {
    let (mut fifo, dir) = (Fifo::new(), tempfile::tempdir().unwrap());
    let left = left_the_group(&format!("{}sleep 300", fifo.held()));
    let begin = left.strip_suffix("sleep 300").unwrap();
    let mark = dir.path().join("mark");
    // It ends only when the other one has begun.
    let script = format!(
        "{begin} while [ ! -e {} ]; do sleep 0.05; done; echo '{{\"verdict\":\"gone\"}}'",
        mark.display()
    );
    let records = dir.path().join("records");
    let calling = tokio::spawn(async move { hooks(&records).call(&sh(&script), &call()).await });
    fifo.wait_until_held().await;
    std::fs::write(mark, "").unwrap();
    assert_eq!(calling.await.unwrap().unwrap(), Verdict::Gone);
    fifo.wait_until_free().await;
}

#[tokio::test]
async fn what_left_the_group_ends_at_the_deadline() {
    for seconds in [1, 5, 25] {
        let (mut fifo, records) = (Fifo::new(), tempfile::tempdir().unwrap());
        let method =
            within(sh(&left_the_group(&format!("{}sleep 300", fifo.held()))), Duration::from_secs(seconds));
        let error = hooks(records.path()).call(&method, &call()).await.unwrap_err();
        assert!(matches!(error, HookError::Deadline { .. }), "{error}");
        let begun = fifo.was_held();
        fifo.wait_until_free().await;
        if begun {
            return;
        }
    }
    panic!("it never began");
}

/// A keeper changes nothing of what a method gets and of how it is understood.
#[tokio::test]
async fn a_kept_program_is_like_any_other() {
    let records = tempfile::tempdir().unwrap();
    let hooks = hooks(records.path());
    let ask = |script: &str| {
        let method = sh(script);
        let hooks = hooks.clone();
        async move { hooks.call(&method, &call()).await }
    };
    assert_eq!(ask("grep -q idempotencyKey && exit 0; exit 1").await.unwrap(), done());
    assert_eq!(
        ask("env | cut -d = -f 1 | sort | tr '\\n' ' ' >&2; exit 3").await.unwrap(),
        Verdict::failed("exit code 3: LANG PATH PWD SEXTON_HOOK_RECORD SEXTON_IDEMPOTENCY_KEY")
    );
    assert_eq!(ask("kill -9 $$").await.unwrap(), Verdict::failed("ended by signal 9"));
    let error = hooks.call(&exec(&["there-is-no-such-program"]), &call()).await.unwrap_err();
    assert!(
        matches!(&error, HookError::NotStarted { source, .. } if source.kind() == std::io::ErrorKind::NotFound)
    );
    assert_eq!(std::fs::read_dir(records.path()).unwrap().count(), 0, "no record is left");
}

/// A call that is dropped ends as one of a killed collector does, and at once.
#[tokio::test]
async fn a_dropped_call_ends_with_all_that_left_its_group() {
    let (mut fifo, records) = (Fifo::new(), tempfile::tempdir().unwrap());
    let hooks = hooks(records.path());
    let method = sh(&left_the_group(&format!("{}sleep 300", fifo.held())));
    let busy = hooks.clone();
    let task = tokio::spawn(async move { busy.call(&method, &call()).await });
    fifo.wait_until_held().await;
    task.abort();
    assert!(task.await.unwrap_err().is_cancelled());
    assert_eq!(hooks.call(&sh("exit 0"), &call()).await.unwrap(), done(), "and the next one can begin");
    fifo.wait_until_free().await;
}

/// A record of another machine says nothing of processes here: its deadline is waited for, and no slot is held
/// meanwhile.
#[tokio::test]
async fn a_call_of_another_machine_is_waited_for() {
    let records = tempfile::tempdir().unwrap();
    let write = |until: i64| {
        let record = serde_json::json!({
            "key": call().idempotency_key, "place": {"boot": "another", "numbering": "pid:[1]"},
            "keeper": {"pid": 1, "start": 1}, "until": until,
        });
        std::fs::write(records.path().join(&call().idempotency_key), record.to_string()).unwrap();
    };
    write(crate::nature::now() + 3600);
    let hooks = hooks(records.path());
    let verdict = hooks.call(&within(sh("exit 0"), LONG), &call()).await.unwrap();
    let Verdict::InProgress { after: Some(after) } = verdict else { panic!("{verdict:?}") };
    assert!((3000..=3700).contains(&after.as_secs()), "{after:?}");
    write(crate::nature::now() - 3600);
    assert_eq!(hooks.call(&sh("exit 0"), &call()).await.unwrap(), done());
}

/// Names of files are made of keys only where keys are names.
#[tokio::test]
async fn a_strange_key_names_no_file() {
    let records = tempfile::tempdir().unwrap();
    let strange = Call { idempotency_key: "../x".into(), ..call() };
    let method = sh("exit 0");
    assert_eq!(hooks(records.path()).call(&method, &strange).await.unwrap(), done());
    assert!(!records.path().parent().unwrap().join("x").exists());
}
