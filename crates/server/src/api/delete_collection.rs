//! DELETE of a collection: every object of a list, each as by a DELETE of its own.

use futures::stream::{self, StreamExt, TryStreamExt};
use sexton_model::DeleteOptions;

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
            let (api, kind, options) = (self.clone(), target.kind.clone(), options.clone());
            async move {
                let (namespace, name) = object.place();
                let target = Target { kind, namespace: namespace.to_owned() };
                match api.delete(&target, name, &options).await {
                    Err(failure) if failure.0.code == 404 => Ok(()),
                    other => other.map(drop),
                }
            }
        });
        deletions.buffer_unordered(AT_ONCE).try_collect::<()>().await?;
        Ok(listed)
    }
}
