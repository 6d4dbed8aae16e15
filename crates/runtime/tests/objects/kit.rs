//! A small stage: native classes with methods that write down what happens, and scripts of one line per act.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;

use futures::future::LocalBoxFuture;
use sexton_runtime::gc::{Gc, Phase, Report, Scope, Settings};
use sexton_runtime::world::{
    Args, Behavior, Call, ClassSpec, CodeError, CodeErrorKind, Contract, Handle, NewObject, ObjectId,
    Property, Usage, Value, World,
};

/// What all classes write to.
#[derive(Default)]
pub(crate) struct Log {
    lines: RefCell<Vec<String>>,
    gc: RefCell<Option<Gc>>,
    litter: Cell<usize>,
}

impl Log {
    pub(crate) fn say(&self, line: impl Into<String>) {
        self.lines.borrow_mut().push(line.into());
    }
}

/// The code of one class.
struct Code {
    class: &'static str,
    methods: &'static [&'static str],
    log: Rc<Log>,
}

const HANDLERS: &[&str] = &[
    "destroy",
    "hear",
    "look",
    "rescue",
    "keep",
    "stop",
    "veto",
    "late",
    "fail_warning",
    "fail_notifying",
    "fail_destroyed",
    "collect",
    "litter",
    "leave",
    "pause",
    "deadline",
    "join",
];

impl Behavior for Code {
    fn has(&self, method: &str) -> bool {
        self.methods.contains(&method)
    }

    fn call<'a>(&'a self, call: Call) -> LocalBoxFuture<'a, Result<Value, CodeError>> {
        Box::pin(async move {
            match &call.args {
                Args::Init => self.init(&call.this),
                Args::Destroy { .. } => self.destroy(&call.this),
                Args::Event { gc, object } => {
                    let (this, method) = (call.this.id(), &*call.method);
                    let (phase, id) = (gc.phase(), object.id());
                    match method {
                        "look" => {
                            let (doomed, destroyed) = (gc.is_doomed(object), object.is_destroyed());
                            let own = gc.is_doomed(&call.this);
                            self.log.say(format!(
                                "{phase}: {this} hears of {id}, doomed {doomed}, destroyed {destroyed}, itself doomed {own}"
                            ));
                        }
                        _ => self.log.say(format!("{phase}: {this} hears of {id}")),
                    }
                    self.act(&call, phase, object).await
                }
                Args::Plain(_) => Ok(Value::from(call.this.id().as_str())),
            }
        })
    }
}

impl Code {
    fn init(&self, this: &Handle) -> Result<Value, CodeError> {
        self.log.say(format!("init {} {}", self.class, this.id()));
        match this.get("broken") {
            Value::Bool(true) => Err(CodeError::failed("init is broken")),
            _ => Ok(Value::Null),
        }
    }

    fn destroy(&self, this: &Handle) -> Result<Value, CodeError> {
        let of =
            if self.class == this.class().name() { String::new() } else { format!(" as {}", self.class) };
        self.log.say(format!("destroy {}{of}", this.id()));
        if this.get("broken") == Value::Bool(true) && self.class == "Node" {
            return Err(CodeError::failed("destroy is broken"));
        }
        if self.class == "Litter" {
            self.litter(this.world())?;
        }
        if let Value::Object(other) = this.get("saves") {
            other.set("inout", Value::from(this)).map_err(|error| CodeError::failed(error.to_string()))?;
        }
        Ok(Value::Null)
    }

    /// One more piece of garbage, which makes the next one, and so on.
    fn litter(&self, world: &World) -> Result<(), CodeError> {
        self.log.litter.set(self.log.litter.get() + 1);
        let id = ObjectId::new(&format!("litter-{}", self.log.litter.get())).unwrap();
        let new = NewObject { id: Some(id), ..NewObject::default() };
        world.create("Litter", new).map(drop).map_err(|error| CodeError::failed(error.to_string()))
    }

    async fn act(&self, call: &Call, phase: Phase, object: &Handle) -> Result<Value, CodeError> {
        let Args::Event { gc, .. } = &call.args else { return Ok(Value::Null) };
        let set = |value: Value| call.this.set("inout", value).unwrap();
        match (&*call.method, phase) {
            ("rescue", Phase::Warning) | ("keep", Phase::Notifying) => set(Value::from(object)),
            ("stop", Phase::Warning) | ("veto", Phase::Notifying) => gc.cancel("not now").unwrap(),
            ("late", Phase::Destroyed) => self.log.say(gc.cancel("too late").unwrap_err().to_string()),
            ("fail_warning", Phase::Warning)
            | ("fail_notifying", Phase::Notifying)
            | ("fail_destroyed", Phase::Destroyed) => return Err(CodeError::failed("the handler is broken")),
            ("collect", Phase::Warning) => {
                let gc = self.log.gc.borrow().clone().unwrap();
                self.log.say(gc.collect().await.unwrap_err().to_string());
            }
            ("litter", Phase::Notifying) => self.litter(call.this.world())?,
            ("leave", Phase::Warning) => {
                let gc = self.log.gc.borrow().clone().unwrap();
                gc.unsubscribe(&call.this, object, None).unwrap();
            }
            ("pause", _) => {
                for _ in 0..3 {
                    tokio::task::yield_now().await;
                }
            }
            ("deadline", Phase::Notifying) => {
                return Err(CodeError { message: "too slow".into(), kind: CodeErrorKind::Deadline });
            }
            ("join", Phase::Warning) => call.this.set("inout", Value::Null).unwrap(),
            _ => {}
        }
        Ok(Value::Null)
    }
}

/// A world with classes, a collector, and handles by name.
pub(crate) struct Stage {
    pub(crate) world: World,
    pub(crate) gc: Gc,
    pub(crate) log: Rc<Log>,
    pub(crate) held: BTreeMap<String, Handle>,
    pub(crate) report: Report,
}

impl Stage {
    pub(crate) fn new() -> Stage {
        Stage::with(Settings::default())
    }

    pub(crate) fn with(settings: Settings) -> Stage {
        let (world, log) = (World::numbered(), Rc::new(Log::default()));
        let class = |name: &'static str, extends: Option<&str>, methods, properties: &[(&str, Usage)]| {
            let property =
                |(name, usage): &(&str, Usage)| ((*name).to_owned(), Property::new(*usage, Contract::Any));
            let spec = ClassSpec {
                name: name.into(),
                extends: extends.map(Into::into),
                properties: properties.iter().map(property).collect(),
                behavior: Rc::new(Code { class: name, methods, log: log.clone() }),
            };
            world.declare(spec).unwrap();
        };
        let usual = [
            ("in", Usage::In),
            ("out", Usage::Out),
            ("inout", Usage::InOut),
            ("runtime", Usage::Runtime),
            ("shared", Usage::Static),
        ];
        class("Node", None, HANDLERS, &usual);
        class("Derived", Some("Node"), &["destroy", "init", "plain"], &[("more", Usage::InOut)]);
        class("Silent", None, &[], &usual);
        class("Litter", None, HANDLERS, &usual);
        class("Other", None, &["plain"], &[("own", Usage::Static)]);
        let gc = Gc::new(&world, settings);
        log.gc.replace(Some(gc.clone()));
        Stage { world, gc, log, held: BTreeMap::new(), report: Report::default() }
    }

    /// Plays a script and returns the lines written since the last time.
    pub(crate) async fn play(&mut self, script: &str) -> String {
        for line in script.lines().map(str::trim).filter(|line| !line.is_empty()) {
            let words: Vec<&str> = line.split_whitespace().collect();
            self.act(line, &words).await;
        }
        let lines = std::mem::take(&mut *self.log.lines.borrow_mut());
        lines.join("\n")
    }

    async fn act(&mut self, line: &str, words: &[&str]) {
        match words {
            ["new", name, rest @ ..] => self.create(name, rest),
            ["root", name] => self.world.set_root(&self.get(name)),
            ["unroot", name] => self.world.unset_root(&self.get(name)),
            ["drop", "all"] => self.held.clear(),
            ["drop", names @ ..] => names.iter().for_each(|name| drop(self.held.remove(*name))),
            ["hold", name] => drop(self.held.insert((*name).to_owned(), self.get(name))),
            ["static", class, name, "=", value] => {
                self.world.set_static(class, name, self.value(value)).unwrap();
            }
            [place, "=", values @ ..] => {
                let (object, name) = place.split_once('.').unwrap();
                let value = match values {
                    [one] => self.value(one),
                    many => Value::List(many.iter().map(|one| self.value(one)).collect()),
                };
                let object = self.get(object);
                match object.class().property(name) {
                    Some(_) => object.set(name, value).unwrap(),
                    None => object.set_private(name, value).unwrap(),
                }
            }
            ["subscribe", caller, target, rest @ ..] => {
                self.gc.subscribe(&self.get(caller), &self.get(target), rest.first().copied()).unwrap();
            }
            ["unsubscribe", caller, target] => {
                self.gc.unsubscribe(&self.get(caller), &self.get(target), None).unwrap();
            }
            ["collect"] => self.collect(Scope::Unreachable).await,
            ["persistable"] => self.collect(Scope::NotPersistable).await,
            ["removed", names @ ..] => {
                let ids = names.iter().map(|name| ObjectId::new(name).unwrap()).collect();
                self.collect(Scope::Removed(ids)).await;
            }
            ["show"] => self.show(),
            _ => panic!("no such act: {line}"),
        }
    }

    fn create(&mut self, name: &str, rest: &[&str]) {
        let (mut class, mut owner) = ("Node", None);
        for pair in rest.chunks(2) {
            match pair {
                [":", name] => class = name,
                ["in", name] => owner = Some(self.get(name)),
                _ => panic!("{rest:?}"),
            }
        }
        let id = Some(ObjectId::new(name).unwrap());
        let object = self.world.create(class, NewObject { id, owner, ..NewObject::default() }).unwrap();
        self.held.insert(name.to_owned(), object);
    }

    pub(crate) fn get(&self, name: &str) -> Handle {
        self.world.find(&ObjectId::new(name).unwrap()).unwrap_or_else(|| panic!("there is no {name}"))
    }

    fn value(&self, word: &str) -> Value {
        match word {
            "null" => Value::Null,
            "true" => Value::Bool(true),
            "false" => Value::Bool(false),
            name => Value::from(&self.get(name)),
        }
    }

    async fn collect(&mut self, scope: Scope) {
        match self.gc.run(scope).await {
            Ok(report) => {
                self.tell(&report);
                self.report = report;
            }
            Err(error) => self.log.say(format!("refused: {error}")),
        }
    }

    fn tell(&self, report: &Report) {
        for id in &report.rescued {
            self.log.say(format!("rescued {id}"));
        }
        for one in &report.failed {
            self.log.say(format!("failed {} while {} {}: {}", one.id, one.phase, one.callee, one.error));
        }
        for one in &report.held {
            self.log.say(format!("held {}: {}", one.id, one.reason));
        }
        for one in &report.waiting {
            self.log.say(format!("waiting {} for {}", one.id, words(&one.after)));
        }
        for one in &report.dropped {
            self.log.say(format!("dropped {} before {}", one.owned, one.owner));
        }
        for one in &report.untold {
            self.log.say(format!("untold {}: {}", one.id, one.error));
        }
        if let Some(one) = &report.cancelled {
            self.log.say(format!(
                "cancelled by {} for {} while {}: {}",
                one.by, one.object, one.phase, one.reason
            ));
        }
        if report.left > 0 {
            self.log.say(format!("left {}", report.left));
        }
    }

    /// All objects, in creation order.
    fn show(&self) {
        let one = |id: &ObjectId| {
            let object = self.world.find(id).unwrap();
            let mark = if object.is_destroyed() { "(destroyed)" } else { "" };
            format!("{id}{mark}")
        };
        let all: Vec<String> = self.world.objects().iter().map(one).collect();
        self.log.say(format!("there: {}", all.join(" ")));
    }
}

pub(crate) fn words(ids: &[ObjectId]) -> String {
    ids.iter().map(ObjectId::as_str).collect::<Vec<_>>().join(" ")
}

/// Plays one script on a new stage and compares.
pub(crate) async fn expect(script: &str, expected: &str) {
    let told = Stage::new().play(script).await;
    let expected: Vec<&str> = expected.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    assert_eq!(told.lines().collect::<Vec<_>>(), expected, "\n{script}\n---\n{told}\n");
}

/// Lines without what stands around them.
pub(crate) fn tidy(text: &str) -> String {
    text.trim().lines().map(str::trim).collect::<Vec<_>>().join("\n")
}
