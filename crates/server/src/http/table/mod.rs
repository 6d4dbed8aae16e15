//! Objects as rows for people: what `kubectl get` prints.

mod columns;
mod defined;

use std::sync::Arc;

use serde_json::{Value, json};
use sexton_model::stored::NotStored;
use sexton_model::{Document, Status};
use sexton_store::Object;

use crate::api::Result;
use crate::kinds::{Kind, Offer};
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

/// Where the columns of a kind come from.
#[derive(Debug, Clone)]
enum Columns {
    /// From a table of ours.
    Fixed(&'static [Column]),
    /// From a definition, behind the name.
    Defined(Arc<Offer>),
}

impl Columns {
    fn of(kind: &Kind) -> Columns {
        match kind.offer.columns {
            Some(_) => Columns::Defined(kind.offer.clone()),
            None => Columns::Fixed(columns::of(kind)),
        }
    }

    fn definitions(&self) -> Vec<Value> {
        match self {
            Columns::Fixed(columns) => columns.iter().map(Column::definition).collect(),
            Columns::Defined(offer) => defined::definitions(offer.columns.as_deref().unwrap_or_default()),
        }
    }

    fn cells(&self, document: &Document, now: i64) -> Vec<Value> {
        match self {
            Columns::Fixed(columns) => columns.iter().map(|column| column.cell(document, now)).collect(),
            Columns::Defined(offer) => {
                defined::cells(offer.columns.as_deref().unwrap_or_default(), document, now)
            }
        }
    }
}

/// How objects of a kind become rows. Rows are written one by one, so that a large table is never in memory as a whole.
#[derive(Debug, Clone)]
pub(super) struct Table {
    columns: Columns,
    api_version: String,
    now: i64,
    include: Include,
}

impl Table {
    pub(super) fn new(kind: &Kind, now: i64, include: Include) -> Table {
        Table { columns: Columns::of(kind), api_version: kind.api_version(), now, include }
    }

    /// The beginning of a table, up to its first row. `]}` ends it.
    pub(super) fn head(&self, metadata: &Value, with_columns: bool) -> Vec<u8> {
        let columns = with_columns.then(|| self.columns.definitions());
        let columns = json!(columns);
        format!(
            r#"{{"kind":"Table","apiVersion":"meta.k8s.io/v1","metadata":{metadata},"columnDefinitions":{columns},"rows":["#
        )
        .into_bytes()
    }

    /// Appends the row of an object.
    pub(super) fn row(&self, object: &Object, out: &mut Vec<u8>) -> std::result::Result<(), NotStored> {
        let document = object.document()?;
        let cells = self.columns.cells(&document, self.now);
        out.extend_from_slice(format!(r#"{{"cells":{},"object":"#, json!(cells)).as_bytes());
        match self.include {
            Include::None => out.extend_from_slice(b"null"),
            Include::Object => object.stored.write_in(&self.api_version, object.revision, out)?,
            Include::Metadata => object.stored.write_metadata(object.revision, out)?,
        }
        out.push(b'}');
        Ok(())
    }

    /// A table of one object.
    pub(super) fn single(
        &self,
        object: &Object,
        with_columns: bool,
    ) -> std::result::Result<Vec<u8>, NotStored> {
        let mut out = self.head(&json!({"resourceVersion": object.revision.to_string()}), with_columns);
        self.row(object, &mut out)?;
        out.extend_from_slice(b"]}");
        Ok(out)
    }
}
