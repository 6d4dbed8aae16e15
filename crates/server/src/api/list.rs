//! LIST: many objects of one snapshot, in pages if asked for.

use sexton_model::{FieldError, Key, Revision, Status};
use sexton_store::{At, Object, Scope};

use super::get::parse_version;
use super::token::Token;
use super::{Api, ListOptions, Listing, Result, Target};
use crate::kinds::Kind;

/// A page of a list.
#[derive(Debug, Clone)]
pub struct Listed {
    /// The snapshot.
    pub revision: Revision,
    /// The objects, by namespace and name.
    pub objects: Vec<Object>,
    /// Where the next page begins; empty at the end.
    pub continue_token: String,
    /// How many objects are left, where that is known.
    pub remaining: Option<usize>,
}

/// How many objects are looked at in one go while looking for matches.
const SLICE: usize = 1000;

impl Target {
    pub(super) fn scope(&self) -> Scope {
        let namespace = (!self.namespace.is_empty()).then(|| self.namespace.clone());
        // Cluster-scoped objects live under the empty namespace.
        let namespace = if self.kind.namespaced { namespace } else { Some(String::new()) };
        Scope { kind: self.kind.resource.clone(), namespace }
    }
}

impl Api {
    /// Lists a page, all of it at once, with what its definition fills in.
    pub async fn list(&self, target: &Target, options: &ListOptions) -> Result<Listed> {
        let mut listing = self.listing(target, options).await?;
        let mut objects = Vec::new();
        while let Some(slice) = listing.next().await {
            for object in slice? {
                objects.push(target.kind.filled_in(object)?);
            }
        }
        let Listing { revision, continue_token, remaining, .. } = listing;
        Ok(Listed { revision, objects, continue_token, remaining })
    }

    pub(super) async fn start(&self, options: &ListOptions) -> Result<Start> {
        check_version_match(options)?;
        if !options.continue_token.is_empty() {
            let token = Token::decode(&options.continue_token)?;
            let at = if token.revision == Revision::NONE { At::Latest } else { At::Exactly(token.revision) };
            return Ok(Start { at, after: Some(token.after.into_bytes()), rest: token.rest });
        }
        self.not_in_the_future(&options.resource_version).await?;
        // A page of a version, without saying how exactly, means that very version: that is how old clients page.
        let paged = options.limit.is_some_and(|limit| limit > 0)
            && !matches!(options.resource_version.as_str(), "" | "0");
        let at = match options.version_match.as_str() {
            "Exact" => At::Exactly(parse_version(&options.resource_version)?),
            "" if paged => At::Exactly(parse_version(&options.resource_version)?),
            _ => At::Latest,
        };
        Ok(Start { at, after: None, rest: None })
    }

    /// A list that can hold only one name is a look-up.
    pub(super) async fn list_one(
        &self,
        target: &Target,
        options: &ListOptions,
        start: &Start,
    ) -> Result<Option<Listed>> {
        let Some(name) = options.fields.exact("metadata.name") else { return Ok(None) };
        if start.at != At::Latest
            || start.after.is_some()
            || (target.kind.namespaced && target.namespace.is_empty())
        {
            return Ok(None);
        }
        // The revision first: an object that appears in between is then simply newer than the list says.
        let revision = self.head().await?;
        let key: Key = target.key(name);
        let mut objects: Vec<Object> = self.store.get(&key, At::Latest).await?.into_iter().collect();
        let revision = objects.iter().map(|object| object.revision).fold(revision, Revision::max);
        keep_matching(&mut objects, options)?;
        Ok(Some(Listed { revision, objects, continue_token: String::new(), remaining: None }))
    }

    pub(super) async fn collect(
        &self,
        target: &Target,
        options: &ListOptions,
        start: &Start,
    ) -> Result<Listed> {
        let scope = target.scope();
        let filtered = !options.labels.is_empty() || !options.fields.is_empty();
        let limit = options.limit.filter(|limit| *limit > 0);
        let (mut at, mut after) = (start.at, start.after.clone());
        let mut objects = Vec::new();
        loop {
            let wanted = limit.map(|limit| limit - objects.len());
            let slice = if filtered { limit.map(|_| SLICE) } else { wanted };
            let page = self.store.list(&scope, at, after.as_deref(), slice).await?;
            // Whatever "latest" was, the following slices belong to the same snapshot.
            at = At::Exactly(page.revision);
            let last = page.objects.last().map(|object| object.key.clone());
            let mut found = page.objects;
            keep_matching(&mut found, options)?;
            let surplus = wanted.is_some_and(|wanted| found.len() > wanted);
            if let Some(wanted) = wanted {
                found.truncate(wanted);
            }
            objects.extend(found);
            let full = limit.is_some_and(|limit| objects.len() >= limit);
            if surplus || (full && page.more) {
                return self.page(&scope, page.revision, objects, filtered, start).await;
            }
            if !page.more {
                return Ok(Listed {
                    revision: page.revision,
                    objects,
                    continue_token: String::new(),
                    remaining: None,
                });
            }
            after = last.map(|key| key.to_vec());
        }
    }

    async fn page(
        &self,
        scope: &Scope,
        revision: Revision,
        objects: Vec<Object>,
        filtered: bool,
        start: &Start,
    ) -> Result<Listed> {
        let last = objects.last().map(|object| object.key.clone()).unwrap_or_default();
        let remaining = self.remaining(scope, revision, (&last, objects.len()), filtered, start).await?;
        let continue_token = Token::after(revision, &last, remaining)?.encode();
        Ok(Listed { revision, objects, continue_token, remaining })
    }

    /// How many objects are left behind a page that ends with this key and has so many, where that is known.
    pub(super) async fn remaining(
        &self,
        scope: &Scope,
        revision: Revision,
        (last, count): (&[u8], usize),
        filtered: bool,
        start: &Start,
    ) -> Result<Option<usize>> {
        Ok(match (filtered, start.rest) {
            (true, _) => None,
            (false, Some(rest)) => Some(rest.saturating_sub(count)),
            (false, None) => Some(self.store.count_after(scope, At::Exactly(revision), last).await?),
        })
    }
}

/// Where a list begins.
pub(super) struct Start {
    pub(super) at: At,
    pub(super) after: Option<Vec<u8>>,
    rest: Option<usize>,
}

/// Whether an object is asked for.
pub(super) fn matches(object: &Object, options: &ListOptions) -> Result<bool> {
    if !options.labels.is_empty() {
        let facts = object.facts()?;
        if !options.labels.matches(|key| facts.label(key)) {
            return Ok(false);
        }
    }
    if options.fields.is_empty() {
        return Ok(true);
    }
    let (namespace, name) = object.place();
    let only_place = options.fields.terms().iter().all(|term| term.field.starts_with("metadata."));
    let document = if only_place { None } else { Some(object.document()?) };
    Ok(options.fields.matches(|field| match field {
        "metadata.name" => Some(name.to_owned()),
        "metadata.namespace" => Some(namespace.to_owned()),
        _ => document.as_ref().and_then(|document| document.field_text(field)),
    }))
}

fn keep_matching(objects: &mut Vec<Object>, options: &ListOptions) -> Result<()> {
    let mut failure = None;
    objects.retain(|object| {
        matches(object, options).unwrap_or_else(|error| {
            failure.get_or_insert(error);
            false
        })
    });
    failure.map_or(Ok(()), Err)
}

/// Selecting by a field that a kind does not offer would silently match nothing.
pub(super) fn check_selectable<'a>(kind: &Kind, fields: impl Iterator<Item = &'a str>) -> Result<()> {
    for field in fields {
        if !kind.selectable(field) {
            return Err(Status::bad_request(format!("field label not supported: {field}")).into());
        }
    }
    Ok(())
}

fn check_version_match(options: &ListOptions) -> Result<()> {
    let version = options.resource_version.as_str();
    let error = match options.version_match.as_str() {
        "" => None,
        _ if !options.continue_token.is_empty() => {
            Some("resourceVersionMatch is forbidden when continue is provided")
        }
        _ if version.is_empty() => {
            Some("resourceVersionMatch is forbidden unless resourceVersion is provided")
        }
        "NotOlderThan" => None,
        "Exact" if version == "0" => {
            Some("resourceVersionMatch \"exact\" is forbidden for resourceVersion \"0\"")
        }
        "Exact" => None,
        other => {
            let known = ["Exact", "NotOlderThan", ""];
            let error = FieldError::not_supported("resourceVersionMatch", other, &known);
            return Err(Status::invalid("meta.k8s.io", "ListOptions", "", &[error]).into());
        }
    };
    if let Some(detail) = error {
        let error = FieldError::forbidden("resourceVersionMatch", detail);
        return Err(Status::invalid("meta.k8s.io", "ListOptions", "", &[error]).into());
    }
    if !options.continue_token.is_empty() && !matches!(version, "" | "0") {
        let message = "specifying resource version is not allowed when using continue";
        return Err(Status::bad_request(message).into());
    }
    Ok(())
}

/// A page of a forgotten snapshot: the client may go on with what is there now, if it can live with that.
pub(super) fn explain_expiry(failure: super::Failure, start: &Start) -> super::Failure {
    let Some(after) = start.after.as_ref().filter(|_| failure.0.code == 410) else { return failure };
    let token =
        Token { revision: Revision::NONE, after: String::from_utf8_lossy(after).into_owned(), rest: None };
    let mut status = Status::expired(
        "the snapshot that this continue token belongs to is no longer kept: list again without it, or go on with the \
         token in this answer and accept that what changed meanwhile may be missing or shown twice",
    );
    status.metadata.insert("continue".into(), token.encode().into());
    status.into()
}
