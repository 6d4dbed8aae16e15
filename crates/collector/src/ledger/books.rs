//! When the records are read, and who writes them: those of the collector that has the lease.
//!
//! It must not know what is written.

use sexton_client::Resources;
use sexton_model::lease::Proof;

use super::Scribe;
use crate::controller::Collector;
use crate::records::{Keep, Records};

impl Collector {
    /// Begins to write books that say who writes them.
    pub(crate) fn open_books(&self, proof: Option<Proof>) -> Scribe {
        let resources = self.means.resources.clone();
        let resources = proof.into_iter().fold(resources, Resources::proving);
        Scribe::start(Records::new(resources, Keep::default()), self.means.clock.clone())
    }

    /// Goes on with the records that others left unfinished. Ours are known, also those that are not written yet: what is stored
    /// of them is older than what is known.
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
