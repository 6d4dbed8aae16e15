//! What there is, as it is answered: made once for each state of the kinds, with a name for that very text, so that no
//! client needs to be told twice.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use axum::body::Body;
use bytes::Bytes;
use http::header::{CACHE_CONTROL, CONTENT_TYPE, ETAG, HeaderValue, IF_NONE_MATCH, VARY};
use http::request::Parts;
use http::{HeaderMap, Method, Response, StatusCode};
use sexton_model::Status;
use sha2::{Digest, Sha256};

use super::negotiate::{self, Shape};
use super::path::Place;
use super::query::Query;
use super::{aggregated, compress, discovery, openapi, respond};
use crate::api::Result;
use crate::kinds::Registry;

/// The texts made for the current kinds.
#[derive(Debug, Default)]
pub(super) struct Offers {
    kept: Mutex<Kept>,
    /// Documents are large, and a change of the kinds concerns few of them: they outlive it.
    documents: openapi::Documents,
}

#[derive(Debug, Default)]
struct Kept {
    /// The kinds that the texts are about. Kept alive, so that no other ones can take their place in memory.
    of: Option<Arc<Registry>>,
    /// Only what exists is here, so there are never more of them than groups and versions.
    texts: HashMap<(Place, Shape), Arc<Text>>,
}

#[derive(Debug)]
struct Text {
    bytes: Bytes,
    packed: OnceLock<Option<Bytes>>,
    tag: HeaderValue,
}

impl Text {
    fn new(bytes: Bytes) -> Result<Text> {
        let mut tag = String::from('"');
        for byte in Sha256::digest(&bytes) {
            // Writing to a string does not fail.
            let _ = write!(tag, "{byte:02X}");
        }
        tag.push('"');
        let tag = HeaderValue::from_str(&tag).map_err(Status::internal)?;
        Ok(Text { bytes, packed: OnceLock::new(), tag })
    }

    /// Compressed, if that is worth it.
    fn packed(&self) -> Option<Bytes> {
        let pack =
            || (self.bytes.len() >= compress::LEAST).then(|| compress::whole(&self.bytes).ok()).flatten();
        self.packed.get_or_init(pack).clone()
    }
}

impl Offers {
    /// Answers a question about what there is.
    pub(super) fn answer(
        &self,
        registry: &Arc<Registry>,
        parts: &Parts,
        query: &Query,
        place: &Place,
    ) -> Result<Response<Body>> {
        if parts.method != Method::GET && parts.method != Method::HEAD {
            return Err(Status::method_not_allowed().into());
        }
        let shape = match place {
            Place::CoreVersions | Place::Groups => negotiate::shape(&parts.headers)?,
            Place::OpenApiSecond => negotiate::second(&parts.headers)?,
            _ => negotiate::form(&parts.headers).map(|_| Shape::Plain)?,
        };
        let text = self.text(registry, place, shape)?;
        let mut response = match knows(&parts.headers, &text.tag) {
            true => not_modified(),
            false => full(&text, &parts.headers),
        };
        let lasting = self.is_lasting(registry, query, place)?;
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(shape.media()));
        headers.insert(ETAG, text.tag.clone());
        headers.append(VARY, HeaderValue::from_static("Accept"));
        let cache = if lasting { "public, immutable, max-age=31536000" } else { "no-cache, private" };
        headers.insert(CACHE_CONTROL, HeaderValue::from_static(cache));
        Ok(response)
    }

    /// The text, made now or before.
    fn text(&self, registry: &Arc<Registry>, place: &Place, shape: Shape) -> Result<Arc<Text>> {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if !kept.of.as_ref().is_some_and(|of| Arc::ptr_eq(of, registry)) {
            *kept = Kept { of: Some(registry.clone()), texts: HashMap::new() };
        }
        let question = (place.clone(), shape);
        if let Some(text) = kept.texts.get(&question) {
            return Ok(text.clone());
        }
        let text = Arc::new(Text::new(self.made(registry, place, shape)?)?);
        kept.texts.insert(question, text.clone());
        Ok(text)
    }

    fn made(&self, registry: &Arc<Registry>, place: &Place, shape: Shape) -> Result<Bytes> {
        let value = match (place, shape) {
            (Place::Root, _) => discovery::paths(registry),
            (Place::CoreVersions, Shape::Plain | Shape::Second) => discovery::core_versions(),
            (Place::CoreVersions, Shape::Aggregated(form)) => aggregated::core(registry, form),
            (Place::Groups, Shape::Plain | Shape::Second) => discovery::groups(registry),
            (Place::Groups, Shape::Aggregated(form)) => aggregated::groups(registry, form),
            (Place::Group(group), _) => discovery::group(registry, group)?,
            (Place::Resources { group, version }, _) => discovery::resources(registry, group, version)?,
            (Place::OpenApiSecond, Shape::Plain) => openapi::plain_second(registry),
            (Place::OpenApiSecond, _) => return Ok(openapi::second(registry.all().map(|kind| &**kind))),
            (Place::OpenApiIndex, _) => return Ok(self.documents.index(registry)),
            (Place::OpenApi { group, version }, _) => {
                return self.documents.document(registry, group, version);
            }
            (Place::Kind(_) | Place::Changes | Place::Bulk, _) => return Err(Status::no_such_path().into()),
        };
        Ok(Bytes::from(serde_json::to_vec(&value).map_err(Status::internal)?))
    }

    /// Whether a document was asked for by the address that the index gives: that address never means another text.
    fn is_lasting(&self, registry: &Arc<Registry>, query: &Query, place: &Place) -> Result<bool> {
        let hash = query.text("hash");
        let Place::OpenApi { group, version } = place else { return Ok(false) };
        if hash.is_empty() || hash.len() > 128 || !hash.chars().all(|c| c.is_ascii_alphanumeric()) {
            return Ok(false);
        }
        let path =
            if group.is_empty() { format!("api/{version}") } else { format!("apis/{group}/{version}") };
        let address = format!("\"/openapi/v3/{path}?hash={hash}\"");
        let index = self.text(registry, &Place::OpenApiIndex, Shape::Plain)?;
        Ok(memchr::memmem::find(&index.bytes, address.as_bytes()).is_some())
    }
}

fn full(text: &Text, headers: &HeaderMap) -> Response<Body> {
    if compress::wanted(headers)
        && let Some(packed) = text.packed()
    {
        return compress::marked(respond::json(200, packed));
    }
    respond::json(200, text.bytes.clone())
}

fn not_modified() -> Response<Body> {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::NOT_MODIFIED;
    response
}

/// Whether a client has this very text already.
fn knows(headers: &HeaderMap, tag: &HeaderValue) -> bool {
    let known = headers.get_all(IF_NONE_MATCH).iter().filter_map(|value| value.to_str().ok());
    let mut tags = known.flat_map(|value| value.split(',')).map(str::trim);
    tags.any(|known| known == "*" || known.strip_prefix("W/").unwrap_or(known).as_bytes() == tag.as_bytes())
}
