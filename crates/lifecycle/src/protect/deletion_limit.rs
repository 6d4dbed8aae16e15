//! The deletion limit: a detection that no request led to is refused if it would destroy too much of its scope.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use sexton_model::Uid;

use crate::detect::{Detection, Detector};
use crate::snapshot::Snapshot;

/// How many causes an error lists.
const MAX_LISTED_CAUSES: usize = 3;

/// How much may be destroyed at once. It is exceeded if every limit that is set is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DeletionLimit {
    /// The number of objects.
    pub count: Option<usize>,
    /// The percentage of the objects in scope.
    pub percent: Option<u8>,
}

impl Default for DeletionLimit {
    fn default() -> DeletionLimit {
        DeletionLimit { count: Some(10), percent: Some(50) }
    }
}

/// The text is not a limit.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not a number of objects or a percentage such as 20 or 30%")]
pub struct InvalidDeletionLimit(pub String);

impl FromStr for DeletionLimit {
    type Err = InvalidDeletionLimit;

    /// `20` or `30%`.
    fn from_str(text: &str) -> Result<DeletionLimit, InvalidDeletionLimit> {
        let bad = || InvalidDeletionLimit(text.to_owned());
        if text.starts_with('+') {
            return Err(bad());
        }
        let Some(percent) = text.strip_suffix('%') else {
            let count = text.parse().map_err(|_| bad())?;
            return Ok(DeletionLimit { count: Some(count), percent: None });
        };
        match percent.parse() {
            Ok(percent @ 0..=100) => Ok(DeletionLimit { count: None, percent: Some(percent) }),
            _ => Err(bad()),
        }
    }
}

impl DeletionLimit {
    /// Whether this number of doomed objects is too many for a scope of this size.
    pub fn is_exceeded(&self, doomed: usize, scope: usize) -> bool {
        let too_many = self.count.map(|most| doomed > most);
        let too_much = self.percent.map(|most| doomed as u128 * 100 > scope as u128 * u128::from(most));
        let set = [too_many, too_much];
        set.iter().any(Option::is_some) && set.into_iter().flatten().all(|exceeded| exceeded)
    }
}

/// The refusal: nothing of the detection may be executed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub struct DeletionLimitExceeded {
    /// How many objects would be destroyed.
    pub doomed: usize,
    /// How many objects are in scope.
    pub scope: usize,
    /// The most frequent causes, the largest first.
    pub causes: Vec<TopCause>,
}

/// A cause, with the number of objects that it dooms.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TopCause {
    /// The cause in words: the owner that is missing.
    pub text: String,
    /// How many objects it dooms.
    pub count: usize,
}

impl fmt::Display for DeletionLimitExceeded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.doomed, self.scope) {
            // Dependents outside of the scope count as well, so more can be doomed than the scope has.
            (doomed, scope) if doomed > scope => write!(f, "held: {doomed} would be destroyed for {scope}")?,
            (doomed, scope) => write!(f, "held: {doomed} of {scope} would be destroyed")?,
        }
        f.write_str(", and nobody asked for it by name")?;
        for cause in &self.causes {
            write!(f, "; {} because {}", cause.count, cause.text)?;
        }
        Ok(())
    }
}

/// Checks how much a detection would destroy of a scope. Only orphans and what follows from them count: a deletion that
/// was requested may be of any size.
///
/// # Errors
/// If the limit is exceeded.
pub fn check_deletion_limit(
    snapshot: &Snapshot,
    detection: &Detection,
    scope: usize,
    limit: &DeletionLimit,
) -> Result<(), DeletionLimitExceeded> {
    let mut by_cause: BTreeMap<String, usize> = BTreeMap::new();
    let mut roots: BTreeMap<&Uid, Option<String>> = BTreeMap::new();
    let mut doomed = 0;
    for finding in detection.doomed.values().filter(|finding| !finding.is_terminating) {
        let cause =
            roots.entry(&finding.root).or_insert_with(|| missing_owner(snapshot, detection, &finding.root));
        if let Some(cause) = cause {
            doomed += 1;
            *by_cause.entry(cause.clone()).or_default() += 1;
        }
    }
    if !limit.is_exceeded(doomed, scope) {
        return Ok(());
    }
    let mut causes: Vec<TopCause> =
        by_cause.into_iter().map(|(text, count)| TopCause { text, count }).collect();
    causes.sort_by(|a, b| b.count.cmp(&a.count).then_with(|| a.text.cmp(&b.text)));
    causes.truncate(MAX_LISTED_CAUSES);
    Err(DeletionLimitExceeded { doomed, scope, causes })
}

/// The missing owner of a root that is an orphan, in words. `None`: the root was doomed by a request.
fn missing_owner(snapshot: &Snapshot, detection: &Detection, root: &Uid) -> Option<String> {
    let finding = detection.doomed.get(&snapshot.get(root)?)?;
    if finding.detector != Detector::Orphaned {
        return None;
    }
    let owner = snapshot.owners(finding.node).into_iter().map(|(reference, _)| reference).min()?;
    let group = if owner.group.is_empty() { String::new() } else { format!(".{}", owner.group) };
    Some(format!("{}{group}/{} ({}) does not exist", owner.kind, owner.name, owner.uid))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_numbers_or_percentages() {
        let limits = |text: &str| text.parse::<DeletionLimit>();
        assert_eq!(limits("20"), Ok(DeletionLimit { count: Some(20), percent: None }));
        assert_eq!(limits("30%"), Ok(DeletionLimit { count: None, percent: Some(30) }));
        for bad in ["", "%", "-1", "+1", "101%", "x", "+1%", "1.5"] {
            assert!(limits(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn both_limits_have_to_be_exceeded() {
        let exceeded = |doomed, scope| DeletionLimit::default().is_exceeded(doomed, scope);
        assert!(!exceeded(10, 10) && exceeded(11, 21) && !exceeded(11, 22) && exceeded(11, 0));
        assert!(!DeletionLimit { count: None, percent: None }.is_exceeded(1000, 1));
    }
}
