//! Which column each box stands in: right of all that point to it, and no column too high.

use super::Link;

/// The column of each box, and which links were turned round to break circles.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Layers {
    pub(super) of: Vec<usize>,
    pub(super) turned: Vec<bool>,
}

/// No column is lower than this may be.
const ROWS_LEAST: usize = 6;
/// Boxes are wide and flat: a picture of `n` of them is about half as high as wide with the root of this times `n` rows.
const FLATNESS: f64 = 2.8;

/// Columns for boxes `0..count`.
pub(super) fn assign(count: usize, links: &[Link]) -> Layers {
    let turned = break_circles(count, links);
    let (mut next, mut before) = (vec![Vec::new(); count], vec![Vec::new(); count]);
    for (link, turned) in links.iter().zip(&turned).filter(|(link, _)| link.left != link.right) {
        let (left, right) = if *turned { (link.right, link.left) } else { (link.left, link.right) };
        next[left].push(right);
        before[right].push(left);
    }
    let order = sorted(&next, &before);
    let mut depth = vec![0; count];
    order.iter().for_each(|&at| depth[at] = before[at].iter().map(|&b| depth[b] + 1).max().unwrap_or(0));
    let mut reach = vec![0; count];
    order.iter().rev().for_each(|&at| reach[at] = next[at].iter().map(|&n| reach[n] + 1).max().unwrap_or(0));
    let rows = ((count as f64 * FLATNESS).sqrt().ceil() as usize).max(ROWS_LEAST);
    let mut of = vec![0; count];
    let mut filled: Vec<usize> = Vec::new();
    let mut linked: Vec<usize> =
        order.iter().copied().filter(|&at| !next[at].is_empty() || !before[at].is_empty()).collect();
    // Those with much behind them first: it is the ends of lines that give way when a column is full.
    linked.sort_by_key(|&at| (depth[at], std::cmp::Reverse(reach[at]), at));
    for at in linked {
        let mut layer = before[at].iter().map(|&b| of[b] + 1).max().unwrap_or(0);
        while filled.get(layer).is_some_and(|filled| *filled >= rows) {
            layer += 1;
        }
        put(at, layer, &mut of, &mut filled);
    }
    pull_right(&next, &before, &mut of, &mut filled, rows);
    for at in (0..count).filter(|&at| next[at].is_empty() && before[at].is_empty()) {
        // Those without lines fill what is empty, or begin a column of their own.
        let emptiest = (0..filled.len()).min_by_key(|&layer| filled[layer]);
        let layer = emptiest.filter(|&layer| filled[layer] < rows).unwrap_or(filled.len());
        put(at, layer, &mut of, &mut filled);
    }
    Layers { of: compacted(of), turned }
}

fn put(at: usize, layer: usize, of: &mut [usize], filled: &mut Vec<usize>) {
    filled.resize(filled.len().max(layer + 1), 0);
    filled[layer] += 1;
    of[at] = layer;
}

/// What nothing points to stands right before the first that it points to.
fn pull_right(
    next: &[Vec<usize>],
    before: &[Vec<usize>],
    of: &mut [usize],
    filled: &mut [usize],
    rows: usize,
) {
    for at in 0..of.len() {
        let Some(first) = next[at].iter().map(|&next| of[next]).min().filter(|_| before[at].is_empty())
        else {
            continue;
        };
        let free = (of[at] + 1..first).rev().find(|&layer| filled[layer] < rows);
        if let Some(layer) = free {
            filled[of[at]] -= 1;
            filled[layer] += 1;
            of[at] = layer;
        }
    }
}

/// Without empty columns.
fn compacted(of: Vec<usize>) -> Vec<usize> {
    let used: std::collections::BTreeSet<usize> = of.iter().copied().collect();
    let places: std::collections::HashMap<usize, usize> =
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
