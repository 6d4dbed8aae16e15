//! The digest of a plan: equal digests mean that the same is put and the same is destroyed.
//!
//! The deployment id is not in it: a user sees a plan in one run, and approves it in another.

use std::borrow::Cow;
use std::fmt::Write;
use std::sync::Arc;

use serde_json::Value;
use sexton_model::secrets;
use sha2::{Digest, Sha256};

use super::plan::{PlannedPut, Sweep};
use super::prepare::Prepared;
use super::victims::{Destruction, Victim};

/// How many hexadecimal digits of the hash are the digest.
const DIGITS: usize = 16;

/// The digest of what is put and of what happens to the unmarked.
pub(super) fn digest(
    documents: &[Arc<Prepared>],
    puts: &[PlannedPut],
    sweep: &Sweep,
    victims: &[Victim],
    destruction: Option<&Destruction>,
) -> String {
    let mut text = String::new();
    // Writing to a string cannot fail.
    for (document, put) in documents.iter().zip(puts) {
        let hash = hex(known(&document.value).to_string().as_bytes(), 64);
        let _ = writeln!(text, "put {:?} {} {} {hash}", put.action, put.object, put.order);
        if let Some(version) = &put.secret_version {
            let _ = writeln!(text, "  secret at {version}");
        }
        for change in &put.changes {
            let _ = writeln!(text, "  {} {:?} {:?}", change.path, change.old, change.new);
        }
        for conflict in &put.conflicts {
            let _ = writeln!(text, "  take {} from {}", conflict.path, conflict.manager);
        }
    }
    let _ = writeln!(
        text,
        "sweep {}",
        match sweep {
            Sweep::Accuse => "accuse",
            Sweep::Renumber => "renumber",
            Sweep::None { .. } => "none",
        }
    );
    of_victims(victims, destruction, &mut text);
    hex(text.as_bytes(), DIGITS)
}

/// The part of a document that is in the digest. Digests are shown and typed, so they must not help to guess the
/// values of a Secret: of these only the names are in it. A change of its values shows by its version instead.
fn known(document: &Value) -> Cow<'_, Value> {
    let mut document = Cow::Borrowed(document);
    if secrets::is_secret(&document) {
        secrets::redact(document.to_mut());
    }
    document
}

/// The digest of what is destroyed alone.
pub(super) fn digest_of_victims(victims: &[Victim], destruction: Option<&Destruction>) -> String {
    let mut text = String::new();
    of_victims(victims, destruction, &mut text);
    hex(text.as_bytes(), DIGITS)
}

fn of_victims(victims: &[Victim], destruction: Option<&Destruction>, text: &mut String) {
    for victim in victims {
        let _ = writeln!(text, "accuse {} {} {:?}", victim.member, victim.member.uid, victim.member.order);
    }
    if let Some(destruction) = destruction {
        text.push_str(destruction.plan.text());
    }
}

fn hex(bytes: &[u8], digits: usize) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let digit = |half: u8| char::from(DIGITS[usize::from(half)]);
    let hash = Sha256::digest(bytes);
    hash.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).take(digits).collect()
}
