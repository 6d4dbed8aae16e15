//! The order in which resources are put: dependents after their owners, so that no resource is an orphan at any moment.

use hashbrown::HashMap;

use super::AT_ONCE;
use super::written::Written;

/// Bytes in one request.
const BYTES_AT_ONCE: usize = 2 << 20;

/// The resources of one request, and the number of the part that has to be stored before it.
pub(super) struct Part {
    pub(super) members: Vec<Written>,
    pub(super) after: Option<usize>,
}

/// All resources in parts of one request each, owners before their dependents.
pub(super) fn in_parts(written: Vec<Written>) -> Vec<Part> {
    let mut parts: Vec<Part> = Vec::new();
    let mut places: HashMap<String, usize> = HashMap::with_capacity(written.len());
    let mut bytes = 0;
    for one in by_depth(written) {
        let size = one.resource.text().len();
        if parts.last().is_none_or(|part| part.members.len() >= AT_ONCE || bytes + size > BYTES_AT_ONCE) {
            parts.push(Part { members: Vec::new(), after: None });
            bytes = 0;
        }
        bytes += size;
        let own = parts.len() - 1;
        places.insert(one.uid.clone(), own);
        if let Some(part) = parts.last_mut() {
            // Within one request they are put in their order.
            let elsewhere = one.owners.iter().filter_map(|owner| places.get(owner)).filter(|at| **at != own);
            part.after = part.after.max(elsewhere.max().copied());
            part.members.push(one);
        }
    }
    parts
}

/// Sorted by depth: resources without an owner among them first, then the dependents of these, and so on. In a circle
/// any resource may be first.
fn by_depth(mut written: Vec<Written>) -> Vec<Written> {
    let places: HashMap<&str, usize> =
        written.iter().enumerate().map(|(at, one)| (one.uid.as_str(), at)).collect();
    let owner = |at: usize| written[at].owners.iter().find_map(|owner| places.get(owner.as_str()).copied());
    let mut depths: Vec<Option<usize>> = vec![None; written.len()];
    for start in 0..written.len() {
        let mut way = Vec::new();
        let mut at = Some(start);
        let mut depth = 0;
        while let Some(here) = at {
            match depths[here] {
                // Met on this very way it is a circle; otherwise this is where the way leads.
                Some(known) => {
                    depth = if known == usize::MAX { 0 } else { known + 1 };
                    break;
                }
                None => {
                    depths[here] = Some(usize::MAX);
                    way.push(here);
                    at = owner(here);
                }
            }
        }
        for here in way.into_iter().rev() {
            depths[here] = Some(depth);
            depth += 1;
        }
    }
    drop(places);
    let mut keyed: Vec<(usize, Written)> =
        depths.into_iter().map(Option::unwrap_or_default).zip(written.drain(..)).collect();
    // Neighbours in the store go together: that is where they are compared and put.
    keyed.sort_by(|(high, one), (low, other)| {
        (high, &one.kind, &one.name).cmp(&(low, &other.kind, &other.name))
    });
    keyed.into_iter().map(|(_, one)| one).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;
    use crate::environment::save::written::raw;

    fn written(uid: usize, owner: Option<usize>) -> Written {
        Written {
            kind: "Vm".into(),
            namespace: "prod".into(),
            name: uid.to_string(),
            uid: uid.to_string(),
            version: None,
            resource: raw(&json!({})).unwrap(),
            owners: owner.map(|owner| owner.to_string()).into_iter().collect(),
            destroyed: false,
        }
    }

    proptest! {
        /// The owner of each resource is before it, in the same part or in one that its part waits for.
        #[test]
        fn nobody_before_its_owner(owners in prop::collection::vec(any::<prop::sample::Index>(), 0..4_000)) {
            // Each owner is listed after its dependents, so that the order has to be reversed.
            let count = owners.len();
            let owner = |at: usize| (at + 1 < count).then(|| at + 1 + owners[at].index(count - at - 1));
            let parts = in_parts((0..count).map(|at| written(at, owner(at))).collect());
            let mut places = HashMap::new();
            for (number, part) in parts.iter().enumerate() {
                prop_assert!(part.members.len() <= AT_ONCE && part.after.is_none_or(|after| after < number));
                for (row, one) in part.members.iter().enumerate() {
                    for owner in &one.owners {
                        let (at, before): (usize, usize) = places[owner];
                        prop_assert!(at == number && before < row || part.after.is_some_and(|after| at <= after));
                    }
                    places.insert(one.uid.clone(), (number, row));
                }
            }
            prop_assert_eq!(places.len(), count);
        }
    }

    #[test]
    fn a_circle_and_a_long_chain() {
        let circle = in_parts(vec![written(0, Some(1)), written(1, Some(2)), written(2, Some(0))]);
        assert_eq!(circle.len(), 1);
        let chain = in_parts((0..100_000).map(|at| written(at, Some(at + 1))).collect());
        assert_eq!((chain.len(), chain[99].after), (100, Some(98)));
    }
}
