//! Which known words are near to one that nobody knows.

/// The nearest of some words, at most three, nearest first; none that needs more than a third of it changed.
pub(super) fn near<'a>(typed: &str, words: impl Iterator<Item = &'a str>) -> Vec<String> {
    let typed = typed.to_lowercase();
    let most = (typed.chars().count() / 3).max(1);
    let mut found: Vec<(usize, &str)> = words
        .map(|word| (distance(&typed, &word.to_lowercase()), word))
        .filter(|(distance, _)| *distance <= most)
        .collect();
    found.sort_unstable();
    found.dedup();
    found.into_iter().take(3).map(|(_, word)| word.to_owned()).collect()
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
        let words = ["configmaps", "deployments", "secrets", "cm", "pods"];
        assert_eq!(near("confgimaps", words.into_iter()), ["configmaps"]);
        assert_eq!(near("Secert", words.into_iter()), ["secrets"]);
        assert_eq!(near("mc", words.into_iter()), ["cm"]);
        assert_eq!(near("volumes", words.into_iter()), [""; 0]);
        assert_eq!((distance("", "abc"), distance("abc", "abc"), distance("ab", "ba")), (3, 0, 1));
    }
}
