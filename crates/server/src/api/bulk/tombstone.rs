//! What is left of an object: a record that comes into being in the very transaction that removes it.

use serde_json::json;
use sexton_model::raw::{Raw, RawObject};
use sexton_model::{Document, FieldError, GroupResource, Key, Status, Stored, names, secrets, time};
use sexton_store::Object;
use sexton_store::engine::RawKey;

use super::item::Asked;
use crate::admission;
use crate::api::{Api, Result};

/// A longer last word is left out.
const MOST_DOCUMENT: usize = 64 << 10;

const API_VERSION: &str = "sexton.dev/v1";
const KIND: &str = "Tombstone";

impl Api {
    /// The tombstone of an object, and the key under which it is stored.
    pub(super) fn tombstone(&self, asked: Asked<'_>, spec: &Raw, last: &Object) -> Result<(RawKey, Stored)> {
        let refuse = |error: FieldError| Status::invalid("sexton.dev", KIND, asked.name, &[error]);
        let Some(mut spec) = RawObject::read(spec.text().as_bytes()) else {
            return Err(refuse(FieldError::required("tombstone", "must be an object")).into());
        };
        let name = match spec.get("name") {
            None => asked.uid.to_owned(),
            Some(name) => serde_json::from_str(name).unwrap_or_default(),
        };
        if let Err(why) = names::dns_subdomain(&name) {
            return Err(refuse(FieldError::invalid("tombstone.name", name.as_str(), why)).into());
        }
        let document = epitaph(asked, last)?;
        spec.set("documentOmitted", document.is_none().then(|| "true".to_owned()));
        spec.set("document", document);
        let created = time::format(self.now());
        spec.set("destroyedAt", Some(format!("\"{created}\"")));
        let record = Document::from_value(json!({
            "apiVersion": API_VERSION, "kind": KIND,
            "metadata": {"name": name, "uid": self.nature.uid(), "creationTimestamp": created},
        }))?;
        let stored = Stored::encode_with(&record, "spec", &spec.text());
        admission::check_size(None, &stored)?;
        let kind = GroupResource::new("sexton.dev", "tombstones");
        let key = Key { kind, namespace: String::new(), name };
        Ok((key.encode().into(), stored))
    }
}

/// The last document, if it is not too large to be kept. Of a Secret the values are not.
fn epitaph(asked: Asked<'_>, last: &Object) -> Result<Option<String>> {
    if last.stored.text()?.len() > MOST_DOCUMENT {
        return Ok(None);
    }
    let may_be_secret = asked.item.group.is_empty() && asked.item.resource == "secrets";
    if let Some(text) =
        last.stored.pieces()?.filter(|_| !may_be_secret).and_then(|pieces| pieces.epitaph(last.revision))
    {
        return Ok(Some(text));
    }
    let mut document = last.document()?;
    document.set_or_remove("managedFields", None);
    let mut document = document.into_value();
    secrets::redact(&mut document);
    Ok(Some(document.to_string()))
}
