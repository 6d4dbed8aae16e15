//! How much the objects of a world hold, so that a program cannot keep there what its script may not.
//!
//! What is written is added up; what is overwritten or gone is not taken off, so now and then everything is counted
//! anew.

use std::cell::Cell;
use std::collections::BTreeMap;

use crate::stored::MAX_OBJECT_BYTES;
use crate::world::{Class, Handle, StoredValue, Value, World};

/// What every part of a value counts, beside its text.
pub(super) const VALUE_OVERHEAD_BYTES: usize = 16;
/// What an object counts, beside its values.
pub(super) const OBJECT_OVERHEAD_BYTES: usize = 200;

/// The weight of a world, never less than it is.
pub(super) struct WorldWeight {
    limit: usize,
    counted: Cell<usize>,
}

impl WorldWeight {
    pub(super) fn new(limit: usize) -> WorldWeight {
        WorldWeight { limit, counted: Cell::new(0) }
    }

    /// Whether so many bytes more may be kept, and counts them.
    pub(super) fn add(&self, world: &World, bytes: usize) -> Result<(), String> {
        let mut all = self.counted.get().saturating_add(bytes);
        if all > self.limit {
            all = weigh(world).saturating_add(bytes);
            // A little less than the limit, so that it is not counted anew for every byte.
            if all > self.limit - self.limit / 16 {
                self.counted.set(self.limit);
                return Err(format!("all objects together may hold {} bytes, and not more", self.limit));
            }
        }
        self.counted.set(all);
        Ok(())
    }
}

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

/// Whether an object may have another value in a property: all that is stored of it must fit into one resource. What is
/// short is not counted, so that writing it stays cheap; a server refuses the few that are too large for it.
pub(super) fn check_property(object: &Handle, name: &str, value: &Value) -> Result<(), String> {
    /// Shorter values are not counted.
    const SHORT: usize = 16 << 10;
    let class = object.class();
    let is_stored = class.property(name).is_some_and(|property| property.usage.is_persistable());
    let bytes = if is_stored { bytes_of(value) } else { 0 };
    if bytes < SHORT {
        return Ok(());
    }
    let others = class.properties().filter(|(other, one)| *other != name && one.usage.is_persistable());
    let others: usize = others.map(|(other, _)| bytes_of(&object.get(other))).sum();
    fits(bytes + others)
}

/// Whether a new object of a class may have these properties.
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

/// What a value takes in the resource of its object, about: names in maps count twice, a reference says kind, name and
/// uid. As deep as values may be.
fn bytes_of(value: &Value) -> usize {
    /// A reference without the name of the class.
    const REFERENCE: usize = 100;
    match value {
        Value::Null | Value::Bool(_) => 5,
        Value::Number(_) => 10,
        Value::String(text) => text.len() + 2,
        Value::List(items) => items.iter().map(|item| bytes_of(item) + 1).sum(),
        Value::Map(entries) => entries.iter().map(|(name, item)| 2 * name.len() + 12 + bytes_of(item)).sum(),
        Value::Object(_) => REFERENCE,
    }
}

/// As deep as values may be.
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
