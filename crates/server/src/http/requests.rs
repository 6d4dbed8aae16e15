//! One request: the requester, what it asks for, may it be served now, and which verb is it.

use std::borrow::Cow;
use std::sync::Arc;

use axum::body::Body;
use bytes::Bytes;
use http::header::USER_AGENT;
use http::request::Parts;
use http::{HeaderMap, Method, Request, Response};
use sexton_model::lease::{PROOF_HEADER, Proof};
use sexton_model::{DeleteOptions, Status};

use super::flight::{Charge, SMALL_BYTES};
use super::metrics::Seen;
use super::negotiate::{self, Form};
use super::path::{self, KindPlace, Place};
use super::protobuf::Expected;
use super::query::Query;
use super::refuse;
use super::reviews::{self, Asking};
use super::seats::{Connection, Seat, Work};
use super::{App, body, compress, feed_body, list_body, respond, scale, unserved, watch_body};
use crate::api::{Api, Part, Result, Target};
use crate::kinds::{KindRef, Special};

/// A body that has arrived, and what it has of the budget.
struct Received {
    bytes: Bytes,
    charge: Charge,
}

impl Received {
    /// The body of a request that may have one.
    async fn read(app: &App, parts: &Parts, body: Body) -> Result<Received> {
        let mut charge = app.budget.begin();
        if matches!(parts.method, Method::GET | Method::HEAD) {
            return Ok(Received { bytes: Bytes::new(), charge });
        }
        body::not_packed(&parts.headers)?;
        let bytes = body::read(body, body::MOST_BYTES, &mut charge).await?;
        Ok(Received { bytes, charge })
    }

    /// Charges what became of it, if that may be much.
    fn became(&mut self, value: &serde_json::Value) -> Result<()> {
        match self.bytes.len() {
            small if small <= SMALL_BYTES => Ok(()),
            _ => self.charge.grow(sexton_model::weight::of(value)),
        }
    }
}

/// Serves a request of an API path.
pub(super) async fn dispatch(
    app: &Arc<App>,
    request: Request<Body>,
    seen: &mut Seen,
) -> Result<Response<Body>> {
    let (parts, body) = request.into_parts();
    let identity = app.authentication.check(&parts)?;
    seen.user = identity.user;
    let query = Query::parse(parts.uri.query())?;
    let place = match path::parse(parts.uri.path())? {
        Place::Kind(place) => place,
        Place::Changes | Place::Bulk if app.api.kinds().is_plain() => {
            return Err(Status::no_such_path().into());
        }
        Place::Changes => {
            (seen.verb, seen.resource) = ("watch", "changes.sexton.dev".into());
            return feed(app, &parts, &query, &seen.user).await;
        }
        Place::Bulk => {
            (seen.verb, seen.resource) = ("bulk", "bulk.sexton.dev".into());
            return bulk(app, &parts, &query, body, &seen.user).await;
        }
        other => {
            seen.verb = "discover";
            return app.offers.answer(&app.api.kinds().current(), &parts, &query, &other);
        }
    };
    let registry = app.api.kinds().current();
    let Some(kind) = registry.find(&place.group, &place.version, &place.plural) else {
        return review(app, &parts, &place, body, seen).await;
    };
    seen.resource = kind.resource.to_string();
    let target = target_of(kind, &place)?;
    let warning = kind.offer.warning.clone();
    let watching = place.subresource.is_none() && parts.method == Method::GET && query.switch("watch")?;
    let request = Incoming { app, parts, query, place, target };
    let Some(warning) = warning else { return request.answer(watching, body, seen).await };
    let mut response = match request.answer(watching, body, seen).await {
        Ok(response) => response,
        Err(failure) => refuse(&failure),
    };
    respond::warn(&mut response, &[warning]);
    Ok(response)
}

/// A question about an identity or what it may do, or a path of nothing at all.
async fn review(
    app: &App,
    parts: &Parts,
    place: &KindPlace,
    body: Body,
    seen: &mut Seen,
) -> Result<Response<Body>> {
    let review = reviews::find(place).ok_or_else(Status::no_such_path)?;
    (seen.verb, seen.resource) = ("create", format!("{}.{}", review.plural, review.group));
    review.check(parts, place)?;
    let received = Received::read(app, parts, body).await?;
    let _seat = seat(app, Work::Read, &seen.user, parts)?;
    let asking = Asking { user: &seen.user, group: app.authentication.group() };
    review.answer(parts, &place.namespace, &received.bytes, &asking)
}

/// The feed over all kinds. It stays, and counts as a watch.
async fn feed(app: &App, parts: &Parts, query: &Query, user: &str) -> Result<Response<Body>> {
    if parts.method != Method::GET {
        return Err(Status::method_not_allowed().into());
    }
    negotiate::form(&parts.headers)?;
    let seat = seat(app, Work::Watch, user, parts)?;
    let stream = app.api.feed(query.feed_options()?).await?;
    Ok(feed_body::respond(stream, (seat, app.metrics.watcher())))
}

fn seat(app: &App, work: Work, user: &str, parts: &Parts) -> Result<Seat> {
    app.seats.take(work, user, parts.extensions.get::<Connection>())
}

/// Many writes in one commit.
async fn bulk(app: &App, parts: &Parts, query: &Query, body: Body, user: &str) -> Result<Response<Body>> {
    if parts.method != Method::POST {
        return Err(Status::method_not_allowed().into());
    }
    negotiate::form(&parts.headers)?;
    if !query.text("dryRun").is_empty() {
        return Err(Status::bad_request("bulk requests cannot be tried without writing").into());
    }
    body::not_packed(&parts.headers)?;
    let mut charge = app.budget.begin();
    let bytes = body::read(body, body::MOST_BULK_BYTES, &mut charge).await?;
    let _seat = seat(app, Work::Bulk, user, parts)?;
    let bulk = body::bulk(&parts.headers, &bytes)?;
    drop(bytes);
    let api = app.api.asked_by(user).claiming(None, app.authentication.is_in_process());
    Ok(respond::value(200, &api.bulk(&bulk).await?))
}

/// Where a request points, if the kind can be there.
fn target_of(kind: &KindRef, place: &KindPlace) -> Result<Target> {
    if !kind.namespaced && !place.namespace.is_empty() {
        return Err(Status::no_such_path().into());
    }
    if kind.namespaced && place.namespace.is_empty() && place.name.is_some() {
        return Err(Status::no_such_path().into());
    }
    Ok(Target { kind: kind.clone(), namespace: place.namespace.clone() })
}

/// A request for a kind.
struct Incoming<'a> {
    app: &'a Arc<App>,
    parts: Parts,
    query: Query,
    place: KindPlace,
    target: Target,
}

impl Incoming<'_> {
    async fn answer(self, watching: bool, body: Body, seen: &mut Seen) -> Result<Response<Body>> {
        if watching {
            seen.verb = "watch";
            let seat = seat(self.app, Work::Watch, &seen.user, &self.parts)?;
            return self.watch(seat).await;
        }
        let received = Received::read(self.app, &self.parts, body).await?;
        let seat = seat(self.app, self.work(), &seen.user, &self.parts)?;
        self.serve(received, seat, seen).await
    }

    fn work(&self) -> Work {
        match self.parts.method {
            Method::GET | Method::HEAD if self.place.name.is_none() => Work::List,
            Method::GET | Method::HEAD => Work::Read,
            _ => Work::Write,
        }
    }

    async fn serve(self, body: Received, seat: Seat, seen: &mut Seen) -> Result<Response<Body>> {
        if let (Some(name), Some("scale")) = (&self.place.name, self.place.subresource.as_deref()) {
            let request = (&self.parts, &self.query, &body.bytes);
            return scale::serve(self.app, request, &self.target, name, seen).await;
        }
        let part = self.part()?;
        match (&self.parts.method, self.place.name.clone()) {
            (&Method::GET | &Method::HEAD, None) => self.list(seat, seen).await,
            (&Method::GET | &Method::HEAD, Some(name)) if part != Part::Finalize => {
                self.get(&name, seen).await
            }
            (&Method::POST, None) => self.create(body, seen).await,
            (&Method::PUT, Some(name)) => self.update(&name, part, body, seen).await,
            (&Method::PATCH, Some(name)) if part != Part::Finalize => {
                self.patch(&name, part, body, seen).await
            }
            (&Method::DELETE, Some(name)) if part == Part::Main => self.delete(&name, body, seen).await,
            (&Method::DELETE, None) if self.target.kind.special != Special::Namespace => {
                self.delete_collection(body, seen).await
            }
            _ => Err(Status::method_not_allowed().into()),
        }
    }

    fn part(&self) -> Result<Part> {
        match self.place.subresource.as_deref() {
            None => Ok(Part::Main),
            Some("status") if self.target.kind.status => Ok(Part::Status),
            Some("finalize") if self.target.kind.special == Special::Namespace => Ok(Part::Finalize),
            Some(other) => Err(unserved::part(&self.target.kind, other).into()),
        }
    }

    /// What a body is if it does not say so itself.
    fn expected(&self) -> Expected<'_> {
        let kind = &self.target.kind;
        Expected { group: &kind.resource.group, version: &kind.version, kind: &kind.kind }
    }

    /// The verbs for this requester: for writes of leases and records with the proof that it presents.
    fn api(&self) -> Cow<'_, Api> {
        let api = &self.app.api;
        if !matches!(self.target.kind.special, Special::Lease | Special::Record) {
            return Cow::Borrowed(api);
        }
        let proof = self.parts.headers.get(PROOF_HEADER).and_then(|value| value.to_str().ok());
        Cow::Owned(api.claiming(proof.map(Proof::new), self.app.authentication.is_in_process()))
    }

    fn form(&self) -> Result<Form> {
        negotiate::form(&self.parts.headers)
    }

    async fn get(self, name: &str, seen: &mut Seen) -> Result<Response<Body>> {
        seen.verb = "get";
        let form = self.form()?;
        let object = self.app.api.get(&self.target, name, &self.query.get_options()).await?;
        let (kind, include) = (&self.target.kind, self.query.text("includeObject"));
        respond::object(kind, &object, form, self.app.api.now(), include)
    }

    async fn list(self, seat: Seat, seen: &mut Seen) -> Result<Response<Body>> {
        seen.verb = "list";
        let form = self.form()?;
        let listing = self.app.api.listing(&self.target, &self.query.list_options()?).await?;
        let (include, packed) = (self.query.text("includeObject"), compress::wanted(&self.parts.headers));
        let now = self.app.api.now();
        let response = list_body::respond(&self.target.kind, listing, form, now, include, packed).await?;
        let Parts { version, extensions, .. } = self.parts;
        let connection = extensions.get::<Connection>().cloned();
        Ok(response.map(|body| self.app.seats.flows.watch(body, seat, version, connection)))
    }

    async fn watch(self, seat: Seat) -> Result<Response<Body>> {
        let form = self.form()?;
        let mut options = self.query.watch_options()?;
        if let Some(name) = &self.place.name {
            // An old form of watching one object: the same as selecting it by name.
            let selector = format!("metadata.name={name}");
            options.fields = sexton_model::FieldSelector::parse(&selector)
                .map_err(|bad| Status::bad_request(bad.to_string()))?;
        }
        let stream = self.app.api.watch(&self.target, options).await?;
        let watcher = self.app.metrics.watcher();
        Ok(watch_body::respond(&self.target.kind, stream, form, self.app.api.clone(), (seat, watcher)))
    }

    async fn create(self, mut body: Received, seen: &mut Seen) -> Result<Response<Body>> {
        seen.verb = "create";
        let (form, mut options) = (self.form()?, self.query.write_options(&agent(&self.parts.headers))?);
        if self.target.kind.namespaced && self.target.namespace.is_empty() {
            return Err(Status::method_not_allowed().into());
        }
        let (document, repeated) = body::document(&self.parts.headers, &body.bytes, self.expected())?;
        body.became(document.value())?;
        options.repeated = repeated;
        let written = self.api().create(&self.target, document, &options).await?;
        respond::written(&self.target.kind, written, form, self.app.api.now())
    }

    async fn update(
        self,
        name: &str,
        part: Part,
        mut body: Received,
        seen: &mut Seen,
    ) -> Result<Response<Body>> {
        seen.verb = "update";
        let (form, mut options) = (self.form()?, self.query.write_options(&agent(&self.parts.headers))?);
        let (document, repeated) = body::document(&self.parts.headers, &body.bytes, self.expected())?;
        body.became(document.value())?;
        options.repeated = repeated;
        let written = self.api().update(&self.target, name, part, document, &options).await?;
        respond::written(&self.target.kind, written, form, self.app.api.now())
    }

    async fn patch(
        self,
        name: &str,
        part: Part,
        mut body: Received,
        seen: &mut Seen,
    ) -> Result<Response<Body>> {
        seen.verb = "patch";
        let (form, mut options) = (self.form()?, self.query.write_options(&agent(&self.parts.headers))?);
        let (patch, repeated) = body::patch(&self.parts.headers, &body.bytes)?;
        body.became(patch.value())?;
        options.repeated = repeated;
        let written = self.api().patch(&self.target, name, part, patch, &options).await?;
        respond::written(&self.target.kind, written, form, self.app.api.now())
    }

    /// How a deletion is asked for: in the body if there is one, else in the query. A dry run that is asked for where
    /// it does not count is refused: it would cost the object.
    fn deletion(&self, body: &Received) -> Result<DeleteOptions> {
        let Some(options) = body::delete_options(&self.parts.headers, &body.bytes)? else {
            return self.query.delete_options();
        };
        if options.dry_run.is_none() && self.query.has("dryRun") {
            let message = "dryRun in the query does not count beside a body: say it in the body";
            return Err(Status::bad_request(message).into());
        }
        Ok(options)
    }

    async fn delete(self, name: &str, body: Received, seen: &mut Seen) -> Result<Response<Body>> {
        seen.verb = "delete";
        let form = self.form()?;
        let options = self.deletion(&body)?;
        let written = self.api().asked_by(&seen.user).delete(&self.target, name, &options).await?;
        respond::deleted(&self.target.kind, written, form, self.app.api.now(), &options)
    }

    async fn delete_collection(self, body: Received, seen: &mut Seen) -> Result<Response<Body>> {
        seen.verb = "deletecollection";
        let form = self.form()?;
        if self.target.kind.namespaced && self.target.namespace.is_empty() {
            return Err(Status::method_not_allowed().into());
        }
        let options = self.deletion(&body)?;
        let which = self.query.list_options()?;
        let api = self.api().asked_by(&seen.user);
        let listed = api.delete_collection(&self.target, &which, &options).await?;
        list_body::respond(&self.target.kind, listed.into(), form, self.app.api.now(), "", false).await
    }
}

/// The manager of fields that a client's name suggests: what stands before the version.
pub(super) fn agent(headers: &HeaderMap) -> String {
    let agent = headers.get(USER_AGENT).and_then(|value| value.to_str().ok()).unwrap_or("unknown");
    agent.split('/').next().unwrap_or("unknown").chars().take(128).collect()
}
