//! What may be called what: the naming rules of Kubernetes, as predicates with an explanation.

/// Why a name is refused, in words a user can act on.
pub type Complaint = String;

/// Namespaces that exist from the start and that no server lets its users delete. An attempt would destroy all that is
/// in them, and nothing else.
pub const PERMANENT_NAMESPACES: [&str; 3] = ["default", "kube-system", "kube-public"];

const LABEL_HINT: &str = "only lower case letters, digits and '-' are allowed, with a letter or digit first and last, e.g. 'web-1'";
const SUBDOMAIN_HINT: &str = "must be a lowercase RFC 1123 subdomain: lower case letters, digits, '-' and '.', with a \
     letter or digit at both ends of every part, e.g. 'web-1.example.com'";
const DNS1035_HINT: &str = "must be a DNS-1035 label: lower case letters, digits and '-', a letter first, a letter or digit last, e.g. 'web-1'";
const QUALIFIED_HINT: &str = "name part: only letters, digits, '-', '_' and '.' are allowed, with a letter or digit first and last, e.g. 'My.Name'";
const VALUE_HINT: &str = "must be empty or made of letters, digits, '-', '_' and '.', with a letter or digit first and \
     last, e.g. 'My_value'";

fn lower_or_digit(byte: u8) -> bool {
    byte.is_ascii_lowercase() || byte.is_ascii_digit()
}

/// Begins and ends with `edge`, everything between with `edge` or `inner`.
fn shaped(text: &str, edge: fn(u8) -> bool, inner: &[u8]) -> bool {
    let bytes = text.as_bytes();
    match (bytes.first(), bytes.last()) {
        (Some(first), Some(last)) => {
            edge(*first) && edge(*last) && bytes.iter().all(|byte| edge(*byte) || inner.contains(byte))
        }
        _ => false,
    }
}

fn too_long(text: &str, most: usize) -> Result<(), Complaint> {
    if text.len() > most { Err(format!("must be no more than {most} characters")) } else { Ok(()) }
}

/// A DNS-1123 label: namespaces and many others.
pub fn dns_label(text: &str) -> Result<(), Complaint> {
    too_long(text, 63)?;
    if shaped(text, lower_or_digit, b"-") {
        Ok(())
    } else {
        Err(format!("must be a lowercase RFC 1123 label: {LABEL_HINT}"))
    }
}

/// A DNS-1035 label: services.
pub fn dns1035_label(text: &str) -> Result<(), Complaint> {
    too_long(text, 63)?;
    let alphabetic_start = text.as_bytes().first().is_some_and(u8::is_ascii_lowercase);
    if alphabetic_start && shaped(text, lower_or_digit, b"-") { Ok(()) } else { Err(DNS1035_HINT.to_owned()) }
}

/// A DNS-1123 subdomain: most names.
pub fn dns_subdomain(text: &str) -> Result<(), Complaint> {
    too_long(text, 253)?;
    if text.split('.').all(|label| shaped(label, lower_or_digit, b"-")) {
        Ok(())
    } else {
        Err(SUBDOMAIN_HINT.to_owned())
    }
}

/// A qualified name: label keys, annotation keys, finalizers.
pub fn qualified_name(text: &str) -> Result<(), Complaint> {
    let name = match text.split_once('/') {
        Some((prefix, name)) => {
            dns_subdomain(prefix).map_err(|complaint| format!("prefix part {complaint}"))?;
            name
        }
        None => text,
    };
    if name.is_empty() {
        return Err("name part must be non-empty".to_owned());
    }
    too_long(name, 63).map_err(|complaint| format!("name part {complaint}"))?;
    if shaped(name, |byte| byte.is_ascii_alphanumeric(), b"-_.") {
        Ok(())
    } else {
        Err(QUALIFIED_HINT.to_owned())
    }
}

/// The value of a label.
pub fn label_value(text: &str) -> Result<(), Complaint> {
    too_long(text, 63)?;
    if text.is_empty() || shaped(text, |byte| byte.is_ascii_alphanumeric(), b"-_.") {
        Ok(())
    } else {
        Err(VALUE_HINT.to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_judged_as_kubernetes_does() {
        let long = "a".repeat(64);
        let longer = "a".repeat(254);
        for (text, label, subdomain, qualified) in [
            ("web-1", true, true, true),
            ("a.b", false, true, true),
            ("A", false, false, true),
            ("-a", false, false, false),
            ("a-", false, false, false),
            ("", false, false, false),
            ("a..b", false, false, true),
            ("a_b", false, false, true),
            ("ä", false, false, false),
            ("a\0b", false, false, false),
            ("example.com/Name_1", false, false, true),
            ("Example.com/name", false, false, false),
            ("a/b/c", false, false, false),
            ("cascade_deletion", false, false, true),
            (long.as_str(), false, true, false),
            (longer.as_str(), false, false, false),
        ] {
            assert_eq!(dns_label(text).is_ok(), label, "label {text}");
            assert_eq!(dns_subdomain(text).is_ok(), subdomain, "subdomain {text}");
            assert_eq!(qualified_name(text).is_ok(), qualified, "qualified {text}");
        }
        assert!(dns1035_label("1a").is_err() && dns1035_label("a1").is_ok());
        assert!(label_value("").is_ok() && label_value("a b").is_err());
    }
}
