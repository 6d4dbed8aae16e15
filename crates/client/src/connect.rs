//! Three ways to a `kube::Client`: a service in this process, a URL, a context of a kubeconfig.
//!
//! The current context of a kubeconfig is never used by itself: a foreign cluster must be named, if only by a caller
//! that asks for [`current_context`]. Nothing here reads the environment; paths and secrets come from the caller.

use std::fmt;
use std::path::PathBuf;

use http::{Method, Request, Response, Uri};
use kube::client::Body;
use kube::config::{KubeConfigOptions, Kubeconfig, KubeconfigError};
use serde_json::json;
use tower::{BoxError, Service};

use crate::call::{Call, CallError};

/// Why there is no way to a server.
#[derive(Debug, thiserror::Error)]
pub enum ConnectError {
    /// The address makes no sense.
    #[error("{url:?} is not an address of a server: {why}")]
    BadUrl {
        /// What was given.
        url: String,
        /// Why not.
        why: String,
    },
    /// No kubeconfig has this context.
    #[error("there is no context {name:?}")]
    NoContext {
        /// What was asked for.
        name: String,
        /// The contexts that there are.
        known: Vec<String>,
        /// Where they were looked for.
        files: Vec<PathBuf>,
    },
    /// A kubeconfig cannot be used.
    #[error("the kubeconfig cannot be used")]
    Kubeconfig(#[source] Box<KubeconfigError>),
    /// TLS or credentials cannot be set up.
    #[error("the connection cannot be set up")]
    SetUp(#[source] Box<kube::Error>),
}

/// A way to a server, and what it is called.
#[derive(Clone)]
pub struct Connection {
    /// The client.
    pub client: kube::Client,
    /// The address, for people.
    pub address: String,
    /// The namespace that is meant when none is named.
    pub namespace: String,
}

impl fmt::Debug for Connection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Connection({})", self.address)
    }
}

impl Connection {
    /// Whether nothing listens at the address, or what listens cannot answer yet.
    pub async fn is_unavailable(&self) -> bool {
        match Call::new(Method::GET, "/readyz").send_for_bytes(&self.client).await {
            Err(CallError::Refused(status)) => status.code == 503,
            Err(CallError::Unreachable(error)) => is_refused(&*error),
            _ => false,
        }
    }
}

/// Whether an error comes from an address at which nothing listens.
fn is_refused(error: &(dyn std::error::Error + 'static)) -> bool {
    let mut cause = Some(error);
    while let Some(error) = cause {
        let io = error.downcast_ref::<std::io::Error>();
        if io.is_some_and(|error| error.kind() == std::io::ErrorKind::ConnectionRefused) {
            return true;
        }
        cause = error.source();
    }
    false
}

/// Straight into a service of this process.
pub fn in_process<S, B>(service: S) -> kube::Client
where
    S: Service<Request<Body>, Response = Response<B>> + Send + 'static,
    S::Future: Send + 'static,
    S::Error: Into<BoxError>,
    B: http_body::Body<Data = bytes::Bytes> + Send + 'static,
    B::Error: Into<BoxError>,
{
    kube::Client::new(service, "default")
}

/// What is needed beside an address.
#[derive(Default, Clone)]
pub struct Credentials {
    /// A bearer token.
    pub token: Option<String>,
    /// A file of certificates of authorities to trust.
    pub authority: Option<PathBuf>,
}

impl fmt::Debug for Credentials {
    /// Tokens never end up in a log.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Credentials")
            .field("token", &self.token.is_some())
            .field("authority", &self.authority)
            .finish()
    }
}

/// To a server at an address.
///
/// # Errors
/// The address is not an `http` or `https` one, or the credentials cannot be used.
pub async fn to_url(url: &str, credentials: &Credentials) -> Result<Connection, ConnectError> {
    check_url(url)?;
    let mut cluster = json!({"server": url});
    if let Some(authority) = &credentials.authority {
        cluster["certificate-authority"] = json!(authority);
    }
    let user = credentials.token.as_ref().map_or(json!({}), |token| json!({"token": token}));
    let config = json!({
        "clusters": [{"name": "given", "cluster": cluster}],
        "users": [{"name": "given", "user": user}],
        "contexts": [{"name": "given", "context": {"cluster": "given", "user": "given"}}],
    });
    let config: Kubeconfig = serde_json::from_value(config)
        .map_err(|error| ConnectError::BadUrl { url: url.to_owned(), why: error.to_string() })?;
    connect(config, "given").await
}

/// Whether this can be the address of a server.
///
/// # Errors
/// It is not an `http` or `https` one, or names no host.
pub fn check_url(url: &str) -> Result<(), ConnectError> {
    let bad = |why: String| Err(ConnectError::BadUrl { url: url.to_owned(), why });
    let uri: Uri = match url.parse() {
        Ok(uri) => uri,
        Err(error) => return bad(http::uri::InvalidUri::to_string(&error)),
    };
    match uri.scheme_str() {
        Some("http" | "https") if uri.host().is_some_and(|host| !host.is_empty()) => Ok(()),
        Some("http" | "https") => bad("it names no host".into()),
        _ => bad("it must begin with http:// or https://".into()),
    }
}

/// To the cluster that a context of one of the kubeconfig files names.
///
/// # Errors
/// A file cannot be read, the context is in none of them, or the cluster's credentials cannot be used.
pub async fn to_context(name: &str, files: &[PathBuf]) -> Result<Connection, ConnectError> {
    let config = read(files)?;
    if !config.contexts.iter().any(|context| context.name == name) {
        let known = config.contexts.into_iter().map(|context| context.name).collect();
        return Err(ConnectError::NoContext { name: name.to_owned(), known, files: files.to_vec() });
    }
    connect(config, name).await
}

/// The name of the current context of the kubeconfig files, if they name one.
///
/// # Errors
/// A file cannot be read.
pub fn current_context(files: &[PathBuf]) -> Result<Option<String>, ConnectError> {
    Ok(read(files)?.current_context.filter(|name| !name.is_empty()))
}

fn read(files: &[PathBuf]) -> Result<Kubeconfig, ConnectError> {
    let failed = |error| ConnectError::Kubeconfig(Box::new(error));
    let mut config = Kubeconfig::default();
    // The first file that says something wins, as everywhere.
    for file in files.iter().filter(|file| file.exists()) {
        config = config.merge(Kubeconfig::read_from(file).map_err(failed)?).map_err(failed)?;
    }
    Ok(config)
}

async fn connect(config: Kubeconfig, context: &str) -> Result<Connection, ConnectError> {
    let options = KubeConfigOptions { context: Some(context.to_owned()), cluster: None, user: None };
    let config = kube::Config::from_custom_kubeconfig(config, &options).await;
    let mut config = config.map_err(|error| ConnectError::Kubeconfig(Box::new(error)))?;
    // Filled in from the environment, where it is meant for other programs and other addresses.
    config.proxy_url = None;
    // It would repeat every request to a group whose server is down for minutes. What is worth repeating, calls know.
    config.default_retry = false;
    let address = config.cluster_url.to_string().trim_end_matches('/').to_owned();
    let namespace = config.default_namespace.clone();
    let client = kube::Client::try_from(config).map_err(|error| ConnectError::SetUp(Box::new(error)))?;
    Ok(Connection { client, address, namespace })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_checked() {
        for good in ["http://127.0.0.1:8180", "https://localhost/prefix"] {
            assert!(check_url(good).is_ok(), "{good}");
        }
        for bad in ["127.0.0.1:8180", "ftp://localhost", "", "http://"] {
            assert!(check_url(bad).is_err(), "{bad}");
        }
    }

    #[tokio::test]
    async fn an_unknown_context_names_the_known_ones() {
        let dir = std::env::temp_dir().join(format!("sexton-client-{}", std::process::id()));
        let text = "contexts: [{name: a, context: {cluster: c, user: u}}]\ncurrent-context: a\n";
        std::fs::write(&dir, text).unwrap();
        let error = to_context("b", std::slice::from_ref(&dir)).await.unwrap_err();
        std::fs::remove_file(&dir).unwrap();
        assert!(matches!(error, ConnectError::NoContext { known, .. } if known == ["a"]));
    }
}
