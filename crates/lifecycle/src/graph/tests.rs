//! Graphs against naive models: reachability by squaring a matrix, everything else from that.

use proptest::prelude::*;

use super::*;

/// Which vertices reach which others by at least one edge: Warshall's algorithm.
fn closure(vertices: usize, edges: &[(Vertex, Vertex)]) -> Vec<Vec<bool>> {
    let mut reaches = vec![vec![false; vertices]; vertices];
    edges.iter().for_each(|(from, to)| reaches[*from as usize][*to as usize] = true);
    for middle in 0..vertices {
        for from in 0..vertices {
            for to in 0..vertices {
                reaches[from][to] |= reaches[from][middle] && reaches[middle][to];
            }
        }
    }
    reaches
}

fn graphs() -> impl Strategy<Value = (usize, Vec<(Vertex, Vertex)>)> {
    (1_usize..12).prop_flat_map(|vertices| {
        let vertex = 0..u32::try_from(vertices).unwrap();
        (Just(vertices), prop::collection::vec((vertex.clone(), vertex), 0..30))
    })
}

/// Longest path to a node, by trying as often as there are vertices; only for graphs without cycles.
fn naive_layers(vertices: usize, edges: &[(Vertex, Vertex)]) -> Vec<u32> {
    let mut layers = vec![0; vertices];
    for _ in 0..vertices {
        for (from, to) in edges {
            layers[*to as usize] = layers[*to as usize].max(layers[*from as usize] + 1);
        }
    }
    layers
}

/// Distance from the nearest source, by relaxing edges; `None` if unreachable.
fn naive_distances(vertices: usize, edges: &[(Vertex, Vertex)], sources: &[Vertex]) -> Vec<Option<usize>> {
    let mut far: Vec<Option<usize>> = vec![None; vertices];
    sources.iter().for_each(|source| far[*source as usize] = Some(0));
    for _ in 0..vertices {
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
    fn components_are_mutual_reachability((vertices, edges) in graphs()) {
        let (graph, reaches) = (Graph::new(vertices, &edges), closure(vertices, &edges));
        let found = components(&graph);
        for a in graph.vertices() {
            for b in graph.vertices() {
                let mutual = a == b || (reaches[a as usize][b as usize] && reaches[b as usize][a as usize]);
                prop_assert_eq!(found.of(a) == found.of(b), mutual);
            }
        }
        prop_assert!(edges.iter().all(|(from, to)| found.of(*from) >= found.of(*to)));
        let members = found.members();
        prop_assert_eq!(members.iter().map(Vec::len).sum::<usize>(), vertices);
        prop_assert!(members.iter().zip(found.sizes()).all(|(members, size)| members.len() == size as usize));
        prop_assert!(layers(&condense(&graph, &found)).is_some());
    }

    #[test]
    fn layers_are_longest_paths((vertices, edges) in graphs()) {
        let forward: Vec<(Vertex, Vertex)> = edges.iter().copied().filter(|(from, to)| from < to).collect();
        let graph = Graph::new(vertices, &forward);
        prop_assert_eq!(layers(&graph), Some(naive_layers(vertices, &forward)));
        let order = topological_order(&graph).unwrap();
        let place = |vertex: Vertex| order.iter().position(|other| *other == vertex).unwrap();
        prop_assert!(forward.iter().all(|(from, to)| place(*from) < place(*to)));
        let cyclic = closure(vertices, &edges).iter().enumerate().any(|(vertex, row)| row[vertex]);
        prop_assert_eq!(layers(&Graph::new(vertices, &edges)).is_none(), cyclic);
    }

    #[test]
    fn chains_are_shortest_and_always_the_same(
        (vertices, edges) in graphs(),
        sources in prop::collection::vec(0_u32..12, 1..4),
        seed in any::<u64>(),
    ) {
        let sources: Vec<Vertex> = sources.into_iter().filter(|vertex| (*vertex as usize) < vertices).collect();
        let graph = Graph::new(vertices, &edges);
        let reached = reach(&graph, &sources);
        for (vertex, distance) in graph.vertices().zip(naive_distances(vertices, &edges, &sources)) {
            let chain = reached.chain(vertex);
            prop_assert_eq!(chain.len(), distance.map_or(0, |distance| distance + 1));
            prop_assert_eq!(reached.contains(vertex), distance.is_some());
            prop_assert!(chain.windows(2).all(|pair| graph.has(pair[0], pair[1])));
        }
        let mut shuffled = edges.clone();
        shuffled.sort_by_key(|(from, to)| (u64::from(*from) * 31 + u64::from(*to)).wrapping_mul(seed | 1));
        let again = Graph::new(vertices, &shuffled);
        prop_assert_eq!(&again, &graph);
        prop_assert_eq!(reach(&again, &sources), reached);
    }
}

type Edges = Vec<(Vertex, Vertex)>;

/// A graph of strong edges without cycles, and weak edges of any kind.
fn contradictions() -> impl Strategy<Value = (usize, Edges, Edges)> {
    (graphs(), any::<u64>()).prop_map(|((vertices, edges), choice)| {
        let (mut strong, mut weak) = (Vec::new(), Vec::new());
        for (at, (from, to)) in edges.into_iter().enumerate() {
            let chosen = choice >> (at % 64) & 3 == 0 && from < to;
            if chosen { strong.push((from, to)) } else { weak.push((from, to)) }
        }
        (vertices, strong, weak)
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, ..ProptestConfig::default() })]

    /// EXT-24: all strong edges hold; weak ones are dropped only where both kinds form a cycle, and each of them would
    /// close one; cycles of weak edges alone are groups.
    #[test]
    fn weak_edges_give_way((vertices, strong, weak) in contradictions(), join in any::<bool>()) {
        let resolution = resolve_conflicts(&Graph::new(vertices, &strong), &Graph::new(vertices, &weak), join);
        let (of, count) = (&resolution.groups.of, resolution.groups.count);
        let group = |vertex: Vertex| of[vertex as usize];
        let both: Vec<(Vertex, Vertex)> = strong.iter().chain(&weak).copied().collect();
        let reaches = closure(vertices, &both);
        let mutual = |a: Vertex, b: Vertex| reaches[a as usize][b as usize] && reaches[b as usize][a as usize];
        let mapped = |edges: &[(Vertex, Vertex)]| -> Vec<(Vertex, Vertex)> {
            let mapped = edges.iter().map(|(from, to)| (group(*from), group(*to)));
            mapped.filter(|(from, to)| from != to).collect()
        };
        prop_assert_eq!(mapped(&strong).len(), strong.len(), "a strong edge inside a group");
        let kept: Vec<(Vertex, Vertex)> =
            mapped(&weak).into_iter().filter(|edge| !resolution.dropped.contains(edge)).collect();
        let left: Vec<(Vertex, Vertex)> = mapped(&strong).into_iter().chain(kept).collect();
        prop_assert!(layers(&Graph::new(count, &left)).is_some(), "a cycle is left");
        let cycle_is_mixed = |a: Vertex| {
            strong.iter().any(|(from, to)| (mutual(*from, a) || *from == a) && (mutual(*to, a) || *to == a))
        };
        for (from, to) in &weak {
            let gone = resolution.dropped.contains(&(group(*from), group(*to)));
            prop_assert!(!gone || mutual(*from, *to), "an edge that is in no cycle was dropped");
            prop_assert!(!gone || !join || cycle_is_mixed(*from), "a weak cycle is no reason");
            if join && mutual(*from, *to) && !cycle_is_mixed(*from) {
                prop_assert_eq!(group(*from), group(*to), "a weak cycle is one group");
            }
        }
        for edge in &resolution.dropped {
            let again: Vec<(Vertex, Vertex)> = left.iter().copied().chain([*edge]).collect();
            prop_assert!(layers(&Graph::new(count, &again)).is_none(), "{:?} was dropped without need", edge);
        }
        for (a, b) in (0..of.len()).flat_map(|a| (0..a).map(move |b| (a, b))) {
            prop_assert!(of[a] != of[b] || mutual(a as Vertex, b as Vertex) && join, "a group without a cycle");
        }
    }
}

/// EXT-24: the vertex with a strong predecessor loses its weak edge; no other edge is dropped.
#[test]
fn the_vertex_with_a_strong_predecessor_gives_way() {
    let (top, middle, low) = (0, 1, 2);
    let strong = Graph::new(3, &[(top, low)]);
    let weak = Graph::new(3, &[(low, middle), (middle, top)]);
    assert_eq!(
        resolve_conflicts(&strong, &weak, true).dropped.into_iter().collect::<Vec<_>>(),
        [(low, middle)]
    );
}

/// A hundred thousand contradictions, each found without looking at the others.
#[test]
fn contradictions_are_cheap() {
    const NODES: u32 = 100_000;
    let chain: Vec<(Vertex, Vertex)> = (1..NODES).map(|vertex| (vertex - 1, vertex)).collect();
    let star: Vec<(Vertex, Vertex)> = (1..NODES).map(|vertex| (0, vertex)).collect();
    let skip: Vec<(Vertex, Vertex)> = (2..NODES).map(|vertex| (vertex - 2, vertex)).collect();
    let back = |edges: &[(Vertex, Vertex)]| edges.iter().map(|(from, to)| (*to, *from)).collect::<Vec<_>>();
    for (strong, weak) in [(&chain, back(&chain)), (&star, back(&star)), (&skip, back(&chain))] {
        let resolution =
            resolve_conflicts(&Graph::new(NODES as usize, strong), &Graph::new(NODES as usize, &weak), true);
        assert!(!resolution.dropped.is_empty());
    }
}

/// EXT-10: depth costs memory, never the stack.
#[test]
fn a_path_of_a_million_vertices_is_ordinary() {
    const NODES: u32 = 1_000_000;
    let path: Vec<(Vertex, Vertex)> = (1..NODES).map(|vertex| (vertex - 1, vertex)).collect();
    let graph = Graph::new(NODES as usize, &path);
    assert_eq!(components(&graph).count(), NODES as usize);
    assert_eq!(layers(&graph).unwrap()[NODES as usize - 1], NODES - 1);
    assert_eq!(reach(&graph, &[0]).chain(NODES - 1).len(), NODES as usize);
    let circle: Vec<(Vertex, Vertex)> = path.iter().copied().chain([(NODES - 1, 0)]).collect();
    let graph = Graph::new(NODES as usize, &circle);
    assert_eq!(components(&graph).count(), 1);
    assert_eq!(layers(&graph), None);
}
