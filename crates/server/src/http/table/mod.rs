//! Objects as rows for people: what `kubectl get` prints.

mod columns;

use serde_json::{Value, json};
use sexton_model::{Revision, Status};
use sexton_store::Object;

use crate::api::Result;
use crate::kinds::Kind;
use columns::Column;

/// What comes along with each row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Include {
    Metadata,
    Object,
    None,
}

impl Include {
    pub(super) fn parse(text: &str) -> Result<Include> {
        match text {
            "" | "Metadata" => Ok(Include::Metadata),
            "Object" => Ok(Include::Object),
            "None" => Ok(Include::None),
            other => {
                Err(Status::bad_request(format!("includeObject={other}: expected Metadata, Object or None"))
                    .into())
            }
        }
    }
}

/// A table in the making.
pub(super) struct Table {
    columns: &'static [Column],
    api_version: String,
    now: i64,
    include: Include,
    rows: Vec<Value>,
}

impl Table {
    pub(super) fn new(kind: &Kind, now: i64, include: Include) -> Table {
        Table { columns: columns::of(kind), api_version: kind.api_version(), now, include, rows: Vec::new() }
    }

    pub(super) fn add(&mut self, object: &Object) -> Result<()> {
        let document = object.document()?;
        let cells: Vec<Value> = self.columns.iter().map(|column| column.cell(&document, self.now)).collect();
        let raw = |bytes: Vec<u8>| -> Value { serde_json::from_slice(&bytes).unwrap_or_default() };
        let mut bytes = Vec::new();
        let shown = match self.include {
            Include::None => Value::Null,
            Include::Object => {
                object.stored.write_in(&self.api_version, object.revision, &mut bytes)?;
                raw(bytes)
            }
            Include::Metadata => {
                object.stored.write_metadata(object.revision, &mut bytes)?;
                raw(bytes)
            }
        };
        self.rows.push(json!({"cells": cells, "object": shown}));
        Ok(())
    }

    pub(super) fn finish(self, revision: Revision, continue_token: &str, remaining: Option<usize>) -> Value {
        let mut metadata = json!({"resourceVersion": revision.to_string()});
        if !continue_token.is_empty() {
            metadata["continue"] = continue_token.into();
        }
        if let Some(remaining) = remaining {
            metadata["remainingItemCount"] = remaining.into();
        }
        let definitions: Vec<Value> = self.columns.iter().map(Column::definition).collect();
        json!({
            "kind": "Table", "apiVersion": "meta.k8s.io/v1", "metadata": metadata,
            "columnDefinitions": definitions, "rows": self.rows,
        })
    }
}
