//! In which form a client wants its answer.

use http::HeaderMap;
use http::header::ACCEPT;
use sexton_model::Status;

use crate::api::Result;

/// The form of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// The objects themselves.
    Plain,
    /// Rows for people.
    Table,
    /// Only metadata.
    Metadata,
}

const OFFERED: &str = "application/json, application/json;as=Table;v=v1;g=meta.k8s.io, \
     application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io";

/// The first form of the Accept header that can be served. A client that accepts JSON at all gets an answer.
pub(super) fn form(headers: &HeaderMap) -> Result<Form> {
    let mut accepts = headers.get_all(ACCEPT).iter().filter_map(|value| value.to_str().ok()).peekable();
    if accepts.peek().is_none() {
        return Ok(Form::Plain);
    }
    accepts
        .flat_map(|value| value.split(','))
        .find_map(understood)
        .ok_or_else(|| Status::not_acceptable(OFFERED).into())
}

fn understood(clause: &str) -> Option<Form> {
    let mut words = clause.split(';').map(str::trim);
    let media = words.next()?;
    if !matches!(media, "application/json" | "application/*" | "*/*" | "") {
        return None;
    }
    let parameter = |name: &str| {
        clause.split(';').skip(1).filter_map(|word| word.trim().split_once('=')).find(|(key, _)| *key == name)
    };
    match parameter("as").map(|(_, value)| value) {
        None => Some(Form::Plain),
        Some("Table") => matches!(parameter("v"), Some((_, "v1"))).then_some(Form::Table),
        Some("PartialObjectMetadata" | "PartialObjectMetadataList") => {
            matches!(parameter("v"), Some((_, "v1"))).then_some(Form::Metadata)
        }
        Some(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::HeaderValue;
    use proptest::prelude::*;

    #[test]
    fn the_first_possible_form_is_taken() {
        let ask = |accept: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(ACCEPT, HeaderValue::from_str(accept).unwrap());
            form(&headers).map_err(|failure| failure.0.code)
        };
        for (accept, expected) in [
            ("application/json", Ok(Form::Plain)),
            ("*/*", Ok(Form::Plain)),
            (
                "application/json;as=Table;v=v1;g=meta.k8s.io,application/json;as=Table;v=v1beta1;g=meta.k8s.io,application/json",
                Ok(Form::Table),
            ),
            ("application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1", Ok(Form::Metadata)),
            ("application/vnd.kubernetes.protobuf, application/json", Ok(Form::Plain)),
            ("application/json;as=Nonsense,application/json", Ok(Form::Plain)),
            ("application/vnd.kubernetes.protobuf", Err(406)),
            ("text/html", Err(406)),
        ] {
            assert_eq!(ask(accept), expected, "{accept}");
        }
        assert_eq!(form(&HeaderMap::new()).unwrap(), Form::Plain);
    }

    proptest! {
        #[test]
        fn never_panics(accept in "[a-zA-Z/;=,.* ]{0,60}") {
            let mut headers = HeaderMap::new();
            headers.insert(ACCEPT, HeaderValue::from_str(&accept).unwrap());
            let _ = form(&headers);
        }
    }
}
