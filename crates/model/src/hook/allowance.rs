//! What the operator of a collector lets methods do on its machine: directories of programs, and hosts.
//!
//! Data only: whether a program or an address is among them is decided where it is about to be used.

use core::net::IpAddr;
use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// The flag that allows the programs of a directory.
pub const ALLOW_EXEC: &str = "--allow-exec";
/// The flag that allows the calls of a host.
pub const ALLOW_HTTP: &str = "--allow-http";

/// What an operator allows; nothing, unless it is said.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Allowance {
    /// Directories whose programs may be run, those in directories below them included. Absolute paths.
    #[serde(default)]
    pub exec: Vec<PathBuf>,
    /// Hosts that may be called.
    #[serde(default)]
    pub http: Vec<AllowedHost>,
}

impl Allowance {
    /// Whether a host may be called on a port, as it stands in an address.
    pub fn names(&self, host: &str, port: u16, usual_port: u16) -> bool {
        let host = Host::of(host);
        self.http.iter().any(|one| one.host == host && one.port.unwrap_or(usual_port) == port)
    }
}

/// A host that may be called: `name` or an address for the usual port of `http` and `https`, `name:port` for another one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct AllowedHost {
    host: Host,
    port: Option<u16>,
}

/// The same host is equal, however it is written.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Host {
    /// In lower case, without the dot at the end.
    Name(String),
    /// An IPv4 address that is written as an IPv6 one is the IPv4 address.
    Address(IpAddr),
}

impl Host {
    fn of(text: &str) -> Host {
        let bare = text.strip_prefix('[').and_then(|text| text.strip_suffix(']')).unwrap_or(text);
        match bare.parse::<IpAddr>() {
            Ok(address) => Host::Address(address.to_canonical()),
            Err(_) => Host::Name(bare.trim_end_matches('.').to_ascii_lowercase()),
        }
    }
}

/// Why a text names no host.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "{0:?} is not a host: write NAME, NAME:PORT, ADDRESS or [IPV6]:PORT, without http:// and without a path"
)]
pub struct NoHost(String);

impl FromStr for AllowedHost {
    type Err = NoHost;

    fn from_str(text: &str) -> Result<AllowedHost, NoHost> {
        let bad = || NoHost(text.to_owned());
        // An IPv6 address without brackets has no port.
        if let Ok(address) = text.parse::<IpAddr>() {
            return Ok(AllowedHost { host: Host::Address(address.to_canonical()), port: None });
        }
        let (host, port) = match text.rsplit_once(':') {
            Some((host, port)) if !port.contains(']') => (host, Some(port)),
            _ => (text, None),
        };
        let port =
            port.map(|port| port.parse::<u16>().ok().filter(|port| *port > 0).ok_or_else(bad)).transpose()?;
        let host = Host::of(host);
        let named = |c: char| c.is_ascii_alphanumeric() || "-._".contains(c);
        match &host {
            Host::Name(name) if name.is_empty() || !name.chars().all(named) => Err(bad()),
            _ => Ok(AllowedHost { host, port }),
        }
    }
}

impl TryFrom<String> for AllowedHost {
    type Error = NoHost;

    fn try_from(text: String) -> Result<AllowedHost, NoHost> {
        text.parse()
    }
}

impl From<AllowedHost> for String {
    fn from(host: AllowedHost) -> String {
        host.to_string()
    }
}

impl fmt::Display for AllowedHost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.host, self.port) {
            (Host::Address(IpAddr::V6(address)), Some(port)) => write!(f, "[{address}]:{port}"),
            (Host::Address(address), Some(port)) => write!(f, "{address}:{port}"),
            (Host::Address(address), None) => write!(f, "{address}"),
            (Host::Name(name), Some(port)) => write!(f, "{name}:{port}"),
            (Host::Name(name), None) => f.write_str(name),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_is_the_same_however_it_is_written() {
        let allowed = |text: &str| Allowance { http: vec![text.parse().unwrap()], ..Allowance::default() };
        assert!(allowed("Hooks.Example.com.").names("hooks.example.com", 443, 443));
        assert!(!allowed("hooks.example.com").names("hooks.example.com", 8443, 443));
        assert!(!allowed("hooks.example.com").names("evil.hooks.example.com", 443, 443));
        assert!(allowed("hooks.example.com:8443").names("HOOKS.example.com", 8443, 443));
        assert!(!allowed("hooks.example.com:8443").names("hooks.example.com", 443, 443));
        assert!(allowed("127.0.0.1:9000").names("[::ffff:127.0.0.1]", 9000, 80));
        assert!(allowed("[::1]:9000").names("[0:0::1]", 9000, 80));
        assert!(allowed("::1").names("[::1]", 80, 80) && !allowed("::1").names("127.0.0.1", 80, 80));
        assert!(!Allowance::default().names("localhost", 80, 80));
    }

    #[test]
    fn what_is_no_host_is_refused() {
        for bad in
            ["", "http://a", "a/b", "a b", "*.example.com", "a:0", "a:99999", "a:", ":80", "[::1", "me@a"]
        {
            assert!(bad.parse::<AllowedHost>().is_err(), "{bad}");
        }
        for good in ["a", "a:1", "192.0.2.7", "192.0.2.7:80", "[2001:db8::1]:80", "2001:db8::1"] {
            let host: AllowedHost = good.parse().unwrap();
            assert_eq!(host.to_string(), good);
            assert_eq!(serde_json::from_value::<AllowedHost>(serde_json::json!(good)).unwrap(), host);
        }
    }
}
