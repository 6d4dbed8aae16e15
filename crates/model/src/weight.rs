//! About how much memory JSON takes once it is read. A short text may become very much of it; what bounds requests
//! therefore counts this and not only bytes.

use serde_json::Value;

/// One value, in the list or the map that it stands in.
pub const VALUE_BYTES: usize = 32;
/// What a text needs beside its bytes.
pub const TEXT_BYTES: usize = 24;
/// A map that is not empty has room for eleven fields from the beginning.
pub const MAP_BYTES: usize = 640;
/// Each further field, with its share of room that is not used.
pub const FIELD_BYTES: usize = 88;
/// Fields for which a map has room at once.
pub const FIRST_FIELDS: usize = 11;

/// About how many bytes a value takes.
pub fn of(value: &Value) -> usize {
    VALUE_BYTES
        + match value {
            Value::String(text) => TEXT_BYTES + text.len(),
            Value::Array(items) => items.iter().map(of).sum(),
            Value::Object(map) => {
                let fields = map.iter().map(|(name, value)| TEXT_BYTES + name.len() + of(value));
                map_of(map.len()) + fields.sum::<usize>()
            }
            _ => 0,
        }
}

/// What a map of so many fields takes beside them.
pub fn map_of(fields: usize) -> usize {
    match fields {
        0 => 0,
        _ => MAP_BYTES + fields.saturating_sub(FIRST_FIELDS) * FIELD_BYTES,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn small_maps_weigh_more_than_their_text() {
        assert_eq!((of(&json!(null)), of(&json!("abc")), of(&json!([1, 2]))), (32, 59, 96));
        assert_eq!(of(&json!({})), VALUE_BYTES);
        assert_eq!(of(&json!({"": 0})), VALUE_BYTES + MAP_BYTES + TEXT_BYTES + VALUE_BYTES);
        assert_eq!(map_of(13), MAP_BYTES + 2 * FIELD_BYTES);
    }
}
