//! The memory of a script: when the script engine refuses more, and when its garbage is collected.
//!
//! ```text
//! 0 ─────────────── limit/2 ──────────────────────── bound ──────── limit
//!   no collection yet        collections in steps          reserve of the host (1/16)
//! ```

use std::cell::Cell;

use mlua::Lua;

/// This fraction (1/n) of the limit is a reserve. The script engine refuses allocations of the script beyond the rest,
/// but not the two small functions that each call from the host needs (about 100 bytes, garbage afterwards), nor the
/// text of the error. The reserve keeps these below the limit, too.
const RESERVE_DIVISOR: usize = 16;

/// Decides when the garbage of a script is collected.
///
/// The script engine starts collections by its own rule, which allows twice the memory that is alive, and does not
/// collect when it reaches its bound. So a collection is forced when little is left, unless the last one has just freed
/// nothing.
pub(super) struct Memory {
    limit: usize,
    next: Cell<usize>,
}

impl Memory {
    /// The memory of a script that may use `limit` bytes.
    pub(super) fn new(limit: usize) -> Memory {
        Memory { limit, next: Cell::new(limit / 2) }
    }

    /// The bound in bytes for the script engine: the limit without the reserve. Never zero, which would mean no bound
    /// at all.
    pub(super) fn bound(limit: usize) -> usize {
        (limit - limit / RESERVE_DIVISOR).max(1)
    }

    /// Collects garbage if it is due. To be called between any two steps of a script, and in loops of the host that
    /// call into the script engine.
    pub(super) fn relieve(&self, lua: &Lua) {
        if lua.used_memory() < self.next.get() {
            return;
        }
        // A failed collection is ignored: if memory is short, the next allocation fails.
        let _ = lua.gc_collect();
        self.next.set(self.after(lua.used_memory()));
    }

    /// The use in bytes at which the next collection is due, if `used` bytes are in use after one. Half of the reserve
    /// may become garbage; the other half is for allocations of the host until the next check. A little garbage is
    /// always allowed, so that a script with full memory does not collect at every step.
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
