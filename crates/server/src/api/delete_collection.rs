//! DELETE of a collection: every object of a list, each as by a DELETE of its own.

use futures::stream::{self, StreamExt, TryStreamExt};
use sexton_model::DeleteOptions;
use sexton_store::{At, Object};

use super::delete::check_options;
use super::{Api, ListOptions, Listed, Result, Target};

/// Deletions under way at once; they share the disk's flushes.
const AT_ONCE: usize = 64;

impl Api {
    /// Deletes what a list shows, and returns that list. Not atomic: what vanished meanwhile is passed over, the first
    /// other failure ends it.
    pub async fn delete_collection(
        &self,
        target: &Target,
        which: &ListOptions,
        options: &DeleteOptions,
    ) -> Result<Listed> {
        check_options(options)?;
        let listed = self.list(target, which).await?;
        // Owned copies (they share their bytes): a stream of futures that borrow is not `Send` to the compiler.
        let deletions = stream::iter(listed.objects.clone()).map(|object| {
            let (api, kind, mut options) = (self.clone(), target.kind.clone(), options.clone());
            async move {
                let (namespace, name) = object.place();
                let target = Target { kind, namespace: namespace.to_owned() };
                // The objects that were listed, not others that have their names by now.
                let conditions = options.preconditions.get_or_insert_default();
                let asked = conditions.uid.is_some();
                if !asked {
                    conditions.uid = Some(object.facts()?.uid.to_owned());
                }
                match api.delete(&target, name, &options).await {
                    Err(failure) if failure.0.code == 404 => Ok(()),
                    Err(_) if !asked && api.is_another(&target, &object).await? => Ok(()),
                    other => other.map(drop),
                }
            }
        });
        deletions.buffer_unordered(AT_ONCE).try_collect::<()>().await?;
        Ok(listed)
    }

    /// Whether the object that was listed is gone; another one may have its name.
    async fn is_another(&self, target: &Target, listed: &Object) -> Result<bool> {
        let now = self.store.get(&target.key(listed.place().1), At::Latest).await?;
        let uid = listed.facts()?.uid;
        Ok(match now {
            Some(now) => now.facts()?.uid != uid,
            None => true,
        })
    }
}
