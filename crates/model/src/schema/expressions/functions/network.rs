//! Addresses and networks.

use core::net::IpAddr;

use cel::common::types::{CelBool, CelInt, CelString};
use cel::{DeclarationError, Env, ExecutionError};

use super::{failed, own_value};

/// An address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Ip(IpAddr);

/// A network: an address, and how many of its bits count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Cidr(IpAddr, u8);

own_value!(Ip, "net.IP");
own_value!(Cidr, "net.CIDR");

pub(super) fn extension(env: &mut Env) -> Result<(), DeclarationError> {
    cel::add_overload!(env, fn is_ip: (CelString) -> CelBool, name = "isIP")?;
    cel::add_overload!(env, fn ip: (CelString) -> Result<Ip>)?;
    cel::add_overload!(env, fn is_canonical: (CelString) -> Result<CelBool>, name = "ip.isCanonical")?;
    cel::add_overload!(env, fn text_of_ip: (Ip) -> CelString, name = "string", id = "ip_to_string")?;
    cel::add_member_overload!(env, fn family: (Ip) -> CelInt)?;
    cel::add_member_overload!(env, fn is_unspecified: (Ip) -> CelBool)?;
    cel::add_member_overload!(env, fn is_loopback: (Ip) -> CelBool)?;
    cel::add_member_overload!(env, fn is_link_local_multicast: (Ip) -> CelBool)?;
    cel::add_member_overload!(env, fn is_link_local_unicast: (Ip) -> CelBool)?;
    cel::add_member_overload!(env, fn is_global_unicast: (Ip) -> CelBool)?;
    cel::add_overload!(env, fn is_cidr: (CelString) -> CelBool, name = "isCIDR")?;
    cel::add_overload!(env, fn cidr: (CelString) -> Result<Cidr>)?;
    cel::add_overload!(env, fn text_of_cidr: (Cidr) -> CelString, name = "string", id = "cidr_to_string")?;
    cel::add_member_overload!(env, fn contains_ip: (Cidr, Ip) -> CelBool, name = "containsIP")?;
    cel::add_member_overload!(env, fn contains_text: (Cidr, CelString) -> Result<CelBool>, name = "containsIP")?;
    cel::add_member_overload!(env, fn contains_cidr: (Cidr, Cidr) -> CelBool, name = "containsCIDR")?;
    cel::add_member_overload!(env, fn contains_network: (Cidr, CelString) -> Result<CelBool>,
        name = "containsCIDR")?;
    cel::add_member_overload!(env, fn address: (Cidr) -> Ip, name = "ip")?;
    cel::add_member_overload!(env, fn masked: (Cidr) -> Cidr)?;
    cel::add_member_overload!(env, fn prefix_length: (Cidr) -> CelInt)?;
    Ok(())
}

/// One address has one spelling here: not that of the other family inside of it.
fn parse_ip(text: &str) -> Option<IpAddr> {
    let address: IpAddr = text.parse().ok()?;
    let disguised = matches!(address, IpAddr::V6(address) if address.to_ipv4_mapped().is_some());
    (!disguised).then_some(address)
}

fn parse_cidr(text: &str) -> Option<Cidr> {
    let (address, bits) = text.split_once('/')?;
    let address = parse_ip(address)?;
    let plain = bits.bytes().all(|sign| sign.is_ascii_digit()) && (bits == "0" || !bits.starts_with('0'));
    let bits: u8 = bits.parse().ok().filter(|bits| plain && *bits <= width(address))?;
    Some(Cidr(address, bits))
}

fn width(address: IpAddr) -> u8 {
    if address.is_ipv4() { 32 } else { 128 }
}

/// The bits that count, and zeros.
fn network(address: IpAddr, bits: u8) -> IpAddr {
    let mask = |width: u8| u128::MAX.checked_shl(u32::from(width - bits.min(width))).unwrap_or(0);
    match address {
        IpAddr::V4(address) => IpAddr::V4((address.to_bits() & (mask(32) as u32)).into()),
        IpAddr::V6(address) => IpAddr::V6((address.to_bits() & mask(128)).into()),
    }
}

fn no_ip(text: &str) -> ExecutionError {
    failed("ip", format!("IP Address {text:?} parse error during conversion from string"))
}

fn no_cidr(text: &str) -> ExecutionError {
    failed("cidr", format!("network address parse error during conversion from string: {text:?}"))
}

fn is_ip(text: &CelString<'_>) -> CelBool {
    parse_ip(text.inner()).is_some().into()
}

fn ip(text: &CelString<'_>) -> Result<Ip, ExecutionError> {
    parse_ip(text.inner()).map(Ip).ok_or_else(|| no_ip(text.inner()))
}

fn is_canonical(text: &CelString<'_>) -> Result<CelBool, ExecutionError> {
    Ok((ip(text)?.0.to_string() == text.inner()).into())
}

fn text_of_ip(this: &Ip) -> CelString<'static> {
    this.0.to_string().into()
}

fn family(this: &Ip) -> CelInt {
    (if this.0.is_ipv4() { 4 } else { 6 }).into()
}

fn is_unspecified(this: &Ip) -> CelBool {
    this.0.is_unspecified().into()
}

fn is_loopback(this: &Ip) -> CelBool {
    this.0.is_loopback().into()
}

fn is_link_local_multicast(this: &Ip) -> CelBool {
    let is = match this.0 {
        IpAddr::V4(address) => address.octets()[..3] == [224, 0, 0],
        IpAddr::V6(address) => address.segments()[0] & 0xff0f == 0xff02,
    };
    is.into()
}

fn link_local(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => address.is_link_local(),
        IpAddr::V6(address) => address.segments()[0] & 0xffc0 == 0xfe80,
    }
}

fn is_link_local_unicast(this: &Ip) -> CelBool {
    link_local(this.0).into()
}

fn is_global_unicast(this: &Ip) -> CelBool {
    let address = this.0;
    let everybody = matches!(address, IpAddr::V4(address) if address.is_broadcast());
    let other = address.is_unspecified() || address.is_loopback() || address.is_multicast();
    (!everybody && !other && !link_local(address)).into()
}

fn is_cidr(text: &CelString<'_>) -> CelBool {
    parse_cidr(text.inner()).is_some().into()
}

fn cidr(text: &CelString<'_>) -> Result<Cidr, ExecutionError> {
    parse_cidr(text.inner()).ok_or_else(|| no_cidr(text.inner()))
}

fn text_of_cidr(this: &Cidr) -> CelString<'static> {
    format!("{}/{}", this.0, this.1).into()
}

fn contains_ip(this: &Cidr, other: &Ip) -> CelBool {
    (this.0.is_ipv4() == other.0.is_ipv4() && network(this.0, this.1) == network(other.0, this.1)).into()
}

fn contains_text(this: &Cidr, other: &CelString<'_>) -> Result<CelBool, ExecutionError> {
    Ok(contains_ip(this, &ip(other)?))
}

fn contains_cidr(this: &Cidr, other: &Cidr) -> CelBool {
    (*contains_ip(this, &Ip(other.0)).inner() && this.1 <= other.1).into()
}

fn contains_network(this: &Cidr, other: &CelString<'_>) -> Result<CelBool, ExecutionError> {
    Ok(contains_cidr(this, &cidr(other)?))
}

fn address(this: &Cidr) -> Ip {
    Ip(this.0)
}

fn masked(this: &Cidr) -> Cidr {
    Cidr(network(this.0, this.1), this.1)
}

fn prefix_length(this: &Cidr) -> CelInt {
    i64::from(this.1).into()
}
