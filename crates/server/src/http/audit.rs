//! A name for each request, so that an answer can be found again in a log.

use http::{HeaderMap, HeaderName, HeaderValue};
use uuid::Uuid;

/// The header that says it.
pub(super) const AUDIT_ID: HeaderName = HeaderName::from_static("audit-id");
/// Longer names are not taken over.
const MOST: usize = 64;

/// The name that a client gave its request, or a new one.
pub(super) fn id(headers: &HeaderMap) -> HeaderValue {
    let given = headers.get(AUDIT_ID).filter(|given| given.len() <= MOST && !given.is_empty());
    given.filter(|given| given.to_str().is_ok()).cloned().unwrap_or_else(|| {
        let mut buffer = Uuid::encode_buffer();
        let text = Uuid::new_v4().hyphenated().encode_lower(&mut buffer);
        HeaderValue::from_str(text).unwrap_or(HeaderValue::from_static("none"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_name_is_taken_over() {
        let given = |name: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(AUDIT_ID, HeaderValue::from_str(name).unwrap());
            id(&headers).to_str().unwrap().to_owned()
        };
        assert_eq!(given("my-request"), "my-request");
        assert_eq!(given(&"x".repeat(65)).len(), 36);
        assert_eq!(given("").len(), 36);
        assert_ne!(id(&HeaderMap::new()), id(&HeaderMap::new()));
    }
}
