//! Finding the values of Secrets in a text: as they are, in the encodings in which programs print them, and parts of them.
//!
//! A part is left where a text was cut, broken into lines or wrapped: the last bytes of what a program printed, of a key of
//! many lines. So a run of a value that is long enough counts like the whole of it.

use std::borrow::Cow;
use std::collections::HashMap;

use base64::Engine;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD, URL_SAFE_NO_PAD};
use serde_json::Value;

use super::{FIELDS, LAST_APPLIED, REDACTED, is_secret};

/// Shorter values are not looked for in texts: they would be found everywhere.
const MIN_VALUE_BYTES: usize = 4;
/// Shorter parts of a value may stay: too little to be of use, and found everywhere.
const MIN_PART_BYTES: usize = 12;

/// A text that was written about some documents, without the values of those that are Secrets.
pub fn scrub<'t>(text: &'t str, documents: &[&Value]) -> Cow<'t, str> {
    let secrets = documents.iter().filter(|document| is_secret(document));
    let values: Vec<Vec<u8>> = secrets.flat_map(|secret| values(secret)).collect();
    if values.is_empty() || text.is_empty() {
        return Cow::Borrowed(text);
    }
    let index = Index::new(text.as_bytes());
    let mut hidden = vec![false; text.len()];
    for value in values.iter().filter(|value| value.len() >= MIN_VALUE_BYTES) {
        forms(value).iter().for_each(|form| index.mark(form, &mut hidden));
    }
    if hidden.contains(&true) { Cow::Owned(without(text, &hidden)) } else { Cow::Borrowed(text) }
}

/// The bytes of all values: those of the fields, and those in the annotation that kubectl keeps.
fn values(secret: &Value) -> Vec<Vec<u8>> {
    let mut found = Vec::new();
    let applied = secret.pointer("/metadata/annotations").and_then(|all| all.get(LAST_APPLIED)?.as_str());
    let applied: Option<Value> = applied.and_then(|text| serde_json::from_str(text).ok());
    for document in [Some(secret), applied.as_ref()].into_iter().flatten() {
        let maps = FIELDS.iter().filter_map(|field| document.get(field)?.as_object());
        for value in maps.flat_map(|map| map.values()).filter_map(Value::as_str) {
            found.extend(STANDARD.decode(value).ok());
            found.push(value.as_bytes().to_owned());
        }
    }
    for value in &mut found {
        *value = value.trim_ascii().to_owned();
    }
    found.sort();
    found.dedup();
    found
}

/// How a value may look in a text.
fn forms(value: &[u8]) -> Vec<Vec<u8>> {
    let mut forms = vec![value.to_owned()];
    if let Ok(text) = std::str::from_utf8(value) {
        let quoted = Value::from(text).to_string();
        forms.push(quoted.trim_matches('"').as_bytes().to_owned());
    }
    let hex: String = value.iter().map(|byte| format!("{byte:02x}")).collect();
    forms.extend([hex.to_uppercase().into_bytes(), hex.into_bytes(), percent_encoded(value)]);
    // Within a longer text its base64 depends on how many bytes stand before it. What those bytes share is cut off.
    for (before, cut) in [(0, 0), (1, 2), (2, 3)] {
        let padded = [&vec![0; before], value].concat();
        for engine in [STANDARD_NO_PAD, URL_SAFE_NO_PAD] {
            let encoded = engine.encode(&padded);
            let shared = usize::from(padded.len() % 3 != 0);
            forms.push(encoded.as_bytes()[cut..encoded.len() - shared].to_owned());
        }
    }
    forms.sort();
    forms.dedup();
    forms
}

fn percent_encoded(value: &[u8]) -> Vec<u8> {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
    let encode = |byte: &u8| if plain(*byte) { (*byte as char).to_string() } else { format!("%{byte:02X}") };
    value.iter().map(encode).collect::<String>().into_bytes()
}

/// Where each run of a text stands.
struct Index<'t> {
    text: &'t [u8],
    /// How the runs begin: most of a large value begins otherwise.
    begins: Vec<bool>,
    runs: HashMap<&'t [u8], Vec<usize>>,
}

impl<'t> Index<'t> {
    fn new(text: &'t [u8]) -> Index<'t> {
        let (mut begins, mut runs) = (vec![false; 1 << 16], HashMap::<_, Vec<usize>>::new());
        for (at, run) in text.windows(MIN_PART_BYTES).enumerate() {
            begins[beginning(run)] = true;
            runs.entry(run).or_default().push(at);
        }
        Index { text, begins, runs }
    }

    /// Marks what is this form of a value, or a part of it.
    fn mark(&self, form: &[u8], hidden: &mut [bool]) {
        if (MIN_VALUE_BYTES..MIN_PART_BYTES).contains(&form.len()) {
            for at in memchr::memmem::find_iter(self.text, form) {
                hidden[at..at + form.len()].fill(true);
            }
        }
        for run in form.windows(MIN_PART_BYTES).filter(|run| self.begins[beginning(run)]) {
            for at in self.runs.get(run).into_iter().flatten() {
                hidden[*at..at + MIN_PART_BYTES].fill(true);
            }
        }
    }
}

fn beginning(run: &[u8]) -> usize {
    usize::from(run[0]) << 8 | usize::from(run[1])
}

/// The text with each hidden stretch replaced, whole characters only.
fn without(text: &str, hidden: &[bool]) -> String {
    let (mut kept, mut within) = (String::with_capacity(text.len()), false);
    for (at, character) in text.char_indices() {
        let hides = hidden[at..at + character.len_utf8()].contains(&true);
        if hides && !within {
            kept.push_str(REDACTED);
        } else if !hides {
            kept.push(character);
        }
        within = hides;
    }
    kept
}

#[cfg(test)]
mod tests {
    use base64::engine::general_purpose::URL_SAFE;
    use serde_json::json;

    use super::*;

    const KEY: &str =
        "-----BEGIN KEY-----\nMIIEvQIBADANBgkqhkiG9w0B\nAQEFAASCBKcwggSjAgEAAoIB\n-----END KEY-----\n";

    fn secret(value: &[u8]) -> Value {
        json!({"apiVersion": "v1", "kind": "Secret", "data": {"value": STANDARD.encode(value)}})
    }

    fn said(text: &str, value: &str) -> String {
        scrub(text, &[&secret(value.as_bytes())]).into_owned()
    }

    #[test]
    fn values_are_found_in_what_methods_say() {
        assert_eq!(
            said("cannot revoke hunter2 (aHVudGVyMg==)", "hunter2"),
            "cannot revoke (redacted) ((redacted))"
        );
        assert_eq!(said("nothing of it", "hunter2"), "nothing of it");
        assert_eq!(scrub("hunter2", &[&json!({"kind": "ConfigMap", "data": {"a": "hunter2"}})]), "hunter2");
        assert_eq!(said("yes, the", "the"), "yes, the", "too short to be looked for");
        let two = [&json!({"kind": "Vm"}), &secret(b"hunter2")];
        assert_eq!(scrub("hunter2!", &two), "(redacted)!", "whichever of them it is");
    }

    /// A value stands in user:password, in a line of a script, in an address, and in what a program prints of bytes.
    #[test]
    fn encodings_of_a_value_are_found() {
        let value = "pa\"ss wörd/4711";
        for before in ["", "a", "ab", "user:"] {
            for after in ["", "z", "yz"] {
                let whole = format!("{before}{value}{after}");
                for encoded in [STANDARD.encode(&whole), URL_SAFE.encode(&whole)] {
                    let left = said(&encoded, value).replace(REDACTED, "");
                    assert!(left.len() <= 12, "{whole}: {left}");
                }
            }
        }
        let hex: String = value.bytes().map(|byte| format!("{byte:02x}")).collect();
        for encoded in [&hex, &hex.to_uppercase(), &json!(value).to_string(), "pa%22ss%20w%C3%B6rd%2F4711"] {
            let left = said(encoded, value).replace(REDACTED, "");
            assert!(left.trim_matches('"').is_empty(), "{encoded}: {left}");
        }
    }

    /// What is told was cut at some length, or its lines were joined: no part of a value is left that is of use.
    #[test]
    fn parts_of_a_value_are_found() {
        let told = KEY.replace('\n', " ");
        for from in (0..told.len()).step_by(3) {
            for upto in (from..told.len()).step_by(5) {
                let left = said(&told[from..upto], KEY);
                let longest = left.replace(REDACTED, " ").split(' ').map(str::len).max();
                assert!(longest < Some(12), "{from}..{upto}: {left}");
            }
        }
        let encoded = STANDARD.encode(KEY);
        assert_eq!(said(&encoded[20..60], KEY), REDACTED);
        // Bytes that are no text.
        let bytes: Vec<u8> = (0..64_u8).map(|number| number | 0x80).collect();
        assert_eq!(scrub(&STANDARD.encode(&bytes), &[&secret(&bytes)]), "(redacted)");
    }

    /// kubectl keeps what was applied last beside what holds now.
    #[test]
    fn values_of_before_are_found() {
        let applied = json!({"stringData": {"pin": "old-4711"}}).to_string();
        let mut document = secret(b"new-0815");
        document["metadata"] = json!({"annotations": {LAST_APPLIED: applied}});
        assert_eq!(scrub("old-4711 and new-0815", &[&document]), "(redacted) and (redacted)");
    }
}
