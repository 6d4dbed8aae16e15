//! What a path speaks of. Segments are decoded one by one, so an encoded slash never becomes a path.

use std::borrow::Cow;

use percent_encoding::percent_decode_str;
use sexton_model::Status;

use crate::api::{Failure, Result};

/// A path, understood.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum Place {
    /// `/`
    Root,
    /// `/api`
    CoreVersions,
    /// `/apis`
    Groups,
    /// `/apis/{group}`
    Group(String),
    /// `/api/v1`, `/apis/{group}/{version}`
    Resources { group: String, version: String },
    /// A kind, perhaps in a namespace, perhaps one object, perhaps a part of it.
    Kind(KindPlace),
    /// `/apis/sexton.dev/v1/changes`
    Changes,
    /// `/apis/sexton.dev/v1/bulk`
    Bulk,
    /// `/openapi/v2`
    OpenApiSecond,
    /// `/openapi/v3`
    OpenApiIndex,
    /// `/openapi/v3/{path of a group version}`
    OpenApi { group: String, version: String },
}

/// A path under a group version.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub(super) struct KindPlace {
    pub(super) group: String,
    pub(super) version: String,
    pub(super) plural: String,
    pub(super) namespace: String,
    pub(super) name: Option<String>,
    pub(super) subresource: Option<String>,
}

/// Longer paths have no meaning here.
const MOST_SEGMENTS: usize = 9;

/// Reads a path. What has no meaning is a 404.
pub(super) fn parse(path: &str) -> Result<Place> {
    if path == "/" {
        return Ok(Place::Root);
    }
    let mut decoded = [const { Cow::Borrowed("") }; MOST_SEGMENTS];
    let count = segments(path, &mut decoded)?;
    let mut words = [""; MOST_SEGMENTS];
    words.iter_mut().zip(&decoded).for_each(|(word, decoded)| *word = decoded);
    match &words[..count] {
        ["api"] => Ok(Place::CoreVersions),
        ["apis"] => Ok(Place::Groups),
        ["openapi", "v2"] => Ok(Place::OpenApiSecond),
        ["openapi", "v3"] => Ok(Place::OpenApiIndex),
        ["openapi", "v3", "api", version] => {
            Ok(Place::OpenApi { group: String::new(), version: (*version).into() })
        }
        ["openapi", "v3", "apis", group, version] => {
            Ok(Place::OpenApi { group: (*group).into(), version: (*version).into() })
        }
        ["api", version] => Ok(Place::Resources { group: String::new(), version: (*version).into() }),
        ["apis", group] => Ok(Place::Group((*group).into())),
        ["apis", group, version] => {
            Ok(Place::Resources { group: (*group).into(), version: (*version).into() })
        }
        ["apis", "sexton.dev", "v1", "changes"] => Ok(Place::Changes),
        ["apis", "sexton.dev", "v1", "bulk"] => Ok(Place::Bulk),
        ["api", version, rest @ ..] => kind_place("", version, rest),
        ["apis", group, version, rest @ ..] => kind_place(group, version, rest),
        _ => Err(Status::no_such_path().into()),
    }
}

/// Bytes of a segment that are what they mean, and no trick.
const PLAIN: [bool; 256] = {
    let mut plain = [false; 256];
    let mut byte = 0;
    while byte < plain.len() {
        plain[byte] = (byte as u8).is_ascii_alphanumeric() || matches!(byte as u8, b'-' | b'.' | b'_' | b':');
        byte += 1;
    }
    plain
};

/// Reads the segments of a path into their places, and says how many they are. Every request passes here: an ordinary path is
/// gone through once, and nothing is allocated for it.
fn segments<'a>(path: &'a str, found: &mut [Cow<'a, str>; MOST_SEGMENTS]) -> Result<usize> {
    let trimmed = path.strip_prefix('/').unwrap_or(path);
    let trimmed = trimmed.strip_suffix('/').unwrap_or(trimmed);
    let (mut count, mut begin, mut plain) = (0, 0, true);
    let mut end_at = |end: usize, plain: bool| {
        let place = found.get_mut(count).ok_or_else(Status::no_such_path)?;
        *place = segment(&trimmed[begin..end], plain)?;
        (count, begin) = (count + 1, end + 1);
        Ok::<usize, Failure>(count)
    };
    for (at, byte) in trimmed.bytes().enumerate() {
        if byte == b'/' {
            end_at(at, plain)?;
            plain = true;
        } else {
            plain &= PLAIN[usize::from(byte)];
        }
    }
    end_at(trimmed.len(), plain)
}

fn segment(text: &str, plain: bool) -> Result<Cow<'_, str>> {
    let decoded = if plain { Cow::Borrowed(text) } else { decode(text)? };
    if matches!(decoded.as_ref(), "" | "." | "..") { Err(Status::no_such_path().into()) } else { Ok(decoded) }
}

fn decode(text: &str) -> Result<Cow<'_, str>> {
    let decoded = percent_decode_str(text).decode_utf8();
    let decoded = decoded.map_err(|_| Status::bad_request("the path is not valid UTF-8"))?;
    let odd = |char: char| char == '/' || char == '\\' || char.is_control();
    if decoded.chars().any(odd) { Err(Status::no_such_path().into()) } else { Ok(decoded) }
}

fn kind_place(group: &str, version: &str, rest: &[&str]) -> Result<Place> {
    let mut place = KindPlace { group: group.into(), version: version.into(), ..KindPlace::default() };
    // `/namespaces/x` is a namespace and `/namespaces/x/status` a part of it; anything longer or other is a kind in it.
    let rest = match rest {
        ["namespaces", _, "status" | "finalize"] => rest,
        ["namespaces", namespace, rest @ ..] if !rest.is_empty() => {
            place.namespace = (*namespace).into();
            rest
        }
        _ => rest,
    };
    match rest {
        [plural, rest @ ..] if rest.len() <= 2 => {
            place.plural = (*plural).into();
            place.name = rest.first().map(|name| (*name).into());
            place.subresource = rest.get(1).map(|part| (*part).into());
            Ok(Place::Kind(place))
        }
        _ => Err(Status::no_such_path().into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn shown(path: &str) -> String {
        match parse(path) {
            Ok(Place::Kind(KindPlace { group, version, plural, namespace, name, subresource })) => {
                format!(
                    "{group}|{version}|{plural}|{namespace}|{}|{}",
                    name.unwrap_or_default(),
                    subresource.unwrap_or_default()
                )
            }
            Ok(other) => format!("{other:?}"),
            Err(failure) => failure.0.code.to_string(),
        }
    }

    #[test]
    fn paths_mean_what_kubernetes_means() {
        for (path, expected) in [
            ("/api/v1/configmaps", "|v1|configmaps|||"),
            ("/api/v1/namespaces", "|v1|namespaces|||"),
            ("/api/v1/namespaces/a", "|v1|namespaces||a|"),
            ("/api/v1/namespaces/a/status", "|v1|namespaces||a|status"),
            ("/api/v1/namespaces/a/finalize", "|v1|namespaces||a|finalize"),
            ("/api/v1/namespaces/a/configmaps", "|v1|configmaps|a||"),
            ("/api/v1/namespaces/a/configmaps/b", "|v1|configmaps|a|b|"),
            ("/apis/apps/v1/namespaces/a/deployments/b/status", "apps|v1|deployments|a|b|status"),
            ("/apis/x.io/v1/things/b", "x.io|v1|things||b|"),
            ("/apis/x.io/v1/things/b%3Ac/", "x.io|v1|things||b:c|"),
            ("/api/v1/namespaces/a/configmaps/b/c/d", "404"),
            ("/api/v1/namespaces/../configmaps", "404"),
            ("/api/v1/namespaces/%2e%2e/configmaps", "404"),
            ("/api/v1/configmaps/a%2Fb", "404"),
            ("/api/v1/configmaps/a%00b", "404"),
            ("/api/v1/configmaps/%ff", "400"),
            ("/apis/sexton.dev/v1/changes", "Changes"),
            ("/apis/sexton.dev/v1/changes/x", "sexton.dev|v1|changes||x|"),
            ("/apis/sexton.dev/v1/bulk", "Bulk"),
            ("/apis/sexton.dev/v1/bulk/x", "sexton.dev|v1|bulk||x|"),
            ("/api//v1", "404"),
            ("/", "Root"),
            ("//", "404"),
            ("/nonsense", "404"),
        ] {
            assert_eq!(shown(path), expected, "{path}");
        }
    }

    proptest! {
        #[test]
        fn never_panics(path in "(/[a-z%0-9.]{0,6}){0,12}|\\PC{0,60}") {
            let _ = parse(&path);
        }
    }
}
