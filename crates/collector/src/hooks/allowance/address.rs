//! Which services may be called: on hosts that the operator names, and never on addresses of this machine, of the
//! link or of a cloud's metadata because a name happens to lead there.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use sexton_model::hook::{ALLOW_HTTP, Allowance};
use tokio::net::{TcpStream, lookup_host};

use super::{NotAllowed, shown};

/// Addresses outside of the link-local ranges at which clouds tell machines their secrets.
const METADATA_V4: [Ipv4Addr; 3] =
    [Ipv4Addr::new(100, 100, 100, 200), Ipv4Addr::new(168, 63, 129, 16), Ipv4Addr::new(192, 0, 0, 192)];
const METADATA_V6: [Ipv6Addr; 4] = [
    Ipv6Addr::new(0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x254),
    Ipv6Addr::new(0xfd00, 0xc1, 0, 0, 0, 0, 0xa9fe, 0xa9fe),
    Ipv6Addr::new(0xfd00, 0x42, 0, 0, 0, 0, 0, 0x42),
    Ipv6Addr::new(0xfd20, 0xce, 0, 0, 0, 0, 0, 0x254),
];

/// Why there is no connection.
#[derive(Debug, thiserror::Error)]
pub enum ConnectError {
    /// The operator does not allow it.
    #[error(transparent)]
    NotAllowed(NotAllowed),
    /// It cannot be reached.
    #[error(transparent)]
    Io(io::Error),
}

/// Connects to a host as it stands in an address. The name is looked up once: what was decided on is what is
/// connected to. Without an allowance every host and address may be called.
///
/// # Errors
/// See [`ConnectError`].
pub async fn connect(
    allowance: Option<&Allowance>,
    host: &str,
    port: u16,
    usual_port: u16,
) -> Result<TcpStream, ConnectError> {
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    let Some(allowance) = allowance else {
        return TcpStream::connect((bare, port)).await.map_err(ConnectError::Io);
    };
    check_host(allowance, host, port, usual_port).map_err(ConnectError::NotAllowed)?;
    let found: Vec<SocketAddr> = lookup_host((bare, port)).await.map_err(ConnectError::Io)?.collect();
    let mut error = io::Error::new(io::ErrorKind::NotFound, "the name leads to no address");
    let mut refused = None;
    for address in found {
        if let Err(words) = judge(allowance, bare, address, usual_port) {
            refused = Some(words);
            continue;
        }
        match TcpStream::connect(address).await {
            Ok(stream) => return Ok(stream),
            Err(why) => (error, refused) = (why, None),
        }
    }
    Err(refused.map_or(ConnectError::Io(error), ConnectError::NotAllowed))
}

/// Whether a host may be called as it stands in an address. Where its name leads to is judged by [`connect`].
///
/// # Errors
/// No flag names it.
pub(super) fn check_host(
    allowance: &Allowance,
    host: &str,
    port: u16,
    usual_port: u16,
) -> Result<(), NotAllowed> {
    if allowance.names(host, port, usual_port) {
        return Ok(());
    }
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    let words = match bare.parse().ok().and_then(special) {
        Some(Special::Machine) | None => format!("add {ALLOW_HTTP} {}", written(bare, port)),
        Some(special) => format!("it is {}", special.words()),
    };
    let host = written(bare, port);
    Err(NotAllowed(format!("{host} may not be called, because no {ALLOW_HTTP} names it: {words}")))
}

/// Whether an address may be called to which an allowed host leads: a special one only if it is allowed itself.
fn judge(allowance: &Allowance, host: &str, address: SocketAddr, usual_port: u16) -> Result<(), NotAllowed> {
    let Some(special) = special(address.ip()) else { return Ok(()) };
    let local = host.trim_end_matches('.').to_ascii_lowercase();
    let means_this_machine = local == "localhost" || local.ends_with(".localhost");
    let named = allowance.names(&address.ip().to_string(), address.port(), usual_port);
    if named || (means_this_machine && address.ip().to_canonical().is_loopback()) {
        return Ok(());
    }
    let ip = address.ip().to_string();
    let flag = match special {
        Special::Machine => format!(": add {ALLOW_HTTP} {}", written(&ip, address.port())),
        Special::Link | Special::Metadata | Special::Nowhere => String::new(),
    };
    let (host, what) = (shown(host), special.words());
    Err(NotAllowed(format!(
        "{host} leads to {ip}, {what}, which is only called if it is allowed itself{flag}"
    )))
}

fn written(host: &str, port: u16) -> String {
    if host.contains(':') { format!("[{host}]:{port}") } else { format!("{}:{port}", shown(host)) }
}

/// Addresses that mean something else on every machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Special {
    Machine,
    Link,
    Metadata,
    Nowhere,
}

impl Special {
    fn words(self) -> &'static str {
        match self {
            Special::Machine => "an address of this machine",
            Special::Link => "a link-local address",
            Special::Metadata => "the address of a cloud's metadata",
            Special::Nowhere => "not the address of one host",
        }
    }
}

/// What is special about an address, also if it is an IPv4 address inside of an IPv6 one.
fn special(address: IpAddr) -> Option<Special> {
    match address {
        IpAddr::V4(address) => special_v4(address),
        IpAddr::V6(address) if METADATA_V6.contains(&address) => Some(Special::Metadata),
        IpAddr::V6(address) if address.is_loopback() || address.is_unspecified() => Some(Special::Machine),
        IpAddr::V6(address) if address.is_multicast() => Some(Special::Nowhere),
        // Link-local, and site-local as it was called once.
        IpAddr::V6(address) if matches!(address.segments()[0], 0xfe80..=0xfeff) => Some(Special::Link),
        IpAddr::V6(address) => inside(address).and_then(special_v4),
    }
}

fn special_v4(address: Ipv4Addr) -> Option<Special> {
    if METADATA_V4.contains(&address) || address == Ipv4Addr::new(169, 254, 169, 254) {
        return Some(Special::Metadata);
    }
    // All of 0.0.0.0/8 is "this host".
    if address.is_loopback() || address.octets()[0] == 0 {
        return Some(Special::Machine);
    }
    if address.is_link_local() {
        return Some(Special::Link);
    }
    // Multicast, reserved, broadcast.
    (address.octets()[0] >= 224).then_some(Special::Nowhere)
}

/// The IPv4 address to which an IPv6 address leads: mapped, compatible, by NAT64 or by 6to4.
fn inside(address: Ipv6Addr) -> Option<Ipv4Addr> {
    let parts = address.segments();
    let v4 = |high: u16, low: u16| Ipv4Addr::from((u32::from(high) << 16) | u32::from(low));
    match parts {
        [0, 0, 0, 0, 0, 0 | 0xffff, high, low] | [0, 0, 0, 0, 0xffff, 0, high, low] => Some(v4(high, low)),
        [0x64, 0xff9b, .., high, low] => Some(v4(high, low)),
        [0x2002, high, low, ..] => Some(v4(high, low)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn allowing(hosts: &[&str]) -> Allowance {
        let http = hosts.iter().map(|host| host.parse().unwrap()).collect();
        Allowance { http, ..Allowance::default() }
    }

    fn judged(hosts: &[&str], host: &str, address: &str, port: u16) -> Result<(), String> {
        let address = SocketAddr::new(address.parse().unwrap(), port);
        judge(&allowing(hosts), host, address, 80).map_err(|refused| refused.0)
    }

    /// Addresses that are only judged here, and never called.
    fn v4(octets: [u8; 4]) -> String {
        Ipv4Addr::from(octets).to_string()
    }

    /// A name that is allowed and leads to this machine, the link or a cloud's metadata is not called.
    #[test]
    fn special_addresses_are_only_called_by_name() {
        let mut all = [
            [127, 0, 0, 1],
            [127, 9, 9, 9],
            [0, 0, 0, 0],
            [0, 1, 2, 3],
            [169, 254, 169, 254],
            [169, 254, 0, 1],
            [100, 100, 100, 200],
            [255, 255, 255, 255],
            [224, 0, 0, 1],
        ]
        .map(v4)
        .to_vec();
        let mapped: Vec<String> = all.iter().map(|address| format!("::ffff:{address}")).collect();
        all.extend(mapped);
        let v6 = ["::1", "::", "fe80::1", "fd00:ec2::254", "::7f00:1", "64:ff9b::a9fe:a9fe", "2002:7f00:1::"];
        let more = ["::ffff:0:7f00:1", "ff02::1", "fd20:ce::254", "fd00:c1::a9fe:a9fe", "fd00:42::42"];
        all.extend(v6.into_iter().chain(more).map(str::to_owned));
        for address in &all {
            let refused = judged(&["hooks.example.com"], "hooks.example.com", address, 80).unwrap_err();
            assert!(refused.starts_with("hooks.example.com leads to "), "{address}: {refused}");
            let both = ["hooks.example.com", address];
            assert_eq!(judged(&both, "hooks.example.com", address, 80), Ok(()), "{address}");
        }
        let ordinary = [v4([192, 0, 2, 7]), v4([10, 0, 0, 1]), v4([192, 168, 1, 1])];
        for address in ordinary.iter().map(String::as_str).chain(["2001:db8::1", "fd00::1"]) {
            assert_eq!(judged(&["hooks.example.com"], "hooks.example.com", address, 80), Ok(()), "{address}");
        }
        let other_port = judged(&["a:81", "127.0.0.1:80"], "a", "127.0.0.1", 81).unwrap_err();
        assert!(other_port.ends_with("add --allow-http 127.0.0.1:81"), "{other_port}");
        assert_eq!(judged(&["localhost:81"], "LocalHost.", "127.0.0.1", 81), Ok(()));
        let metadata = v4([169, 254, 169, 254]);
        assert!(judged(&["localhost"], "localhost", &metadata, 80).is_err(), "whatever a name server says");
    }

    #[tokio::test]
    async fn hosts_are_called_that_are_named() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let ask = async |hosts: &[&str], host: &str| {
            let allowance = allowing(hosts);
            connect(Some(&allowance), host, port, 80).await.map(drop).map_err(|error| error.to_string())
        };
        let named = format!("127.0.0.1:{port}");
        let refused = ask(&[], "127.0.0.1").await.unwrap_err();
        assert!(refused.ends_with(&format!("add --allow-http {named}")), "{refused}");
        assert!(ask(&["127.0.0.1"], "127.0.0.1").await.is_err(), "that is port 80");
        assert_eq!(ask(&[&named], "127.0.0.1").await, Ok(()));
        assert_eq!(ask(&[&format!("localhost:{port}")], "localhost").await, Ok(()));
        // The numbers of an address can be written in many ways, and all are names here.
        for host in ["127.1", "2130706433", "0x7f.1", "0177.1"] {
            assert!(ask(&[&named], host).await.unwrap_err().contains("may not be called"), "{host}");
            let refused = ask(&[&format!("{host}:{port}")], host).await.unwrap_err();
            assert!(!refused.is_empty(), "{host}");
        }
        let metadata = ask(&[], &v4([169, 254, 169, 254])).await.unwrap_err();
        assert!(!metadata.contains("add --allow-http"), "{metadata}");
        assert!(connect(None, "127.0.0.1", port, 80).await.is_ok());
    }
}
