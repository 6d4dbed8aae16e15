//! How much the objects of a world hold, so that a program cannot keep there what its script may not.
//!
//! What is written is added up; what is overwritten or gone is not taken off, so now and then everything is counted
//! anew.

use std::cell::Cell;

use crate::world::{Stored, World};

/// What every part of a value counts, beside its text.
pub(super) const PART: usize = 16;
/// What an object counts, beside its values.
pub(super) const OBJECT: usize = 200;

/// The weight of a world, never less than it is.
pub(super) struct Weight {
    limit: usize,
    counted: Cell<usize>,
}

impl Weight {
    pub(super) fn new(limit: usize) -> Weight {
        Weight { limit, counted: Cell::new(0) }
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
            let fields: usize = object.fields.iter().map(of).sum();
            let private = object.rare.iter().flat_map(|rare| rare.private.iter());
            OBJECT + fields + private.map(|(name, value)| name.len() + of(value)).sum::<usize>()
        };
        store.objects().map(|(_, object)| one(object)).sum()
    })
}

/// As deep as values may be.
fn of(value: &Stored) -> usize {
    PART + match value {
        Stored::String(text) => text.len(),
        Stored::List(items) => items.iter().map(of).sum(),
        Stored::Map(entries) => entries.iter().map(|(name, value)| name.len() + of(value)).sum(),
        _ => 0,
    }
}
