//! Observers: every step is reported, in order.

use std::cell::RefCell;
use std::rc::Rc;

use sexton_runtime::gc::{GcObserver, Phase, Reason, Settings};
use sexton_runtime::world::{Handle, ObjectId, WorldObserver};

use crate::kit::{Stage, tidy};

#[derive(Default)]
struct Trace(RefCell<Vec<String>>);

impl Trace {
    fn say(&self, line: String) {
        self.0.borrow_mut().push(line);
    }
}

impl WorldObserver for Trace {
    fn created(&self, object: &Handle) {
        self.say(format!("born {object:?}"));
    }

    fn referenced(&self, from: &Handle, property: &str, to: &Handle) {
        self.say(format!("{}.{property} refers to {}", from.id(), to.id()));
    }

    fn freed(&self, id: &ObjectId, class: &str) {
        self.say(format!("freed {class} {id}"));
    }
}

impl GcObserver for Trace {
    fn candidate(&self, object: &Handle, reason: &Reason) {
        self.say(format!("accused {}: {reason:?}", object.id()));
    }

    fn rescued(&self, object: &Handle) {
        self.say(format!("rescued {}", object.id()));
    }

    fn calling_handler(&self, phase: Phase, subscriber: &Handle, object: &Handle) {
        self.say(format!("{phase} {} of {}", subscriber.id(), object.id()));
    }

    fn calling_destroy(&self, object: &Handle, class: &str) {
        self.say(format!("destroying {} as {class}", object.id()));
    }

    fn destroyed(&self, object: &Handle) {
        self.say(format!("destroyed {}", object.id()));
    }

    fn failed(&self, phase: Phase, callee: &Handle, object: &Handle, error: &str) {
        self.say(format!("{phase} {} of {} failed: {error}", callee.id(), object.id()));
    }
}

/// REQ-MUR-90: births, references, and each step of a session.
#[tokio::test]
async fn everything_is_told() {
    let trace = Rc::new(Trace::default());
    let mut stage = Stage::with(Settings { observer: trace.clone(), ..Settings::default() });
    stage.world.observe(trace.clone());
    let script = "
        new root
        new a : Derived
        new b
        root root
        a.in = b
        subscribe root a hear
        subscribe root b rescue
        b.broken = true
        drop all
        collect";
    stage.play(script).await;
    let expected = "
        born Node root
        born Derived a
        born Node b
        a.in refers to b
        accused a: Unreachable
        accused b: Unreachable
        warning root of a
        warning root of b
        root.inout refers to b
        rescued b
        notifying root of a
        destroying a as Derived
        destroying a as Node
        destroyed a
        destroyed root of a
        freed Derived a";
    assert_eq!(trace.0.borrow().join("\n"), tidy(expected));
}
