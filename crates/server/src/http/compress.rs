//! Large answers, compressed for clients that accept it.
//!
//! Piece by piece, so that no answer is ever in memory as a whole because of it. Which answers may be compressed is for
//! their makers to say: never anything that goes on, such as a watch.

use std::io::Write as _;

use axum::body::{Body, HttpBody as _};
use bytes::Bytes;
use flate2::Compression;
use flate2::write::GzEncoder;
use futures::stream::{self, Stream, StreamExt};
use http::header::{ACCEPT_ENCODING, CONTENT_ENCODING, CONTENT_LENGTH, HeaderValue, VARY};
use http::{HeaderMap, Response};

/// Below this the time is worth more than the bytes. Kubernetes draws the line here, too.
pub(super) const LEAST: usize = 128 << 10;

/// Whether a client says that it understands gzip. A wildcard does not count: no client means it.
pub(super) fn wanted(headers: &HeaderMap) -> bool {
    let named = headers.get_all(ACCEPT_ENCODING).iter().filter_map(|value| value.to_str().ok());
    named.flat_map(|value| value.split(',')).any(|clause| {
        let mut words = clause.split(';').map(str::trim);
        let gzip = words.next().is_some_and(|coding| coding.eq_ignore_ascii_case("gzip"));
        let refused = |word: &str| {
            word.strip_prefix("q=")
                .and_then(|weight| weight.trim().parse::<f32>().ok())
                .is_some_and(|weight| weight <= 0.0)
        };
        gzip && !words.any(refused)
    })
}

/// An answer whose length is known, compressed if it is large.
pub(super) fn large(response: Response<Body>) -> Response<Body> {
    let length = response.body().size_hint().exact().unwrap_or(0);
    if length < LEAST as u64 {
        return response;
    }
    let (parts, body) = response.into_parts();
    marked(Response::from_parts(parts, Body::from_stream(pieces(body.into_data_stream()))))
}

/// Says that an answer is compressed.
pub(super) fn marked(mut response: Response<Body>) -> Response<Body> {
    let headers = response.headers_mut();
    headers.remove(CONTENT_LENGTH);
    headers.insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
    headers.append(VARY, HeaderValue::from_static("Accept-Encoding"));
    response
}

/// All of something, compressed.
pub(super) fn whole(bytes: &[u8]) -> std::io::Result<Bytes> {
    let mut encoder = encoder();
    encoder.write_all(bytes)?;
    Ok(encoder.finish()?.into())
}

/// Pieces of an answer, compressed one by one. One that is broken off stays broken off.
pub(super) fn pieces<P, E>(pieces: P) -> impl Stream<Item = Result<Bytes, E>>
where
    P: Stream<Item = Result<Bytes, E>> + Unpin,
{
    stream::unfold((pieces, Some(encoder())), |(mut pieces, encoder)| async move {
        let mut encoder = encoder?;
        loop {
            match pieces.next().await {
                Some(Ok(piece)) => {
                    // Writing to memory does not fail; if it did, an answer without an end would say so.
                    encoder.write_all(&piece).ok()?;
                    let out = std::mem::take(encoder.get_mut());
                    if !out.is_empty() {
                        return Some((Ok(out.into()), (pieces, Some(encoder))));
                    }
                }
                Some(Err(error)) => return Some((Err(error), (pieces, None))),
                None => return Some((Ok(encoder.finish().ok()?.into()), (pieces, None))),
            }
        }
    })
}

/// The fastest there is: it makes a tenth of JSON, and more effort makes little less.
fn encoder() -> GzEncoder<Vec<u8>> {
    GzEncoder::new(Vec::new(), Compression::fast())
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::read::GzDecoder;
    use proptest::prelude::*;
    use std::io::Read as _;

    #[test]
    fn gzip_must_be_named() {
        let asks = |text: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(ACCEPT_ENCODING, HeaderValue::from_str(text).unwrap());
            wanted(&headers)
        };
        assert!(asks("gzip") && asks("deflate, GZIP;q=0.5") && asks("br;q=0, gzip"));
        assert!(!asks("") && !asks("*") && !asks("identity") && !asks("gzip;q=0") && !asks("gzip; q=0.0"));
        assert!(!wanted(&HeaderMap::new()));
    }

    #[tokio::test]
    async fn what_is_broken_off_stays_so() {
        let parts = [Ok(Bytes::from_static(b"[1,")), Err("damaged"), Ok(Bytes::from_static(b"2]"))];
        let out: Vec<Result<Bytes, &str>> = pieces(stream::iter(parts)).collect().await;
        assert_eq!(out.last(), Some(&Err("damaged")));
    }

    proptest! {
        /// Whatever the pieces, together they are what went in.
        #[test]
        fn nothing_is_lost(parts in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..3000), 0..6)) {
            let whole: Vec<u8> = parts.concat();
            let parts = parts.into_iter().map(|part| Ok::<Bytes, std::convert::Infallible>(part.into()));
            let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
            let out: Vec<_> = runtime.block_on(pieces(stream::iter(parts)).collect());
            let packed: Vec<u8> = out.into_iter().flat_map(|piece| piece.unwrap().to_vec()).collect();
            let mut unpacked = Vec::new();
            GzDecoder::new(packed.as_slice()).read_to_end(&mut unpacked).unwrap();
            prop_assert_eq!(unpacked, whole);
        }
    }
}
