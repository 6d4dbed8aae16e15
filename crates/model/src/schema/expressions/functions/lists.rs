//! Lists: order, sums, places; and lists as sets.

use std::cmp::Ordering;
use std::sync::Arc;

use cel::common::types::{CelBool, CelInt, DYN_TYPE, LIST_TYPE};
use cel::common::value::{CowVal, Val};
use cel::{DeclarationError, Env, ExecutionError, Value as Cel};

use super::failed;

/// So many pairs of items are compared at once.
const MOST_PAIRS: usize = 1_000_000;

type Given<'b, 'v> = Vec<CowVal<'b, 'v>>;
type Answer<'b, 'v> = Result<CowVal<'b, 'v>, ExecutionError>;

pub(super) fn extension(env: &mut Env) -> Result<(), DeclarationError> {
    env.add_member_overload("isSorted", "list.isSorted()", LIST_TYPE, vec![], is_sorted)?;
    env.add_member_overload("sum", "list.sum()", LIST_TYPE, vec![], sum)?;
    env.add_member_overload("min", "list.min()", LIST_TYPE, vec![], min)?;
    env.add_member_overload("max", "list.max()", LIST_TYPE, vec![], max)?;
    env.add_member_overload("indexOf", "list.indexOf(dyn)", LIST_TYPE, vec![DYN_TYPE], index_of)?;
    env.add_member_overload(
        "lastIndexOf",
        "list.lastIndexOf(dyn)",
        LIST_TYPE,
        vec![DYN_TYPE],
        last_index_of,
    )?;
    let two = || vec![LIST_TYPE, LIST_TYPE];
    env.add_overload("sets.contains", "sets.contains", two(), contains)?;
    env.add_overload("sets.equivalent", "sets.equivalent", two(), equivalent)?;
    env.add_overload("sets.intersects", "sets.intersects", two(), intersects)
}

fn items(list: &(dyn Val + '_)) -> Result<Arc<Vec<Cel>>, ExecutionError> {
    match Cel::try_from(list)? {
        Cel::List(items) => Ok(items),
        _ => Err(failed("list", "it is not a list")),
    }
}

fn told<'b, 'v>(value: Cel) -> Answer<'b, 'v> {
    Box::<dyn Val>::try_from(value).map(CowVal::Owned)
}

fn is_sorted<'b, 'v>(given: Given<'b, 'v>) -> Answer<'b, 'v> {
    let items = items(given[0].as_ref())?;
    let sorted = items.is_sorted_by(|a, b| a.partial_cmp(b).is_some_and(Ordering::is_le));
    Ok(CowVal::owned(CelBool::from(sorted)))
}

fn sum<'b, 'v>(given: Given<'b, 'v>) -> Answer<'b, 'v> {
    let mut items = items(given[0].as_ref())?.as_ref().clone().into_iter();
    let Some(first) = items.next() else { return told(Cel::Int(0)) };
    told(items.try_fold(first, |sum, item| sum + item)?)
}

fn min<'b, 'v>(given: Given<'b, 'v>) -> Answer<'b, 'v> {
    extreme("min", Ordering::Less, &given)
}

fn max<'b, 'v>(given: Given<'b, 'v>) -> Answer<'b, 'v> {
    extreme("max", Ordering::Greater, &given)
}

fn extreme<'b, 'v>(function: &str, wanted: Ordering, given: &[CowVal<'b, 'v>]) -> Answer<'b, 'v> {
    let items = items(given[0].as_ref())?;
    let best = items.iter().reduce(|best, item| match item.partial_cmp(best) == Some(wanted) {
        true => item,
        false => best,
    });
    told(best.cloned().ok_or_else(|| failed(function, format!("{function} called on empty list")))?)
}

fn index_of<'b, 'v>(given: Given<'b, 'v>) -> Answer<'b, 'v> {
    let (items, wanted) = (items(given[0].as_ref())?, Cel::try_from(given[1].as_ref())?);
    place(items.iter().position(|item| *item == wanted))
}

fn last_index_of<'b, 'v>(given: Given<'b, 'v>) -> Answer<'b, 'v> {
    let (items, wanted) = (items(given[0].as_ref())?, Cel::try_from(given[1].as_ref())?);
    place(items.iter().rposition(|item| *item == wanted))
}

fn place<'b, 'v>(found: Option<usize>) -> Answer<'b, 'v> {
    let at = found.and_then(|at| i64::try_from(at).ok());
    Ok(CowVal::owned(CelInt::from(at.unwrap_or(-1))))
}

fn contains<'b, 'v>(given: Given<'b, 'v>) -> Answer<'b, 'v> {
    sets(&given, |all, some| some.iter().all(|item| all.contains(item)))
}

fn equivalent<'b, 'v>(given: Given<'b, 'v>) -> Answer<'b, 'v> {
    sets(&given, |a, b| a.iter().all(|item| b.contains(item)) && b.iter().all(|item| a.contains(item)))
}

fn intersects<'b, 'v>(given: Given<'b, 'v>) -> Answer<'b, 'v> {
    sets(&given, |a, b| a.iter().any(|item| b.contains(item)))
}

fn sets<'b, 'v>(given: &[CowVal<'b, 'v>], holds: fn(&[Cel], &[Cel]) -> bool) -> Answer<'b, 'v> {
    let (a, b) = (items(given[0].as_ref())?, items(given[1].as_ref())?);
    if a.len().saturating_mul(b.len()) > MOST_PAIRS {
        return Err(failed("sets", "cost limit exceeded"));
    }
    Ok(CowVal::owned(CelBool::from(holds(&a, &b))))
}
