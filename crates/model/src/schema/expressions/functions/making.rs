//! Functions whose results may be much larger than what they are called with, and the two that every expression is made to
//! call: each asks whether there is room before it makes anything.

use cel::common::types::{CelInt, CelList, CelString, DYN_TYPE, LIST_TYPE, STRING_TYPE};
use cel::common::value::{CowVal, Val};
use cel::{DeclarationError, Env, ExecutionError};

use super::super::meter;
use super::{failed, text};

/// Counts what is iterated over. No expression can contain this name, nor those below.
pub(in super::super) const COUNT: &str = "@count";
/// Counts what was made, or is about to be copied.
pub(in super::super) const MADE: &str = "@made";
/// Counts what a format may become.
pub(in super::super) const FORMAT: &str = "@format";

/// Functions that are ours instead of the language's own: these know no bounds.
pub(in super::super) const REPLACED: [(&str, &str); 3] =
    [("replace", "@replace"), ("join", "@join"), ("split", "@split")];

/// The digits of the largest number with the highest precision that a format may have.
const LONGEST_NUMBER: usize = 420;

type Given<'b, 'v> = Vec<CowVal<'b, 'v>>;
type Answer<'b, 'v> = Result<CowVal<'b, 'v>, ExecutionError>;

pub(super) fn extension(env: &mut Env) -> Result<(), DeclarationError> {
    env.add_overload(COUNT, "@count(dyn)", vec![DYN_TYPE], count)?;
    env.add_overload(MADE, "@made(dyn)", vec![DYN_TYPE], made)?;
    env.add_overload(FORMAT, "@format(dyn)", vec![DYN_TYPE], format)?;
    cel::add_member_overload!(env, fn replace: (CelString, CelString, CelString) -> Result<CelString>,
        name = "@replace")?;
    cel::add_member_overload!(env, fn replace_some: (CelString, CelString, CelString, CelInt) -> Result<CelString>,
        name = "@replace")?;
    cel::add_member_overload!(env, fn split: (CelString, CelString) -> Result<CelList>, name = "@split")?;
    cel::add_member_overload!(env, fn split_some: (CelString, CelString, CelInt) -> Result<CelList>,
        name = "@split")?;
    env.add_member_overload("@join", "list.@join()", LIST_TYPE, vec![], join)?;
    env.add_member_overload("@join", "list.@join(string)", LIST_TYPE, vec![STRING_TYPE], join)
}

fn only<'b, 'v>(mut given: Given<'b, 'v>) -> Answer<'b, 'v> {
    given.pop().ok_or_else(|| failed("rule", "nothing was given"))
}

fn count<'b, 'v>(given: Given<'b, 'v>) -> Answer<'b, 'v> {
    let range = only(given)?;
    meter::iterate(range.as_ref())?;
    Ok(range)
}

fn made<'b, 'v>(given: Given<'b, 'v>) -> Answer<'b, 'v> {
    let value = only(given)?;
    meter::spend(meter::weight(value.as_ref()))?;
    Ok(value)
}

/// What stands between the clauses, and for each clause a number; texts were counted when they came to be.
fn format<'b, 'v>(given: Given<'b, 'v>) -> Answer<'b, 'v> {
    let value = only(given)?;
    if let Some(text) = value.downcast_ref::<CelString<'_>>() {
        let clauses = text.inner().bytes().filter(|byte| *byte == b'%').count();
        meter::spend(text.inner().len().saturating_add(clauses.saturating_mul(LONGEST_NUMBER)))?;
    }
    Ok(value)
}

fn replace(
    given: &CelString<'_>,
    from: &CelString<'_>,
    to: &CelString<'_>,
) -> Result<CelString<'static>, ExecutionError> {
    replace_some(given, from, to, &CelInt::from(-1))
}

fn replace_some(
    given: &CelString<'_>,
    from: &CelString<'_>,
    to: &CelString<'_>,
    most: &CelInt,
) -> Result<CelString<'static>, ExecutionError> {
    let (text, from, to) = (given.inner(), from.inner(), to.inner());
    let most = usize::try_from(*most.inner()).unwrap_or(usize::MAX);
    let found = text.matches(from).take(most).count();
    meter::spend(text.len().saturating_add(found.saturating_mul(to.len())))?;
    Ok(text.replacen(from, to, most).into())
}

fn split(text: &CelString<'_>, separator: &CelString<'_>) -> Result<CelList<'static>, ExecutionError> {
    split_some(text, separator, &CelInt::from(-1))
}

fn split_some(
    text: &CelString<'_>,
    separator: &CelString<'_>,
    most: &CelInt,
) -> Result<CelList<'static>, ExecutionError> {
    let (text, separator) = (text.inner(), separator.inner());
    let most = usize::try_from(*most.inner()).unwrap_or(usize::MAX);
    // Counted first: what is counted is not made yet.
    let parts = || -> Box<dyn Iterator<Item = &str>> {
        match (most, separator) {
            (0, _) => Box::new(std::iter::empty()),
            (_, "") => Box::new(characters(text, most)),
            _ => Box::new(text.splitn(most, separator)),
        }
    };
    meter::spend_list(parts().count(), text.len())?;
    let parts: Vec<Box<dyn Val>> =
        parts().map(|part| Box::new(CelString::from(part.to_owned())) as Box<dyn Val>).collect();
    Ok(CelList::from(parts))
}

/// The characters of a text, the last one with all that is left if there are more than so many.
fn characters(text: &str, most: usize) -> impl Iterator<Item = &str> {
    let mut starts = text.char_indices().map(|(at, _)| at).take(most).peekable();
    std::iter::from_fn(move || {
        let start = starts.next()?;
        Some(&text[start..starts.peek().copied().unwrap_or(text.len())])
    })
}

fn join<'b, 'v>(given: Given<'b, 'v>) -> Answer<'b, 'v> {
    let (Some(list), separator) = (given.first(), given.get(1)) else { return only(given) };
    let separator = separator.map(|separator| text(separator.as_ref())).transpose()?.unwrap_or_default();
    let list = list.as_iterable().ok_or_else(|| failed("join", "it is not a list"))?;
    let (mut items, mut parts, mut bytes) = (list.iter(), Vec::new(), 0_usize);
    while let Some(item) = items.next() {
        let part = text(item)?;
        bytes = bytes.saturating_add(part.len() + separator.len());
        parts.push(part);
    }
    meter::spend(bytes)?;
    Ok(CowVal::owned(CelString::from(parts.join(separator))))
}
