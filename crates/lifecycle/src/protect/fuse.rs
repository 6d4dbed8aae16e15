//! The fuse: a plan that nobody asked for and that would destroy too much is held, and says what it comes from.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use sexton_model::Uid;

use crate::detect::{Detector, Judgement};
use crate::snapshot::Snapshot;

/// So many causes are named.
const NAMED: usize = 3;

/// How much may be destroyed at once. Held is what exceeds every limit that is set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FuseLimits {
    /// So many lives.
    pub count: Option<usize>,
    /// So many of a hundred lives of the scope.
    pub percent: Option<u8>,
}

impl Default for FuseLimits {
    fn default() -> FuseLimits {
        FuseLimits { count: Some(10), percent: Some(50) }
    }
}

/// The text is no limit.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not a number of objects or a percentage such as 20 or 30%")]
pub struct BadLimits(pub String);

impl FromStr for FuseLimits {
    type Err = BadLimits;

    /// `20` or `30%`.
    fn from_str(text: &str) -> Result<FuseLimits, BadLimits> {
        let bad = || BadLimits(text.to_owned());
        if text.starts_with('+') {
            return Err(bad());
        }
        let Some(percent) = text.strip_suffix('%') else {
            let count = text.parse().map_err(|_| bad())?;
            return Ok(FuseLimits { count: Some(count), percent: None });
        };
        match percent.parse() {
            Ok(percent @ 0..=100) => Ok(FuseLimits { count: None, percent: Some(percent) }),
            _ => Err(bad()),
        }
    }
}

impl FuseLimits {
    /// Whether so many of a scope are too many.
    pub fn exceeded(&self, doomed: usize, scope: usize) -> bool {
        let too_many = self.count.map(|most| doomed > most);
        let too_much = self.percent.map(|most| doomed as u128 * 100 > scope as u128 * u128::from(most));
        let set = [too_many, too_much];
        set.iter().any(Option::is_some) && set.into_iter().flatten().all(|exceeded| exceeded)
    }
}

/// A plan that is held: nothing of it may be touched.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub struct Held {
    /// How many lives would be destroyed.
    pub doomed: usize,
    /// Of how many.
    pub scope: usize,
    /// What most of it comes from, the largest first.
    pub causes: Vec<TopCause>,
}

/// What a part of a plan comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TopCause {
    /// The life it begins with, and what is missing there.
    pub text: String,
    /// How many lives come from it.
    pub count: usize,
}

impl fmt::Display for Held {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.doomed, self.scope) {
            // With those who follow, more can go than are looked after.
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

/// Holds a judgement that the collector made by itself and that would destroy too much of a scope. What somebody asked
/// for, and what follows from that, does not count.
///
/// # Errors
/// If it exceeds the limits.
pub fn fuse(
    snapshot: &Snapshot,
    judgement: &Judgement,
    scope: usize,
    limits: &FuseLimits,
) -> Result<(), Held> {
    let mut by_cause: BTreeMap<String, usize> = BTreeMap::new();
    let mut roots: BTreeMap<&Uid, Option<String>> = BTreeMap::new();
    let mut doomed = 0;
    for finding in judgement.doomed.values().filter(|finding| !finding.marked) {
        let cause =
            roots.entry(&finding.root).or_insert_with(|| accusation(snapshot, judgement, &finding.root));
        if let Some(cause) = cause {
            doomed += 1;
            *by_cause.entry(cause.clone()).or_default() += 1;
        }
    }
    if !limits.exceeded(doomed, scope) {
        return Ok(());
    }
    let mut causes: Vec<TopCause> =
        by_cause.into_iter().map(|(text, count)| TopCause { text, count }).collect();
    causes.sort_by(|a, b| b.count.cmp(&a.count).then_with(|| a.text.cmp(&b.text)));
    causes.truncate(NAMED);
    Err(Held { doomed, scope, causes })
}

/// What the collector accuses a root of, if nobody asked for its deletion.
fn accusation(snapshot: &Snapshot, judgement: &Judgement, root: &Uid) -> Option<String> {
    let finding = judgement.doomed.get(&snapshot.get(root)?)?;
    if finding.detector != Detector::Orphaned {
        return None;
    }
    let owner = snapshot.owners(finding.life).into_iter().map(|(reference, _)| reference).min()?;
    let group = if owner.group.is_empty() { String::new() } else { format!(".{}", owner.group) };
    Some(format!("{}{group}/{} ({}) does not exist", owner.kind, owner.name, owner.uid))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_numbers_or_percentages() {
        let limits = |text: &str| text.parse::<FuseLimits>();
        assert_eq!(limits("20"), Ok(FuseLimits { count: Some(20), percent: None }));
        assert_eq!(limits("30%"), Ok(FuseLimits { count: None, percent: Some(30) }));
        for bad in ["", "%", "-1", "+1", "101%", "x", "+1%", "1.5"] {
            assert!(limits(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn both_limits_have_to_be_exceeded() {
        let exceeded = |doomed, scope| FuseLimits::default().exceeded(doomed, scope);
        assert!(!exceeded(10, 10) && exceeded(11, 21) && !exceeded(11, 22) && exceeded(11, 0));
        assert!(!FuseLimits { count: None, percent: None }.exceeded(1000, 1));
    }
}
