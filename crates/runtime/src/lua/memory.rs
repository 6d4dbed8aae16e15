//! The memory of a script: where the script engine refuses more, and when its garbage is collected.
//!
//! It must not know what the memory is used for.

use std::cell::Cell;

use mlua::Lua;

/// One part in so many of the limit is a reserve. The script engine refuses what goes beyond the rest, but not the two
/// small functions that each call of the host into it needs (about 100 bytes, garbage afterwards), nor the words of
/// the error that says so. With the reserve these fit below the limit, too.
const RESERVE_DIVISOR: usize = 16;

/// Decides when the garbage of a script is collected.
///
/// The script engine collects by its own measure, which allows twice of what is alive, and does not try again when it
/// reaches its bound. So it is made to when little is left, unless that was just done and brought nothing.
pub(super) struct Memory {
    limit: usize,
    next: Cell<usize>,
}

impl Memory {
    /// For a script that may use so many bytes.
    pub(super) fn new(limit: usize) -> Memory {
        Memory { limit, next: Cell::new(limit / 2) }
    }

    /// The bytes beyond which the script engine refuses what the script itself wants; never zero, which would mean no
    /// bound at all.
    pub(super) fn bound(limit: usize) -> usize {
        (limit - limit / RESERVE_DIVISOR).max(1)
    }

    /// Collects garbage if it is time for that. To be called between any two steps of a script, and in loops of the host
    /// that call into the script engine.
    pub(super) fn relieve(&self, lua: &Lua) {
        if lua.used_memory() < self.next.get() {
            return;
        }
        // Failing to collect is no reason to stop: the limit itself will be.
        let _ = lua.gc_collect();
        self.next.set(self.after(lua.used_memory()));
    }

    /// When to collect next, if so much is in use after a collection. Beyond the bound half of the reserve may be garbage:
    /// the other half is for what the host does until the next look. A little may always be garbage, so that a script
    /// whose memory is full does not collect at every step.
    fn after(&self, used: usize) -> usize {
        let reserve = self.limit / RESERVE_DIVISOR;
        let last = Memory::bound(self.limit) + reserve / 2;
        (used + reserve).min(last).max(used + reserve / 16).max(self.limit / 2)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// However much is in use, the next collection is due before the limit is reached.
    #[test]
    fn garbage_is_collected_below_the_limit() {
        let memory = Memory::new(16 << 20);
        assert_eq!(memory.after(1 << 20), 8 << 20, "not often while there is much room");
        assert_eq!(memory.after(10 << 20), 11 << 20);
        for used in [15 << 20, (15 << 20) + 1000] {
            assert_eq!(memory.after(used), (15 << 20) + (512 << 10));
        }
        let full = (15 << 20) + (900 << 10);
        assert_eq!(memory.after(full), full + (64 << 10));
    }

    #[test]
    fn there_is_always_a_bound() {
        assert_eq!(Memory::bound(16 << 20), 15 << 20);
        assert_eq!(Memory::bound(0), 1);
    }
}
