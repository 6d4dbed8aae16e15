//! All clients that are not the collector: they make, change and delete objects, mostly at the wrong moment.

use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

use super::chance::Chance;
use super::judge::{ACTOR, Actor, Judge};
use super::life::{Life, Owner};
use super::model::Leads;
use super::sorts::{Sort, class, definition, path_of};
use super::wire::Air;
use crate::call::{Answer, Call};

const NAMES: [&str; 6] = ["a", "b", "c", "d", "e", "f"];
const SPACES: [&str; 3] = ["default", "n1", "n2"];
const DEFINITIONS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const CLASSES: &str = "/apis/sexton.dev/v1/classes";
/// A finalizer that does not belong to the collector.
pub const FOREIGN: &str = "example.com/hold";

/// The clients that act.
#[derive(Debug)]
pub struct People {
    /// What they act on.
    pub air: Arc<Air>,
    /// Their whims.
    pub chance: Chance,
    /// Kinds that have classes in this world.
    pub classy: bool,
    /// Whether objects subscribe to others in this run.
    pub curious: bool,
    requests: u64,
}

impl People {
    /// People with whims.
    pub fn new(air: Arc<Air>, mut chance: Chance) -> People {
        let (classy, curious) = (chance.percent(50), chance.percent(50));
        People { air, chance, classy, curious, requests: 0 }
    }

    fn judge(&self) -> &Mutex<Judge> {
        &self.air.judge
    }

    pub(super) async fn send(&self, method: &str, path: &str, body: &Value) -> Answer {
        let router = self.air.router.lock().unwrap().clone();
        self.judge().lock().unwrap().note(format!("{method} {path} {body}"));
        let call = Call::new(router, method, path);
        let call = if body.is_null() { call } else { call.json(body) };
        let answer = ACTOR.scope(Actor::People, call.send()).await;
        let mut judge = self.judge().lock().unwrap();
        judge.note(format!("    -> {} {}", answer.code, answer.text_at("message")));
        if answer.code >= 500 {
            judge.accuse(format!("{method} {path}: {} {}", answer.code, answer.text_at("message")));
        }
        drop(judge);
        answer
    }

    /// Prepares the world.
    pub async fn settle_in(&mut self) {
        for name in &SPACES[1..] {
            let space = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}});
            self.send("POST", "/api/v1/namespaces", &space).await;
        }
        for sort in [Sort::Widget, Sort::Planet] {
            self.send("POST", DEFINITIONS, &definition(sort)).await;
        }
        if self.classy {
            for sort in [Sort::Widget, Sort::ConfigMap] {
                if self.chance.percent(70) {
                    self.make_class(sort).await;
                }
            }
        }
    }

    async fn make_class(&mut self, sort: Sort) {
        let class = class(sort, &mut self.chance);
        self.send("POST", CLASSES, &class).await;
    }

    /// Does something.
    pub async fn act(&mut self) {
        match self.chance.below(100) {
            0..40 => self.make().await,
            40..50 => self.reparent().await,
            50..68 => self.delete().await,
            68..74 => self.let_go(false).await,
            74..78 => self.protect().await,
            78..84 => self.subscribe().await,
            84..88 => self.touch().await,
            88..93 => self.ask().await,
            93..95 => self.delete_space().await,
            95..96 => self.delete_definition().await,
            96..97 if self.classy => self.change_classes().await,
            _ => self.remake().await,
        }
    }

    fn anybody(&mut self, wanted: impl Fn(&Life) -> bool) -> Option<Life> {
        let judge = self.air.judge.lock().unwrap();
        let ours = |life: &&Life| Sort::ALL.iter().any(|sort| sort.words().2 == life.resource());
        let lives: Vec<Life> =
            judge.model.lives.values().filter(ours).filter(|life| wanted(life)).cloned().collect();
        drop(judge);
        self.chance.pick(&lives).cloned()
    }

    fn owners(&mut self, namespace: &str) -> Value {
        let many = self.chance.one(&[0, 0, 1, 1, 1, 2, 3]);
        let mut references = Vec::new();
        for _ in 0..many {
            let blocks = self.chance.percent(50);
            let fit = |life: &Life| life.namespace().is_empty() || life.namespace() == namespace;
            let reference = match self.chance.below(20) {
                0 => json!({"apiVersion": "v1", "kind": "ConfigMap", "name": "a", "uid": "never"}),
                1 => {
                    json!({"apiVersion": "moon.example.com/v1", "kind": "Cheese", "name": "a", "uid": "moon"})
                }
                2 => {
                    let judge = self.air.judge.lock().unwrap();
                    let ghosts: Vec<Life> = judge.model.ghosts.values().cloned().collect();
                    drop(judge);
                    let Some(ghost) = self.chance.pick(&ghosts).cloned() else { continue };
                    reference(&ghost)
                }
                3 => {
                    let Some(other) = self.anybody(|_| true) else { continue };
                    reference(&other)
                }
                _ => {
                    let Some(owner) = self.anybody(fit) else { continue };
                    reference(&owner)
                }
            };
            let mut reference = reference;
            reference["blockOwnerDeletion"] = json!(blocks);
            references.push(reference);
        }
        references.dedup_by(|a, b| a["uid"] == b["uid"]);
        Value::Array(references)
    }

    async fn make(&mut self) {
        let sort =
            self.chance.one(&[Sort::ConfigMap, Sort::ConfigMap, Sort::Secret, Sort::Widget, Sort::Planet]);
        let (group, kind, _) = sort.words();
        let namespace = if sort == Sort::Planet { "" } else { self.chance.one(&SPACES) };
        let version = if group.is_empty() { "v1".to_owned() } else { format!("{group}/v1") };
        let mut metadata = json!({
            "name": self.chance.one(&NAMES), "ownerReferences": self.owners(namespace),
            "labels": {"made": "by-people"}, "annotations": {"note": "keep me"},
        });
        if self.chance.percent(8) {
            metadata["finalizers"] = json!([FOREIGN]);
        }
        if self.chance.percent(6) {
            metadata["annotations"]["sexton.dev/protect"] = json!("true");
        }
        if self.curious && self.chance.percent(30) {
            metadata["annotations"]["sexton.dev/destruction-dependencies"] =
                json!(self.subscriptions(namespace));
        }
        let document = json!({
            "apiVersion": version, "kind": kind, "metadata": metadata,
            "data": {"k": format!("{}", self.chance.below(100))},
        });
        self.send("POST", &sort.path(namespace), &document).await;
    }

    fn subscriptions(&mut self, namespace: &str) -> String {
        let many = 1 + self.chance.below(2);
        let mut entries = Vec::new();
        for _ in 0..many {
            let target = match self.chance.below(6) {
                0 => "self".to_owned(),
                1..4 => {
                    let fit = |life: &Life| life.namespace().is_empty() || life.namespace() == namespace;
                    let Some(other) = self.anybody(fit) else { continue };
                    named(other.group(), &other.kind, &other.key.name)
                }
                _ => {
                    let (group, kind, _) = self.chance.one(&Sort::ALL).words();
                    named(group, kind, self.chance.one(&NAMES))
                }
            };
            let mut entry = json!({"target": target});
            if self.chance.percent(50) {
                entry["handler"] = json!("heard");
            }
            entries.push(entry);
        }
        Value::Array(entries).to_string()
    }

    async fn reparent(&mut self) {
        let Some(life) = self.anybody(|_| true) else { return };
        let owners = self.owners(life.namespace());
        let patch = json!({"metadata": {"ownerReferences": owners}});
        self.send("MERGE", &path_of(&life), &patch).await;
    }

    pub(super) fn options(&mut self) -> Value {
        match self.chance.below(5) {
            0 => json!({"propagationPolicy": "Background"}),
            1 => json!({"propagationPolicy": "Foreground"}),
            2 => json!({"propagationPolicy": "Orphan"}),
            _ => json!({}),
        }
    }

    async fn delete(&mut self) {
        let again = self.chance.percent(15);
        let Some(life) = self.anybody(|life| !again || life.marked.is_some()) else { return };
        let options = self.options();
        self.send("DELETE", &path_of(&life), &options).await;
    }

    /// Takes the foreign finalizer off one terminating object; at the end, off all objects.
    pub async fn let_go(&mut self, all: bool) {
        for _ in 0..100 {
            let held = self.anybody(|life| life.has(FOREIGN) && (life.marked.is_some() || all));
            let Some(life) = held else { return };
            let path = path_of(&life);
            let mut document = self.send("GET", &path, &Value::Null).await.json;
            if let Some(finalizers) = document["metadata"]["finalizers"].as_array_mut() {
                finalizers.retain(|finalizer| finalizer != FOREIGN);
                self.send("PUT", &path, &document).await;
            }
            if !all {
                return;
            }
        }
    }

    async fn protect(&mut self) {
        let Some(life) = self.anybody(|_| true) else { return };
        let value = if life.protected() { Value::Null } else { json!("true") };
        let patch = json!({"metadata": {"annotations": {"sexton.dev/protect": value}}});
        self.send("MERGE", &path_of(&life), &patch).await;
    }

    /// Nothing is protected any more.
    pub async fn unprotect_all(&mut self) {
        for _ in 0..100 {
            let Some(life) = self.anybody(Life::protected) else { return };
            let patch = json!({"metadata": {"annotations": {"sexton.dev/protect": null}}});
            self.send("MERGE", &path_of(&life), &patch).await;
        }
    }

    /// Takes away references to owners of which nothing can be said: their objects would be left alone, and be waited
    /// for.
    pub async fn forget_unknown(&mut self) {
        let patches = self.without_unknown();
        for (life, kept) in patches {
            let patch = json!({"metadata": {"ownerReferences": kept}});
            self.send("MERGE", &path_of(&life), &patch).await;
        }
    }

    /// The objects that name such owners, and the references that are left of them without.
    fn without_unknown(&self) -> Vec<(Life, Value)> {
        let judge = self.air.judge.lock().unwrap();
        let model = &judge.model;
        let known = |life: &Life, owner: &Owner| match model.leads(life, owner) {
            Leads::To(_) | Leads::Astray => true,
            Leads::ToGhost | Leads::Nowhere => !judge.slot_unknown(owner),
            Leads::Unknown => false,
        };
        let doubtful =
            model.lives.values().filter(|life| life.owners.iter().any(|owner| !known(life, owner)));
        let kept = |life: &Life| {
            let references = life.document["metadata"]["ownerReferences"].as_array().cloned();
            let both = references.unwrap_or_default().into_iter().zip(&life.owners);
            both.filter(|(_, owner)| known(life, owner)).map(|(reference, _)| reference).collect()
        };
        doubtful.map(|life| (life.clone(), Value::Array(kept(life)))).collect()
    }

    async fn subscribe(&mut self) {
        if !self.curious {
            return;
        }
        let Some(life) = self.anybody(|_| true) else { return };
        let text = if life.subscriptions.is_empty() {
            json!(self.subscriptions(life.namespace()))
        } else {
            Value::Null
        };
        let patch = json!({"metadata": {"annotations": {"sexton.dev/destruction-dependencies": text}}});
        self.send("MERGE", &path_of(&life), &patch).await;
    }

    async fn touch(&mut self) {
        let Some(life) = self.anybody(|_| true) else { return };
        let patch = json!({"data": {"k": format!("{}", self.chance.any())}});
        self.send("MERGE", &path_of(&life), &patch).await;
    }

    async fn ask(&mut self) {
        let Some(life) = self.anybody(|life| life.marked.is_some()) else { return };
        let want = if self.chance.percent(60) { "retry" } else { "force" };
        let blocker = match self.chance.below(4) {
            0 => Some("destroy".to_owned()),
            1 => Some(format!("finalizer:{FOREIGN}")),
            2 => self.anybody(|life| !life.subscriptions.is_empty()).map(|life| life.uid),
            _ => None,
        };
        self.request(&life, want, blocker.as_deref()).await;
    }

    /// Asks the collector to try again, or to give something up.
    pub async fn request(&mut self, life: &Life, want: &str, blocker: Option<&str>) {
        self.requests += 1;
        let mut request = json!({"id": format!("r{}", self.requests), "want": want, "reason": "enough"});
        if let Some(blocker) = blocker {
            request["blocker"] = json!(blocker);
        }
        let patch = json!({"metadata": {"annotations": {"sexton.dev/request": request.to_string()}}});
        self.send("MERGE", &path_of(life), &patch).await;
    }

    async fn delete_space(&mut self) {
        let path = format!("/api/v1/namespaces/{}", self.chance.one(&SPACES[1..]));
        self.send("DELETE", &path, &json!({})).await;
    }

    async fn delete_definition(&mut self) {
        let (group, _, plural) = self.chance.one(&[Sort::Widget, Sort::Planet]).words();
        self.send("DELETE", &format!("{DEFINITIONS}/{plural}.{group}"), &json!({})).await;
    }

    async fn change_classes(&mut self) {
        let sort = self.chance.one(&[Sort::Widget, Sort::ConfigMap, Sort::Secret]);
        if self.chance.percent(60) {
            return self.make_class(sort).await;
        }
        let name = sort.words().1.to_lowercase();
        self.send("DELETE", &format!("{CLASSES}/{name}"), &json!({})).await;
    }

    /// What was deleted may come back, under another uid.
    async fn remake(&mut self) {
        let space = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": self.chance.one(&SPACES[1..])}});
        self.send("POST", "/api/v1/namespaces", &space).await;
        let sort = self.chance.one(&[Sort::Widget, Sort::Planet]);
        self.send("POST", DEFINITIONS, &definition(sort)).await;
    }
}

fn named(group: &str, kind: &str, name: &str) -> String {
    let dot = if group.is_empty() { "" } else { "." };
    format!("{kind}{dot}{group}/{name}")
}

fn reference(life: &Life) -> Value {
    json!({"apiVersion": life.api_version, "kind": life.kind, "name": life.key.name, "uid": life.uid})
}
