//! New places for the unmarked when nothing is swept: behind all that are marked, in the order that they had.
//!
//! It must not know what the places are written on.

/// The new places of the unmarked, in the order in which they were given.
///
/// All are shifted by (highest marked + 1 − lowest unmarked), which is (number of marked + 1 − lowest unmarked) where
/// the places of the marked count up from 1 without gaps. Those that have no place stand below all others that are
/// unmarked, together. A negative shift is a shift as well: the unmarked then move down, and no place grows without end.
pub fn renumber(highest_marked: Option<i64>, unmarked: &[Option<i64>]) -> Vec<i64> {
    let base = highest_marked.unwrap_or(0).max(0).saturating_add(1);
    let lowest = unmarked.iter().flatten().min().copied();
    let room = i64::from(unmarked.iter().any(Option::is_none));
    let Some(lowest) = lowest else { return vec![base; unmarked.len()] };
    let shift = i128::from(base) + i128::from(room) - i128::from(lowest);
    let shifted: Option<Vec<i64>> = unmarked
        .iter()
        .map(|order| order.map_or(Some(base), |order| i64::try_from(i128::from(order) + shift).ok()))
        .collect();
    // So far apart that they do not fit behind the marked: close together they do.
    shifted.unwrap_or_else(|| dense(base, unmarked))
}

fn dense(base: i64, unmarked: &[Option<i64>]) -> Vec<i64> {
    let mut places: Vec<Option<i64>> = unmarked.to_vec();
    places.sort_unstable();
    places.dedup();
    let place =
        |order: &Option<i64>| i64::try_from(places.partition_point(|place| place < order)).unwrap_or(0);
    unmarked.iter().map(|order| base.saturating_add(place(order))).collect()
}
