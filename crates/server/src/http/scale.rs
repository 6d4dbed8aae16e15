//! `…/{name}/scale`: reading and writing the number of replicas of one object.

use axum::body::Body;
use bytes::Bytes;
use http::request::Parts;
use http::{Method, Response};
use sexton_model::Status;

use super::metrics::Seen;
use super::protobuf::Expected;
use super::query::Query;
use super::requests::agent;
use super::{App, body, negotiate, respond, unserved};
use crate::api::{Result, ScaleChange, Target};

/// Serves a request for the scale of an object.
pub(super) async fn serve(
    app: &App,
    (parts, query, body): (&Parts, &Query, &Bytes),
    target: &Target,
    name: &str,
    seen: &mut Seen,
) -> Result<Response<Body>> {
    if target.kind.offer.scale.is_none() {
        return Err(unserved::part(&target.kind, "scale").into());
    }
    // Whatever is asked for, a scale is answered as it is: every client that knows it accepts that.
    negotiate::form(&parts.headers)?;
    let change = match parts.method {
        Method::GET | Method::HEAD => {
            seen.verb = "get";
            return Ok(respond::value(200, &app.api.scale(target, name, &query.get_options()).await?));
        }
        Method::PUT => {
            seen.verb = "update";
            let expected = Expected { group: "autoscaling", version: "v1", kind: "Scale" };
            ScaleChange::Replace(body::document(&parts.headers, body, expected)?.0)
        }
        Method::PATCH => {
            seen.verb = "patch";
            ScaleChange::Patch(body::patch(&parts.headers, body)?.0)
        }
        _ => return Err(Status::method_not_allowed().into()),
    };
    let options = query.write_options(&agent(&parts.headers))?;
    let (scale, warnings) = app.api.rescale(target, name, change, &options).await?;
    let mut response = respond::value(200, &scale);
    respond::warn(&mut response, &warnings);
    Ok(response)
}
