//! Why an item was not done, in words.

use sexton_model::bulk::reason;
use sexton_model::{Status, Term};

use super::item::{Asked, Condition, Decided};
use crate::api::{Api, Result};

/// Uids that a refusal names at most.
const NAMED: usize = 3;

impl Api {
    /// The refusal of an item whose condition was found untrue. What it names is what is there now, which may have
    /// changed since.
    pub(super) async fn condition_failed(
        &self,
        asked: Asked<'_>,
        decided: &Decided,
        condition: Condition,
    ) -> Result<Box<Status>> {
        let kind = &decided.target.kind.resource;
        let status = match condition {
            Condition::Absent => self.still_present(asked, decided).await?,
            Condition::Marked => Status::not_marked(kind, asked.name, &asked.item.marked.join(", ")),
            Condition::Unchanged => {
                let why = "somebody on whom this rests is not as it was";
                Status::conflict(kind, asked.name, why).because(reason::CHANGED, why, "")
            }
            Condition::Unowned => self.still_referenced(&decided.target, asked.name, asked.uid).await?,
            Condition::NoContents => Status::still_referenced(
                kind,
                asked.name,
                "what it contains or is about",
            )
            .because(reason::STILL_REFERENCED, "it is not empty", ""),
            Condition::UidFree => Status::conflict(kind, asked.name, "another object has that uid"),
            Condition::TombstoneFree => {
                Status::conflict(kind, asked.name, "the name of its tombstone is taken")
            }
        };
        Ok(Box::new(status))
    }

    async fn still_present(&self, asked: Asked<'_>, decided: &Decided) -> Result<Status> {
        let mut present = Vec::new();
        for uid in &asked.item.absent {
            if present.len() < NAMED && !self.store.engine().with_term(Term::uid(uid), 1).await?.is_empty() {
                present.push(uid.as_str());
            }
        }
        let status = Status::still_present(&decided.target.kind.resource, asked.name, &present.join(", "));
        Ok(present
            .into_iter()
            .fold(status, |status, uid| status.because(reason::STILL_PRESENT, uid, "absent")))
    }
}
