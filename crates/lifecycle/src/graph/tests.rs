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
