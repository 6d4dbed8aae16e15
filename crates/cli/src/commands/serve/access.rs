//! Where a server listens, which clients may use it, and how those on this machine find it.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::{Path, PathBuf};

use sexton_server::serve::{Security, SecurityError, SecurityFiles, SelfSigned, host_name};

use crate::failure::Failure;
use crate::lock::RunningServer;
use crate::world::exposed;

/// The flags about it.
#[derive(Debug, clap::Args)]
pub(super) struct Access {
    /// Address to listen on; port 0 takes any free one
    #[arg(long, default_value = "127.0.0.1:8180", value_name = "ADDRESS")]
    pub(super) listen: SocketAddr,
    /// Serve https with a certificate and a token that are made and renewed in the data directory
    ///
    /// They are in its directory "tls". "sexton kubeconfig" of the same data directory has all that clients need.
    #[arg(long, conflicts_with_all = ["tls_cert", "tls_key"])]
    self_signed: bool,
    /// On a loopback address, ask for no token: every user and program of this machine may do everything
    #[arg(long, conflicts_with_all = ["self_signed", "token_file", "client_ca"])]
    open: bool,
    /// With --self-signed, a name or address by which clients reach this server; may be repeated
    #[arg(long = "host", value_name = "NAME", value_parser = host_name, requires = "self_signed")]
    hosts: Vec<String>,
    /// Certificate chain of the server, PEM
    #[arg(long, value_name = "FILE")]
    tls_cert: Option<PathBuf>,
    /// Key of the server, PEM
    #[arg(long, value_name = "FILE")]
    tls_key: Option<PathBuf>,
    /// Who may use the server: a list with a line "token,user" for each token
    // Its id is that of the clients' --token-file, which a server does not have: it was this flag's name, too.
    #[arg(id = "token_file", long = "tokens", alias = "token-file", value_name = "FILE")]
    tokens: Option<PathBuf>,
    /// Authority that signs client certificates, PEM; the common name is the user
    #[arg(long, value_name = "FILE")]
    client_ca: Option<PathBuf>,
}

impl Access {
    /// How the server is protected. Where it has a token of its own, this writes into the data directory.
    pub(super) fn decide(&self, data: &Path) -> Result<Security, SecurityError> {
        let files = SecurityFiles {
            certificate: self.tls_cert.clone(),
            key: self.tls_key.clone(),
            tokens: self.tokens.clone(),
            client_authority: self.client_ca.clone(),
            self_signed: self.own(data),
            open: self.open,
            plain_on_loopback: !self.self_signed && self.tls_cert.is_none(),
        };
        Security::decide(self.listen, &files)
    }

    /// The token and certificates of its own, which a server has unless it is given others.
    fn own(&self, data: &Path) -> Option<SelfSigned> {
        let given = self.tokens.is_some() || self.client_ca.is_some();
        let by_itself = self.listen.ip().is_loopback() && !given && !self.open;
        // Other processes read the announcement in directories of their own.
        let data = std::path::absolute(data).unwrap_or_else(|_| data.to_owned());
        (self.self_signed || by_itself)
            .then(|| SelfSigned::new(data.join("tls"), self.listen.ip(), &self.hosts))
    }

    /// What the server announces in its data directory.
    pub(super) fn announced(&self, data: &Path, security: &Security, bound: SocketAddr) -> RunningServer {
        let scheme = if security.is_encrypted() { "https" } else { "http" };
        RunningServer {
            url: format!("{scheme}://{}", reachable(bound)),
            hosts: self.hosts.clone(),
            self_signed: self.own(data).map(|own| own.dir().to_owned()),
            foreign_certificate: self.tls_cert.is_some(),
        }
    }

    /// What to do about an address that nothing protects.
    pub(super) fn refused(&self, error: &SecurityError) -> Failure {
        let failure = Failure::new(error.to_string());
        let serve = format!("sexton serve --listen {}", self.listen);
        match error {
            SecurityError::Unprotected(_) => failure
                .next("let Sexton make them", format!("{serve} --self-signed --host NAME"))
                .next("or use your own", format!("{serve} --tls-cert FILE --tls-key FILE --tokens FILE"))
                .next("or stay on this machine", "sexton serve"),
            SecurityError::Exposed { path } => exposed(&path.display().to_string(), path, "600"),
            _ => failure,
        }
    }

    /// Whether no client of this machine needs a token.
    pub(super) fn is_open(&self) -> bool {
        self.open
    }

    /// A name for other machines is missing: the certificate is good on this machine only.
    pub(super) fn lacks_host(&self) -> bool {
        self.self_signed && self.hosts.is_empty() && self.listen.ip().is_unspecified()
    }
}

/// The address that clients on this machine use: one that stands for all addresses is none.
fn reachable(bound: SocketAddr) -> SocketAddr {
    let ip = match bound.ip() {
        IpAddr::V4(Ipv4Addr::UNSPECIFIED) => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(Ipv6Addr::UNSPECIFIED) => Ipv6Addr::LOCALHOST.into(),
        ip => ip,
    };
    SocketAddr::new(ip, bound.port())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_addresses_are_reached_by_loopback() {
        let reached = |bound: &str| reachable(bound.parse().unwrap()).to_string();
        assert_eq!(reached("0.0.0.0:8180"), "127.0.0.1:8180");
        assert_eq!(reached("[::]:8180"), "[::1]:8180");
        assert_eq!(reached("192.0.2.7:1"), "192.0.2.7:1");
    }
}
