//! When records are read and written: while this collector has the lease.
//!
//! It must not know what is in them.

use sexton_client::Resources;
use sexton_model::lease::Proof;

use super::Scribe;
use crate::controller::Collector;
use crate::records::{Keep, Records};

impl Collector {
    /// Starts to write records, with the proof that this collector holds the lease.
    pub(crate) fn open_books(&self, proof: Option<Proof>) -> Scribe {
        let resources = self.means.resources.clone();
        let resources = proof.into_iter().fold(resources, Resources::proving);
        Scribe::start(Records::new(resources, Keep::default()), self.means.clock.clone())
    }

    /// Takes over unfinished records of other collectors. Those of this one are left out, also if they are not
    /// written yet: what is stored of them is older than what is in memory.
    pub(crate) async fn read_books(&mut self) -> bool {
        let records = Records::new(self.means.resources.clone(), Keep::default());
        let mut known = self.scribe.as_ref().map(Scribe::pending).unwrap_or_default();
        known.extend(self.ledger.names());
        match records.unfinished(&self.view.kinds).await {
            Ok(unfinished) => {
                let of_others = unfinished.into_iter().filter(|record| !known.contains(&record.name));
                self.ledger.adopt_within(of_others.collect(), &self.settings);
                self.books_stale = false;
                true
            }
            Err(error) => {
                tracing::warn!(%error, "the records cannot be read");
                self.rest();
                false
            }
        }
    }
}
