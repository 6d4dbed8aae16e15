//! Verdicts on small worlds, and on arbitrary ones against the plainest reading of the rules.

use super::*;
use proptest::prelude::*;
use sexton_model::feed::OwnerReference;
use sexton_model::rule::{KindName, Leftover};

fn kind(name: &str) -> KindName {
    KindName { group: "example.com".into(), kind: name.into() }
}

fn reference(of: &str, name: &str, uid: &str) -> OwnerReference {
    OwnerReference {
        api_version: "example.com/v1".into(),
        kind: of.into(),
        name: name.into(),
        uid: uid.into(),
        ..OwnerReference::default()
    }
}

fn at(of: &str, namespace: &str, name: &str) -> OwnerKey {
    OwnerKey { kind: kind(of), namespace: namespace.into(), name: name.into() }
}

fn owners() -> Owners {
    let mut owners = Owners::default();
    owners.set_listed(kind("Cluster"), true);
    owners.set_not_listed(kind("Broken"), "the server did not answer");
    owners.insert("new", at("Cluster", "default", "a"));
    owners.insert("far", at("Cluster", "elsewhere", "b"));
    owners
}

fn candidate<'a>(owners: &'a [OwnerReference], age: i64, protect: Option<&'a str>) -> Candidate<'a> {
    Candidate { namespace: "default", owners, age, protect }
}

/// EXT-20: an object without owners is no orphan, and doubt never makes one; REQ-RSS-23: an object whose owner does not
/// exist is one, even if the name of that is taken again (REQ-RSS-4).
#[test]
fn every_verdict_has_its_evidence() {
    let owners = owners();
    let (old, new) = (reference("Cluster", "a", "old"), reference("Cluster", "a", "new"));
    let (far, odd) = (reference("Cluster", "b", "far"), reference("Broken", "x", "?"));
    for (references, age, protect, verdict, words) in [
        (vec![], 100, None, Verdict::Ownerless, "names no owner"),
        (vec![new.clone()], 100, None, Verdict::Owned, "owned by Cluster.example.com/a"),
        (vec![old.clone(), new], 100, None, Verdict::Owned, "owned by"),
        (vec![old.clone()], 100, None, Verdict::Orphan, "(old) does not exist, the name belongs to new now"),
        (vec![old.clone()], 10, None, Verdict::TooYoung, "only 10s old, not 1m"),
        (vec![old.clone()], -10, None, Verdict::TooYoung, "only 0s old"),
        (vec![old.clone()], 100, Some("mine"), Verdict::Protected, "protected: mine"),
        (vec![old.clone(), odd.clone()], 100, None, Verdict::Unknown, "the server did not answer"),
        (vec![odd], 100, Some("true"), Verdict::Unknown, "not known"),
        (vec![old, far], 100, None, Verdict::Unknown, "in the namespace \"elsewhere\""),
        (
            vec![reference("Other", "x", "y")],
            100,
            None,
            Verdict::Unknown,
            "of the kind Other.example.com were not listed",
        ),
        (vec![reference("Other", "a", "new")], 100, None, Verdict::Unknown, "with that uid is a Cluster"),
        (vec![reference("Cluster", "z", "new")], 100, None, Verdict::Unknown, "is called \"a\""),
        (vec![reference("Cluster", "a", "")], 100, None, Verdict::Unknown, "names no uid"),
    ] {
        let candidate = candidate(&references, age, protect);
        assert_eq!(classify_orphan(&candidate, &owners, 60), verdict, "{references:?}");
        let said = evidence(&candidate, &owners, 60);
        assert!(said.contains(words), "{verdict:?}: {said}");
    }
}

fn rule(on_create: bool, on_delete: bool) -> Leftover {
    let labels = [("app".to_owned(), "{name}".to_owned())].into();
    Leftover { owner: kind("Cluster"), labels, on_create, on_delete, hold: false }
}

/// REQ-RSS-3, REQ-RSS-5, EXT-21: what belongs to the object that has the name now is never a leftover of the one
/// before.
#[test]
fn leftovers_are_of_the_former_object_only() {
    let owners = owners();
    let judge = |rule: &Leftover, references: &[OwnerReference], age| {
        classify_leftover(rule, "a", &candidate(references, age, None), &owners, 60)
    };
    let (old, new) = (reference("Cluster", "a", "old"), reference("Cluster", "a", "new"));
    assert_eq!(judge(&rule(true, true), std::slice::from_ref(&new), 100), Verdict::Owned);
    assert_eq!(judge(&rule(true, true), &[old.clone(), new], 100), Verdict::Owned);
    assert_eq!(
        judge(&rule(true, true), std::slice::from_ref(&old), 1),
        Verdict::Orphan,
        "the successor waits for it"
    );
    assert_eq!(judge(&rule(true, false), std::slice::from_ref(&old), 100), Verdict::Orphan);
    assert_eq!(judge(&rule(true, true), &[], 100), Verdict::Ownerless);
    let other = reference("Cluster", "c", "gone");
    assert_eq!(
        judge(&rule(true, true), std::slice::from_ref(&other), 100),
        Verdict::Owned,
        "labels alone are no evidence"
    );
    // No object has the name: only the end of the owner counts, and a new object is left alone for a while.
    let lone = |rule: &Leftover, age| {
        classify_leftover(rule, "c", &candidate(std::slice::from_ref(&other), age, None), &owners, 60)
    };
    assert_eq!(
        (lone(&rule(true, false), 100), lone(&rule(false, true), 100)),
        (Verdict::Owned, Verdict::Orphan)
    );
    assert_eq!(lone(&rule(false, true), 10), Verdict::TooYoung);
    let said = leftover_evidence(&rule(true, true), "a", &candidate(&[old], 100, None), &owners, 60);
    assert!(said.starts_with("left over: Cluster.example.com/a (old) does not exist"), "{said}");
}

/// EXT-20: an object that is exactly as old as the rule asks for is old enough, and one that is a second younger is
/// not.
#[test]
fn the_minimum_age_is_reached_to_the_second() {
    let (owners, old) = (owners(), [reference("Cluster", "c", "gone")]);
    for (age, verdict) in [(59, Verdict::TooYoung), (60, Verdict::Orphan), (61, Verdict::Orphan)] {
        let candidate = candidate(&old, age, None);
        assert_eq!(classify_orphan(&candidate, &owners, 60), verdict, "{age}");
        assert_eq!(classify_leftover(&rule(false, true), "c", &candidate, &owners, 60), verdict, "{age}");
    }
    assert_eq!(classify_orphan(&candidate(&old, 0, None), &owners, 0), Verdict::Orphan);
    assert_eq!(classify_orphan(&candidate(&old, -1, None), &owners, 0), Verdict::TooYoung);
}

/// A world so small that everything in it meets everything else.
#[derive(Debug, Clone)]
struct Naive {
    lives: Vec<(u8, u8, u8)>,
    complete: Vec<bool>,
    references: Vec<(u8, u8, u8)>,
    age: i64,
    protect: bool,
}

fn naive() -> impl Strategy<Value = Naive> {
    let lives = proptest::collection::vec((0..2_u8, 0..2_u8, 0..2_u8), 0..4);
    let references = proptest::collection::vec((0..2_u8, 0..2_u8, 0..6_u8), 0..4);
    (lives, proptest::collection::vec(any::<bool>(), 2), references, 0..120_i64, any::<bool>()).prop_map(
        |(lives, complete, references, age, protect)| Naive { lives, complete, references, age, protect },
    )
}

proptest! {
    /// The verdicts against the plainest reading of the rules: an orphan has owners, each of a kind that was listed
    /// completely, and no object anywhere has one of their uids.
    #[test]
    fn only_proved_orphans_are_orphans(world in naive()) {
        let (word, place) = (|of: u8| format!("K{of}"), |in_it: u8| format!("ns{in_it}"));
        let mut owners = Owners::default();
        for (index, complete) in world.complete.iter().enumerate() {
            let of = kind(&format!("K{index}"));
            if *complete { owners.set_listed(of, true) } else { owners.set_not_listed(of, "no") }
        }
        for (uid, (of, namespace, name)) in world.lives.iter().enumerate() {
            owners.insert(&format!("u{uid}"), at(&word(*of), &place(*namespace), &format!("n{name}")));
        }
        let references: Vec<OwnerReference> = world.references.iter()
            .map(|(of, name, uid)| reference(&word(*of), &format!("n{name}"), &format!("u{uid}")))
            .collect();
        let candidate = Candidate {
            namespace: "ns0", owners: &references, age: world.age, protect: world.protect.then_some("true"),
        };
        let verdict = classify_orphan(&candidate, &owners, 60);
        let node = |uid: u8| world.lives.get(usize::from(uid));
        let right = |(of, name, uid): &(u8, u8, u8)| node(*uid) == Some(&(*of, 0, *name));
        let absent = |(of, _, uid): &(u8, u8, u8)| node(*uid).is_none() && world.complete[usize::from(*of)];
        let expected = if world.references.is_empty() {
            Verdict::Ownerless
        } else if world.references.iter().any(right) {
            Verdict::Owned
        } else if !world.references.iter().all(absent) {
            Verdict::Unknown
        } else if world.protect {
            Verdict::Protected
        } else if world.age < 60 {
            Verdict::TooYoung
        } else {
            Verdict::Orphan
        };
        prop_assert_eq!(verdict, expected);
        let leftover = classify_leftover(
            &Leftover { owner: kind("K0"), ..rule(true, true) }, "n0", &candidate, &owners, 60,
        );
        // A leftover is an orphan, only sooner, and of one name.
        if leftover == Verdict::Orphan {
            prop_assert!(matches!(expected, Verdict::Orphan | Verdict::TooYoung));
            prop_assert!(world.references.iter().any(|(of, name, _)| (*of, *name) == (0, 0)));
        }
        prop_assert!(!evidence(&candidate, &owners, 60).is_empty());
    }
}
