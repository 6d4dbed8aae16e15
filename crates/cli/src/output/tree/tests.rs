//! What plans look like.

use super::text::text;
use super::*;
use crate::output::screen::neutral;
use crate::output::style::{Style, width};

fn death(label: &str, order: usize, parent: Option<usize>, reason: &str, marks: &[&str]) -> Death {
    Death {
        label: label.to_owned(),
        order,
        parent,
        reason: reason.to_owned(),
        marks: marks.iter().map(|mark| (*mark).to_owned()).collect(),
        ..Death::default()
    }
}

fn beside(label: &str, why: &str) -> Beside {
    Beside { label: label.to_owned(), why: why.to_owned() }
}

pub(super) fn prod() -> DeathPlan {
    DeathPlan {
        target: ".sexton (embedded)".into(),
        title: "delete Cluster/prod, policy cascade".into(),
        preview: true,
        entries: vec![
            Death { uid: "3f2a".into(), ..death("Cluster/prod", 3, None, "asked for", &[]) },
            death("App/shop", 2, Some(0), "owned by Cluster/prod", &["warns Network/lan"]),
            death("ConfigMap/env", 1, Some(0), "owned by Cluster/prod", &[]),
            death(
                "Volume/data",
                1,
                Some(1),
                "owned by App/shop",
                &["destroy ./hooks/volume-rm", "warns Vm/web-1"],
            ),
            death("Volume/logs", 1, Some(1), "owned by App/shop", &["destroy ./hooks/volume-rm"]),
            death("Event/shop.17", 3, Some(1), "owned by App/shop, which is gone then", &[]),
        ],
        kept: vec![beside("Secret/tls", "owned by App/blog, too")],
        loses: vec![beside("Secret/tls", "reference to App/shop")],
        holds: vec![beside("Volume/logs", "finalizer example.com/backup")],
        unknown: vec![beside("Backup/nightly", "its owner Vault/v is of a kind that nobody serves")],
        dropped: vec!["Volume/data before Vm/web-1, which would go round in a circle".into()],
        digest: "7c1f09aa31d2".into(),
        hints: vec![
            ("do it".into(), "sexton delete Cluster/prod --policy cascade --approve 7c1f".into()),
            ("look at it".into(), "sexton graph Cluster/prod -o svg > prod.svg".into()),
        ],
    }
}

#[test]
fn a_plan_reads_from_top_to_bottom_as_it_dies() {
    insta::assert_snapshot!(text(&prod(), Style::PLAIN, Fold::USUAL), @"
    .sexton (embedded) · delete Cluster/prod, policy cascade
    - 1st  ┌─ ConfigMap/env      owned by Cluster/prod
    - 1st  │  ┌─ Volume/data     owned by App/shop                       destroy ./hooks/volume-rm · warns Vm/web-1
    - 1st  │  ├─ Volume/logs     owned by App/shop                       destroy ./hooks/volume-rm
    - 2nd  ├─ App/shop           owned by Cluster/prod                   warns Network/lan
    - 3rd  │  └─ Event/shop.17   owned by App/shop, which is gone then
    - 3rd  Cluster/prod          asked for
    = Secret/tls       owned by App/blog, too
    ~ Secret/tls       reference to App/shop
    ! Volume/logs      finalizer example.com/backup
    ? Backup/nightly   its owner Vault/v is of a kind that nobody serves
      order given up: Volume/data before Vm/web-1, which would go round in a circle
    Plan: 6 to destroy in 3 waves, 1 keeps living, 1 loses a reference, 1 held, 1 unknown.   digest 7c1f09aa…
    Nothing was written.
      do it        sexton delete Cluster/prod --policy cascade --approve 7c1f
      look at it   sexton graph Cluster/prod -o svg > prod.svg
    ");
}

#[test]
fn without_unicode_and_on_a_narrow_terminal() {
    let style = Style { colours: false, unicode: false, width: Some(64) };
    let shown = text(&prod(), style, Fold::USUAL);
    insta::assert_snapshot!(shown, @"
    .sexton (embedded) - delete Cluster/prod, policy cascade
    - 1st  ,- ConfigMap/env      owned by Cluster/prod
    - 1st  |  ,- Volume/data     owned by App/shop
           |  |                  destroy ./hooks/volume-rm - warns
           |  |                  Vm/web-1
    - 1st  |  |- Volume/logs     owned by App/shop
           |  |                  destroy ./hooks/volume-rm
    - 2nd  |- App/shop           owned by Cluster/prod
           |  |                  warns Network/lan
    - 3rd  |  `- Event/shop.17   owned by App/shop, which is gone
           |                     then
    - 3rd  Cluster/prod          asked for
    = Secret/tls       owned by App/blog, too
    ~ Secret/tls       reference to App/shop
    ! Volume/logs      finalizer example.com/backup
    ? Backup/nightly   its owner Vault/v is of a kind that nobody
                       serves
      order given up: Volume/data before Vm/web-1, which would go
        round in a circle
    Plan: 6 to destroy in 3 waves, 1 keeps living, 1 loses a
      reference, 1 held, 1 unknown.
      digest 7c1f09aa...
    Nothing was written.
      do it:
        sexton delete Cluster/prod --policy cascade --approve 7c1f
      look at it:
        sexton graph Cluster/prod -o svg > prod.svg
    ");
    assert!(shown.lines().all(|line| width(line) <= 64), "nothing is broken by the terminal");
    assert!(shown.is_ascii());
}

#[test]
fn on_a_terminal_symbols_are_painted() {
    let style = Style { colours: true, unicode: true, width: Some(100) };
    let shown = neutral(&text(&prod(), style, Fold::USUAL)).replace('\u{1b}', "␛");
    insta::assert_snapshot!(shown, @"
    .sexton (embedded) · delete Cluster/prod, policy cascade
    ␛[31m-␛[0m ␛[2m1st␛[0m  ┌─ ConfigMap/env      ␛[2mowned by Cluster/prod␛[0m
    ␛[31m-␛[0m ␛[2m1st␛[0m  │  ┌─ Volume/data     ␛[2mowned by App/shop␛[0m
           │  │                  ␛[33mdestroy ./hooks/volume-rm · warns Vm/web-1␛[0m
    ␛[31m-␛[0m ␛[2m1st␛[0m  │  ├─ Volume/logs     ␛[2mowned by App/shop                    ␛[0m   ␛[33mdestroy ./hooks/volume-rm␛[0m
    ␛[31m-␛[0m ␛[2m2nd␛[0m  ├─ App/shop           ␛[2mowned by Cluster/prod                ␛[0m   ␛[33mwarns Network/lan␛[0m
    ␛[31m-␛[0m ␛[2m3rd␛[0m  │  └─ Event/shop.17   ␛[2mowned by App/shop, which is gone then␛[0m
    ␛[31m-␛[0m ␛[2m3rd␛[0m  Cluster/prod          ␛[2masked for␛[0m
    ␛[2m=␛[0m Secret/tls       ␛[2mowned by App/blog, too␛[0m
    ␛[33m~␛[0m Secret/tls       ␛[2mreference to App/shop␛[0m
    ␛[33m!␛[0m Volume/logs      ␛[2mfinalizer example.com/backup␛[0m
    ␛[33m?␛[0m Backup/nightly   ␛[2mits owner Vault/v is of a kind that nobody serves␛[0m
    ␛[2m  order given up: Volume/data before Vm/web-1, which would go round in a circle␛[0m
    Plan: ␛[31m6 to destroy␛[0m in 3 waves, 1 keeps living, 1 loses a reference, 1 held, 1 unknown.
      ␛[2mdigest 7c1f09aa…␛[0m
    Nothing was written.
      do it        sexton delete Cluster/prod --policy cascade --approve 7c1f
      look at it   sexton graph Cluster/prod -o svg > prod.svg
    ");
}

#[test]
fn those_who_go_round_in_a_circle_die_together() {
    let together =
        |label, parent| Death { group: Some(2), ..death(label, 2, parent, "owned in a circle", &[]) };
    let plan = DeathPlan {
        target: "http://127.0.0.1:7600".into(),
        title: "delete Ring/a".into(),
        entries: vec![
            death("Room/r", 3, None, "asked for", &[]),
            together("Ring/a", Some(0)),
            together("Ring/b", Some(1)),
            together("Ring/c", Some(2)),
            death("Stone/s", 1, Some(2), "owned by Ring/b", &[]),
            death("Pearl/p", 1, Some(0), "owned by Room/r", &[]),
        ],
        ..DeathPlan::default()
    };
    insta::assert_snapshot!(text(&plan, Style::PLAIN, Fold::USUAL), @"
    http://127.0.0.1:7600 · delete Ring/a
    - 1st  ┌─ Pearl/p      owned by Room/r
    - 1st  │  ┌─ Stone/s   owned by Ring/b
    - 2nd  ├─ ╭ Ring/a     owned in a circle   these 3 die together
    - 2nd  │  │ Ring/b     owned in a circle
    - 2nd  │  ╰ Ring/c     owned in a circle
    - 3rd  Room/r          asked for
    Plan: 6 to destroy in 3 waves.
    ");
}

#[test]
fn whoever_goes_first_stands_above() {
    let plan = DeathPlan {
        target: ".sexton (embedded)".into(),
        title: "delete Deployment/web, policy background".into(),
        entries: vec![
            death("Deployment/web", 1, None, "asked for", &[]),
            death("ReplicaSet/web-1", 2, Some(0), "owned by Deployment/web", &[]),
            death("Pod/web-1-a", 3, Some(1), "owned by ReplicaSet/web-1", &[]),
            death("Pod/web-1-b", 3, Some(1), "owned by ReplicaSet/web-1", &[]),
            death("ReplicaSet/web-2", 2, Some(0), "owned by Deployment/web", &[]),
            death("Pod/web-2-a", 3, Some(4), "owned by ReplicaSet/web-2", &[]),
        ],
        ..DeathPlan::default()
    };
    insta::assert_snapshot!(text(&plan, Style::PLAIN, Fold::USUAL), @"
    .sexton (embedded) · delete Deployment/web, policy background
    - 1st  Deployment/web        asked for
    - 2nd  ├─ ReplicaSet/web-1   owned by Deployment/web
    - 3rd  │  ├─ Pod/web-1-a     owned by ReplicaSet/web-1
    - 3rd  │  └─ Pod/web-1-b     owned by ReplicaSet/web-1
    - 2nd  └─ ReplicaSet/web-2   owned by Deployment/web
    - 3rd     └─ Pod/web-2-a     owned by ReplicaSet/web-2
    Plan: 6 to destroy in 3 waves.
    ");
}

fn crowd() -> DeathPlan {
    let mut entries = vec![death("Namespace/team", 3, None, "asked for", &[])];
    for at in 0..9_000 {
        entries.push(death(&format!("ConfigMap/c-{at:04}"), 1, Some(0), "in Namespace/team", &[]));
    }
    for at in 0..500 {
        entries.push(death(&format!("ReplicaSet/r-{at:03}"), 2, Some(0), "in Namespace/team", &[]));
        let owner = entries.len() - 1;
        for pod in ["a", "b"] {
            let reason = format!("owned by ReplicaSet/r-{at:03}");
            entries.push(death(&format!("Pod/r-{at:03}-{pod}"), 1, Some(owner), &reason, &[]));
        }
    }
    let kept = (0..400).map(|at| beside(&format!("Secret/s-{at}"), "protected")).collect();
    DeathPlan {
        target: ".sexton (embedded)".into(),
        title: "delete Namespace/team".into(),
        entries,
        kept,
        ..DeathPlan::default()
    }
}

#[test]
fn ten_thousand_lives_fit_on_a_screen() {
    insta::assert_snapshot!(text(&crowd(), Style::PLAIN, Fold::USUAL), @"
    .sexton (embedded) · delete Namespace/team
    - 1st  ┌─ ConfigMap/c-0000   in Namespace/team
    - 1st  ├─ ConfigMap/c-0001   in Namespace/team
    - 1st  ├─ ConfigMap/c-0002   in Namespace/team
    - 1st  ├─ … and 8,997 more ConfigMap like these
    - 1st  │  ┌─ Pod/r-000-a     owned by ReplicaSet/r-000
    - 1st  │  ├─ Pod/r-000-b     owned by ReplicaSet/r-000
    - 2nd  ├─ ReplicaSet/r-000   in Namespace/team
    - 1st  │  ┌─ Pod/r-001-a     owned by ReplicaSet/r-001
    - 1st  │  ├─ Pod/r-001-b     owned by ReplicaSet/r-001
    - 2nd  ├─ ReplicaSet/r-001   in Namespace/team
    - 1st  │  ┌─ Pod/r-002-a     owned by ReplicaSet/r-002
    - 1st  │  ├─ Pod/r-002-b     owned by ReplicaSet/r-002
    - 2nd  ├─ ReplicaSet/r-002   in Namespace/team
    - 2nd  ├─ … and 497 more ReplicaSet like these, with 994 Pod
    - 3rd  Namespace/team        asked for
    = Secret/s-0     protected
    = Secret/s-1     protected
    = Secret/s-2     protected
    = … and 397 more Secret like these
    Plan: 10,501 to destroy in 3 waves, 400 keep living.
    ");
    assert_eq!(text(&crowd(), Style::PLAIN, Fold::Never).lines().count(), 1 + 10_501 + 400 + 1);
}

#[test]
fn what_cannot_be_summed_loses_its_middle() {
    let entry = |at: usize| {
        death(&format!("Link/l-{at}"), 10_000 - at, at.checked_sub(1), &format!("owned by Link/l-{at}"), &[])
    };
    let plan = DeathPlan { entries: (0..10_000).map(entry).collect(), ..DeathPlan::default() };
    let shown = text(&plan, Style::PLAIN, Fold::USUAL);
    assert_eq!(shown.lines().count(), 1 + 60 + 1);
    assert!(shown.contains("… and 9,941 more: 9,941 Link\n"), "{shown}");
    assert!(shown.lines().rev().nth(1).unwrap().contains("10,000th  Link/l-0"), "{shown}");
}

#[test]
fn others_beside_the_plan_are_counted() {
    let kept = (0..90).map(|at| beside(&format!("Secret/s-{at}"), &format!("owned by App/a-{}", at / 2)));
    let plan = DeathPlan { kept: kept.collect(), ..DeathPlan::default() };
    let shown = text(&plan, Style::PLAIN, Fold::USUAL);
    assert_eq!(shown.lines().filter(|line| line.starts_with("= Secret")).count(), 20);
    assert!(shown.contains("= … and 70 others\n"), "{shown}");
}

#[test]
fn an_empty_plan_says_so() {
    let plan = DeathPlan { target: ".sexton (embedded)".into(), preview: true, ..DeathPlan::default() };
    insta::assert_snapshot!(text(&plan, Style::PLAIN, Fold::USUAL), @"
    .sexton (embedded)
    Plan: 0 to destroy.
    Nothing was written.
    ");
}

#[test]
fn names_cannot_instruct_the_terminal() {
    let mut plan = prod();
    plan.entries[3].label = "Volume/\u{1b}[2Jdata\n- Vm/innocent".into();
    let shown = text(&plan, Style::PLAIN, Fold::USUAL);
    assert!(!shown.contains('\u{1b}') && !shown.contains("\n- Vm"), "{shown}");
}
