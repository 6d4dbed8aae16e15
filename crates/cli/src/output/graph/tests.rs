//! What pictures look like, and that none is ever broken.

use proptest::prelude::*;

use super::dot::dot;
use super::json::ndjson;
use super::mermaid::mermaid;
use super::svg::svg;
use super::*;

fn node(label: &str, state: State) -> Node {
    let kind = label.split('/').next().unwrap().to_owned();
    Node { id: label.into(), label: label.into(), kind, namespace: String::new(), state }
}

fn edge(from: &str, to: &str, meaning: Meaning) -> Edge {
    Edge { from: from.into(), to: to.into(), meaning }
}

const BEFORE: Meaning = Meaning::DiesBefore { dropped: false };

fn shop() -> Picture {
    let doomed = |order| State::Doomed { order };
    let mut data = node("Volume/data", doomed(1));
    data.namespace = "team-a".into();
    Picture {
        title: "Cluster/prod on .sexton (embedded)".into(),
        nodes: vec![
            node("Cluster/prod", doomed(3)),
            node("App/shop", doomed(2)),
            data,
            node("Network/lan", State::Protected),
            node("Vault/\"old\" <&>", State::Absent),
        ],
        edges: vec![
            edge("Cluster/prod", "App/shop", Meaning::Owns),
            edge("App/shop", "Volume/data", Meaning::Owns),
            edge("Volume/data", "Network/lan", BEFORE),
            edge("Network/lan", "Cluster/prod", Meaning::DiesBefore { dropped: true }),
            edge("App/shop", "Vault/\"old\" <&>", Meaning::Inside),
            edge("App/shop", "nobody", Meaning::Owns),
        ],
        more: 950,
        ..Picture::default()
    }
}

#[test]
fn for_graphviz() {
    insta::assert_snapshot!(dot(&shop()), @r##"
    digraph sexton {
      graph [rankdir=LR, label="Cluster/prod on .sexton (embedded)", labelloc=t, fontname="sans-serif"];
      node [shape=box, style="rounded,filled", fillcolor=white, color="#64748b", fontname="sans-serif"];
      edge [color="#64748b"];
      n0 [label="Cluster/prod\ndies 3rd", fillcolor="#fef2f2", color="#dc2626", fontcolor="#991b1b"];
      n1 [label="App/shop\ndies 2nd", fillcolor="#fef2f2", color="#dc2626", fontcolor="#991b1b"];
      n2 [label="Volume/data\nin team-a\ndies 1st", fillcolor="#fef2f2", color="#dc2626", fontcolor="#991b1b"];
      n3 [label="Network/lan\nprotected", color="#1d4ed8", penwidth=2, peripheries=2];
      n4 [label="Vault/\"old\" <&>\nabsent", style="rounded,dashed", color="#94a3b8", fontcolor="#64748b"];
      more [label="and 950 more", shape=plaintext, style=""];
      n0 -> n1;
      n1 -> n2;
      n3 -> n2 [dir=back, style=dashed, color="#7c3aed"];
      n0 -> n3 [dir=back, style=dotted, color="#a1a1aa"];
      n4 -> n1 [dir=none, color="#cbd5e1"];
    }
    "##);
}

#[test]
fn for_mermaid() {
    insta::assert_snapshot!(mermaid(&shop()), @r#"
    ---
    title: "Cluster/prod on .sexton (embedded)"
    ---
    flowchart LR
      n0["Cluster/prod<br/>dies 3rd"]:::doomed
      n1["App/shop<br/>dies 2nd"]:::doomed
      n2["Volume/data<br/>in team-a<br/>dies 1st"]:::doomed
      n3["Network/lan<br/>protected"]:::protected
      n4["Vault/#quot;old#quot; #lt;#amp;#gt;<br/>absent"]:::absent
      more["and 950 more"]
      n0 --> n1
      n1 --> n2
      n2 -. dies before .-> n3
      n3 -. order given up .-> n0
      n4 -- contains --- n1
      classDef doomed fill:#fef2f2,stroke:#dc2626,color:#991b1b
      classDef protected stroke:#1d4ed8,stroke-width:3px
      classDef absent fill:none,stroke:#94a3b8,stroke-dasharray:4 3,color:#64748b
    "#);
}

#[test]
fn for_programs() {
    insta::assert_snapshot!(ndjson(&shop()), @r#"
    {"kind":"Picture","title":"Cluster/prod on .sexton (embedded)","nodes":5,"edges":6,"more":950}
    {"kind":"Node","node":{"id":"Cluster/prod","label":"Cluster/prod","kind":"Cluster","state":"doomed","order":3}}
    {"kind":"Node","node":{"id":"App/shop","label":"App/shop","kind":"App","state":"doomed","order":2}}
    {"kind":"Node","node":{"id":"Volume/data","label":"Volume/data","kind":"Volume","namespace":"team-a","state":"doomed","order":1}}
    {"kind":"Node","node":{"id":"Network/lan","label":"Network/lan","kind":"Network","state":"protected"}}
    {"kind":"Node","node":{"id":"Vault/\"old\" <&>","label":"Vault/\"old\" <&>","kind":"Vault","state":"absent"}}
    {"kind":"Edge","edge":{"from":"Cluster/prod","to":"App/shop","meaning":"owns"}}
    {"kind":"Edge","edge":{"from":"App/shop","to":"Volume/data","meaning":"owns"}}
    {"kind":"Edge","edge":{"from":"Volume/data","to":"Network/lan","meaning":"diesBefore","dropped":false}}
    {"kind":"Edge","edge":{"from":"Network/lan","to":"Cluster/prod","meaning":"diesBefore","dropped":true}}
    {"kind":"Edge","edge":{"from":"App/shop","to":"Vault/\"old\" <&>","meaning":"inside"}}
    {"kind":"Edge","edge":{"from":"App/shop","to":"nobody","meaning":"owns"}}
    "#);
}

#[test]
fn a_small_drawing() {
    let one = Picture {
        title: "a < b".into(),
        nodes: vec![node("Vm/web-1", State::Doomed { order: 1 })],
        ..Picture::default()
    };
    insta::assert_snapshot!(svg(one, Size::READABLE), @r##"
    <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 560 210" width="560" height="210" role="img" font-family="Inter, 'Segoe UI', 'Helvetica Neue', Helvetica, 'DejaVu Sans', Arial, sans-serif">
    <title>a &lt; b</title>
    <rect width="560" height="210" rx="14" fill="#fbfcfe"/>
    <text x="28" y="45" font-size="19" font-weight="700" fill="#0f172a">a &lt; b</text>
    <text x="28" y="66" font-size="13" fill="#64748b">1 resource · 1 dies</text>
    <g transform="translate(228 86)">
    <g>
    <title>Vm/web-1, dies 1st</title>
    <rect class="box" x="0" y="0" width="104" height="44" rx="9" fill="#fef2f2" stroke="#dc2626" stroke-width="1.6"/>
    <text x="14" y="17" font-size="11" fill="#b91c1c">Vm</text>
    <text x="14" y="34" font-size="14" font-weight="600" fill="#7f1d1d">web-1</text>
    <rect x="78" y="-9" width="20" height="18" rx="9" fill="#dc2626" stroke="#fbfcfe" stroke-width="2"/>
    <text x="88" y="4" font-size="11" font-weight="700" text-anchor="middle" fill="#ffffff">1</text>
    </g>
    </g>
    <g transform="translate(28 162)">
    <g transform="translate(0 0)">
    <rect x="1" y="1" width="28" height="17" rx="5" fill="#fef2f2" stroke="#dc2626" stroke-width="1.6"/>
    <rect x="11" y="-5" width="20" height="18" rx="9" fill="#dc2626" stroke="#fbfcfe" stroke-width="2"/>
    <text x="21" y="8" font-size="11" font-weight="700" text-anchor="middle" fill="#ffffff">1</text>
    <text x="38" y="14" font-size="12" fill="#475569">dies, in this wave</text>
    </g>
    </g>
    </svg>
    "##);
}

#[test]
fn of_a_thousand_fifty_are_drawn_and_the_others_counted() {
    let mut picture = Picture { title: "Namespace/team".into(), ..Picture::default() };
    picture.nodes.push(node("Namespace/team", State::Alive));
    for at in 0..999 {
        let state = if at % 40 == 7 { State::Doomed { order: 1 } } else { State::Alive };
        picture.nodes.push(node(&format!("ConfigMap/c-{at}"), state));
        picture.edges.push(edge(&format!("ConfigMap/c-{at}"), "Namespace/team", Meaning::Inside));
    }
    let drawn = svg(picture.clone(), Size::READABLE);
    well_formed(&drawn);
    assert_eq!(boxes(&drawn).len(), 50);
    assert!(drawn.contains("50 of 1,000 resources drawn · 25 die at once<"), "{drawn}");
    assert!(drawn.contains("950 more are not drawn"));
    assert_eq!(drawn.matches(", dies 1st<").count(), 25, "those that die come first");
    assert_eq!(boxes(&svg(picture.clone(), Size::AtMost(7))).len(), 7);
    let all = svg(picture, Size::All);
    assert_eq!(boxes(&all).len(), 1_000);
    assert!(all.contains(">1,000 resources · 25 die at once<") && !all.contains("not drawn"));
}

/// The root is drawn, also if all other nodes are as interesting; and all doomed nodes are counted.
#[test]
fn the_root_is_always_drawn() {
    let mut picture = Picture { title: "delete Namespace/team".into(), ..Picture::default() };
    for at in 0..340 {
        let name = format!("ConfigMap/c-{at}");
        picture.nodes.push(node(&name, State::Doomed { order: 1 }));
        picture.edges.push(edge("ConfigMap/c-0", &name, Meaning::Owns));
    }
    picture.nodes.push(node("Namespace/team", State::Doomed { order: 2 }));
    picture.roots.push("Namespace/team".into());
    let drawn = svg(picture.clone(), Size::READABLE);
    assert!(drawn.contains("50 of 341 resources drawn · 341 die in 2 waves<"), "{drawn}");
    assert!(drawn.contains("<title>Namespace/team, dies 2nd</title>"), "{drawn}");
    let text = dot(&picture.clone().limited(Size::AtMost(10)));
    assert!(text.contains("Namespace/team") && text.contains("and 331 more"), "{text}");
}

#[test]
fn nothing_at_all_is_a_picture_too() {
    well_formed(&svg(Picture::default(), Size::READABLE));
}

/// The boxes of a drawing: left, top, right, bottom, in the coordinates of the view box.
fn boxes(svg: &str) -> Vec<[f64; 4]> {
    let number = |text: &str, name: &str| -> f64 {
        let begin = text.find(&format!("{name}=\"")).unwrap() + name.len() + 2;
        text[begin..].split('"').next().unwrap().parse().unwrap()
    };
    let shift = svg.split("<g transform=\"translate(").nth(1).unwrap().split(')').next().unwrap();
    let (left, top) = shift.split_once(' ').unwrap();
    let (left, top): (f64, f64) = (left.parse().unwrap(), top.parse().unwrap());
    let rects = svg.split("<rect class=\"box\"").skip(1);
    rects
        .map(|rect| {
            let (x, y) = (number(rect, " x") + left, number(rect, " y") + top);
            [x, y, x + number(rect, " width"), y + number(rect, " height")]
        })
        .collect()
}

/// Just enough of XML: every element is closed in turn, attributes are quoted, `&` begins a known entity.
fn well_formed(text: &str) {
    let mut open: Vec<&str> = Vec::new();
    let mut rest = text.trim_end();
    while let Some(at) = rest.find('<') {
        let (words, tag) = rest.split_at(at);
        entities(words);
        assert!(!open.is_empty() || words.is_empty(), "text outside of the root: {words}");
        let end = tag.find('>').expect("a tag ends");
        let inside = &tag[1..end];
        assert!(!inside.contains('<'), "{inside}");
        if let Some(name) = inside.strip_prefix('/') {
            assert_eq!(open.pop(), Some(name), "closed in turn");
        } else {
            attributes(inside.trim_end_matches('/'));
            let name = inside.split([' ', '/']).next().unwrap();
            assert!(name.chars().all(char::is_alphanumeric) && !name.is_empty(), "{inside}");
            if !inside.ends_with('/') {
                open.push(name);
            }
        }
        rest = &tag[end + 1..];
    }
    assert!(open.is_empty() && rest.is_empty(), "{open:?} {rest}");
    let allowed = |c: char| !c.is_control() || c == '\n';
    assert!(text.chars().all(allowed), "no character that XML cannot hold");
}

fn attributes(tag: &str) {
    let parts: Vec<&str> = tag.split('"').collect();
    assert!(parts.len() % 2 == 1, "quotes are closed: {tag}");
    for pair in parts.chunks(2).filter(|pair| pair.len() == 2) {
        assert!(pair[0].ends_with('=') && !pair[0].contains('>'), "{tag}");
        entities(pair[1]);
    }
}

fn entities(text: &str) {
    for after in text.split('&').skip(1) {
        let known = ["amp;", "lt;", "gt;", "quot;", "apos;"].iter().any(|entity| after.starts_with(entity));
        assert!(known, "&{after}");
    }
    assert!(!text.contains(['<', '>']), "{text}");
}

fn states() -> impl Strategy<Value = State> {
    prop_oneof![
        Just(State::Alive),
        (1..2000_usize).prop_map(|order| State::Doomed { order }),
        Just(State::Marked),
        Just(State::Destroyed),
        Just(State::Protected),
        Just(State::Absent),
    ]
}

fn meanings() -> impl Strategy<Value = Meaning> {
    prop_oneof![
        Just(Meaning::Owns),
        Just(Meaning::Inside),
        any::<bool>().prop_map(|dropped| Meaning::DiesBefore { dropped }),
    ]
}

prop_compose! {
    fn pictures()(
        nodes in prop::collection::vec(("\\PC{0,40}", "[A-Z][a-z]{0,30}", "[a-z<&]{0,8}", states()), 1..60),
        edges in prop::collection::vec((0..70_usize, 0..70_usize, meanings()), 0..150),
        title in "(?s).{0,60}",
        more in 0..1000_usize,
    ) -> Picture {
        let node = |(at, (name, kind, namespace, state)): (usize, (String, String, String, State))| {
            Node { id: at.to_string(), label: format!("{kind}/{name}"), kind, namespace, state }
        };
        let edge = |(from, to, meaning): (usize, usize, Meaning)| edge(&from.to_string(), &to.to_string(), meaning);
        Picture {
            title,
            nodes: nodes.into_iter().enumerate().map(node).collect(),
            edges: edges.into_iter().map(edge).collect(),
            more,
            ..Picture::default()
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn no_two_boxes_overlap_and_all_are_inside(picture in pictures()) {
        let drawn = svg(picture.clone(), Size::All);
        well_formed(&drawn);
        let boxes = boxes(&drawn);
        prop_assert_eq!(boxes.len(), picture.nodes.len());
        let view = drawn.split("viewBox=\"0 0 ").nth(1).unwrap().split('"').next().unwrap();
        let (width, height) = view.split_once(' ').unwrap();
        let (width, height): (f64, f64) = (width.parse().unwrap(), height.parse().unwrap());
        for (at, a) in boxes.iter().enumerate() {
            prop_assert!(a[0] >= 0.0 && a[1] >= 0.0 && a[2] <= width && a[3] <= height, "{:?} is outside", a);
            for b in &boxes[at + 1..] {
                let apart = a[2] <= b[0] || b[2] <= a[0] || a[3] <= b[1] || b[3] <= a[1];
                prop_assert!(apart, "{:?} and {:?} overlap", a, b);
            }
        }
        prop_assert_eq!(&svg(picture, Size::All), &drawn, "always drawn the same way");
    }
}
