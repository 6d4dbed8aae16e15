//! From steps and a value to the values that they lead to. What is missing on the way leads nowhere, without a word.

use std::cmp::Ordering;

use serde_json::Value;

use super::{Comparison, Filter, Operand, Step};

/// All values that the steps lead to, within bounds.
pub(super) fn all<'a>(steps: &[Step], value: &'a Value, most_looks: usize) -> Vec<&'a Value> {
    let mut looks = most_looks;
    walk(steps, value, &mut looks)
}

fn walk<'a>(steps: &[Step], value: &'a Value, looks: &mut usize) -> Vec<&'a Value> {
    let mut here = vec![value];
    for step in steps {
        let mut next = Vec::new();
        for value in here {
            if *looks == 0 {
                return Vec::new();
            }
            take(step, value, &mut next, looks);
        }
        here = next;
        if here.is_empty() {
            break;
        }
    }
    here
}

fn take<'a>(step: &Step, value: &'a Value, out: &mut Vec<&'a Value>, looks: &mut usize) {
    let before = out.len();
    match step {
        Step::Fields(names) => out.extend(names.iter().filter_map(|name| value.get(name))),
        Step::All => children(value, out, *looks),
        Step::Items(items) => {
            let Some(list) = value.as_array() else { return };
            out.extend(items.iter().filter_map(|at| list.get(place(*at, list.len())?)));
        }
        Step::Slice(from, to, step) => {
            let Some(list) = value.as_array() else { return };
            let bound = |at: i64| place(at, list.len()).unwrap_or(0).min(list.len());
            let (from, to) = (from.map_or(0, bound), to.map_or(list.len(), bound));
            let step = usize::try_from(*step).unwrap_or(1).max(1);
            out.extend(list.get(from..to).unwrap_or_default().iter().step_by(step).take(*looks));
        }
        Step::Where(filter) => {
            let mut items = Vec::new();
            children(value, &mut items, *looks);
            for item in items {
                *looks = looks.saturating_sub(1);
                if *looks > 0 && holds(filter, item, looks) {
                    out.push(item);
                }
            }
        }
        Step::Below => below(value, out, looks),
    }
    *looks = looks.saturating_sub(1 + out.len() - before);
}

fn children<'a>(value: &'a Value, out: &mut Vec<&'a Value>, most: usize) {
    match value {
        Value::Array(list) => out.extend(list.iter().take(most)),
        Value::Object(map) => out.extend(map.values().take(most)),
        _ => {}
    }
}

fn below<'a>(value: &'a Value, out: &mut Vec<&'a Value>, looks: &mut usize) {
    let mut open = vec![value];
    while let Some(value) = open.pop() {
        if *looks == 0 {
            return;
        }
        *looks -= 1;
        out.push(value);
        let start = open.len();
        children(value, &mut open, *looks);
        // The first child comes next.
        open[start..].reverse();
    }
}

/// A place in a list; a negative number counts from its end.
fn place(at: i64, length: usize) -> Option<usize> {
    let at = if at < 0 { at.checked_add(i64::try_from(length).ok()?)? } else { at };
    usize::try_from(at).ok()
}

fn holds(filter: &Filter, item: &Value, looks: &mut usize) -> bool {
    let mut value = |operand: &Operand| match operand {
        Operand::Value(value) => Some(value.clone()),
        Operand::Path(steps) => walk(steps, item, looks).first().map(|value| (*value).clone()),
    };
    let left = value(&filter.left);
    let Some((comparison, right)) = &filter.compared else { return left.is_some() };
    let (Some(left), Some(right)) = (left, value(right)) else { return false };
    let order = compare(&left, &right);
    match comparison {
        Comparison::Equal => order == Some(Ordering::Equal),
        Comparison::Different => order != Some(Ordering::Equal),
        Comparison::Less => order == Some(Ordering::Less),
        Comparison::AtMost => matches!(order, Some(Ordering::Less | Ordering::Equal)),
        Comparison::Greater => order == Some(Ordering::Greater),
        Comparison::AtLeast => matches!(order, Some(Ordering::Greater | Ordering::Equal)),
    }
}

/// Only values of one type can be told to be more or less than each other.
fn compare(left: &Value, right: &Value) -> Option<Ordering> {
    match (left, right) {
        (Value::String(left), Value::String(right)) => Some(left.cmp(right)),
        (Value::Number(left), Value::Number(right)) => left.as_f64()?.partial_cmp(&right.as_f64()?),
        _ => (left == right).then_some(Ordering::Equal),
    }
}
