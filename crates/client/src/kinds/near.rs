//! How near a typed word is to a known one.

/// How many typing mistakes lie between two words, if so few that one may be meant for the other.
pub(super) fn mistakes(typed: &str, word: &str) -> Option<usize> {
    let most = (typed.chars().count() / 3).max(1);
    Some(distance(&typed.to_lowercase(), &word.to_lowercase())).filter(|mistakes| *mistakes <= most)
}

/// The words for which a typed one may be meant, nearest first, at most three.
pub fn nearest<'a>(typed: &str, words: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    let near = |word: &'a str| Some((mistakes(typed, word)?, word));
    let mut found: Vec<(usize, &str)> = words.into_iter().filter_map(near).collect();
    found.sort_unstable();
    found.dedup();
    found.into_iter().take(3).map(|(_, word)| word).collect()
}

/// How many characters must be added, left out, changed or swapped with their neighbour.
fn distance(from: &str, to: &str) -> usize {
    let (from, to): (Vec<char>, Vec<char>) = (from.chars().collect(), to.chars().collect());
    let mut before: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=to.len()).collect();
    for (row, a) in from.iter().enumerate() {
        let mut current = vec![row + 1];
        for (column, b) in to.iter().enumerate() {
            let mut best =
                (last[column] + usize::from(a != b)).min(last[column + 1] + 1).min(current[column] + 1);
            if row > 0 && column > 0 && *a == to[column - 1] && from[row - 1] == *b {
                best = best.min(before[column - 1] + 1);
            }
            current.push(best);
        }
        before = std::mem::replace(&mut last, current);
    }
    last.last().copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn typing_mistakes_are_near_and_other_words_are_not() {
        assert_eq!(mistakes("confgimaps", "configmaps"), Some(1));
        assert_eq!(mistakes("Secert", "secrets"), Some(2));
        assert_eq!(mistakes("mc", "cm"), Some(1));
        assert_eq!(mistakes("volumes", "configmaps"), None);
        assert_eq!((distance("", "abc"), distance("abc", "abc"), distance("ab", "ba")), (3, 0, 1));
    }
}
