//! Values from a text: YAML with `---` between them, or JSON. Many are read by several threads.
//!
//! It must not know what a document is, nor in which file it stands.

use std::num::NonZero;

use serde_json::Value;

use super::json;

/// With fewer pieces than this for each of them, threads are not worth it.
const WORTH_A_THREAD: usize = 200;
/// More threads than this do not help.
const MOST_THREADS: usize = 8;

/// Why a piece cannot be read.
#[derive(Debug)]
pub(super) struct Unreadable {
    /// What it was taken for.
    pub(super) format: &'static str,
    /// In words.
    pub(super) what: String,
    /// Line and column within the piece, from 1.
    pub(super) place: Option<(usize, usize)>,
}

/// The texts of the documents, and the lines on which they begin. Three dashes at the beginning of a line always end a
/// document, even within a block of text.
pub(super) fn pieces(text: &str) -> Vec<(usize, &str)> {
    let mut pieces = Vec::new();
    let (mut start, mut start_line, mut at) = (0, 1, 0);
    for (number, line) in text.split_inclusive('\n').enumerate() {
        let is_marker = line
            .strip_prefix("---")
            .is_some_and(|rest| rest.is_empty() || rest.starts_with(char::is_whitespace));
        if is_marker && at > 0 {
            pieces.push((start_line, &text[start..at]));
            (start, start_line) = (at, number + 1);
        }
        at += line.len();
    }
    pieces.push((start_line, &text[start..]));
    pieces
}

/// The values of all pieces, in order.
pub(super) fn read_all(
    pieces: &[(usize, &str)],
    is_json: bool,
    one_more: &(dyn Fn() + Sync),
) -> Vec<Result<Vec<Value>, Unreadable>> {
    let available = std::thread::available_parallelism().map_or(1, NonZero::get);
    let threads = (pieces.len() / WORTH_A_THREAD).clamp(1, available.min(MOST_THREADS));
    let part = |pieces: &[(usize, &str)]| -> Vec<_> {
        let read = |(_, piece): &(usize, &str)| {
            let read = read(piece, is_json);
            one_more();
            read
        };
        pieces.iter().map(read).collect()
    };
    std::thread::scope(|scope| {
        let mut parts = pieces.chunks(pieces.len().div_ceil(threads).max(1));
        let first = parts.next().unwrap_or_default();
        let others: Vec<_> = parts.map(|pieces| scope.spawn(move || part(pieces))).collect();
        let mut read = part(first);
        for other in others {
            match other.join() {
                Ok(part) => read.extend(part),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        read
    })
}

/// The values of one piece: none if it is empty, several if it is JSON after JSON.
pub(super) fn read(piece: &str, is_json: bool) -> Result<Vec<Value>, Unreadable> {
    if is_json || piece.trim_start().starts_with('{') {
        match json::values(piece) {
            Ok(values) => return Ok(values),
            // What is JSON and wrong in itself would be no better as YAML.
            Err(error) if is_json || error.is_data() => {
                let what = error.to_string();
                let what = what.split(" at line ").next().unwrap_or_default().to_owned();
                let place = Some((error.line(), error.column()));
                return Err(Unreadable { format: "JSON", what, place });
            }
            Err(_) => {}
        }
    }
    // Comments and separators alone are no document.
    let is_content = |line: &str| {
        !line.trim().is_empty() && !line.trim_start().starts_with('#') && line.trim_end() != "---"
    };
    if !piece.lines().any(is_content) {
        return Ok(Vec::new());
    }
    // As other tools for Kubernetes read it: 0644 is what the permissions of a file look like.
    let options = serde_saphyr::options! { with_snippet: false, legacy_octal_numbers: true };
    serde_saphyr::from_str_with_options::<Value>(piece, options).map(|value| vec![value]).map_err(|error| {
        let place = error.location().map(|place| (place.line() as usize, place.column() as usize));
        let what = error.without_snippet().to_string();
        let what = what.split(" at line ").next().unwrap_or_default().trim_end_matches([':', ',']);
        Unreadable { format: "YAML", what: in_our_words(what), place }
    })
}

/// What the reader of YAML says in words that are meant for programmers.
fn in_our_words(what: &str) -> String {
    if let Some(key) = what.strip_prefix("duplicate mapping key: ") {
        let key = key.split(", set ").next().unwrap_or_default();
        return format!("the key {key} is there twice");
    }
    match what {
        what if what.starts_with("budget breached") => {
            "it is too large, or repeats itself too often by its aliases".to_owned()
        }
        what if what.starts_with("multiple YAML documents") => {
            "there must be one document in it, and there are more".to_owned()
        }
        what if what.starts_with("non-finite float") => "a number is too large, or is none".to_owned(),
        what if what.starts_with("recursive references") => "an alias stands within what it means".to_owned(),
        what => what.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What several threads read is what one would read, in the same order, and so is what they cannot read.
    #[test]
    fn many_pieces_are_read_as_one_by_one() {
        let mut text = String::new();
        for number in 0..WORTH_A_THREAD * 5 {
            let value = if number % 700 == 650 { "[" } else { "x" };
            text.push_str(&format!("---\nnumber: {number}\nvalue: {value}\n"));
        }
        let pieces = pieces(&text);
        let plain = |read: Result<Vec<Value>, Unreadable>| read.map_err(|error| error.what);
        let counted = std::sync::atomic::AtomicUsize::new(0);
        let one_more = || {
            counted.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        };
        let together: Vec<_> = read_all(&pieces, false, &one_more).into_iter().map(plain).collect();
        assert_eq!(counted.into_inner(), pieces.len());
        let alone: Vec<_> = pieces.iter().map(|(_, piece)| plain(read(piece, false))).collect();
        assert_eq!(together, alone);
        assert!(together[650].is_err() && together[651].is_ok());
        assert_eq!(together[999].as_ref().unwrap()[0]["number"], 999);
    }
}
