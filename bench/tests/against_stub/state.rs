//! What the stub remembers: objects by name, a resource version, and who watches.
//! Must not know: HTTP.

use std::collections::{BTreeMap, BTreeSet};

use bytes::Bytes;
use serde_json::{Value, json};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

/// One way in which the stub misbehaves.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    /// It does not.
    None,
    /// The second page of a list repeats the last object of the first.
    RepeatedObject,
    /// Every page of a list carries a resource version of its own.
    MovingVersion,
    /// The tenth event reaches no watcher.
    LostEvent,
    /// The tenth event reaches every watcher twice.
    RepeatedEvent,
    /// The watch ends after the tenth event.
    EndedWatch,
    /// Every fifth create is refused.
    RefusedCreate,
    /// The last object of a cascade is forgotten.
    Survivor,
    /// Nobody is told of the last object of a cascade.
    SilentEnd,
    /// The last object of a cascade is said to be gone and is not.
    FalseEnd,
    /// Owners go before what they own, whatever was asked.
    OwnersFirst,
    /// The last of the orphans is deleted.
    LostOrphan,
    /// The watch ends with an error in the middle of a cascade.
    FailedWatch,
}

/// Everything the stub remembers.
pub(crate) struct State {
    pub(crate) fault: Fault,
    pub(crate) namespaces: BTreeSet<String>,
    pub(crate) objects: BTreeMap<String, Value>,
    pub(crate) version: u64,
    /// Whether a DELETE without options holds the owner until what it owns is gone.
    pub(crate) default_waits: bool,
    /// What each DELETE of an object said about dependents, in order.
    pub(crate) policies: Vec<Option<String>>,
    /// What the requests for events and lists accepted, in order.
    pub(crate) accepted: Vec<String>,
    /// What the last request said about who sent it.
    pub(crate) authorization: Option<String>,
    creates: u64,
    events: u64,
    /// Each with the namespace that it watches.
    watchers: Vec<(String, UnboundedSender<Bytes>)>,
}

impl State {
    pub(crate) fn new(fault: Fault) -> Self {
        Self {
            fault,
            namespaces: BTreeSet::new(),
            objects: BTreeMap::new(),
            version: 100,
            default_waits: false,
            policies: Vec::new(),
            accepted: Vec::new(),
            authorization: None,
            creates: 0,
            events: 0,
            watchers: Vec::new(),
        }
    }

    /// Stores a new object; its answer's status and body.
    pub(crate) fn create(&mut self, object: Value) -> (u16, Value) {
        self.creates += 1;
        let name = object["metadata"]["name"].as_str().unwrap_or_default().to_owned();
        if self.fault == Fault::RefusedCreate && self.creates.is_multiple_of(5) {
            return (503, json!({"kind": "Status", "code": 503, "message": "stub is tired"}));
        }
        if self.objects.contains_key(&name) {
            return (409, json!({"kind": "Status", "code": 409}));
        }
        (201, self.store("ADDED", name, object))
    }

    /// Replaces an object.
    pub(crate) fn update(&mut self, name: &str, object: Value) -> (u16, Value) {
        match self.objects.contains_key(name) {
            true => (200, self.store("MODIFIED", name.to_owned(), object)),
            false => (404, json!({"kind": "Status", "code": 404})),
        }
    }

    /// One page after `after`, and the name to go on after, if there is more.
    pub(crate) fn page(
        &self,
        namespace: &str,
        limit: usize,
        after: Option<&str>,
    ) -> (Vec<Value>, Option<String>) {
        let inside = self.objects.iter().filter(|(_, object)| object["metadata"]["namespace"] == namespace);
        let mut rest = inside.filter(|(name, _)| after.is_none_or(|after| name.as_str() > after));
        let page: Vec<(&String, &Value)> = rest.by_ref().take(limit).collect();
        let more = rest.next().is_some();
        let last = page.last().map(|(name, _)| (*name).clone()).filter(|_| more);
        let mut items: Vec<Value> = page.into_iter().map(|(_, object)| object.clone()).collect();
        if self.fault == Fault::RepeatedObject
            && let Some(repeated) = after.and_then(|after| self.objects.get(after))
        {
            items.push(repeated.clone());
        }
        (items, last)
    }

    /// A new watcher's stream.
    pub(crate) fn watch(&mut self, namespace: &str) -> UnboundedReceiver<Bytes> {
        let (sender, receiver) = unbounded_channel();
        self.watchers.push((namespace.to_owned(), sender));
        receiver
    }

    /// Deletes all objects of a namespace, and says so to nobody.
    pub(crate) fn empty(&mut self, namespace: &str) {
        self.objects.retain(|_, object| object["metadata"]["namespace"] != namespace);
    }

    /// Deletes a namespace, which has to be empty.
    pub(crate) fn drop_namespace(&mut self, name: &str) -> (u16, Value) {
        assert!(self.objects.values().all(|object| object["metadata"]["namespace"] != name));
        match self.namespaces.remove(name) {
            true => (200, json!({})),
            false => (404, json!({"kind": "Status", "code": 404})),
        }
    }

    /// Stores an object and tells the watchers.
    pub(crate) fn store(&mut self, kind: &str, name: String, mut object: Value) -> Value {
        self.version += 1;
        object["metadata"]["resourceVersion"] = json!(self.version.to_string());
        object["metadata"]["uid"] = json!(format!("uid-of-{name}"));
        self.objects.insert(name, object.clone());
        self.tell(kind, &object);
        object
    }

    /// Tells the watchers of the object's namespace.
    pub(crate) fn tell(&mut self, kind: &str, object: &Value) {
        let line = format!("{{\"type\":\"{kind}\",\"object\":{object}}}\n");
        let namespace = object["metadata"]["namespace"].as_str().unwrap_or_default();
        self.events += 1;
        let tenth = self.events == 10;
        let line = Bytes::from(line);
        let times = match self.fault {
            Fault::LostEvent if tenth => 0,
            Fault::RepeatedEvent if tenth => 2,
            _ => 1,
        };
        for _ in 0..times {
            self.watchers
                .retain(|(watched, watcher)| watched != namespace || watcher.send(line.clone()).is_ok());
        }
        if tenth && self.fault == Fault::EndedWatch {
            self.watchers.clear();
        }
    }
}
