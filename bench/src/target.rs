//! The server under test: its address, how to prove the identity of the benchmark, and requests addressed to it.
//! Must not know: connections, measurements, or the kinds of objects.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use bytes::Bytes;
use http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HOST, USER_AGENT};
use http::{HeaderMap, HeaderValue, Method, Request, Uri};
use http_body_util::Full;
use rustls::pki_types::ServerName;
use tokio_rustls::TlsConnector;

use crate::cli::Common;
use crate::error::{Error, Result};
use crate::tls;

/// A request ready to be sent.
pub(crate) type Call = Request<Full<Bytes>>;

/// The server under test.
pub(crate) struct Target {
    /// The URL as given, for the report.
    pub(crate) url: String,
    /// Host without brackets.
    pub(crate) host: String,
    /// Port, given or by scheme.
    pub(crate) port: u16,
    /// TLS and the name to expect, for https.
    pub(crate) tls: Option<(TlsConnector, ServerName<'static>)>,
    /// Path in front of every path of the API.
    base: String,
    /// Headers of every request; built once.
    headers: HeaderMap,
}

impl Target {
    /// Reads the flags and the files they name.
    pub(crate) fn new(flags: &Common) -> Result<Self> {
        let bad = |reason: &str| Error::BadServer { url: flags.server.clone(), reason: reason.to_owned() };
        let uri: Uri = flags.server.parse().map_err(|_| bad("not a URL"))?;
        let secure = match uri.scheme_str() {
            Some("http") => false,
            Some("https") => true,
            _ => return Err(bad("the scheme has to be http or https")),
        };
        let authority = uri.authority().ok_or_else(|| bad("no host"))?;
        let host = authority.host().trim_start_matches('[').trim_end_matches(']').to_owned();
        let tls = if secure {
            let name =
                ServerName::try_from(host.clone()).map_err(|_| bad("no name a certificate can have"))?;
            Some((tls::connector(flags)?, name))
        } else {
            None
        };
        Ok(Self {
            url: flags.server.clone(),
            port: uri.port_u16().unwrap_or(if secure { 443 } else { 80 }),
            base: uri.path().trim_end_matches('/').to_owned(),
            headers: headers(authority.as_str(), token(flags)?.as_deref())?,
            host,
            tls,
        })
    }

    /// A path of the API as this server wants it.
    pub(crate) fn uri(&self, path: &str) -> Result<Uri> {
        let whole = format!("{}{path}", self.base);
        whole.parse().map_err(|error: http::uri::InvalidUri| Error::Request(error.into()))
    }

    /// A request with the headers every request has; the URI is cloned cheaply by the caller.
    pub(crate) fn request(&self, method: Method, uri: Uri, body: Bytes) -> Call {
        let mut request = Request::new(Full::new(body));
        *request.method_mut() = method;
        *request.uri_mut() = uri;
        *request.headers_mut() = self.headers.clone();
        request
    }

    /// A GET of a path.
    pub(crate) fn get(&self, path: &str) -> Result<Call> {
        Ok(self.request(Method::GET, self.uri(path)?, Bytes::new()))
    }
}

fn token(flags: &Common) -> Result<Option<String>> {
    let read = |path: &Path| {
        fs::read_to_string(path)
            .map(|text| text.trim().to_owned())
            .map_err(|error| Error::File { path: path.to_owned(), reason: error.to_string() })
    };
    match &flags.token_file {
        Some(path) => read(path).map(Some),
        None => Ok(flags.token.clone()),
    }
}

fn headers(authority: &str, token: Option<&str>) -> Result<HeaderMap> {
    let value = |text: &str| HeaderValue::from_str(text).map_err(|error| Error::Request(error.into()));
    // A user name in the URL is no part of the Host header.
    let host = authority.rsplit('@').next().unwrap_or(authority);
    let mut headers = HeaderMap::with_capacity(8);
    headers.insert(HOST, value(host)?);
    headers.insert(ACCEPT, HeaderValue::from_static("application/json"));
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.insert(USER_AGENT, HeaderValue::from_static("sexton-bench"));
    if let Some(token) = token {
        let mut bearer = value(&format!("Bearer {token}"))?;
        bearer.set_sensitive(true);
        headers.insert(AUTHORIZATION, bearer);
    }
    Ok(headers)
}

/// A target that many tasks share.
pub(crate) type SharedTarget = Arc<Target>;
