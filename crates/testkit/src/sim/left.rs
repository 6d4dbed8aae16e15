//! What is left in the end: everything that has to go is gone, everything that was said about it is true, and nothing
//! waits for what will not come.

use serde_json::Value;

use super::judge::Judge;
use super::life::{Life, Owner};
use super::model::Leads;

impl Judge {
    /// What should be gone by now.
    pub fn left_over(&self) -> Vec<String> {
        let marked = self.model.lives.values().filter(|life| life.marked.is_some() && !self.in_use(life));
        let mut left: Vec<String> = marked
            .map(|life| {
                let journal = life.journal().unwrap_or(Value::Null);
                format!("{} is still there, held by {:?}; {journal}", life.named(), life.finalizers)
            })
            .collect();
        let doomed = self.model.doomed();
        for uid in doomed.keys() {
            let life = &self.model.lives[uid];
            let certain = life.accused()
                || life.owners.iter().all(|owner| {
                    matches!(self.model.leads(life, owner), Leads::Nowhere | Leads::ToGhost)
                        && !self.slot_unknown(owner)
                });
            if certain {
                left.push(format!("{} is garbage and still there", life.named()));
            }
        }
        for life in self.model.lives.values().filter(|life| life.marked.is_none()) {
            if let Some(journal) = life.journal() {
                left.push(format!("{} lives on with the journal {journal}", life.named()));
            }
        }
        let classes = self.model.lives.values().any(|life| life.marked.is_some() && self.in_use(life));
        let phase = |life: &Life| life.document["status"]["phase"].as_str().unwrap_or("").to_owned();
        let collections = self.model.lives.values().filter(|life| life.resource() == "collections");
        for life in
            collections.filter(|life| !["Done", "done", "Cancelled", "cancelled"].contains(&&*phase(life)))
        {
            if classes && phase(life) == "blocked" {
                continue;
            }
            left.push(format!("the record {} says {:?}", life.named(), life.document["status"]));
        }
        left
    }

    /// Whether a class is kept by objects of its kind, which are not deleted for it.
    fn in_use(&self, life: &Life) -> bool {
        let kept = |other: &Life| {
            let class = self.model.class(other.group(), &other.kind);
            class.is_some_and(|class| class.uid == life.uid)
        };
        life.resource() == "classes" && self.model.lives.values().any(kept)
    }

    /// Whether the kind of an owner that is gone is not served any more: nothing can be said then.
    pub(super) fn slot_unknown(&self, owner: &Owner) -> bool {
        let mut bare = owner.clone();
        bare.uid = "nobody".into();
        let anybody = self.model.lives.values().next();
        anybody.is_some_and(|life| self.model.leads(life, &bare) == Leads::Unknown)
    }

    /// Whether a destruction is under way that only needs time.
    pub fn busy(&self) -> bool {
        self.model.lives.values().any(|life| {
            let journal = life.journal().unwrap_or(Value::Null);
            let mut open = journal["open"].as_object().into_iter().flatten();
            open.any(|(_, pending)| {
                pending["asked"] == true || (pending["next"].is_i64() && pending["block"].is_null())
            })
        })
    }
}
