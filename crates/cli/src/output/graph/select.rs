//! Selects the resources to draw if there are too many: roots, then doomed ones and their neighbours.

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap, HashSet};

use super::{Picture, State};

/// The picture with at most so many resources; the others are counted.
pub(super) fn limited(picture: &Picture, most: usize) -> Picture {
    let chosen = choose(picture, most);
    let nodes = chosen.iter().map(|&place| picture.nodes[place].clone()).collect::<Vec<_>>();
    let ids: HashSet<&str> = nodes.iter().map(|node| node.id.as_str()).collect();
    let drawn = |id: &str| ids.contains(id);
    let edges = picture.edges.iter().filter(|edge| drawn(&edge.from) && drawn(&edge.to)).cloned().collect();
    let limited = Picture { edges, nodes, ..picture.clone() };
    Picture { more: picture.more + picture.drawn() - limited.drawn(), ..limited }
}

/// Places in their old order. Roots come first. Then walks from them and from the most interesting ones to their
/// neighbours, again the most interesting first, so that what is drawn hangs together.
fn choose(picture: &Picture, most: usize) -> BTreeSet<usize> {
    let mut neighbours: Vec<Vec<usize>> = vec![Vec::new(); picture.nodes.len()];
    for (from, to, _) in picture.links() {
        neighbours[from].push(to);
        neighbours[to].push(from);
    }
    let rank = |place: usize| {
        let state = match picture.nodes[place].state {
            State::Doomed { .. } | State::Marked => 0,
            State::Protected | State::Destroyed => 1,
            State::Absent => 2,
            State::Alive => 3,
        };
        Reverse((state, Reverse(neighbours[place].len()), place))
    };
    let roots: HashSet<&str> = picture.roots.iter().map(String::as_str).collect();
    let is_root = |place: usize| roots.contains(picture.nodes[place].id.as_str());
    let mut by_rank: Vec<usize> = (0..picture.nodes.len()).collect();
    by_rank.sort_by_key(|&place| (!is_root(place), Reverse(rank(place))));
    let mut chosen: BTreeSet<usize> =
        by_rank.iter().copied().take_while(|place| is_root(*place)).take(most).collect();
    let next = |place: usize| neighbours[place].iter().copied();
    let mut open: BinaryHeap<_> = chosen.iter().flat_map(|place| next(*place)).map(rank).collect();
    for start in by_rank {
        open.push(rank(start));
        while let Some(Reverse((_, _, place))) = open.pop() {
            if chosen.len() == most {
                return chosen;
            }
            if chosen.insert(place) {
                open.extend(
                    neighbours[place].iter().filter(|next| !chosen.contains(next)).map(|&next| rank(next)),
                );
            }
        }
    }
    chosen
}
