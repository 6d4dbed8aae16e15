//! Nothing that a method started outlives the call, unless it left its group on purpose.

use std::time::Duration;

use sexton_collector::hooks::{HookError, Hooks};
use sexton_model::hook::{Call, Verdict};

use crate::fifo::Fifo;
use crate::{LONG, answer, call, done, sh, within};

/// With a deadline that leaves it the time to begin, however busy the machine is.
async fn ends_at_the_deadline(rest: &str) {
    for seconds in [1, 5, 25] {
        let mut fifo = Fifo::new();
        let after = Duration::from_secs(seconds);
        let error = answer(&within(sh(&(fifo.held() + rest)), after)).await.unwrap_err();
        assert!(matches!(error, HookError::Deadline { after: waited } if waited == after), "{rest}: {error}");
        let begun = fifo.was_held();
        fifo.wait_until_free().await;
        if begun {
            return;
        }
    }
    panic!("it never began: {rest}");
}

#[tokio::test]
async fn the_whole_group_ends_at_the_deadline() {
    ends_at_the_deadline("sleep 300 & sh -c 'sleep 300 & sleep 300' & sleep 300").await;
}

#[tokio::test]
async fn nobody_can_refuse_to_end() {
    ends_at_the_deadline("trap '' TERM INT HUP; while :; do sleep 1; done").await;
}

#[tokio::test]
async fn closed_streams_are_no_end() {
    ends_at_the_deadline("exec 0<&- 1>&- 2>&-; sleep 300").await;
}

#[tokio::test]
async fn a_verdict_counts_only_with_the_end_of_the_program() {
    ends_at_the_deadline(r#"echo '{"verdict":"done"}'; sleep 300"#).await;
}

#[tokio::test]
async fn a_child_that_holds_the_streams_goes_with_its_parent() {
    let mut fifo = Fifo::new();
    let method = sh(&(fifo.held() + r#"sleep 300 & echo '{"verdict":"gone"}'"#));
    assert_eq!(answer(&method).await.unwrap(), Verdict::Gone);
    fifo.wait_until_held().await;
    fifo.wait_until_free().await;
}

#[tokio::test]
async fn who_left_the_group_with_the_streams_holds_up_nobody() {
    let dir = tempfile::tempdir().unwrap();
    // It says that it has left before its parent ends; then it stays as long as the directory does.
    let script = format!(
        r#"cd {}; mkfifo left; setsid sh -c 'echo left > left; n=0; while [ -e left ] && [ $n -lt 600 ]; do sleep 1; n=$((n+1)); done' & read -r _ < left; echo '{{"verdict":"gone"}}'"#,
        dir.path().display()
    );
    // Waiting for that process would take until the deadline.
    assert_eq!(answer(&sh(&script)).await.unwrap(), Verdict::Gone);
}

#[tokio::test]
async fn dropping_a_call_ends_it() {
    let mut fifo = Fifo::new();
    let method = sh(&(fifo.held() + "sleep 300 & sleep 300"));
    let task = tokio::spawn(async move { answer(&method).await });
    fifo.wait_until_held().await;
    task.abort();
    assert!(task.await.unwrap_err().is_cancelled());
    fifo.wait_until_free().await;
}

#[tokio::test]
async fn a_call_that_is_dropped_at_once_leaves_nothing() {
    for _ in 0..20 {
        let fifo = Fifo::new();
        let method = sh(&(fifo.held() + "sleep 300"));
        let (hooks, call) = (Hooks::new(), call());
        let mut calling = Box::pin(hooks.call(&method, &call));
        assert!(futures::poll!(&mut calling).is_pending());
        drop(calling);
        fifo.wait_until_free().await;
    }
}

#[tokio::test]
async fn calls_wait_for_their_turn_and_not_for_ever() {
    let hooks = Hooks::new().parallel(1);
    let mut fifo = Fifo::new();
    let first = sh(&(fifo.held() + "sleep 300"));
    let busy = hooks.clone();
    let task = tokio::spawn(async move { busy.call(&first, &call()).await });
    fifo.wait_until_held().await;

    let soon = Call { deadline: sexton_model::time::format(crate::nature::now()), ..call() };
    let error = hooks.call(&sh("exit 0"), &soon).await.unwrap_err();
    assert!(matches!(error, HookError::Late), "{error}");
    task.abort();
    assert_eq!(hooks.call(&within(sh("exit 0"), LONG), &call()).await.unwrap(), done());
    fifo.wait_until_free().await;
}

#[tokio::test]
async fn a_call_whose_time_has_passed_is_not_begun() {
    let past = Call { deadline: "2020-01-01T00:00:00Z".into(), ..call() };
    let dir = tempfile::tempdir().unwrap();
    let mark = dir.path().join("mark");
    let error = Hooks::new().call(&sh(&format!("touch {}", mark.display())), &past).await.unwrap_err();
    assert!(matches!(error, HookError::Late) && error.is_before_anything(), "{error}");
    assert!(!mark.exists());
}

#[tokio::test]
async fn many_at_once_all_end() {
    let hooks = Hooks::new();
    let one = |number: usize| {
        let hooks = hooks.clone();
        async move { hooks.call(&sh(&format!("cat >/dev/null; exit {}", number % 2)), &call()).await.unwrap() }
    };
    let verdicts = futures::future::join_all((0..100).map(one)).await;
    assert_eq!(verdicts.iter().filter(|verdict| **verdict == done()).count(), 50);
}
