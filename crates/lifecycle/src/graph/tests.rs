//! Graphs against naive models: reachability by squaring a matrix, everything else from that.

use proptest::prelude::*;

use super::*;

/// Who reaches whom by at least one edge: Warshall's algorithm.
fn closure(nodes: usize, edges: &[(Node, Node)]) -> Vec<Vec<bool>> {
    let mut reaches = vec![vec![false; nodes]; nodes];
    edges.iter().for_each(|(from, to)| reaches[*from as usize][*to as usize] = true);
    for middle in 0..nodes {
        for from in 0..nodes {
            for to in 0..nodes {
                reaches[from][to] |= reaches[from][middle] && reaches[middle][to];
            }
        }
    }
    reaches
}

fn graphs() -> impl Strategy<Value = (usize, Vec<(Node, Node)>)> {
    (1_usize..12).prop_flat_map(|nodes| {
        let node = 0..u32::try_from(nodes).unwrap();
        (Just(nodes), prop::collection::vec((node.clone(), node), 0..30))
    })
}

/// Longest path to a node, by trying as often as there are nodes; only for graphs without cycles.
fn naive_layers(nodes: usize, edges: &[(Node, Node)]) -> Vec<u32> {
    let mut layers = vec![0; nodes];
    for _ in 0..nodes {
        for (from, to) in edges {
            layers[*to as usize] = layers[*to as usize].max(layers[*from as usize] + 1);
        }
    }
    layers
}

/// Distance from the nearest source, by relaxing edges; `None` if unreachable.
fn naive_distances(nodes: usize, edges: &[(Node, Node)], sources: &[Node]) -> Vec<Option<usize>> {
    let mut far: Vec<Option<usize>> = vec![None; nodes];
    sources.iter().for_each(|source| far[*source as usize] = Some(0));
    for _ in 0..nodes {
        for (from, to) in edges {
            if let Some(distance) = far[*from as usize] {
                let known = far[*to as usize].unwrap_or(usize::MAX);
                far[*to as usize] = Some(known.min(distance + 1));
            }
        }
    }
    far
}

proptest! {
    /// EXT-10: components are exactly the sets that reach each other, and their numbers are an order.
    #[test]
    fn components_are_mutual_reachability((nodes, edges) in graphs()) {
        let (graph, reaches) = (Graph::new(nodes, &edges), closure(nodes, &edges));
        let found = components(&graph);
        for a in graph.nodes() {
            for b in graph.nodes() {
                let mutual = a == b || (reaches[a as usize][b as usize] && reaches[b as usize][a as usize]);
                prop_assert_eq!(found.of(a) == found.of(b), mutual);
            }
        }
        prop_assert!(edges.iter().all(|(from, to)| found.of(*from) >= found.of(*to)));
        let members = found.members();
        prop_assert_eq!(members.iter().map(Vec::len).sum::<usize>(), nodes);
        prop_assert!(members.iter().zip(found.sizes()).all(|(members, size)| members.len() == size as usize));
        prop_assert!(layers(&condense(&graph, &found)).is_some());
    }

    #[test]
    fn layers_are_longest_paths((nodes, edges) in graphs()) {
        let forward: Vec<(Node, Node)> = edges.iter().copied().filter(|(from, to)| from < to).collect();
        let graph = Graph::new(nodes, &forward);
        prop_assert_eq!(layers(&graph), Some(naive_layers(nodes, &forward)));
        let order = order(&graph).unwrap();
        let place = |node: Node| order.iter().position(|other| *other == node).unwrap();
        prop_assert!(forward.iter().all(|(from, to)| place(*from) < place(*to)));
        let cyclic = closure(nodes, &edges).iter().enumerate().any(|(node, row)| row[node]);
        prop_assert_eq!(layers(&Graph::new(nodes, &edges)).is_none(), cyclic);
    }

    #[test]
    fn chains_are_shortest_and_always_the_same(
        (nodes, edges) in graphs(),
        sources in prop::collection::vec(0_u32..12, 1..4),
        seed in any::<u64>(),
    ) {
        let sources: Vec<Node> = sources.into_iter().filter(|node| (*node as usize) < nodes).collect();
        let graph = Graph::new(nodes, &edges);
        let reached = reach(&graph, &sources);
        for (node, distance) in graph.nodes().zip(naive_distances(nodes, &edges, &sources)) {
            let chain = reached.chain(node);
            prop_assert_eq!(chain.len(), distance.map_or(0, |distance| distance + 1));
            prop_assert_eq!(reached.contains(node), distance.is_some());
            prop_assert!(chain.windows(2).all(|pair| graph.has(pair[0], pair[1])));
        }
        let mut shuffled = edges.clone();
        shuffled.sort_by_key(|(from, to)| (u64::from(*from) * 31 + u64::from(*to)).wrapping_mul(seed | 1));
        let again = Graph::new(nodes, &shuffled);
        prop_assert_eq!(&again, &graph);
        prop_assert_eq!(reach(&again, &sources), reached);
    }
}

type Edges = Vec<(Node, Node)>;

/// A graph of strong edges without cycles, and weak edges of any kind.
fn contradictions() -> impl Strategy<Value = (usize, Edges, Edges)> {
    (graphs(), any::<u64>()).prop_map(|((nodes, edges), choice)| {
        let (mut strong, mut weak) = (Vec::new(), Vec::new());
        for (at, (from, to)) in edges.into_iter().enumerate() {
            let chosen = choice >> (at % 64) & 3 == 0 && from < to;
            if chosen { strong.push((from, to)) } else { weak.push((from, to)) }
        }
        (nodes, strong, weak)
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, ..ProptestConfig::default() })]

    /// EXT-24: all strong edges hold; weak ones are given up only where both kinds form a cycle, and each of them would
    /// close one; cycles of weak edges alone are groups.
    #[test]
    fn weak_edges_give_way((nodes, strong, weak) in contradictions(), join in any::<bool>()) {
        let settled = settle(&Graph::new(nodes, &strong), &Graph::new(nodes, &weak), join);
        let (of, count) = (&settled.groups.of, settled.groups.count);
        let group = |node: Node| of[node as usize];
        let both: Vec<(Node, Node)> = strong.iter().chain(&weak).copied().collect();
        let reaches = closure(nodes, &both);
        let mutual = |a: Node, b: Node| reaches[a as usize][b as usize] && reaches[b as usize][a as usize];
        let mapped = |edges: &[(Node, Node)]| -> Vec<(Node, Node)> {
            let mapped = edges.iter().map(|(from, to)| (group(*from), group(*to)));
            mapped.filter(|(from, to)| from != to).collect()
        };
        prop_assert_eq!(mapped(&strong).len(), strong.len(), "a strong edge inside a group");
        let kept: Vec<(Node, Node)> =
            mapped(&weak).into_iter().filter(|edge| !settled.dropped.contains(edge)).collect();
        let left: Vec<(Node, Node)> = mapped(&strong).into_iter().chain(kept).collect();
        prop_assert!(layers(&Graph::new(count, &left)).is_some(), "a cycle is left");
        let knot_is_mixed = |a: Node| {
            strong.iter().any(|(from, to)| (mutual(*from, a) || *from == a) && (mutual(*to, a) || *to == a))
        };
        for (from, to) in &weak {
            let gone = settled.dropped.contains(&(group(*from), group(*to)));
            prop_assert!(!gone || mutual(*from, *to), "an edge that is in no cycle was given up");
            prop_assert!(!gone || !join || knot_is_mixed(*from), "a weak cycle is no reason");
            if join && mutual(*from, *to) && !knot_is_mixed(*from) {
                prop_assert_eq!(group(*from), group(*to), "a weak cycle is one group");
            }
        }
        for edge in &settled.dropped {
            let again: Vec<(Node, Node)> = left.iter().copied().chain([*edge]).collect();
            prop_assert!(layers(&Graph::new(count, &again)).is_none(), "{:?} was given up without need", edge);
        }
        for (a, b) in (0..of.len()).flat_map(|a| (0..a).map(move |b| (a, b))) {
            prop_assert!(of[a] != of[b] || mutual(a as Node, b as Node) && join, "a group without a cycle");
        }
    }
}

/// EXT-24: who asked to outlive an ancestor gives up to go before its own owner; nobody else does.
#[test]
fn the_one_who_waits_gives_way() {
    let (top, middle, low) = (0, 1, 2);
    let strong = Graph::new(3, &[(top, low)]);
    let weak = Graph::new(3, &[(low, middle), (middle, top)]);
    assert_eq!(settle(&strong, &weak, true).dropped.into_iter().collect::<Vec<_>>(), [(low, middle)]);
}

/// A hundred thousand contradictions, each found without looking at the others.
#[test]
fn contradictions_are_cheap() {
    const NODES: u32 = 100_000;
    let chain: Vec<(Node, Node)> = (1..NODES).map(|node| (node - 1, node)).collect();
    let star: Vec<(Node, Node)> = (1..NODES).map(|node| (0, node)).collect();
    let skip: Vec<(Node, Node)> = (2..NODES).map(|node| (node - 2, node)).collect();
    let back = |edges: &[(Node, Node)]| edges.iter().map(|(from, to)| (*to, *from)).collect::<Vec<_>>();
    for (strong, weak) in [(&chain, back(&chain)), (&star, back(&star)), (&skip, back(&chain))] {
        let settled = settle(&Graph::new(NODES as usize, strong), &Graph::new(NODES as usize, &weak), true);
        assert!(!settled.dropped.is_empty());
    }
}

/// EXT-10: depth costs memory, never the stack.
#[test]
fn a_path_of_a_million_nodes_is_ordinary() {
    const NODES: u32 = 1_000_000;
    let path: Vec<(Node, Node)> = (1..NODES).map(|node| (node - 1, node)).collect();
    let graph = Graph::new(NODES as usize, &path);
    assert_eq!(components(&graph).count(), NODES as usize);
    assert_eq!(layers(&graph).unwrap()[NODES as usize - 1], NODES - 1);
    assert_eq!(reach(&graph, &[0]).chain(NODES - 1).len(), NODES as usize);
    let circle: Vec<(Node, Node)> = path.iter().copied().chain([(NODES - 1, 0)]).collect();
    let graph = Graph::new(NODES as usize, &circle);
    assert_eq!(components(&graph).count(), 1);
    assert_eq!(layers(&graph), None);
}
