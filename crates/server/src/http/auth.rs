//! The identity of requesters. Open on loopback; bearer tokens and client certificates elsewhere.

use std::fmt;
use std::net::IpAddr;
use std::sync::Arc;

use arc_swap::ArcSwap;
use http::header::{AUTHORIZATION, HOST, HeaderName, HeaderValue};
use http::request::Parts;
use sexton_model::{GroupResource, Status};

use crate::api::Result;

/// Headers that name the identity as which a request wants to be served: `kubectl --as`.
const IMPERSONATE: &str = "impersonate-";

/// Shorter ones could be guessed.
const SHORTEST_TOKEN: usize = 16;

/// A requester that may ask.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Identity {
    /// The user's name.
    pub user: String,
}

/// Tokens and their users. Clones share them, so that [`Tokens::replace`] reaches all.
#[derive(Clone, Default)]
pub struct Tokens(Arc<ArcSwap<Vec<(String, String)>>>);

impl fmt::Debug for Tokens {
    /// Tokens never end up in a log.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Tokens({} of them)", self.0.load().len())
    }
}

/// A token file that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TokenFileError {
    /// A line has the wrong form.
    #[error("line {0} is not of the form token,user")]
    BadLine(usize),
    /// A token could be guessed.
    #[error("the token on line {0} has fewer than {SHORTEST_TOKEN} characters")]
    TooShort(usize),
    /// No tokens at all.
    #[error("it holds no token")]
    Empty,
}

impl Tokens {
    /// Reads lines of `token,user`; empty lines and lines beginning with `#` are passed over. More fields, as in
    /// Kubernetes' token files, are ignored.
    pub fn parse(text: &str) -> std::result::Result<Tokens, TokenFileError> {
        let mut tokens = Vec::new();
        for (at, line) in text.lines().enumerate() {
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let mut fields = line.split(',').map(|field| field.trim().trim_matches('"'));
            match (fields.next(), fields.next()) {
                (Some(token), Some(user)) if !user.is_empty() => {
                    if token.len() < SHORTEST_TOKEN {
                        return Err(TokenFileError::TooShort(at + 1));
                    }
                    tokens.push((token.to_owned(), user.to_owned()));
                }
                _ => return Err(TokenFileError::BadLine(at + 1)),
            }
        }
        if tokens.is_empty() { Err(TokenFileError::Empty) } else { Ok(Tokens::of(tokens)) }
    }

    /// The only token of a file without users, for one user.
    pub fn single(text: &str, user: &str) -> std::result::Result<Tokens, TokenFileError> {
        match text.trim() {
            "" => Err(TokenFileError::Empty),
            token if token.len() < SHORTEST_TOKEN => Err(TokenFileError::TooShort(1)),
            token => Ok(Tokens::of(vec![(token.to_owned(), user.to_owned())])),
        }
    }

    fn of(tokens: Vec<(String, String)>) -> Tokens {
        Tokens(Arc::new(ArcSwap::from_pointee(tokens)))
    }

    /// Both lists as one.
    pub(crate) fn and(&self, more: &Tokens) -> Tokens {
        Tokens::of(self.0.load().iter().chain(more.0.load().iter()).cloned().collect())
    }

    /// From now on these tokens open, and no others.
    pub(crate) fn replace(&self, tokens: &Tokens) {
        self.0.store(tokens.0.load_full());
    }

    fn user_of(&self, token: &str) -> Option<String> {
        // Every token is compared, and compared whole, so that time tells nothing.
        let tokens = self.0.load();
        let mut found = None;
        for (known, user) in tokens.iter() {
            if same(known.as_bytes(), token.as_bytes()) {
                found = Some(user);
            }
        }
        found.cloned()
    }
}

fn same(known: &[u8], given: &[u8]) -> bool {
    let differences = known.iter().zip(given).fold(0_u8, |all, (a, b)| all | (a ^ b));
    known.len() == given.len() && std::hint::black_box(differences) == 0
}

/// How callers prove their identity.
#[derive(Debug, Clone)]
pub enum Authentication {
    /// In this process: no other process can call.
    InProcess,
    /// Any process on this machine. Requests that a browser was tricked into are refused.
    LoopbackOpen,
    /// A token or a certificate is needed.
    Required(Tokens),
}

impl Authentication {
    /// Whether all requesters are part of this process.
    pub(super) fn is_in_process(&self) -> bool {
        matches!(self, Authentication::InProcess)
    }

    /// The group of the callers that get in: whether they proved their identity.
    pub fn group(&self) -> &'static str {
        match self {
            Authentication::LoopbackOpen => "system:unauthenticated",
            Authentication::InProcess | Authentication::Required(_) => "system:authenticated",
        }
    }

    /// The identity of the requester, or a refusal. Impersonation is refused, not ignored: a request that means to act
    /// as another user must not be served under the requester's own name.
    pub fn check(&self, parts: &Parts) -> Result<Identity> {
        let identity = self.proved(parts)?;
        // User, group, uid and extras: one of them without the others would be taken for nothing.
        match parts.headers.iter().find(|(name, _)| name.as_str().starts_with(IMPERSONATE)) {
            Some((name, other)) => Err(no_impersonation(&identity, name, other).into()),
            None => Ok(identity),
        }
    }

    fn proved(&self, parts: &Parts) -> Result<Identity> {
        match self {
            Authentication::InProcess => Ok(Identity { user: "local".into() }),
            Authentication::LoopbackOpen => from_loopback(parts),
            Authentication::Required(tokens) => {
                if let Some(identity) = parts.extensions.get::<Identity>() {
                    return Ok(identity.clone());
                }
                let header = parts.headers.get(AUTHORIZATION).and_then(|value| value.to_str().ok());
                let token = header
                    .and_then(|value| value.split_once(' '))
                    .and_then(|(scheme, token)| scheme.eq_ignore_ascii_case("bearer").then_some(token));
                let user = token.and_then(|token| tokens.user_of(token.trim()));
                Ok(user.map(|user| Identity { user }).ok_or_else(Status::unauthorized)?)
            }
        }
    }
}

fn no_impersonation(identity: &Identity, name: &HeaderName, other: &HeaderValue) -> Status {
    let other: String = other.to_str().unwrap_or_default().chars().take(128).collect();
    let resource = match name.as_str().strip_prefix(IMPERSONATE) {
        Some("user") => "users",
        Some("group") => "groups",
        Some("uid") => "uids",
        _ => "userextras",
    };
    let why = format!(
        "User {:?} cannot impersonate resource {resource:?}: nobody acts as somebody else on this server",
        identity.user
    );
    Status::forbidden(&GroupResource::new("", resource), &other, why)
}

/// A page in a browser can send requests to loopback, also under another name that it made resolve to it. It cannot
/// leave out the Origin of a cross-site write, nor choose the Host.
fn from_loopback(parts: &Parts) -> Result<Identity> {
    let header = |name: http::HeaderName| parts.headers.get(name).and_then(|value| value.to_str().ok());
    let named = parts.uri.host().or_else(|| header(HOST));
    if let Some(host) = named
        && !is_loopback(host)
    {
        let message = format!("this server is open to loopback only and was asked as {host:?}");
        return Err(Status::refused(message).into());
    }
    // Also an origin that says nothing (`null`): only what is certainly from this machine is let in.
    let foreign = |origin: &str| !origin.split_once("://").is_some_and(|(_, host)| is_loopback(host));
    if header(http::header::ORIGIN).is_some_and(foreign) {
        return Err(Status::refused("requests from web pages of other sites are refused").into());
    }
    Ok(Identity { user: "anonymous".into() })
}

fn is_loopback(host: &str) -> bool {
    let bare = match host.strip_prefix('[') {
        Some(rest) => rest.split(']').next().unwrap_or(rest),
        None => host.split(':').next().unwrap_or(host),
    };
    // What nearly all requests say is not parsed.
    bare == "127.0.0.1"
        || bare.eq_ignore_ascii_case("localhost")
        || bare.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::Request;
    use proptest::prelude::*;

    fn ask(authentication: &Authentication, headers: &[(&str, &str)]) -> std::result::Result<String, u16> {
        let mut request = Request::builder().uri("/api");
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let (parts, ()) = request.body(()).unwrap().into_parts();
        authentication.check(&parts).map(|identity| identity.user).map_err(|failure| failure.0.code)
    }

    #[test]
    fn open_means_loopback_only() {
        let open = Authentication::LoopbackOpen;
        for host in ["127.0.0.1:8180", "localhost", "[::1]:8180", "127.8.9.1"] {
            assert!(ask(&open, &[("host", host)]).is_ok(), "{host}");
        }
        for host in ["evil.example", "192.0.2.1:8180", "localhost.evil.example", "[::2]:1"] {
            assert_eq!(ask(&open, &[("host", host)]), Err(403), "{host}");
        }
        for origin in ["https://evil.example", "null", ""] {
            assert_eq!(ask(&open, &[("host", "localhost"), ("origin", origin)]), Err(403), "{origin}");
        }
        assert!(ask(&open, &[("host", "localhost"), ("origin", "http://localhost:3000")]).is_ok());
        for other in ["user", "group", "uid", "extra-scopes", "whatever-comes"] {
            let header = format!("Impersonate-{other}");
            assert_eq!(ask(&open, &[("host", "localhost"), (&header, "ada")]), Err(403), "{header}");
        }
    }

    #[test]
    fn tokens_are_needed_and_named() {
        let tokens = Tokens::parse("# who\n0123456789abcdef0123,ada,uid,\"admins\"\n").unwrap();
        let required = Authentication::Required(tokens);
        assert_eq!(ask(&required, &[]), Err(401));
        assert_eq!(ask(&required, &[("authorization", "Bearer 0123456789abcdef0124")]), Err(401));
        assert_eq!(ask(&required, &[("authorization", "Bearer 0123456789abcdef0123")]), Ok("ada".into()));
        let as_other = [("authorization", "Bearer 0123456789abcdef0123"), ("impersonate-user", "eve")];
        assert_eq!(ask(&required, &as_other), Err(403));
        assert_eq!(ask(&required, &as_other[1..]), Err(401));
        assert_eq!(Tokens::parse("short,ada").unwrap_err(), TokenFileError::TooShort(1));
        assert_eq!(Tokens::parse("\n").unwrap_err(), TokenFileError::Empty);
        assert!(!format!("{required:?}").contains("0123456789abcdef0123"));
    }

    proptest! {
        /// Whatever a token file holds, it is read or refused; what is read opens for its own tokens only.
        #[test]
        fn token_files_never_panic(text in "([a-f0-9]{0,20},?[a-z\"# ]{0,6}\n?){0,6}|\\PC{0,80}", token in "[a-f0-9]{0,20}") {
            if let Ok(tokens) = Tokens::parse(&text) {
                prop_assert!(tokens.user_of(&token).is_none() || text.contains(&token));
            }
        }

        #[test]
        fn hosts_never_panic(host in "[a-z0-9.:\\[\\]]{0,30}|\\PC{0,30}") {
            let _ = is_loopback(&host);
        }
    }
}
