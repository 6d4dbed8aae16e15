//! Patterns in texts.

use std::cell::RefCell;
use std::collections::HashMap;

use cel::common::types::{CelInt, CelList, CelString};
use cel::common::value::Val;
use cel::{DeclarationError, Env, ExecutionError};
use regex::Regex;

use super::super::meter;
use super::failed;
use crate::schema::pattern;

/// So many patterns are kept by each thread; with one more all are forgotten.
const MOST_KEPT: usize = 64;

thread_local! {
    static KEPT: RefCell<HashMap<String, Regex>> = RefCell::default();
}

pub(super) fn extension(env: &mut Env) -> Result<(), DeclarationError> {
    cel::add_member_overload!(env, fn find: (CelString, CelString) -> Result<CelString>)?;
    cel::add_member_overload!(env, fn find_all: (CelString, CelString) -> Result<CelList>)?;
    cel::add_member_overload!(env, fn find_some: (CelString, CelString, CelInt) -> Result<CelList>,
        name = "findAll")?;
    Ok(())
}

/// An expression may ask for the same pattern once per item.
fn compiled(text: &str) -> Result<Regex, ExecutionError> {
    KEPT.with_borrow_mut(|kept| {
        if let Some(regex) = kept.get(text) {
            return Ok(regex.clone());
        }
        let regex = pattern::compiled(text).map_err(|why| failed("find", why))?;
        if kept.len() >= MOST_KEPT {
            kept.clear();
        }
        kept.insert(text.to_owned(), regex.clone());
        Ok(regex)
    })
}

fn find(text: &CelString<'_>, pattern: &CelString<'_>) -> Result<CelString<'static>, ExecutionError> {
    let found = compiled(pattern.inner())?.find(text.inner()).map(|found| found.as_str().to_owned());
    Ok(found.unwrap_or_default().into())
}

fn find_all(text: &CelString<'_>, pattern: &CelString<'_>) -> Result<CelList<'static>, ExecutionError> {
    find_some(text, pattern, &CelInt::from(-1))
}

fn find_some(
    text: &CelString<'_>,
    pattern: &CelString<'_>,
    most: &CelInt,
) -> Result<CelList<'static>, ExecutionError> {
    let most = usize::try_from(*most.inner()).unwrap_or(usize::MAX);
    let regex = compiled(pattern.inner())?;
    let (count, bytes) = (regex.find_iter(text.inner()).take(most))
        .fold((0, 0), |(count, bytes), found| (count + 1, bytes + found.len()));
    meter::spend_list(count, bytes)?;
    let found = regex.find_iter(text.inner()).take(most).map(|found| found.as_str().to_owned());
    let found: Vec<Box<dyn Val>> =
        found.map(|text| Box::new(CelString::from(text)) as Box<dyn Val>).collect();
    Ok(CelList::from(found))
}
