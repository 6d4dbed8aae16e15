//! Which column each box stands in: right of all that point to it, and no column too high.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::Link;

/// The column of each box, and which links were turned round to break circles.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Layers {
    pub(super) of: Vec<usize>,
    pub(super) turned: Vec<bool>,
}

/// Fewer rows than this are never too many.
const ROWS_LEAST: usize = 10;
/// Boxes are wide and flat: with the root of this times `n` rows, a picture of `n` is about half as high as wide.
const FLATNESS: f64 = 2.8;
/// Fewer siblings than this stay in one column.
const SIBLINGS_LEAST: usize = 4;

/// Columns for boxes `0..count`.
pub(super) fn assign(count: usize, links: &[Link]) -> Layers {
    let turned = break_circles(count, links);
    let (mut next, mut before) = (vec![Vec::new(); count], vec![Vec::new(); count]);
    for (link, turned) in links.iter().zip(&turned).filter(|(link, _)| link.left != link.right) {
        let (left, right) = if *turned { (link.right, link.left) } else { (link.left, link.right) };
        next[left].push(right);
        before[right].push(left);
    }
    let rows = ((count as f64 * FLATNESS).sqrt().ceil() as usize).max(ROWS_LEAST);
    let mut of = vec![0; count];
    for at in sorted(&next, &before) {
        of[at] = before[at].iter().map(|&before| of[before] + 1).max().unwrap_or(0);
    }
    pull_right(&next, &before, &mut of);
    let linked = |at: &usize| !next[*at].is_empty() || !before[*at].is_empty();
    let mut filled = Vec::new();
    (0..count).filter(linked).for_each(|at| put(at, of[at], &mut of, &mut filled));
    spread(&next, &before, &mut of, &mut filled, rows);
    for at in (0..count).filter(|at| !linked(at)) {
        // Those without lines fill what is empty, or begin a column of their own.
        let emptiest = (0..filled.len()).min_by_key(|&layer| filled[layer]);
        let layer = emptiest.filter(|&layer| filled[layer] < rows).unwrap_or(filled.len());
        put(at, layer, &mut of, &mut filled);
    }
    Layers { of: compacted(of), turned }
}

/// Columns that are too high: siblings at the ends of lines stand side by side in several columns.
fn spread(
    next: &[Vec<usize>],
    before: &[Vec<usize>],
    of: &mut [usize],
    filled: &mut Vec<usize>,
    rows: usize,
) {
    let mut siblings: BTreeMap<(usize, Vec<usize>), Vec<usize>> = BTreeMap::new();
    for at in (0..of.len()).filter(|&at| next[at].is_empty() && !before[at].is_empty()) {
        let mut parents = before[at].clone();
        parents.sort_unstable();
        parents.dedup();
        siblings.entry((of[at], parents)).or_default().push(at);
    }
    let heights = filled.clone();
    for ((layer, _), group) in siblings.into_iter().filter(|(_, group)| group.len() >= SIBLINGS_LEAST) {
        let columns = heights.get(layer).map_or(1, |height| height.div_ceil(rows));
        let each = group.len().div_ceil(columns).max(2);
        for (place, &at) in group.iter().enumerate().skip(each) {
            filled[layer] -= 1;
            put(at, layer + place / each, of, filled);
        }
    }
}

fn put(at: usize, layer: usize, of: &mut [usize], filled: &mut Vec<usize>) {
    filled.resize(filled.len().max(layer + 1), 0);
    filled[layer] += 1;
    of[at] = layer;
}

/// What nothing points to stands right before the first that it points to.
fn pull_right(next: &[Vec<usize>], before: &[Vec<usize>], of: &mut [usize]) {
    for at in (0..of.len()).filter(|&at| before[at].is_empty()) {
        of[at] = next[at].iter().map(|&next| of[next] - 1).min().unwrap_or(0);
    }
}

/// Without empty columns.
fn compacted(of: Vec<usize>) -> Vec<usize> {
    let used: BTreeSet<usize> = of.iter().copied().collect();
    let places: HashMap<usize, usize> =
        used.into_iter().enumerate().map(|(place, layer)| (layer, place)).collect();
    of.iter().map(|layer| places.get(layer).copied().unwrap_or(0)).collect()
}

/// Which links to turn round so that there are no circles: those that lead back in a walk through the depth.
fn break_circles(count: usize, links: &[Link]) -> Vec<bool> {
    let mut out: Vec<Vec<usize>> = vec![Vec::new(); count];
    let mut entered = vec![false; count];
    for (at, link) in links.iter().enumerate().filter(|(_, link)| link.left != link.right) {
        out[link.left].push(at);
        entered[link.right] = true;
    }
    #[derive(Clone, Copy, PartialEq)]
    enum Seen {
        Not,
        Open,
        Done,
    }
    let mut seen = vec![Seen::Not; count];
    let mut turned = vec![false; links.len()];
    // Begins where nothing leads to, so that only real circles are cut.
    let starts = (0..count).filter(|&at| !entered[at]).chain((0..count).filter(|&at| entered[at]));
    for start in starts {
        if seen[start] != Seen::Not {
            continue;
        }
        seen[start] = Seen::Open;
        let mut stack = vec![(start, 0)];
        while let Some((at, place)) = stack.pop() {
            let Some(&link) = out[at].get(place) else {
                seen[at] = Seen::Done;
                continue;
            };
            stack.push((at, place + 1));
            let to = links[link].right;
            match seen[to] {
                Seen::Open => turned[link] = true,
                Seen::Done => {}
                Seen::Not => {
                    seen[to] = Seen::Open;
                    stack.push((to, 0));
                }
            }
        }
    }
    turned
}

/// All boxes, each after those that point to it.
fn sorted(next: &[Vec<usize>], before: &[Vec<usize>]) -> Vec<usize> {
    let mut missing: Vec<usize> = before.iter().map(Vec::len).collect();
    let mut order: Vec<usize> = (0..next.len()).filter(|&at| missing[at] == 0).collect();
    let mut done = 0;
    while let Some(&at) = order.get(done) {
        done += 1;
        for &to in &next[at] {
            missing[to] -= 1;
            if missing[to] == 0 {
                order.push(to);
            }
        }
    }
    order
}
