//! Just enough of Rust's grammar: what is code, what is documentation, where functions and modules begin and end.
//!
//! It must not know any rule. Comments and the insides of literals are blanked out, so that a search in the rest finds
//! only code, and every offset and line stays what it was.

/// A file, taken apart.
#[derive(Debug)]
pub(crate) struct Scanned {
    /// The text with comments and literals blanked out.
    pub(crate) code: String,
    /// Doc comments: offset and text.
    pub(crate) docs: Vec<(usize, String)>,
}

/// A function: its name, its first line, and how many lines it has from `fn` to the closing brace.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Function {
    pub(crate) name: String,
    pub(crate) line: usize,
    pub(crate) lines: usize,
}

impl Scanned {
    pub(crate) fn new(text: &str) -> Scanned {
        let bytes = text.as_bytes();
        let mut code = bytes.to_vec();
        let mut docs = Vec::new();
        let mut at = 0;
        while at < bytes.len() {
            let end = literal_or_comment(bytes, at);
            if end == at {
                at += 1;
                continue;
            }
            let piece = &text[at..end];
            if (piece.starts_with("///") && !piece.starts_with("////")) || piece.starts_with("//!") {
                docs.push((at, piece[3..].to_owned()));
            }
            code[at..end].iter_mut().filter(|byte| **byte != b'\n').for_each(|byte| *byte = b' ');
            at = end;
        }
        Scanned { code: String::from_utf8(code).unwrap_or_default(), docs }
    }

    /// The line of an offset, counted from 1.
    pub(crate) fn line(&self, at: usize) -> usize {
        self.code.as_bytes()[..at].iter().filter(|byte| **byte == b'\n').count() + 1
    }

    /// The offsets at which a word of code stands, not as a part of a longer one.
    pub(crate) fn words<'a>(&'a self, word: &'a str) -> impl Iterator<Item = usize> + 'a {
        let part = |byte: Option<&u8>| byte.is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'_');
        let bytes = self.code.as_bytes();
        self.code.match_indices(word).map(|(at, _)| at).filter(move |at| {
            !part(at.checked_sub(1).and_then(|before| bytes.get(before))) && !part(bytes.get(at + word.len()))
        })
    }

    /// All functions that have a body.
    pub(crate) fn functions(&self) -> Vec<Function> {
        let mut functions = Vec::new();
        for at in self.words("fn") {
            let Some(name) = identifier(&self.code[at + 2..]) else { continue };
            let Some(end) = self.body(at) else { continue };
            let line = self.line(at);
            functions.push(Function { name: name.to_owned(), line, lines: self.line(end) - line + 1 });
        }
        functions
    }

    /// The names of modules that are declared here and live in files of their own.
    pub(crate) fn outer_modules(&self) -> Vec<&str> {
        let declared = self.words("mod").filter_map(|at| {
            let name = identifier(&self.code[at + 3..])?;
            let rest = self.code[at + 3..].trim_start()[name.len()..].trim_start();
            rest.starts_with(';').then_some(name)
        });
        declared.collect()
    }

    /// The doc comments of modules that are only compiled for tests.
    pub(crate) fn test_docs(&self) -> Vec<&str> {
        let ranges: Vec<(usize, usize)> = self
            .code
            .match_indices("#[cfg(test)]")
            .filter_map(|(at, _)| Some((at, self.body(at)?)))
            .collect();
        let inside = |at: usize| ranges.iter().any(|(from, to)| (*from..*to).contains(&at));
        self.docs.iter().filter(|(at, _)| inside(*at)).map(|(_, text)| text.as_str()).collect()
    }

    /// The end of the next pair of braces, unless a `;` outside of brackets comes first.
    fn body(&self, from: usize) -> Option<usize> {
        let (mut brackets, mut braces) = (0_i32, 0_i32);
        for (at, byte) in self.code.bytes().enumerate().skip(from) {
            match byte {
                b'(' | b'[' => brackets += 1,
                b')' | b']' => brackets -= 1,
                b';' if brackets == 0 && braces == 0 => return None,
                b'{' => braces += 1,
                b'}' if braces == 1 => return Some(at),
                b'}' => braces -= 1,
                _ => {}
            }
        }
        None
    }
}

fn identifier(text: &str) -> Option<&str> {
    let text = text.strip_prefix(char::is_whitespace)?.trim_start();
    let end = text.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(text.len());
    (end > 0).then(|| &text[..end])
}

/// Where the comment or literal that begins at `at` ends; `at` itself if none begins there.
fn literal_or_comment(bytes: &[u8], at: usize) -> usize {
    let rest = &bytes[at..];
    let in_word = at > 0 && (bytes[at - 1].is_ascii_alphanumeric() || bytes[at - 1] == b'_');
    match rest {
        [b'/', b'/', ..] => at + rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len()),
        [b'/', b'*', ..] => at + block_comment(rest),
        [b'"', ..] => at + quoted(rest, 1),
        [b'r', ..] if !in_word => at + raw(rest, 1),
        [b'b' | b'c', b'r', ..] if !in_word => at + raw(rest, 2),
        [b'\'', b'\\', ..] => at + 3 + rest[3..].iter().position(|byte| *byte == b'\'').unwrap_or(0) + 1,
        [b'\'', ..] => {
            // A character, or else a lifetime. A character has at most four bytes.
            let close = rest.iter().skip(1).take(5).position(|byte| *byte == b'\'');
            let letters =
                close.map(|close| std::str::from_utf8(&rest[1..=close]).map(|text| text.chars().count()));
            if let (Some(close), Some(Ok(1))) = (close, letters) { at + close + 2 } else { at }
        }
        _ => at,
    }
}

fn block_comment(rest: &[u8]) -> usize {
    let (mut depth, mut at) = (0_usize, 0);
    while at < rest.len() {
        match &rest[at..] {
            [b'/', b'*', ..] => (depth, at) = (depth + 1, at + 2),
            [b'*', b'/', ..] => {
                (depth, at) = (depth - 1, at + 2);
                if depth == 0 {
                    return at;
                }
            }
            _ => at += 1,
        }
    }
    rest.len()
}

fn quoted(rest: &[u8], from: usize) -> usize {
    let mut at = from;
    while at < rest.len() {
        match rest[at] {
            b'\\' => at += 2,
            b'"' => return at + 1,
            _ => at += 1,
        }
    }
    rest.len()
}

/// The length of a raw string whose hashes begin at `from`; 0 if it is none.
fn raw(rest: &[u8], from: usize) -> usize {
    let hashes = rest[from..].iter().take_while(|byte| **byte == b'#').count();
    if rest.get(from + hashes) != Some(&b'"') {
        return 0;
    }
    let end = [b"\"".as_slice(), &vec![b'#'; hashes]].concat();
    let body = from + hashes + 1;
    let close = rest[body..].windows(end.len()).position(|window| window == end);
    close.map_or(rest.len(), |close| body + close + end.len())
}

const FIXTURE: &str = r####"//! Module.
/// Says `fn no()`.
fn one<'a>(x: &'a str, f: fn(u8) -> u8) -> char {
    // fn not_this() {
    let _ = ("fn nor_this() { }", r#"} " mod no;"#, '{', '\'', '\u{7d}', b'"', "\"}");
    /* mod gone; /* nested */ } */
    'x'
}
trait T { fn declared(&self); fn given(&self) -> [u8; 2] { [0; 2] } }
mod outside;
pub(crate) mod other ;
mod inside { }
#[cfg(test)]
mod tests {
    /// In a test.
    #[test]
    fn two() {
    }
}
"####;

#[test]
fn functions_are_measured() {
    let function = |name: &str, line, lines| Function { name: name.into(), line, lines };
    let expected = [function("one", 3, 6), function("given", 9, 1), function("two", 17, 2)];
    assert_eq!(Scanned::new(FIXTURE).functions(), expected);
}

#[test]
fn only_code_is_code() {
    let scanned = Scanned::new(FIXTURE);
    assert_eq!(scanned.outer_modules(), ["outside", "other"]);
    assert_eq!(scanned.code.lines().count(), FIXTURE.lines().count());
    let docs: Vec<&str> = scanned.docs.iter().map(|(_, text)| text.trim()).collect();
    assert_eq!(docs, ["Module.", "Says `fn no()`.", "In a test."]);
    assert_eq!(scanned.test_docs(), [" In a test."]);
    assert_eq!(scanned.words("fn").map(|at| scanned.line(at)).collect::<Vec<_>>(), [3, 3, 9, 9, 17]);
}
