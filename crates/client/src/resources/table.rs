//! Objects as rows for people, as the server lays them out.

use serde::Deserialize;
use serde_json::{Value, json};

use super::text;

/// What asks for a table, and takes plain objects from a server that has none.
pub(super) const ACCEPT: &str = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json";

/// A column.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Column {
    /// Its heading.
    pub name: String,
    /// Zero is always shown, more only when much is asked for.
    #[serde(default)]
    pub priority: i32,
}

/// A row: one object.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct Row {
    /// One value per column.
    #[serde(default)]
    pub cells: Vec<Value>,
    /// At least the metadata of the object.
    #[serde(default)]
    pub object: Value,
}

/// Rows under headings.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Table {
    /// The columns. Only the first table of a watch names them.
    #[serde(default, deserialize_with = "or_default")]
    pub column_definitions: Vec<Column>,
    /// The rows.
    #[serde(default, deserialize_with = "or_default")]
    pub rows: Vec<Row>,
}

fn or_default<'de, D: serde::Deserializer<'de>, T: Deserialize<'de> + Default>(
    from: D,
) -> Result<T, D::Error> {
    Ok(Option::deserialize(from)?.unwrap_or_default())
}

impl Table {
    /// Reads an answer: a table, a list of objects, or one object.
    pub(super) fn read(value: Value) -> Result<Table, serde_json::Error> {
        if value["kind"] == "Table" {
            return serde_json::from_value(value);
        }
        let objects = match value {
            Value::Object(mut map) if map.contains_key("items") => match map.remove("items") {
                Some(Value::Array(items)) => items,
                _ => Vec::new(),
            },
            object => vec![object],
        };
        let column = |name: &str| Column { name: name.to_owned(), priority: 0 };
        let row = |object: Value| Row {
            cells: vec![
                json!(text(&object, "/metadata/name")),
                json!(text(&object, "/metadata/creationTimestamp")),
            ],
            object,
        };
        Ok(Table {
            column_definitions: vec![column("Name"), column("Created At")],
            rows: objects.into_iter().map(row).collect(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_and_what_is_none() {
        let later =
            json!({"kind": "Table", "columnDefinitions": null, "rows": [{"cells": ["a", 1], "object": {}}]});
        let table = Table::read(later).unwrap();
        assert_eq!((table.column_definitions.len(), table.rows.len()), (0, 1));
        let list = json!({"kind": "ConfigMapList", "items": [{"metadata": {"name": "a"}}]});
        let table = Table::read(list).unwrap();
        assert_eq!(
            (table.column_definitions[0].name.as_str(), &table.rows[0].cells[0]),
            ("Name", &json!("a"))
        );
    }
}
