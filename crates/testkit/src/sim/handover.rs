//! The last act of a world, in good weather: objects are made and doomed, their hooks take a while, and collectors are
//! told to stop in the middle of it. Their successors have to finish all of it, without help and without waiting for
//! the time at which everything is looked at again.

use std::time::Duration;

use serde_json::{Value, json};
use sexton_model::accusation::{Accusation, Accuser};
use sexton_model::marks;

use super::Run;
use super::crew::Member;
use super::people::People;
use super::sorts::{Sort, class};
use super::wire::Weather;

/// A call of a hook takes at most so many milliseconds.
const CALL_TAKES: u64 = 4_000;
/// After so long everything is gone, if nothing is forgotten: much less than the time between full looks.
const BOUND: Duration = Duration::from_secs(400);
/// A collector that is told to stop ends within this: the calls under way are over by then.
const END_TAKES: Duration = Duration::from_secs(30);
const DEPLOYMENT: &str = "d1";
const PATH: &str = "/api/v1/namespaces/default/configmaps";

impl Run {
    /// Collectors hand over to others while hooks run, and everything goes.
    pub(super) async fn hand_over(&mut self) -> Result<(), Vec<String>> {
        self.air.judge.lock().unwrap().note("the last act: collectors hand over");
        *self.air.weather.lock().unwrap() = Weather { call_takes: CALL_TAKES, ..Weather::default() };
        self.people.make_and_doom().await;
        for _ in 0..1 + self.chance.below(3) {
            tokio::time::sleep(Duration::from_millis(self.chance.below(2 * CALL_TAKES))).await;
            self.replace().await?;
        }
        let mut left = Vec::new();
        for _ in 0..BOUND.as_secs() {
            tokio::time::sleep(Duration::from_secs(1)).await;
            self.check()?;
            left = self.air.judge.lock().unwrap().left_over();
            if left.is_empty() {
                return Ok(());
            }
        }
        left.insert(0, format!("not everything is gone {BOUND:?} after the last handover"));
        Err(self.with_summaries(left))
    }

    /// One collector, or all of them, are told to stop, and others begin once they have.
    async fn replace(&mut self) -> Result<(), Vec<String>> {
        let all = self.chance.percent(50);
        let one = self.chance.below(self.crew.len() as u64) as usize;
        let places: Vec<usize> = (0..self.crew.len()).filter(|place| all || *place == one).collect();
        let mut leaving = Vec::new();
        for place in &places {
            self.air.judge.lock().unwrap().note(format!("collector {place} is told to end"));
            if let Some(member) = self.crew[*place].take() {
                if !member.summary.borrow().idle {
                    self.air.count("handovers in the middle");
                }
                member.drain();
                leaving.push(member);
            }
        }
        for _ in 0..END_TAKES.as_millis() / 10 {
            if leaving.iter().all(Member::ended) {
                places.into_iter().for_each(|place| self.hire(place));
                return Ok(());
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        Err(self.with_summaries(vec!["a collector was told to end and does not".to_owned()]))
    }
}

impl People {
    /// Makes a few objects that depend on each other, and dooms some of them in one of the ways that there are.
    async fn make_and_doom(&mut self) {
        let class = class(Sort::ConfigMap, &mut self.chance);
        self.send("POST", "/apis/sexton.dev/v1/classes", &class).await;
        let mut made: Vec<(String, String)> = Vec::new();
        for number in 0..3 + self.chance.below(6) {
            let name = format!("last-{number}");
            let document = self.last_one(&name, &made);
            let answer = self.send("POST", PATH, &document).await;
            if answer.code == 201 {
                made.push((name, answer.json["metadata"]["uid"].as_str().unwrap_or_default().to_owned()));
            }
        }
        match self.chance.below(3) {
            0 => {
                let Some((name, _)) = self.chance.pick(&made).cloned() else { return };
                let options = self.options();
                self.send("DELETE", &format!("{PATH}/{name}"), &options).await;
            }
            _ => self.accuse(&made).await,
        }
    }

    /// A member of a module that may be owned by earlier ones, and hear of them or of itself.
    fn last_one(&mut self, name: &str, earlier: &[(String, String)]) -> Value {
        let place = self.chance.below(4).to_string();
        let mut annotations = json!({marks::DEPLOYMENT_ID: DEPLOYMENT, marks::DEPENDENCY_ORDER: place});
        if self.chance.percent(40)
            && let Some((target, _)) = self.chance.pick(earlier)
        {
            let entry = json!([{"target": format!("ConfigMap/{target}"), "handler": "heard"}]);
            annotations[marks::DEPENDENCIES] = json!(entry.to_string());
        }
        let mut owners = Vec::new();
        if self.chance.percent(40)
            && let Some((owner, uid)) = self.chance.pick(earlier)
        {
            owners.push(json!({"apiVersion": "v1", "kind": "ConfigMap", "name": owner, "uid": uid}));
        } else if self.chance.percent(20) {
            owners.push(json!({"apiVersion": "v1", "kind": "ConfigMap", "name": "a", "uid": "never"}));
        }
        let labels = json!({marks::MANAGER: "last"});
        json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {
            "name": name, "labels": labels, "annotations": annotations, "ownerReferences": owners,
        }})
    }

    /// Says of most of them that they are garbage, as the sweep of a module does.
    async fn accuse(&mut self, made: &[(String, String)]) {
        let said = Accusation {
            accuser: Accuser::Unmarked,
            by: "Module/last".into(),
            because: "no document names it".into(),
            collection: "sweep-last".into(),
            initiator: None,
            deployment: Some(DEPLOYMENT.into()),
            absent: Vec::new(),
            policy: None,
            parallel: None,
            uid: None,
        };
        let some: Vec<(String, String)> = made.iter().filter(|_| self.chance.percent(80)).cloned().collect();
        let item = |(name, uid): &(String, String)| {
            json!({"resource": "configmaps", "namespace": "default", "name": name, "uid": uid,
                "annotated": {marks::DEPLOYMENT_ID: DEPLOYMENT},
                "action": {"patch": {"annotations": {marks::ACCUSED: said.encode()}}}})
        };
        let items: Vec<Value> = some.iter().map(item).collect();
        self.send("POST", "/apis/sexton.dev/v1/bulk", &json!({"items": items})).await;
    }
}
