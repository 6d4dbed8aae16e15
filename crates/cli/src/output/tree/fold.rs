//! Thousands of objects in a few lines: siblings that are alike are summed; if that is not enough, the middle is left
//! out.

use std::collections::{BTreeMap, HashMap};

use super::forest::Forest;
use super::rows::{Drawn, Row, Says, rows};
use super::{Beside, DeathPlan, Fold, kind};
use crate::output::style::{Style, count};

/// Siblings that are alike and are shown before the others are summed.
const SHOWN: usize = 3;
/// Fewer than this many are not worth a sum.
const WORTH: usize = 2;
/// If lines are left out, `1 / END` of those shown is from the end, where the roots are.
const END: usize = 4;

/// The lines of a plan, folded if there are too many.
pub(super) fn folded(plan: &DeathPlan, forest: &Forest, fold: Fold) -> Vec<Row> {
    let whole = |units: &[usize]| units.iter().copied().map(Drawn::Unit).collect();
    match fold {
        Fold::Above(most) if plan.entries.len() > most => {
            let lines = rows(forest, &|units| alike(plan, forest, units));
            without_middle(lines, most)
        }
        _ => rows(forest, &whole),
    }
}

/// Siblings of the same kind, reason and wave become a few of them and a sum.
fn alike(plan: &DeathPlan, forest: &Forest, units: &[usize]) -> Vec<Drawn> {
    let class = |unit: usize| {
        let unit = forest.units.get(unit)?;
        let death = plan.entries.get(*unit.members.first()?)?;
        Some((kind(&death.label), &death.reason, unit.order, unit.members.len()))
    };
    let mut sizes = HashMap::new();
    units.iter().for_each(|&unit| *sizes.entry(class(unit)).or_insert(0_usize) += 1);
    let mut drawn: Vec<Drawn> = Vec::new();
    let mut seen: HashMap<_, (usize, usize)> = HashMap::new();
    for &unit in units {
        let class = class(unit);
        let all = sizes.get(&class).copied().unwrap_or(0);
        // How many of this class were met, and where their sum is.
        let (met, sum) = seen.entry(class).or_insert((0, 0));
        *met += 1;
        if all < SHOWN + WORTH || *met <= SHOWN {
            drawn.push(Drawn::Unit(unit));
        } else if *met == SHOWN + 1 {
            *sum = drawn.len();
            drawn.push(Drawn::More(vec![unit]));
        } else if let Some(Drawn::More(units)) = drawn.get_mut(*sum) {
            units.push(unit);
        }
    }
    drawn
}

/// The beginning and the end of too many lines.
fn without_middle(mut lines: Vec<Row>, most: usize) -> Vec<Row> {
    if lines.len() <= most.max(2) {
        return lines;
    }
    let end = lines.split_off(lines.len() - most / END);
    let middle = lines.split_off(most.saturating_sub(most / END + 1));
    let guides = Default::default();
    lines.push(Row { guides, says: Says::Gap { rows: middle } });
    lines.extend(end);
    lines
}

/// What a line of folded units says: `… and 9,940 more ConfigMap like these, with 9,940 Pod`.
pub(super) fn more(plan: &DeathPlan, forest: &Forest, units: &[usize], style: Style) -> String {
    let lives = units.iter().flat_map(|unit| forest.lives_below(*unit));
    let mut kinds = count_kinds(plan, lives);
    let first = units.first().and_then(|unit| forest.units.get(*unit)?.members.first());
    let own = first.and_then(|entry| plan.entries.get(*entry)).map_or("", |death| kind(&death.label));
    let of_own = kinds.remove(own).unwrap_or(0);
    let mut text = format!("{} and {} more {own} like these", style.ellipsis(), count(of_own));
    if !kinds.is_empty() {
        text.push_str(&format!(", with {}", list(&kinds, style)));
    }
    text
}

/// What a gap says: `… and 940 more: 900 ConfigMap, 40 Pod`.
pub(super) fn gap(plan: &DeathPlan, forest: &Forest, rows: &[Row], style: Style) -> String {
    let lives = rows.iter().flat_map(|row| match &row.says {
        Says::Life { entry, .. } => vec![*entry],
        Says::More { units } => units.iter().flat_map(|unit| forest.lives_below(*unit)).collect(),
        Says::Gap { .. } => Vec::new(),
    });
    let kinds = count_kinds(plan, lives);
    let all = kinds.values().sum();
    format!("{} and {} more: {}", style.ellipsis(), count(all), list(&kinds, style))
}

fn count_kinds(plan: &DeathPlan, lives: impl Iterator<Item = usize>) -> BTreeMap<&str, usize> {
    let mut kinds = BTreeMap::new();
    for death in lives.filter_map(|life| plan.entries.get(life)) {
        *kinds.entry(kind(&death.label)).or_insert(0) += 1;
    }
    kinds
}

/// So many kinds are named.
const NAMED: usize = 6;

/// `900 ConfigMap, 40 Pod`, the most first.
fn list(kinds: &BTreeMap<&str, usize>, style: Style) -> String {
    let mut kinds: Vec<(&str, usize)> = kinds.iter().map(|(kind, count)| (*kind, *count)).collect();
    kinds.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let named = kinds.iter().take(NAMED).map(|(kind, number)| format!("{} {kind}", count(*number)));
    let mut text = named.collect::<Vec<_>>().join(", ");
    if kinds.len() > NAMED {
        text.push_str(&format!(", {}", style.ellipsis()));
    }
    text
}

/// The remarks that are shown, each with the number of similar ones that are not; and the number of all others.
pub(super) fn beside(list: &[Beside], fold: Fold) -> (Vec<(&Beside, usize)>, usize) {
    let most = match fold {
        Fold::Above(most) => (most / SHOWN).max(1),
        Fold::Never => usize::MAX,
    };
    if list.len() <= most {
        return (list.iter().map(|one| (one, 0)).collect(), 0);
    }
    // How many of a kind and a reason were met, and which line is the last of them.
    let mut classes: HashMap<(&str, &str), (usize, Option<usize>)> = HashMap::new();
    let (mut shown, mut others) = (Vec::<(&Beside, usize)>::new(), 0);
    for one in list {
        let (met, last) = classes.entry((kind(&one.label), one.why.as_str())).or_insert((0, None));
        *met += 1;
        if *met <= SHOWN && shown.len() < most {
            *last = Some(shown.len());
            shown.push((one, 0));
        } else {
            *last.and_then(|last| shown.get_mut(last)).map_or(&mut others, |(_, more)| more) += 1;
        }
    }
    (shown, others)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::Death;
    use super::*;

    /// Any plan, a senseless one too: causes may go round in circles.
    fn plans() -> impl Strategy<Value = DeathPlan> {
        let kinds = prop::sample::select(vec!["Pod", "Vm", "App"]);
        let one =
            (kinds, 1..5_usize, prop::option::of(0..300_usize), prop::option::weighted(0.2, 0..2_usize));
        prop::collection::vec(one, 0..300).prop_map(|entries| {
            let death = |(at, (kind, order, parent, group))| Death {
                label: format!("{kind}/{at}"),
                order,
                parent,
                group,
                ..Death::default()
            };
            DeathPlan {
                entries: entries.into_iter().enumerate().map(death).collect(),
                ..DeathPlan::default()
            }
        })
    }

    fn lives(forest: &Forest, rows: &[Row]) -> Vec<usize> {
        let mut lives = Vec::new();
        for row in rows {
            match &row.says {
                Says::Life { entry, .. } => lives.push(*entry),
                Says::More { units } => lives.extend(units.iter().flat_map(|unit| forest.lives_below(*unit))),
                Says::Gap { rows } => lives.extend(self::lives(forest, rows)),
            }
        }
        lives
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn nobody_is_lost_or_told_twice(plan in plans(), most in 4..100_usize) {
            let forest = Forest::new(&plan);
            for fold in [Fold::Never, Fold::Above(most)] {
                let rows = folded(&plan, &forest, fold);
                let mut told = lives(&forest, &rows);
                told.sort_unstable();
                prop_assert_eq!(told, (0..plan.entries.len()).collect::<Vec<_>>());
                prop_assert!(fold == Fold::Never || rows.len() <= most, "{} lines", rows.len());
            }
        }
    }
}
