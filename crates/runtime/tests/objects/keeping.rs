//! Recording the destruction of stored objects: intent before effect, outcome after, in batches; some are protected.

use std::cell::RefCell;
use std::rc::Rc;

use futures::future::LocalBoxFuture;
use sexton_lifecycle::destruction::Stage as Step;
use sexton_runtime::gc::{
    DestructionRecorder, Intent, ObjectJournal, Permit, RecorderError, Scope, Settings,
};
use sexton_runtime::world::Handle;

use crate::kit::Stage;

/// A recorder for which all objects are stored except those with an id that begins with "free". Refuses what it is told
/// to.
#[derive(Default)]
struct TestRecorder {
    lines: RefCell<Vec<String>>,
    held: Vec<&'static str>,
    refused: Vec<&'static str>,
    broken: Vec<&'static str>,
}

impl TestRecorder {
    fn say(&self, what: &str, ids: impl Iterator<Item = String>) {
        self.lines.borrow_mut().push(format!("{what} {}", ids.collect::<Vec<_>>().join(" ")));
    }

    fn permits<'a>(&self, objects: impl Iterator<Item = &'a Handle>, no: &[&str], why: &str) -> Vec<Permit> {
        let permit = |object: &Handle| match no.contains(&object.id().as_str()) {
            true => Permit::Refused(why.to_owned()),
            false => Permit::Granted,
        };
        objects.map(permit).collect()
    }

    fn take(&self) -> String {
        std::mem::take(&mut *self.lines.borrow_mut()).join("\n")
    }
}

fn state(object: &Handle, state: &sexton_lifecycle::destruction::State) -> String {
    let marked = if state.is_terminating { "" } else { " unmarked" };
    format!("{}({:?}{marked})", object.id(), state.stage)
}

type Answer<'a, T> = LocalBoxFuture<'a, Result<T, RecorderError>>;

impl DestructionRecorder for TestRecorder {
    fn is_stored(&self, object: &Handle) -> bool {
        !object.id().as_str().starts_with("free")
    }

    fn permits<'a>(&'a self, objects: &'a [Handle]) -> Answer<'a, Vec<Permit>> {
        self.say("held?", objects.iter().map(|object| object.id().to_string()));
        Box::pin(std::future::ready(Ok(self.permits(objects.iter(), &self.held, "it is protected"))))
    }

    fn record_intents<'a>(&'a self, batch: &'a [Intent<'a>]) -> Answer<'a, Vec<Permit>> {
        assert!(batch.iter().all(|one| one.state.stage >= Step::Destroying && !one.reasons.is_empty()));
        self.say("intend", batch.iter().map(|one| state(one.object, one.state)));
        if batch.iter().any(|one| self.broken.contains(&one.object.id().as_str())) {
            return Box::pin(std::future::ready(Err(RecorderError("the disk is full".into()))));
        }
        let objects = batch.iter().map(|one| one.object);
        Box::pin(std::future::ready(Ok(self.permits(objects, &self.refused, "another client needs it"))))
    }

    fn record_withdrawals<'a>(&'a self, objects: &'a [Handle]) -> Answer<'a, ()> {
        self.say("withdrawn", objects.iter().map(|object| object.id().to_string()));
        Box::pin(std::future::ready(Ok(())))
    }

    fn record_outcomes<'a>(&'a self, batch: &'a [ObjectJournal<'a>]) -> Answer<'a, ()> {
        self.say("ended", batch.iter().map(|one| state(one.object, one.state)));
        Box::pin(std::future::ready(Ok(())))
    }

    fn record_releases<'a>(&'a self, batch: &'a [ObjectJournal<'a>]) -> Answer<'a, ()> {
        self.say("released", batch.iter().map(|one| state(one.object, one.state)));
        Box::pin(std::future::ready(Ok(())))
    }
}

fn stage(records: TestRecorder) -> (Stage, Rc<TestRecorder>) {
    let records = Rc::new(records);
    (Stage::with(Settings { recorder: records.clone(), ..Settings::default() }), records)
}

/// EXT-26: for each wave, the intent of all is recorded before any of them is called, and the outcome after.
#[tokio::test]
async fn stored_objects_are_recorded_in_batches() {
    let (mut stage, records) = stage(TestRecorder::default());
    let script = "new a\nnew b\nnew free\nnew top\nnew c in top\nsubscribe top a hear\ndrop all\ncollect";
    let told = stage.play(script).await;
    let expected = "
        warning: top hears of a
        destroy free
        notifying: top hears of a
        destroy a
        destroy b
        destroy c
        destroyed: top hears of a
        destroy top";
    assert_eq!(told, super::kit::tidy(expected));
    let expected = "
        held? a b top c
        intend a(Destroying) b(Destroying) c(Destroying)
        ended a(Destroyed) b(Releasing) c(Releasing)
        released a(Released) b(Released) c(Released)
        intend top(Destroying)
        ended top(Releasing)
        released top(Released)";
    assert_eq!(records.take(), super::kit::tidy(expected));
}

/// EXT-26, EXT-31: a protected object lives on with all that has to come after it, and the reason is reported.
#[tokio::test]
async fn held_objects_stay_with_what_must_follow() {
    let (mut stage, records) = stage(TestRecorder { held: vec!["low"], ..TestRecorder::default() });
    stage
        .play("new root\nnew top\nnew low in top\nnew other\nroot root\nsubscribe root low hear\ndrop all")
        .await;
    let preview = stage.gc.preview(Scope::Unreachable).await.unwrap();
    assert_eq!((preview.doomed.len(), preview.held.len(), preview.waiting.len()), (1, 1, 1));
    let told = stage.play("collect\nshow").await;
    assert_eq!(told, "destroy other\nheld low: it is protected\nwaiting top for low\nthere: root top low");
    assert!(records.take().contains("intend other(Destroying)"));
}

/// EXT-26: the recorder can refuse at the last moment: subscribers were notified, and the object is not destroyed.
#[tokio::test]
async fn the_last_word_is_the_recorders() {
    let (mut stage, records) = stage(TestRecorder { refused: vec!["a"], ..TestRecorder::default() });
    let told = stage.play("new a\nnew b\nnew top\nsubscribe top a\ndrop all\ncollect\nshow").await;
    assert_eq!(told, "destroy b\nheld a: another client needs it\nwaiting top for a\nthere: a top");
    assert!(records.take().contains("withdrawn a"));
}

/// EXT-26: no member of a circle is destroyed if one is refused, and the recorded intents of the others are withdrawn.
#[tokio::test]
async fn circles_are_refused_as_one() {
    let (mut stage, records) = stage(TestRecorder { refused: vec!["a"], ..TestRecorder::default() });
    let told = stage.play("new a\nnew b\nsubscribe a b\nsubscribe b a\ndrop all\ncollect\nshow").await;
    assert_eq!(told, "held a: another client needs it\nwaiting b for a\nthere: a b");
    assert!(records.take().ends_with("withdrawn a b"));
}

/// EXT-26, EXT-25: if the intent cannot be recorded, nothing is called.
#[tokio::test]
async fn nothing_is_called_that_is_not_recorded() {
    let (mut stage, _) = stage(TestRecorder { broken: vec!["a"], ..TestRecorder::default() });
    let told = stage.play("new a\nnew free\ndrop all\ncollect\nshow").await;
    assert_eq!(told, "destroy free\nfailed a while destroying a: the disk is full\nthere: a");
}

/// EXT-25, EXT-26: a failure is an outcome, too.
#[tokio::test]
async fn failures_are_recorded() {
    let (mut stage, records) = stage(TestRecorder::default());
    stage.play("new a\na.broken = true\ndrop all\ncollect").await;
    assert_eq!(records.take(), "held? a\nintend a(Destroying)\nended a(Destroying)");
    assert_eq!(stage.report.failed.len(), 1);
}
