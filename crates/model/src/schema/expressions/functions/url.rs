//! Addresses on the web, as far as rules ask for their parts.

use cel::common::types::{CelBool, CelString};
use cel::{DeclarationError, Env, ExecutionError};

use super::{failed, own_value};

/// An absolute address, or an absolute path.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Url {
    scheme: String,
    host: String,
    path: String,
}

own_value!(Url, "kubernetes.URL");

pub(super) fn extension(env: &mut Env) -> Result<(), DeclarationError> {
    cel::add_overload!(env, fn is_url: (CelString) -> CelBool, name = "isURL")?;
    cel::add_overload!(env, fn url: (CelString) -> Result<Url>)?;
    cel::add_member_overload!(env, fn get_scheme: (Url) -> CelString)?;
    cel::add_member_overload!(env, fn get_host: (Url) -> CelString)?;
    cel::add_member_overload!(env, fn get_hostname: (Url) -> CelString)?;
    cel::add_member_overload!(env, fn get_port: (Url) -> CelString)?;
    cel::add_member_overload!(env, fn get_escaped_path: (Url) -> CelString)?;
    Ok(())
}

fn parse(text: &str) -> Option<Url> {
    let spaced = |sign: char| sign.is_control() || sign == ' ';
    if text.is_empty() || text.contains(spaced) || !escapes_well(text) {
        return None;
    }
    let (scheme, rest) = match text.starts_with('/') {
        true => ("", text),
        false => text.split_once(':')?,
    };
    let named = |scheme: &str| {
        scheme.starts_with(|sign: char| sign.is_ascii_alphabetic())
            && scheme.chars().all(|sign| sign.is_ascii_alphanumeric() || "+-.".contains(sign))
    };
    if !scheme.is_empty() && !named(scheme) || scheme.is_empty() && !text.starts_with('/') {
        return None;
    }
    let rest = rest.split_once('?').map_or(rest, |(rest, _)| rest);
    let (host, path) = match rest.strip_prefix("//").filter(|_| !scheme.is_empty()) {
        Some(rest) => rest.split_at(rest.find('/').unwrap_or(rest.len())),
        // What begins with no slash is not a path.
        None => ("", if rest.starts_with('/') { rest } else { "" }),
    };
    let host = host.rsplit_once('@').map_or(host, |(_, host)| host);
    let (_, port) = split_host(host)?;
    port.bytes().all(|sign| sign.is_ascii_digit()).then(|| Url {
        scheme: scheme.to_ascii_lowercase(),
        host: host.to_owned(),
        path: path.to_owned(),
    })
}

fn escapes_well(text: &str) -> bool {
    let mut rest = text.split('%');
    rest.next();
    rest.all(|part| part.len() >= 2 && part.bytes().take(2).all(|sign| sign.is_ascii_hexdigit()))
}

/// Name and port; brackets belong to neither.
fn split_host(host: &str) -> Option<(&str, &str)> {
    if let Some(rest) = host.strip_prefix('[') {
        let (name, rest) = rest.split_once(']')?;
        return match rest.strip_prefix(':') {
            Some(port) => Some((name, port)),
            None => rest.is_empty().then_some((name, "")),
        };
    }
    let (name, port) = host.split_once(':').unwrap_or((host, ""));
    Some((name, port))
}

fn is_url(text: &CelString<'_>) -> CelBool {
    parse(text.inner()).is_some().into()
}

fn url(text: &CelString<'_>) -> Result<Url, ExecutionError> {
    let why = || failed("url", format!("URL parse error during conversion from string: {:?}", text.inner()));
    parse(text.inner()).ok_or_else(why)
}

fn get_scheme(this: &Url) -> CelString<'static> {
    this.scheme.clone().into()
}

fn get_host(this: &Url) -> CelString<'static> {
    this.host.clone().into()
}

fn get_hostname(this: &Url) -> CelString<'static> {
    split_host(&this.host).map_or("", |(name, _)| name).to_owned().into()
}

fn get_port(this: &Url) -> CelString<'static> {
    split_host(&this.host).map_or("", |(_, port)| port).to_owned().into()
}

fn get_escaped_path(this: &Url) -> CelString<'static> {
    this.path.clone().into()
}
