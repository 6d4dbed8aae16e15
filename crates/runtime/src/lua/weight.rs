//! The bytes that all objects of a world hold, bounded, so that a program cannot evade its script's memory limit by
//! storing values in objects.
//!
//! Written values are added up. Overwritten and removed values are not subtracted; instead everything is counted again
//! when the sum reaches the limit.

use std::cell::Cell;
use std::collections::BTreeMap;

use crate::stored::MAX_OBJECT_BYTES;
use crate::world::{Class, Handle, StoredValue, Value, World};

/// Counted for every part of a value, in addition to its text.
pub(super) const VALUE_OVERHEAD_BYTES: usize = 16;
/// Counted for every object, in addition to its values.
pub(super) const OBJECT_OVERHEAD_BYTES: usize = 200;

/// An upper bound of the bytes that all objects hold.
pub(super) struct WorldWeight {
    limit: usize,
    counted: Cell<usize>,
}

impl WorldWeight {
    pub(super) fn new(limit: usize) -> WorldWeight {
        WorldWeight { limit, counted: Cell::new(0) }
    }

    /// Counts more bytes.
    ///
    /// # Errors
    /// If the objects would hold more than the limit.
    pub(super) fn add(&self, world: &World, bytes: usize) -> Result<(), String> {
        let mut all = self.counted.get().saturating_add(bytes);
        if all > self.limit {
            all = weigh(world).saturating_add(bytes);
            // Refused slightly below the limit, so that a full world is not counted again for every write.
            if all > self.limit - self.limit / 16 {
                self.counted.set(self.limit);
                return Err(format!("all objects together may hold {} bytes, and not more", self.limit));
            }
        }
        self.counted.set(all);
        Ok(())
    }
}

/// The bytes that all objects hold now.
fn weigh(world: &World) -> usize {
    world.read(|store| {
        let one = |object: &crate::world::Object| {
            let fields: usize = object.fields.iter().map(weight_of).sum();
            let private = object.rare.iter().flat_map(|rare| rare.private.iter());
            OBJECT_OVERHEAD_BYTES
                + fields
                + private.map(|(name, value)| name.len() + weight_of(value)).sum::<usize>()
        };
        store.objects().map(|(_, object)| one(object)).sum()
    })
}

/// Checks that an object with a new value for a property still fits into one resource. Short values are not checked, so
/// that writing them stays cheap; a server refuses the few objects that become too large by them.
pub(super) fn check_property(object: &Handle, name: &str, value: &Value) -> Result<(), String> {
    /// Shorter values are not checked.
    const SHORT_BYTES: usize = 16 << 10;
    let class = object.class();
    let is_stored = class.property(name).is_some_and(|property| property.usage.is_persistable());
    let bytes = if is_stored { bytes_of(value) } else { 0 };
    if bytes < SHORT_BYTES {
        return Ok(());
    }
    let others = class.properties().filter(|(other, one)| *other != name && one.usage.is_persistable());
    let others: usize = others.map(|(other, _)| bytes_of(&object.get(other))).sum();
    fits(bytes + others)
}

/// Checks that a new object with these properties fits into one resource.
pub(super) fn check_new_properties(
    class: &Class,
    properties: &BTreeMap<String, Value>,
) -> Result<(), String> {
    let stored = properties
        .iter()
        .filter(|(name, _)| class.property(name).is_some_and(|property| property.usage.is_persistable()));
    fits(stored.map(|(_, value)| bytes_of(value)).sum())
}

fn fits(bytes: usize) -> Result<(), String> {
    if bytes <= MAX_OBJECT_BYTES {
        return Ok(());
    }
    Err(format!("all stored properties of an object together may take {MAX_OBJECT_BYTES} bytes, not {bytes}"))
}

/// The approximate size of a value in its object's resource: keys of maps count twice (see `managedFields`), a
/// reference contains kind, name and uid. Recursive: the depth of values is bounded.
fn bytes_of(value: &Value) -> usize {
    /// The size of a reference without the name of the class.
    const REFERENCE_BYTES: usize = 100;
    match value {
        Value::Null | Value::Bool(_) => 5,
        Value::Number(_) => 10,
        Value::String(text) => text.len() + 2,
        Value::List(items) => items.iter().map(|item| bytes_of(item) + 1).sum(),
        Value::Map(entries) => entries.iter().map(|(name, item)| 2 * name.len() + 12 + bytes_of(item)).sum(),
        Value::Object(_) => REFERENCE_BYTES,
    }
}

/// The bytes counted for a stored value. Recursive: the depth of values is bounded.
fn weight_of(value: &StoredValue) -> usize {
    VALUE_OVERHEAD_BYTES
        + match value {
            StoredValue::String(text) => text.len(),
            StoredValue::List(items) => items.iter().map(weight_of).sum(),
            StoredValue::Map(entries) => {
                entries.iter().map(|(name, value)| name.len() + weight_of(value)).sum()
            }
            _ => 0,
        }
}
