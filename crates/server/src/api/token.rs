//! The `continue` token: where the next page begins, and in which snapshot. Opaque to clients.

use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use serde::{Deserialize, Serialize};
use sexton_model::{Revision, Status};

use super::Result;

/// What a token says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Token {
    /// The snapshot; [`Revision::NONE`] means "whatever is current": pages of different snapshots.
    #[serde(rename = "rv")]
    pub(super) revision: Revision,
    /// The encoded key after which the page begins.
    #[serde(rename = "k")]
    pub(super) after: String,
    /// How many objects the snapshot holds from there on, where that is known.
    #[serde(rename = "n", default, skip_serializing_if = "Option::is_none")]
    pub(super) rest: Option<usize>,
}

impl Token {
    /// Behind the last key of a page.
    pub(super) fn after(revision: Revision, last: &[u8], rest: Option<usize>) -> Result<Token> {
        let after = String::from_utf8(last.to_vec()).map_err(|_| Status::internal("a key is not text"))?;
        Ok(Token { revision, after, rest })
    }

    pub(super) fn encode(&self) -> String {
        // Plain data always serializes.
        BASE64_URL_SAFE_NO_PAD.encode(serde_json::to_vec(self).unwrap_or_default())
    }

    pub(super) fn decode(text: &str) -> Result<Token> {
        let refuse =
            || Status::bad_request("continue key is not valid: it is not one that this server gave out");
        let bytes = BASE64_URL_SAFE_NO_PAD.decode(text).map_err(|_| refuse())?;
        Ok(serde_json::from_slice(&bytes).map_err(|_| refuse())?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn tokens_round_trip(revision: u64, after in "\\PC{0,20}", rest: Option<usize>) {
            let token = Token { revision: Revision::new(revision), after, rest };
            prop_assert_eq!(Token::decode(&token.encode()).unwrap(), token);
        }

        #[test]
        fn nonsense_is_refused_not_panicked_at(text in "\\PC{0,60}") {
            prop_assert!(Token::decode(&text).is_err());
        }
    }
}
