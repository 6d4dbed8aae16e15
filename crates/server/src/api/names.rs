//! Names of definitions that become free: a definition that asked for them gets them. It must not know what makes a
//! name free.

use sexton_model::Key;
use sexton_store::{At, CommitError};

use super::{Api, Result};
use crate::kinds;

/// As many are given at once; the rest when definitions are written again.
const MOST: usize = 256;

impl Api {
    /// Looks once more at every definition that lacks names. A request that writes one at the same time settles it as
    /// well.
    pub(super) async fn settle_definitions(&self) -> Result<()> {
        for _ in 0..MOST {
            if !self.settle_one().await? {
                break;
            }
        }
        Ok(())
    }

    /// Gives names to the first definition for which something is different now, and serves it.
    async fn settle_one(&self) -> Result<bool> {
        let registry = self.kinds.current();
        for name in registry.unsettled().iter().take(MOST) {
            let key = Key { kind: kinds::definitions().kind, namespace: String::new(), name: name.clone() };
            let Some(current) = self.store.get(&key, At::Latest).await? else { continue };
            let mut document = current.document()?;
            let before = document.value().get("status").cloned();
            self.give_names(&mut document);
            if document.value().get("status") == before.as_ref() {
                continue;
            }
            let stored = sexton_model::Stored::encode(&document);
            match self.store.put(current.key.clone(), stored, vec![current.unchanged()]).await {
                Ok(_) => {
                    self.kinds.reload(&self.store).await?;
                    return Ok(true);
                }
                Err(CommitError::Conflict { .. }) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(false)
    }
}
