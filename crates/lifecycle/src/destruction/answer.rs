//! What an answer does to a call. Only `Done` and `Gone` complete it; no other answer is ever taken for success.

use super::event::{Action, Outcome, Retry};
use super::state::{Block, Callee, Ending, MAX_ERROR_BYTES, MAX_OUTPUT_BYTES, MAX_TEXT_BYTES, Stage, State};

/// The longest delay that a callee may ask for: a day.
const MAX_AFTER_SECONDS: i64 = 24 * 60 * 60;

/// Records the answer to a call in flight. Returns actions only for a veto that cancels the collection.
pub(super) fn take(
    state: &mut State,
    callee: &Callee,
    outcome: &Outcome,
    retry: Retry,
    now: i64,
) -> Vec<Action> {
    let is_destroyed = state.stage == Stage::Destroyed;
    match outcome {
        Outcome::Done { output } => close(state, callee, Ending::Done, output),
        Outcome::Gone => close(state, callee, Ending::Gone, ""),
        Outcome::InProgress { after } => {
            later(state, callee, now.saturating_add((*after).clamp(1, MAX_AFTER_SECONDS)))
        }
        Outcome::Retry { after, reason } => {
            let after = (*after).clamp(1, MAX_AFTER_SECONDS);
            fail(state, callee, reason, retry.limit, now.saturating_add(after), now);
        }
        Outcome::Failed { reason } | Outcome::HookError { reason } => {
            fail_with_backoff(state, callee, reason, retry, now);
        }
        // A destroyed object cannot be vetoed or blocked any more: such an answer is a failure.
        Outcome::Blocked { reason, .. } | Outcome::Veto { reason, .. } if is_destroyed => {
            fail_with_backoff(state, callee, reason, retry, now);
        }
        Outcome::Missing { what } if is_destroyed => fail_with_backoff(state, callee, what, retry, now),
        Outcome::Veto { reason, .. } if !state.is_terminating => return cancel(state, callee, reason),
        Outcome::Veto { reason, until } => {
            let next = until.map(|until| until.max(now.saturating_add(1)));
            block(state, callee, Block::Veto, reason, next, now);
        }
        Outcome::Blocked { by, reason } => {
            let what = Block::Blocked { by: cut(by, MAX_ERROR_BYTES) };
            block_with_backoff(state, callee, what, reason, retry, now);
        }
        Outcome::Missing { what } => {
            block_with_backoff(state, callee, Block::Missing, what, retry, now);
        }
    }
    Vec::new()
}

fn close(state: &mut State, callee: &Callee, ending: Ending, output: &str) {
    state.open.remove(callee);
    if *callee == Callee::Destroy {
        state.outcome = Some(ending);
        state.output = Some(cut(output, MAX_OUTPUT_BYTES)).filter(|output| !output.is_empty());
    }
}

/// A veto against a candidate: it survives, and so do all other candidates of its collection.
fn cancel(state: &mut State, callee: &Callee, reason: &str) -> Vec<Action> {
    state.stage = Stage::Cancelled;
    state.open.clear();
    let reason = cut(reason, MAX_ERROR_BYTES);
    state.vetoed_by = Some(callee.clone());
    state.last_error = Some(reason.clone());
    vec![Action::CancelCollection { by: callee.clone(), reason }, Action::Forget]
}

/// The callee is still working: clears whatever blocked it, and asks again later.
fn later(state: &mut State, callee: &Callee, next: i64) {
    let Some(pending) = state.open.get_mut(callee) else { return };
    *pending = super::Pending { failures: pending.failures, next: Some(next), ..super::Pending::default() };
}

fn fail_with_backoff(state: &mut State, callee: &Callee, reason: &str, retry: Retry, now: i64) {
    let failures = state.open.get(callee).map_or(0, |pending| pending.failures).saturating_add(1);
    let next = now.saturating_add(backoff(retry, failures));
    fail(state, callee, reason, retry.limit, next, now);
}

/// Counts a failure. Beyond the limit the call is blocked; once the object is destroyed it is given up instead.
fn fail(state: &mut State, callee: &Callee, reason: &str, limit: u32, next: i64, now: i64) {
    let failures = state.open.get(callee).map_or(0, |pending| pending.failures).saturating_add(1);
    if let Some(pending) = state.open.get_mut(callee) {
        pending.failures = failures;
    }
    if failures <= limit {
        wait(state, callee, None, reason, Some(next), now);
    } else if state.stage == Stage::Destroyed {
        state.open.remove(callee);
        state.unnotified = state.unnotified.saturating_add(1);
        state.last_error = Some(cut(reason, MAX_ERROR_BYTES));
    } else {
        block(state, callee, Block::Failed, reason, None, now);
    }
}

fn block_with_backoff(state: &mut State, callee: &Callee, what: Block, reason: &str, retry: Retry, now: i64) {
    let Some(pending) = state.open.get_mut(callee) else { return };
    pending.blocked = pending.blocked.saturating_add(1);
    let next = now.saturating_add(backoff(retry, pending.blocked));
    block(state, callee, what, reason, Some(next), now);
}

fn block(state: &mut State, callee: &Callee, what: Block, reason: &str, next: Option<i64>, now: i64) {
    wait(state, callee, Some(what), reason, next, now);
}

fn wait(state: &mut State, callee: &Callee, what: Option<Block>, reason: &str, next: Option<i64>, now: i64) {
    if let Some(pending) = state.open.get_mut(callee) {
        (pending.in_flight, pending.next) = (false, next);
        (pending.block, pending.error) = (None, None);
        pending.since.get_or_insert(now);
    }
    let mut left = MAX_TEXT_BYTES.saturating_sub(state.texts());
    let what = what.map(|what| match what {
        Block::Blocked { by } => Block::Blocked { by: cut(&by, left) },
        other => other,
    });
    if let Some(Block::Blocked { by }) = &what {
        left = left.saturating_sub(by.len());
    }
    if let Some(pending) = state.open.get_mut(callee) {
        pending.block = what;
        pending.error = Some(cut(reason, left.min(MAX_ERROR_BYTES))).filter(|text| !text.is_empty());
    }
}

/// The seconds until the next attempt after `times` failures: doubled each time, up to the maximum.
fn backoff(retry: Retry, times: u32) -> i64 {
    let doubled = 1_i64.checked_shl(times.saturating_sub(1)).filter(|factor| *factor > 0).unwrap_or(i64::MAX);
    retry.backoff.max(1).saturating_mul(doubled).min(retry.max_backoff.max(1))
}

/// The text cut to a number of bytes, between characters. Control characters become spaces, as JSON escapes them.
pub(super) fn cut(text: &str, most: usize) -> String {
    let mut kept = String::with_capacity(text.len().min(most));
    for character in text.chars() {
        if kept.len() + character.len_utf8() > most {
            break;
        }
        kept.push(if character.is_control() && character != '\n' { ' ' } else { character });
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn backoff_doubles_up_to_the_maximum() {
        let retry = Retry { limit: 3, backoff: 2, max_backoff: 300 };
        assert_eq!(
            [1, 2, 3, 4, 9, 64, 1000].map(|times| backoff(retry, times)),
            [2, 4, 8, 16, 300, 300, 300]
        );
        assert_eq!(backoff(Retry { limit: 0, backoff: 0, max_backoff: -1 }, 1), 1);
    }

    #[test]
    fn texts_are_cut_between_characters() {
        assert_eq!(cut("aäb\u{0}c", 4), "aäb");
        assert_eq!(cut("aäb\u{0}c", 2), "a");
        assert_eq!(cut("\u{0}\n", 9), " \n");
    }
}
