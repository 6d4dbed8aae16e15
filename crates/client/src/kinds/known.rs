//! What a server serves, asked once for all parts of a process.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Mutex;
use tokio::time::Instant;

use super::{DiscoverError, Kinds, ServedKind};

/// What was discovered is believed for so long. A process that defines kinds itself asks again at once.
const KINDS_FRESH: Duration = Duration::from_secs(30);

/// The last answer of discovery.
pub(crate) struct KnownKinds {
    client: kube::Client,
    /// Locked while the server is asked: two parts that need it at the same time ask once.
    last: Mutex<Option<(Instant, Arc<Kinds>)>>,
}

impl fmt::Debug for KnownKinds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("KnownKinds")
    }
}

impl KnownKinds {
    pub(crate) fn new(client: kube::Client) -> KnownKinds {
        KnownKinds { client, last: Mutex::new(None) }
    }

    pub(crate) fn client(&self) -> &kube::Client {
        &self.client
    }

    /// What the server serves, as far as is known, or now.
    pub(crate) async fn get(&self, now: bool) -> Result<Arc<Kinds>, DiscoverError> {
        let mut last = self.last.lock().await;
        if let Some((at, kinds)) = &*last
            && !now
            && at.elapsed() < KINDS_FRESH
        {
            return Ok(kinds.clone());
        }
        let kinds = Arc::new(Kinds::discover(&self.client).await?);
        *last = Some((Instant::now(), kinds.clone()));
        Ok(kinds)
    }

    /// Kinds may have come or gone: the next question is put to the server.
    pub(crate) async fn forget(&self) {
        *self.last.lock().await = None;
    }

    /// The same if what was written says which kinds there are.
    pub(crate) async fn wrote(&self, kind: &ServedKind) {
        let defines = matches!(
            (kind.resource.group.as_str(), kind.resource.resource.as_str()),
            ("apiextensions.k8s.io", "customresourcedefinitions") | ("apiregistration.k8s.io", "apiservices")
        );
        if defines {
            self.forget().await;
        }
    }
}
