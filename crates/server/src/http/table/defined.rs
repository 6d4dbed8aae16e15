//! Columns that a definition names: the first value at a path, as the column means it.

use serde_json::{Value, json};
use sexton_model::{Document, time};

use crate::kinds::{ColumnType, PrinterColumn};

/// So many bytes of text may the cells of one row have: every column may name the whole object, and there may be
/// thousands of them.
const MAX_ROW_BYTES: usize = 256 << 10;

/// The name, and what the definition names behind it.
pub(super) fn definitions(columns: &[PrinterColumn]) -> Vec<Value> {
    let name = json!({
        "name": "Name", "type": "string", "format": "name", "priority": 0,
        "description": "The name of the object, unique among its kind in its namespace.",
    });
    let column = |column: &PrinterColumn| {
        json!({
            "name": column.name, "type": column.kind.word(), "format": column.format,
            "description": column.description, "priority": column.priority,
        })
    };
    std::iter::once(name).chain(columns.iter().map(column)).collect()
}

/// The cells of a row. Those for which there is no room any more are left empty.
pub(super) fn cells(columns: &[PrinterColumn], document: &Document, now: i64) -> Vec<Value> {
    let mut left = MAX_ROW_BYTES;
    let cell = |column: &PrinterColumn| {
        let found = column.path.first(document.value()).filter(|_| left > 0);
        let cell = found.map_or(Value::Null, |value| cell(column.kind, value, now));
        let bytes = cell.as_str().map_or(0, str::len);
        match left.checked_sub(bytes) {
            Some(rest) => left = rest,
            None => {
                left = 0;
                return Value::Null;
            }
        }
        cell
    };
    std::iter::once(document.name().into()).chain(columns.iter().map(cell)).collect()
}

/// A value as a column means it; what does not fit is left empty.
fn cell(kind: ColumnType, value: &Value, now: i64) -> Value {
    match (kind, value) {
        (_, Value::Null) => Value::Null,
        (ColumnType::Text, Value::String(text)) => text.as_str().into(),
        (ColumnType::Text, other) => other.to_string().into(),
        (ColumnType::Integer, Value::Number(number)) => {
            let whole = || number.as_f64().map_or(Value::Null, |number| json!(number.trunc() as i64));
            number.as_i64().map_or_else(whole, Value::from)
        }
        (ColumnType::Number, Value::Number(_)) | (ColumnType::Boolean, Value::Bool(_)) => value.clone(),
        (ColumnType::Date, Value::String(text)) => {
            // What is yet to come has no age; a second is what clocks may differ by.
            let then = time::parse(text).filter(|then| then.saturating_sub(now) <= 1);
            then.map_or("<invalid>".to_owned(), |then| time::age(now - then)).into()
        }
        _ => Value::Null,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ColumnType::{Boolean, Date, Integer, Number, Text};

    #[test]
    fn values_are_shown_as_columns_mean_them() {
        for (kind, value, expected) in [
            (Text, json!("a"), json!("a")),
            (Text, json!(3), json!("3")),
            (Text, json!(true), json!("true")),
            (Text, json!({"a": [1]}), json!("{\"a\":[1]}")),
            (Text, json!(null), json!(null)),
            (Integer, json!(3), json!(3)),
            (Integer, json!(3.7), json!(3)),
            (Integer, json!("3"), json!(null)),
            (Number, json!(0.5), json!(0.5)),
            (Boolean, json!(false), json!(false)),
            (Boolean, json!("yes"), json!(null)),
            (Date, json!("1970-01-01T00:00:00Z"), json!("100s")),
            (Date, json!("1970-01-01T00:01:41Z"), json!("0s")),
            (Date, json!("1970-01-01T00:02:00Z"), json!("<invalid>")),
            (Date, json!("yesterday"), json!("<invalid>")),
            (Date, json!(7), json!(null)),
        ] {
            assert_eq!(cell(kind, &value, 100), expected, "{kind:?} {value}");
        }
    }
}
