//! What is left behind of an object, where the server knows our kinds. A server of ours writes it with the removal;
//! here it is written after it, so a crash in between leaves none.

use std::time::{SystemTime, UNIX_EPOCH};

use http::Method;
use serde_json::{Value, json};
use sexton_model::bulk::{Item, Outcome};
use sexton_model::{GroupResource, secrets, time};

use super::Performer;
use super::live::Live;
use crate::call::Call;
use crate::kinds::ServedKind;

/// Bytes of the last document that are kept.
const MAX_DOCUMENT_BYTES: usize = 256 << 10;
const NONE_LEFT: &str = "tombstone: none was left";
const LATE: &str = "tombstone: written after the removal, not with it";

impl Performer<'_> {
    /// The last document of an object that leaves a tombstone, if there can be one.
    pub(super) async fn last_document(&self, item: &Item, kind: &ServedKind) -> Option<Live> {
        item.tombstone.as_ref()?;
        self.tombstones()?;
        self.same_life(item, kind, true).await.ok().flatten()
    }

    /// Writes the tombstone of an object that is gone. Returns what is weaker about it.
    pub(super) async fn bury(
        &self,
        item: &Item,
        outcome: Outcome,
        last: Option<Live>,
    ) -> Option<&'static str> {
        let spec = item.tombstone.as_ref()?;
        let (Some(kind), Some(last), Outcome::Removed) = (self.tombstones(), last, outcome) else {
            return Some(NONE_LEFT);
        };
        let Ok(mut spec) = serde_json::from_str::<Value>(spec.text()) else { return Some(NONE_LEFT) };
        let mut document = last.0;
        if let Some(metadata) = document.pointer_mut("/metadata").and_then(Value::as_object_mut) {
            metadata.remove("managedFields");
        }
        secrets::redact(&mut document);
        match document.to_string().len() <= MAX_DOCUMENT_BYTES {
            true => spec["document"] = document,
            false => spec["documentOmitted"] = true.into(),
        }
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
        spec["destroyedAt"] = time::format(i64::try_from(now).unwrap_or(i64::MAX)).into();
        let tombstone = json!({
            "apiVersion": "sexton.dev/v1", "kind": kind.kind, "metadata": {"name": item.uid}, "spec": spec,
        });
        let call = Call::new(Method::POST, kind.path(None)).body("application/json", &tombstone);
        match call.send(self.client).await {
            Ok(_) => Some(LATE),
            Err(error) => {
                tracing::warn!(%error, uid = item.uid, "a tombstone cannot be written");
                Some(NONE_LEFT)
            }
        }
    }

    fn tombstones(&self) -> Option<&ServedKind> {
        let wanted = GroupResource::new("sexton.dev", "tombstones");
        self.kinds.preferred().find(|kind| kind.resource == wanted)
    }
}
