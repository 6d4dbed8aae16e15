//! Texts and lists of others, kept within bounds so that no record grows without end.

/// The beginning of a text, with a mark that there was more.
pub fn cut(text: &str, most: usize) -> String {
    const MORE: &str = "…";
    if text.len() <= most {
        return text.to_owned();
    }
    let room = most.saturating_sub(MORE.len());
    let end = (0..=room).rev().find(|end| text.is_char_boundary(*end)).unwrap_or_default();
    format!("{}{MORE}", &text[..end])
}

/// Without anything that steers a terminal or a log, and no longer than so many bytes.
pub fn tame(text: &str, most: usize) -> String {
    let plain: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    cut(plain.trim(), most)
}

/// A word as a shell takes it.
pub fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "-_./:=,@%+".contains(c);
    match !word.is_empty() && word.chars().all(plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', "'\\''")),
    }
}

/// Takes the rest of a long list away, and says how many that were.
pub fn shorten<T>(list: &mut Vec<T>, most: usize) -> u64 {
    let rest = list.len().saturating_sub(most);
    list.truncate(most);
    rest as u64
}

/// Makes the last of too many texts say how many there were.
pub fn shorten_texts(list: &mut Vec<String>, most: usize, bytes: usize) {
    if list.len() > most {
        let rest = shorten(list, most.saturating_sub(1));
        list.push(format!("…and {rest} more"));
    }
    list.iter_mut().for_each(|text| *text = cut(text, bytes));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_longer_than_allowed() {
        assert_eq!((cut("abcd", 4), cut("abcde", 4), cut("ää", 3)), ("abcd".into(), "a…".into(), "…".into()));
        assert_eq!(tame(" \u{1b}[31mred\n", 20), "[31mred");
        let mut list: Vec<String> = ["a", "b", "c", "d"].map(Into::into).to_vec();
        shorten_texts(&mut list, 4, 9);
        assert_eq!(list.len(), 4);
        shorten_texts(&mut list, 3, 99);
        assert_eq!(list, ["a", "b", "…and 2 more"]);
        let mut numbers = vec![1, 2, 3];
        assert_eq!((shorten(&mut numbers, 2), shorten(&mut numbers, 2), numbers.len()), (1, 0, 2));
    }
}
