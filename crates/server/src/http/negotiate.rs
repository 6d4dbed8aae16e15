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

/// A version of discovery in one answer. A client that asked for one cannot read the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Aggregated {
    V2,
    V2Beta1,
}

impl Aggregated {
    pub(super) fn version(self) -> &'static str {
        match self {
            Aggregated::V2 => "v2",
            Aggregated::V2Beta1 => "v2beta1",
        }
    }
}

/// The form of an answer about what there is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Shape {
    /// One answer for each group and version.
    Plain,
    /// All in one.
    Aggregated(Aggregated),
    /// OpenAPI v2 in protobuf.
    Second,
}

impl Shape {
    /// The media type: exactly what was asked for, else clients do not understand it.
    pub(super) fn media(self) -> &'static str {
        match self {
            Shape::Plain => "application/json",
            Shape::Second => "application/com.github.proto-openapi.spec.v2.v1+protobuf",
            Shape::Aggregated(Aggregated::V2) => {
                "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
            }
            Shape::Aggregated(Aggregated::V2Beta1) => {
                "application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList"
            }
        }
    }
}

const OFFERED: &str = "application/json, application/json;as=Table;v=v1;g=meta.k8s.io, \
     application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io";
const OFFERED_OF_DISCOVERY: &str =
    "application/json, application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";

/// The first form of the Accept header that can be served. A client that accepts JSON at all gets an answer.
pub(super) fn form(headers: &HeaderMap) -> Result<Form> {
    first(headers, understood, Form::Plain, OFFERED)
}

/// The first shape of discovery that can be served.
pub(super) fn shape(headers: &HeaderMap) -> Result<Shape> {
    first(headers, shaped, Shape::Plain, OFFERED_OF_DISCOVERY)
}

/// OpenAPI v2 is there for clients that read it as protobuf, and in another text for those that read JSON.
pub(super) fn second(headers: &HeaderMap) -> Result<Shape> {
    const NAMES: [&str; 2] = [
        "application/com.github.proto-openapi.spec.v2@v1.0+protobuf",
        "application/com.github.proto-openapi.spec.v2.v1+protobuf",
    ];
    let asked = headers.get_all(ACCEPT).iter().filter_map(|value| value.to_str().ok());
    let mut asked = asked.flat_map(|value| value.split(',')).filter_map(|clause| clause.split(';').next());
    match asked.any(|media| NAMES.contains(&media.trim())) {
        true => Ok(Shape::Second),
        false => form(headers).map(|_| Shape::Plain),
    }
}

/// The clause of the Accept header that is understood and weighs most, of equals the first; without a header, the usual.
fn first<T>(
    headers: &HeaderMap,
    understood: impl Fn(&str) -> Option<T>,
    usual: T,
    offered: &str,
) -> Result<T> {
    // What nearly all requests say weighs most and is the first of equals, whatever follows.
    if headers.get(ACCEPT).is_some_and(|accept| accept == "application/json") {
        return Ok(usual);
    }
    let mut accepts = headers.get_all(ACCEPT).iter().filter_map(|value| value.to_str().ok()).peekable();
    if accepts.peek().is_none() {
        return Ok(usual);
    }
    let mut best: Option<(f32, T)> = None;
    for clause in accepts.flat_map(|value| value.split(',')) {
        let weight = weight(clause);
        if weight <= best.as_ref().map_or(0.0, |best| best.0) {
            continue;
        }
        best = understood(clause).map(|found| (weight, found)).or(best);
    }
    best.map(|best| best.1).ok_or_else(|| Status::not_acceptable(offered).into())
}

/// How much a clause is wanted: 1 unless it says less, 0 is not at all.
fn weight(clause: &str) -> f32 {
    let said = parameter(clause, "q").and_then(|text| text.trim().parse::<f32>().ok());
    said.filter(|weight| (0.0..=1.0).contains(weight)).unwrap_or(1.0)
}

fn is_json(clause: &str) -> bool {
    let media = clause.split_once(';').map_or(clause, |(media, _)| media).trim();
    matches!(media, "application/json" | "application/*" | "*/*" | "")
}

fn parameter<'a>(clause: &'a str, name: &str) -> Option<&'a str> {
    let (_, parameters) = clause.split_once(';')?;
    let mut pairs = parameters.split(';').filter_map(|word| word.trim().split_once('='));
    pairs.find(|(key, _)| *key == name).map(|(_, value)| value)
}

fn understood(clause: &str) -> Option<Form> {
    if !is_json(clause) {
        return None;
    }
    let first_version = || parameter(clause, "v") == Some("v1");
    match parameter(clause, "as") {
        None => Some(Form::Plain),
        Some("Table") => first_version().then_some(Form::Table),
        Some("PartialObjectMetadata" | "PartialObjectMetadataList") => {
            first_version().then_some(Form::Metadata)
        }
        Some(_) => None,
    }
}

fn shaped(clause: &str) -> Option<Shape> {
    if !is_json(clause) {
        return None;
    }
    let ours = || parameter(clause, "g") == Some("apidiscovery.k8s.io");
    match (parameter(clause, "as"), parameter(clause, "v")) {
        (None, _) => Some(Shape::Plain),
        (Some("APIGroupDiscoveryList"), Some("v2")) if ours() => Some(Shape::Aggregated(Aggregated::V2)),
        (Some("APIGroupDiscoveryList"), Some("v2beta1")) if ours() => {
            Some(Shape::Aggregated(Aggregated::V2Beta1))
        }
        _ => None,
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
            ("application/json;stream=watch", Ok(Form::Plain)),
            ("application/vnd.kubernetes.protobuf;stream=watch,application/json", Ok(Form::Plain)),
            (
                "application/vnd.kubernetes.protobuf;stream=watch,application/json;stream=watch",
                Ok(Form::Plain),
            ),
            ("text/html", Err(406)),
            // Weights count, and of equal ones the order.
            ("application/json;q=0.5,application/json;as=Table;v=v1;g=meta.k8s.io;q=0.9", Ok(Form::Table)),
            ("application/json;as=Table;v=v1;g=meta.k8s.io;q=0.2, application/json", Ok(Form::Plain)),
            ("application/json;q=0.5,application/json;as=Table;v=v1;g=meta.k8s.io;q=0.5", Ok(Form::Plain)),
            ("text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", Ok(Form::Plain)),
            ("application/json;q=0", Err(406)),
            ("application/json;q=much", Ok(Form::Plain)),
            ("application/json;q=NaN", Ok(Form::Plain)),
        ] {
            assert_eq!(ask(accept), expected, "{accept}");
        }
        assert_eq!(form(&HeaderMap::new()).unwrap(), Form::Plain);
    }

    /// Each kubectl gets the version that it can read.
    #[test]
    fn discovery_is_shaped_as_asked() {
        const V2: &str = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";
        const BETA: &str = "application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList";
        let ask = |accept: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(ACCEPT, HeaderValue::from_str(accept).unwrap());
            shape(&headers).map(Shape::media).map_err(|failure| failure.0.code)
        };
        for (accept, expected) in [
            (format!("{V2},{BETA},application/json"), Ok(V2)),
            (format!("{BETA},application/json"), Ok(BETA)),
            (format!("{}, application/json", V2.replace("v=v2", "v=v3")), Ok("application/json")),
            (V2.replace("apidiscovery", "other"), Err(406)),
            ("application/json".into(), Ok("application/json")),
            ("*/*".into(), Ok("application/json")),
            ("application/vnd.kubernetes.protobuf".into(), Err(406)),
        ] {
            assert_eq!(ask(&accept), expected, "{accept}");
        }
        assert_eq!(shape(&HeaderMap::new()).unwrap(), Shape::Plain);
    }

    proptest! {
        #[test]
        fn never_panics(accept in "[a-zA-Z/;=,.* ]{0,60}") {
            let mut headers = HeaderMap::new();
            headers.insert(ACCEPT, HeaderValue::from_str(&accept).unwrap());
            let _ = (form(&headers).is_ok(), shape(&headers).is_ok());
        }
    }
}
