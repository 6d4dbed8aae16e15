//! What an expression may make: texts, lists and maps are counted as they come into being, so that a short document cannot
//! become very much memory.
//!
//! Functions of the language have no place for a meter of their own. An expression is evaluated by one thread from its
//! beginning to its end, so the meter belongs to the thread.

use std::cell::Cell;

use cel::ExecutionError;
use cel::common::types::{CelBytes, CelList, CelMap, CelOptional, CelString};
use cel::common::value::Val;

/// So much may one evaluation make: more than the largest object needs, and what many requests at once can have each.
const MAX_MADE_BYTES: usize = 16 << 20;
/// So much may all evaluations for one document make, one after the other: about a second of copying.
const MAX_MADE_TOGETHER_BYTES: usize = 512 << 20;
/// So many items are iterated over for one document, by all of its expressions.
const MAX_ITERATED: usize = 50_000;
/// What a value takes beside its text: its place in a list, and a box with a text or a number in it.
const VALUE_BYTES: usize = 64;

thread_local! {
    static LEFT: Cell<Left> = const { Cell::new(Left { made: 0, together: 0, items: 0, exceeded: false }) };
}

/// What may still be made.
#[derive(Clone, Copy)]
struct Left {
    made: usize,
    together: usize,
    items: usize,
    exceeded: bool,
}

/// What is left for a document, between evaluations.
pub(super) struct Meter {
    together: Cell<usize>,
    items: Cell<usize>,
}

impl Default for Meter {
    fn default() -> Self {
        Meter { together: Cell::new(MAX_MADE_TOGETHER_BYTES), items: Cell::new(MAX_ITERATED) }
    }
}

impl Meter {
    /// Evaluates something within what is left. Too much is an error whatever the expression makes of it: what is left
    /// undone is neither true nor false.
    pub(super) fn measure<T>(
        &self,
        evaluate: impl FnOnce() -> Result<T, ExecutionError>,
    ) -> Result<T, ExecutionError> {
        let (together, items) = (self.together.get(), self.items.get());
        let made = MAX_MADE_BYTES.min(together);
        LEFT.set(Left { made, together, items, exceeded: false });
        let outcome = evaluate();
        let left = LEFT.get();
        self.together.set(left.together);
        self.items.set(left.items);
        if left.exceeded { Err(exceeded()) } else { outcome }
    }
}

fn exceeded() -> ExecutionError {
    ExecutionError::function_error("rule", "cost limit exceeded")
}

/// Takes what is about to be made, or was, from what is left.
pub(super) fn spend(bytes: usize) -> Result<(), ExecutionError> {
    let mut left = LEFT.get();
    let (made, together) = (left.made.checked_sub(bytes), left.together.checked_sub(bytes));
    match (made, together) {
        (Some(made), Some(together)) => (left.made, left.together) = (made, together),
        _ => (left.made, left.exceeded) = (0, true),
    }
    LEFT.set(left);
    if left.exceeded { Err(exceeded()) } else { Ok(()) }
}

/// Spends what a list of texts takes, each with so many bytes.
pub(super) fn spend_list(count: usize, bytes: usize) -> Result<(), ExecutionError> {
    spend(count.saturating_mul(VALUE_BYTES).saturating_add(bytes))
}

/// Takes what is about to be iterated over from what is left.
pub(super) fn iterate(range: &(dyn Val + '_)) -> Result<(), ExecutionError> {
    let size = range.as_sizer().map_or(1, |sizer| usize::try_from(*sizer.size().inner()).unwrap_or(0));
    let mut left = LEFT.get();
    match left.items.checked_sub(size.saturating_add(1)) {
        Some(items) => left.items = items,
        None => left.exceeded = true,
    }
    LEFT.set(left);
    if left.exceeded { Err(exceeded()) } else { Ok(()) }
}

/// About how many bytes a copy of a value takes. What lies in it nests no deeper than documents and expressions do.
pub(super) fn weight(value: &(dyn Val + '_)) -> usize {
    VALUE_BYTES
        + if let Some(text) = value.downcast_ref::<CelString<'_>>() {
            text.inner().len()
        } else if let Some(bytes) = value.downcast_ref::<CelBytes<'_>>() {
            bytes.inner().len()
        } else if let Some(list) = value.downcast_ref::<CelList<'_>>() {
            list.inner().iter().map(|item| weight(item.as_ref())).sum()
        } else if let Some(map) = value.downcast_ref::<CelMap<'_>>() {
            map.inner().iter().map(|(key, item)| weight(key.inner()) + weight(item.as_ref())).sum()
        } else if let Some(optional) = value.downcast_ref::<CelOptional<'_>>() {
            optional.inner().map_or(0, weight)
        } else {
            0
        }
}
