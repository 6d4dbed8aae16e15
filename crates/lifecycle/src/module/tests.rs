//! Laws of modules, against models that are too slow to be wrong.

use std::collections::BTreeSet;

use proptest::collection::{btree_map, vec};
use proptest::option;
use proptest::prelude::*;
use sexton_model::module::{Dependency, ModuleOrder, Scope, default_scope};

use super::*;

fn member(name: &str, labels: &[(&str, &str)], deployment: Option<&str>, order: Option<i64>) -> Member {
    Member {
        api_version: "v1".into(),
        resource: "configmaps".into(),
        kind: "ConfigMap".into(),
        namespace: "default".into(),
        name: name.into(),
        labels: labels.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect(),
        deployment: deployment.map(Into::into),
        order,
        ..Member::default()
    }
}

/// REQ-CLD-8, REQ-CLD-9, REQ-CLD-10, REQ-CLD-11, REQ-CLD-12: a resource is in scope if it has every attribute.
#[test]
fn every_attribute_counts() {
    let manager = ("sexton.dev/manager", "shop");
    let own = member("a", &[manager, ("tier", "web")], None, None);
    assert!(in_scope(&default_scope("shop"), &own) && !in_scope(&default_scope("other"), &own));
    assert!(!in_scope(&default_scope("shop"), &member("a", &[], None, None)));
    let full = [
        ("manager", "shop"),
        ("apiVersion", "v1"),
        ("kind", "ConfigMap"),
        ("namespace", "default"),
        ("name", "a"),
        ("tier", "web"),
    ];
    let scope = |but: Option<&str>| -> Scope {
        let value = |key: &str, value: &str| if but == Some(key) { "else".into() } else { value.to_owned() };
        full.iter().map(|(key, said)| ((*key).to_owned(), value(key, said))).collect()
    };
    assert!(in_scope(&scope(None), &own));
    for (key, _) in full {
        assert!(!in_scope(&scope(Some(key)), &own), "{key}");
    }
}

proptest! {
    /// REQ-CLD-6, REQ-CLD-10, REQ-CLD-11: a resource is unmarked if it is in scope and was not put; the unmarked are in
    /// reverse order; a change of the scope adds and removes what the two scopes disagree on.
    #[test]
    fn splitting_is_what_it_says(
        lives in vec((0..3_u8, 0..3_u8, option::of(0..3_u8), option::of(-3..5_i64)), 0..12),
        scopes in (btree_map("[ab]", "[01]", 0..3), btree_map("[ab]", "[01]", 0..3)),
    ) {
        let members: Vec<Member> = lives.iter().enumerate().map(|(at, (a, b, deployment, order))| {
            let labels = [("a", a.to_string()), ("b", b.to_string())];
            let labels: Vec<(&str, &str)> = labels.iter().map(|(key, value)| (*key, value.as_str())).collect();
            let deployment = deployment.map(|number| number.to_string());
            member(&at.to_string(), &labels, deployment.as_deref(), *order)
        }).collect();
        let (old, new): (Scope, Scope) = scopes;
        let naive = |scope: &Scope, member: &Member| {
            scope.iter().filter(|(key, value)| member.labels.get(*key) != Some(value)).count() == 0
        };
        let sorted = split_by_mark(&new, &members, |member| member.deployment.as_deref() == Some("0"));
        let mut seen: Vec<usize> = sorted.marked.iter().chain(&sorted.unmarked).chain(&sorted.outside).copied().collect();
        seen.sort_unstable();
        prop_assert_eq!(seen, (0..members.len()).collect::<Vec<usize>>());
        for (at, member) in members.iter().enumerate() {
            let put = member.deployment.as_deref() == Some("0");
            prop_assert_eq!(sorted.outside.contains(&at), !naive(&new, member));
            prop_assert_eq!(sorted.unmarked.contains(&at), naive(&new, member) && !put);
        }
        for pair in sorted.unmarked.windows(2) {
            let (first, second) = (&members[pair[0]], &members[pair[1]]);
            // EXT-7: a resource without a place goes after those with one.
            prop_assert!(first.order >= second.order);
        }
        let change = scope_change(&old, &new, &members);
        for (at, member) in members.iter().enumerate() {
            let (was, is) = (naive(&old, member), naive(&new, member));
            prop_assert_eq!(change.enter.contains(&at), !was && is);
            prop_assert_eq!(change.leave.contains(&at), was && !is);
        }
    }

    /// REQ-CLD-20, REQ-CLD-21, REQ-CLD-22, REQ-CLD-23, EXT-7: the conditions of renumbering, gaps and missing places
    /// included; without them it is the simple formula.
    #[test]
    fn renumbering_keeps_the_order_behind_the_marked(
        marked in vec(1..40_i64, 0..6),
        unmarked in vec(option::weighted(0.8, -50..50_i64), 0..8),
        far in option::weighted(0.1, prop_oneof![Just(i64::MAX), Just(i64::MIN), Just(i64::MAX - 1)]),
    ) {
        let mut unmarked = unmarked;
        unmarked.extend(far.map(Some));
        let highest = marked.iter().max().copied();
        let places = renumber(highest, &unmarked);
        prop_assert_eq!(places.len(), unmarked.len());
        for (b, new_b) in unmarked.iter().zip(&places) {
            prop_assert!(marked.iter().all(|a| a < new_b) && *new_b >= 1);
            for (c, new_c) in unmarked.iter().zip(&places) {
                prop_assert_eq!(b.cmp(c), new_b.cmp(new_c), "{:?} {:?}", b, c);
            }
        }
        let all: Option<Vec<i64>> = unmarked.iter().copied().collect();
        if let (Some(all), None, false) = (all, far, unmarked.is_empty()) {
            let shift = highest.unwrap_or(0) + 1 - all.iter().min().unwrap();
            let shifted: Vec<i64> = all.iter().map(|order| order + shift).collect();
            prop_assert_eq!(places, shifted);
        }
    }

    /// REQ-CLD-24: after any number of dry deployments, resources that left the module in the same one keep their
    /// order, and all that left stand behind all that are in it.
    #[test]
    fn after_any_number_of_dry_deployments_there_is_an_order(rounds in vec(vec(0..8_usize, 0..8), 1..8)) {
        let mut places: Vec<Option<i64>> = vec![None; 8];
        for documents in rounds {
            let mut marked: Vec<usize> = Vec::new();
            documents.into_iter().for_each(|at| if !marked.contains(&at) { marked.push(at) });
            let before = places.clone();
            let left: Vec<usize> = (0..8).filter(|at| before[*at].is_some() && !marked.contains(at)).collect();
            for (place, at) in (1..).zip(&marked) {
                places[*at] = Some(place);
            }
            let old: Vec<Option<i64>> = left.iter().map(|at| before[*at]).collect();
            let new = renumber(i64::try_from(marked.len()).ok().filter(|count| *count > 0), &old);
            left.iter().zip(&new).for_each(|(at, place)| places[*at] = Some(*place));
            for a in &marked {
                prop_assert!(left.iter().all(|b| places[*a] < places[*b]));
            }
            for b in &left {
                prop_assert!(left.iter().all(|c| before[*b].cmp(&before[*c]) == places[*b].cmp(&places[*c])));
            }
        }
    }

    /// REQ-CLD-14, REQ-CLD-15, REQ-CLD-16, REQ-CLD-17: each document has one place; edges hold; without edges it is the
    /// order of the documents; a circle is refused, and is one.
    #[test]
    fn documents_are_arranged(count in 1..8_usize, edges in vec((0..8_usize, 0..8_usize), 0..8)) {
        let name = |at: usize| format!("n{at}");
        let entries: Vec<Entry> = (0..count).map(|at| entry("ConfigMap", &name(at))).collect();
        let edges: Vec<(usize, usize)> = edges.into_iter().map(|(a, b)| (a % count, b % count)).collect();
        let dependencies: Vec<Dependency> = edges.iter().map(|(first, then)| Dependency {
            first: format!("ConfigMap/{}", name(*first)),
            then: format!("configmap/{}", name(*then)),
        }).collect();
        match arrange(&entries, &dependencies, ModuleOrder::Documents) {
            Ok(placed) => {
                let counted: Vec<i64> = placed.iter().map(|(_, place)| *place).collect();
                prop_assert_eq!(counted, (1..=i64::try_from(count).unwrap()).collect::<Vec<i64>>());
                let order: Vec<usize> = placed.into_iter().map(|(at, _)| at).collect();
                let mut all = order.clone();
                all.sort_unstable();
                prop_assert_eq!(all, (0..count).collect::<Vec<usize>>());
                let place = |at: usize| order.iter().position(|other| *other == at).unwrap();
                for (first, then) in &edges {
                    prop_assert!(place(*first) < place(*then));
                }
                // The naive way: again and again the first document without open predecessors.
                let mut naive: Vec<usize> = Vec::new();
                while naive.len() < count {
                    let free = |at: &usize| !naive.contains(at)
                        && edges.iter().all(|(first, then)| then != at || naive.contains(first));
                    naive.push((0..count).find(free).unwrap());
                }
                prop_assert_eq!(order, naive);
            }
            Err(OrderError::Cycle(circle)) => {
                prop_assert!(!circle.is_empty());
                let at = |label: &String| (0..count).find(|at| entries[*at].label() == *label).unwrap();
                for (one, next) in circle.iter().zip(circle.iter().cycle().skip(1)) {
                    prop_assert!(edges.contains(&(at(one), at(next))), "{} {}", one, next);
                }
            }
            Err(other) => prop_assert!(false, "{}", other),
        }
    }
}

proptest! {
    /// REQ-CLD-14, REQ-CLD-15, REQ-CLD-24: whatever order is meant, an edge leads to a higher place, and documents are
    /// put in one order. With `edges` a place is the length of the longest way to it; with `files` those of another
    /// file are never equal, and those of the same file are if nothing is between them.
    #[test]
    fn equal_places_only_where_they_are_meant(
        files in vec(0..3_usize, 1..9),
        edges in vec((0..8_usize, 0..8_usize), 0..8),
    ) {
        let count = files.len();
        let mut files = files;
        files.sort_unstable();
        let in_file = |(at, file): (usize, &usize)| {
            Entry { file: format!("{file}.yaml"), ..entry("ConfigMap", &format!("n{at}")) }
        };
        let entries: Vec<Entry> = files.iter().enumerate().map(in_file).collect();
        // Only forwards and backwards between files as it comes, but no circles.
        let edges: Vec<(usize, usize)> =
            edges.into_iter().map(|(a, b)| (a % count, b % count)).filter(|(a, b)| (a * 5) % 8 < (b * 5) % 8).collect();
        let named = |at: usize| format!("ConfigMap/n{at}");
        let dependencies: Vec<Dependency> =
            edges.iter().map(|(first, then)| Dependency { first: named(*first), then: named(*then) }).collect();
        let placed = |how| arrange(&entries, &dependencies, how).unwrap();
        let usual: Vec<usize> = placed(ModuleOrder::Documents).into_iter().map(|(at, _)| at).collect();
        for how in ModuleOrder::ALL {
            let placed = placed(how);
            prop_assert_eq!(placed.iter().map(|(at, _)| *at).collect::<Vec<usize>>(), usual.clone());
            let place = |at: usize| placed.iter().find(|(other, _)| *other == at).unwrap().1;
            for (first, then) in &edges {
                prop_assert!(place(*first) < place(*then), "{:?} {:?}", how, placed);
            }
            let longest = |at: usize| -> i64 {
                // As many rounds as there are documents are enough for the longest way.
                let mut ways = vec![1_i64; count];
                for _ in 0..count {
                    for (first, then) in &edges {
                        ways[*then] = ways[*then].max(ways[*first] + 1);
                    }
                }
                ways[at]
            };
            for a in 0..count {
                if how == ModuleOrder::Edges {
                    prop_assert_eq!(place(a), longest(a));
                }
                for b in (0..count).filter(|b| *b != a) {
                    let free = edges.is_empty() && files[a] == files[b];
                    match how {
                        ModuleOrder::Documents => prop_assert!(place(a) != place(b)),
                        ModuleOrder::Files if files[a] != files[b] => prop_assert!(place(a) != place(b)),
                        ModuleOrder::Files => prop_assert!(!free || place(a) == place(b)),
                        ModuleOrder::Edges => {}
                    }
                }
            }
        }
    }
}

fn entry(kind: &str, name: &str) -> Entry {
    Entry { kind: kind.into(), namespace: "default".into(), name: name.into(), ..Entry::default() }
}

fn order(entries: &[Entry], dependencies: &[Dependency]) -> Result<Vec<usize>, OrderError> {
    let placed = arrange(entries, dependencies, ModuleOrder::Documents)?;
    Ok(placed.into_iter().map(|(at, _)| at).collect())
}

fn owned(name: &str, owner: &str) -> Entry {
    Entry { owners: vec![(String::new(), "ConfigMap".into(), owner.into())], ..entry("ConfigMap", name) }
}

/// Owners come before what they own; a circle of owners is legal, and stays in the order in which it is written.
#[test]
fn owners_come_first_as_far_as_possible() {
    let entries = [owned("a", "c"), entry("ConfigMap", "b"), entry("ConfigMap", "c")];
    assert_eq!(order(&entries, &[]), Ok(vec![1, 2, 0]));
    let circle = [owned("a", "b"), owned("b", "a"), owned("c", "b")];
    assert_eq!(order(&circle, &[]), Ok(vec![0, 1, 2]));
    // What was said explicitly is stronger.
    let edge = Dependency { first: "ConfigMap/a".into(), then: "ConfigMap/c".into() };
    assert_eq!(order(&entries, &[edge]), Ok(vec![0, 1, 2]));
}

/// A namespace, a definition and a class come before what is in it or of that kind.
#[test]
fn what_is_needed_comes_first() {
    let of_kind = Some(("x.io".to_owned(), "Vm".to_owned()));
    let namespace = Entry { namespace: String::new(), ..entry("Namespace", "default") };
    let vm = Entry { group: "x.io".into(), ..entry("Vm", "vm") };
    let class = Entry { provides: of_kind, namespace: String::new(), ..entry("Class", "vm") };
    assert_eq!(order(&[vm.clone(), namespace.clone(), class.clone()], &[]), Ok(vec![1, 2, 0]));
    let wrong = Dependency { first: "Vm.x.io/default/vm".into(), then: "Class/vm".into() };
    let error = order(&[vm.clone(), class], &[wrong]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "each of these has to come before the next: Vm.x.io/default/vm, Class/vm, Vm.x.io/default/vm"
    );
    let elsewhere = Entry { namespace: "other".into(), ..vm.clone() };
    let both = Dependency { first: "Vm/vm".into(), then: "Namespace/default".into() };
    let error = order(&[vm, elsewhere, namespace], &[both]).unwrap_err();
    assert!(matches!(error, OrderError::Ambiguous { meanings, .. } if meanings.len() == 2));
}

/// REQ-CLD-6, EXT-7: what others made with copied labels is not the module's; what it put itself, or might have, is.
#[test]
fn copies_are_told_apart() {
    let marked = |name: &str, uid: &str, order, owners: &[&str]| Member {
        uid: uid.into(),
        owners: owners.iter().map(|owner| (*owner).to_owned()).collect(),
        ..member(name, &[], Some("d1"), order)
    };
    let bare = |name: &str, resource: &str, owners: &[&str]| Member {
        resource: resource.into(),
        deployment: None,
        ..marked(name, name, None, owners)
    };
    let members = [
        marked("service", "u1", Some(1), &[]),
        marked("owned-document", "u2", Some(2), &["u1"]),
        marked("copied-annotations", "u3", Some(1), &["u1"]),
        marked("no-place", "u4", None, &["u5"]),
        marked("no-place-either", "u5", None, &[]),
        bare("by-hand", "configmaps", &[]),
        bare("slice", "configmaps", &["u1"]),
        bare("endpoints", "endpoints", &[]),
    ];
    let found = |kinds: Option<&BTreeSet<String>>| -> Vec<&str> {
        possible_copies(&members, kinds).into_iter().map(|at| members[at].name.as_str()).collect()
    };
    let kinds = ["configmaps".to_owned()].into();
    let owned = ["owned-document", "copied-annotations", "no-place"];
    assert_eq!(found(Some(&kinds)), [&owned[..], &["slice", "endpoints"]].concat());
    assert_eq!(found(None), [&owned[..], &["slice"]].concat());
}
