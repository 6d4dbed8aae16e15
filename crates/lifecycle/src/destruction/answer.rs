//! What an answer does to a call. Only `Done` and `Gone` end one well; nothing else is ever taken for that.

use super::event::{Action, Outcome, Retry};
use super::state::{Block, Callee, Ending, MAX_ERROR, MAX_OUTPUT, MAX_TEXTS, Stage, State};

/// A callee may not ask to be called again later than this: a day.
const MAX_AFTER: i64 = 24 * 60 * 60;

/// Takes in the answer of a call that is under way, and says what follows apart from going on.
pub(super) fn take(
    state: &mut State,
    callee: &Callee,
    outcome: &Outcome,
    retry: Retry,
    now: i64,
) -> Vec<Action> {
    let told = state.stage == Stage::Destroyed;
    match outcome {
        Outcome::Done { output } => close(state, callee, Ending::Done, output),
        Outcome::Gone => close(state, callee, Ending::Gone, ""),
        Outcome::InProgress { after } => {
            later(state, callee, now.saturating_add((*after).clamp(1, MAX_AFTER)))
        }
        Outcome::Retry { after, reason } => {
            let after = (*after).clamp(1, MAX_AFTER);
            fail(state, callee, reason, retry.limit, now.saturating_add(after), now);
        }
        Outcome::Failed { reason } | Outcome::HookError { reason } => {
            fail_with_backoff(state, callee, reason, retry, now);
        }
        // What is destroyed cannot be refused or held up any more: an answer that does not fit is a failure.
        Outcome::Blocked { reason, .. } | Outcome::Veto { reason, .. } if told => {
            fail_with_backoff(state, callee, reason, retry, now);
        }
        Outcome::Missing { what } if told => fail_with_backoff(state, callee, what, retry, now),
        Outcome::Veto { reason, .. } if !state.marked => return cancel(state, callee, reason),
        Outcome::Veto { reason, until } => {
            let next = until.map(|until| until.max(now.saturating_add(1)));
            block(state, callee, Block::Veto, reason, next, now);
        }
        Outcome::Blocked { by, reason } => {
            let what = Block::Blocked { by: cut(by, MAX_ERROR) };
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
        state.output = Some(cut(output, MAX_OUTPUT)).filter(|output| !output.is_empty());
    }
}

/// The life was only accused: it stays, and so does everything else that this collection accused.
fn cancel(state: &mut State, callee: &Callee, reason: &str) -> Vec<Action> {
    state.stage = Stage::Cancelled;
    state.open.clear();
    let reason = cut(reason, MAX_ERROR);
    state.vetoed_by = Some(callee.clone());
    state.last_error = Some(reason.clone());
    vec![Action::CancelCollection { by: callee.clone(), reason }, Action::Forget]
}

/// It goes on: whatever was in the way is not any more.
fn later(state: &mut State, callee: &Callee, next: i64) {
    let Some(pending) = state.open.get_mut(callee) else { return };
    *pending = super::Pending { failures: pending.failures, next: Some(next), ..super::Pending::default() };
}

fn fail_with_backoff(state: &mut State, callee: &Callee, reason: &str, retry: Retry, now: i64) {
    let failures = state.open.get(callee).map_or(0, |pending| pending.failures).saturating_add(1);
    let next = now.saturating_add(backoff(retry, failures));
    fail(state, callee, reason, retry.limit, next, now);
}

/// One failure more. Beyond the limit it blocks, except that nothing blocks what is destroyed already.
fn fail(state: &mut State, callee: &Callee, reason: &str, limit: u32, next: i64, now: i64) {
    let failures = state.open.get(callee).map_or(0, |pending| pending.failures).saturating_add(1);
    if let Some(pending) = state.open.get_mut(callee) {
        pending.failures = failures;
    }
    if failures <= limit {
        wait(state, callee, None, reason, Some(next), now);
    } else if state.stage == Stage::Destroyed {
        state.open.remove(callee);
        state.untold = state.untold.saturating_add(1);
        state.last_error = Some(cut(reason, MAX_ERROR));
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
        (pending.asked, pending.next) = (false, next);
        (pending.block, pending.error) = (None, None);
        pending.since.get_or_insert(now);
    }
    let mut left = MAX_TEXTS.saturating_sub(state.texts());
    let what = what.map(|what| match what {
        Block::Blocked { by } => Block::Blocked { by: cut(&by, left) },
        other => other,
    });
    if let Some(Block::Blocked { by }) = &what {
        left = left.saturating_sub(by.len());
    }
    if let Some(pending) = state.open.get_mut(callee) {
        pending.block = what;
        pending.error = Some(cut(reason, left.min(MAX_ERROR))).filter(|text| !text.is_empty());
    }
}

/// Seconds until the next attempt after so many: doubled each time, up to the most.
fn backoff(retry: Retry, times: u32) -> i64 {
    let doubled = 1_i64.checked_shl(times.saturating_sub(1)).filter(|factor| *factor > 0).unwrap_or(i64::MAX);
    retry.backoff.max(1).saturating_mul(doubled).min(retry.max_backoff.max(1))
}

/// At most so many bytes, cut between characters; control characters become spaces, as they would grow in JSON.
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
    fn waiting_doubles_up_to_the_most() {
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
