//! Numbers without a pattern from a seed, so that runs repeat exactly.
//! Must not know: what is chosen with them. Not for secrets.

/// A generator of 64 bits of state: an additive counter with its bits mixed.
pub(crate) struct Random {
    state: u64,
}

impl Random {
    /// Starts from a seed.
    pub(crate) fn new(seed: u64) -> Self {
        Self { state: seed }
    }

    /// The next number below `bound`, which must not be zero.
    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        mix(self.state) % bound.max(1)
    }
}

/// Spreads every bit of the input over the output.
pub(crate) fn mix(value: u64) -> u64 {
    let value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn same_seed_same_numbers_within_bounds() {
        let draw = |seed| {
            let mut random = Random::new(seed);
            (0..100).map(|_| random.below(26)).collect::<Vec<_>>()
        };
        assert_eq!(draw(3), draw(3));
        assert_ne!(draw(3), draw(4));
        assert!(draw(3).iter().all(|value| *value < 26));
    }
}
