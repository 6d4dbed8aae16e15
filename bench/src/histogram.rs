//! Latencies in fixed log-linear buckets: cheap to record, cheap to merge, under 1 % off.
//! Must not know: what the recorded times mean.

use std::time::Duration;

/// Each power of two is split into this many buckets, as a power of two: 2^7 gives under 1 % error.
const SPLIT_BITS: u32 = 7;
const SPLIT: usize = 1 << SPLIT_BITS;
/// 2^40 ns is 18 minutes, far above any bound in time of a request; longer ones share the last bucket.
const GREATEST_POWER: u32 = 40;
const BUCKETS: usize = SPLIT * (GREATEST_POWER - SPLIT_BITS + 1) as usize;

/// Times of many operations.
#[derive(Clone)]
pub(crate) struct Histogram {
    counts: Vec<u64>,
    total: u64,
    longest: u64,
}

impl Histogram {
    /// An empty histogram.
    pub(crate) fn new() -> Self {
        Self { counts: vec![0; BUCKETS], total: 0, longest: 0 }
    }

    /// Adds one time.
    pub(crate) fn record(&mut self, time: Duration) {
        let nanos = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        self.counts[bucket_of(nanos)] += 1;
        self.total += 1;
        self.longest = self.longest.max(nanos);
    }

    /// Adds everything another histogram saw.
    pub(crate) fn merge(&mut self, other: &Histogram) {
        for (mine, theirs) in self.counts.iter_mut().zip(&other.counts) {
            *mine += theirs;
        }
        self.total += other.total;
        self.longest = self.longest.max(other.longest);
    }

    /// The time that `fraction` of all operations did not exceed, in microseconds; zero when empty.
    pub(crate) fn quantile_us(&self, fraction: f64) -> f64 {
        let wanted = ((self.total as f64 * fraction).ceil() as u64).max(1);
        let mut seen = 0;
        for (bucket, count) in self.counts.iter().enumerate() {
            seen += count;
            if seen >= wanted {
                return to_us(top_of(bucket).min(self.longest));
            }
        }
        to_us(self.longest)
    }

    /// How many times were recorded.
    pub(crate) fn count(&self) -> u64 {
        self.total
    }

    /// The longest time, exactly, in microseconds.
    pub(crate) fn max_us(&self) -> f64 {
        to_us(self.longest)
    }

    /// Coarse shape for a report: pairs of upper bound in microseconds and count, one per doubling.
    pub(crate) fn doublings(&self) -> Vec<(f64, u64)> {
        let mut shape: Vec<(f64, u64)> = Vec::new();
        for (bucket, count) in self.counts.iter().enumerate().filter(|(_, count)| **count > 0) {
            let bound = to_us(top_of(bucket).next_power_of_two());
            match shape.last_mut() {
                Some(last) if last.0 == bound => last.1 += count,
                _ => shape.push((bound, *count)),
            }
        }
        shape
    }
}

/// Below `SPLIT` every value has its own bucket; above, the leading bits choose it.
fn bucket_of(nanos: u64) -> usize {
    let nanos = nanos.min((1 << GREATEST_POWER) - 1);
    if nanos < SPLIT as u64 {
        return nanos as usize;
    }
    let shift = nanos.ilog2() - SPLIT_BITS;
    let within = (nanos >> shift) as usize - SPLIT;
    (shift as usize + 1) * SPLIT + within
}

/// The greatest value that falls into a bucket.
fn top_of(bucket: usize) -> u64 {
    if bucket < SPLIT {
        return bucket as u64;
    }
    let shift = (bucket / SPLIT - 1) as u32;
    (((bucket % SPLIT + SPLIT + 1) as u64) << shift) - 1
}

/// Tenths of a microsecond are the finest that a report needs.
fn to_us(nanos: u64) -> f64 {
    (nanos as f64 / 100.0).round() / 10.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_hold_their_own_bounds() {
        for nanos in [0, 1, 127, 128, 129, 255, 256, 1_000, 123_456_789, (1 << 40) - 1, u64::MAX] {
            let bucket = bucket_of(nanos);
            assert!(bucket < BUCKETS);
            let top = top_of(bucket);
            assert_eq!(bucket_of(top), bucket);
            if nanos < 1 << 40 {
                assert!(top >= nanos && top - nanos <= nanos / 100 + 1, "{nanos} in bucket up to {top}");
            }
        }
    }

    #[test]
    fn quantiles_of_a_ramp() {
        let mut ramp = Histogram::new();
        for us in 1..=1000 {
            ramp.record(Duration::from_micros(us));
        }
        assert!((ramp.quantile_us(0.5) - 500.0).abs() < 5.0);
        assert!((ramp.quantile_us(0.99) - 990.0).abs() < 10.0);
        assert_eq!(ramp.max_us(), 1000.0);
        assert_eq!(ramp.doublings().iter().map(|(_, count)| count).sum::<u64>(), 1000);
    }

    #[test]
    fn merging_adds_and_empty_is_zero() {
        let mut one = Histogram::new();
        assert_eq!(one.quantile_us(0.99), 0.0);
        let mut two = Histogram::new();
        two.record(Duration::from_micros(7));
        one.merge(&two);
        assert_eq!(one.max_us(), 7.0);
    }
}
