//! A list while it is read: slice by slice from one snapshot, so that a long one is never in memory as a whole, however
//! slowly its reader takes it.

use sexton_model::Revision;
use sexton_store::engine::RawKey;
use sexton_store::{At, Object, ObjectSnapshot, Scope};

use super::list::{Start, check_selectable, explain_expiry, matches};
use super::token::Token;
use super::{Api, ListOptions, Listed, Result, Target};

/// How many objects are looked at in one go.
const SLICE: usize = 256;
/// Pages up to this size are read at once: finding out first where a page ends means to look at it twice.
const SMALL_PAGE: usize = 1000;

/// A list that is read by and by. Objects are as they are stored, without what their definition would fill in.
#[derive(Debug)]
pub struct Listing {
    /// The snapshot.
    pub revision: Revision,
    /// Where the next page begins; empty at the end.
    pub continue_token: String,
    /// How many objects are left behind this page, where that is known.
    pub remaining: Option<usize>,
    source: Source,
}

#[derive(Debug)]
enum Source {
    Objects(Vec<Object>),
    Snapshot(Box<Slices>),
    End,
}

impl From<Listed> for Listing {
    fn from(listed: Listed) -> Self {
        let Listed { revision, objects, continue_token, remaining } = listed;
        Listing { revision, continue_token, remaining, source: Source::Objects(objects) }
    }
}

impl Listing {
    /// The next objects, perhaps none of a slice; `None` at the end.
    pub async fn next(&mut self) -> Option<Result<Vec<Object>>> {
        match std::mem::replace(&mut self.source, Source::End) {
            Source::End => None,
            Source::Objects(objects) => Some(Ok(objects)),
            Source::Snapshot(mut slices) => {
                let objects = slices.next().await.transpose()?;
                if objects.is_ok() {
                    self.source = Source::Snapshot(slices);
                }
                Some(objects)
            }
        }
    }
}

/// What is left to be read of a snapshot.
#[derive(Debug, Clone)]
struct Slices {
    snapshot: ObjectSnapshot,
    scope: Scope,
    filter: ListOptions,
    after: Option<RawKey>,
    /// The last key that belongs to it.
    until: Option<RawKey>,
    more: bool,
}

impl Slices {
    async fn next(&mut self) -> Result<Option<Vec<Object>>> {
        if !self.more {
            return Ok(None);
        }
        let page = self.snapshot.page(&self.scope, self.after.as_deref(), SLICE).await?;
        self.more = page.more;
        self.after = page.objects.last().map(|object| object.key.clone());
        let mut found = Vec::with_capacity(page.objects.len());
        for object in page.objects {
            if self.until.as_ref().is_some_and(|until| object.key > *until) {
                self.more = false;
                break;
            }
            if matches(&object, &self.filter)? {
                found.push(object);
            }
        }
        Ok(Some(found))
    }
}

impl Api {
    /// Begins a list, to be read by and by.
    pub async fn listing(&self, target: &Target, options: &ListOptions) -> Result<Listing> {
        check_selectable(&target.kind, options.fields.terms().iter().map(|term| term.field.as_str()))?;
        let start = self.start(options).await?;
        if let Some(listed) = self.list_one(target, options, &start).await? {
            return Ok(listed.into());
        }
        let limit = options.limit.filter(|limit| *limit > 0);
        let listing = match limit {
            Some(limit) if limit <= SMALL_PAGE => {
                self.collect(target, options, &start).await.map(Listing::from)
            }
            limit => self.slices(target, options, &start, limit).await,
        };
        listing.map_err(|failure| explain_expiry(failure, &start))
    }

    async fn slices(
        &self,
        target: &Target,
        options: &ListOptions,
        start: &Start,
        limit: Option<usize>,
    ) -> Result<Listing> {
        let (scope, snapshot) = (target.scope(), self.store.snapshot(start.at).await?);
        let revision = snapshot.revision();
        let after = start.after.as_deref().map(RawKey::from);
        let filter = options.clone();
        let mut slices = Slices { snapshot, scope, filter, after, until: None, more: true };
        let (mut continue_token, mut remaining) = (String::new(), None);
        if let Some(limit) = limit
            && let Some(last) = end_of_page(slices.clone(), limit).await?
        {
            let filtered = !options.labels.is_empty() || !options.fields.is_empty();
            (continue_token, remaining) =
                self.next_page(&slices.scope, revision, (&last, limit), filtered, start).await?;
            slices.until = Some(last);
        }
        Ok(Listing { revision, continue_token, remaining, source: Source::Snapshot(Box::new(slices)) })
    }

    /// Where the next page begins, and how much is left for it; keeps its snapshot for a while.
    async fn next_page(
        &self,
        scope: &Scope,
        revision: Revision,
        (last, count): (&[u8], usize),
        filtered: bool,
        start: &Start,
    ) -> Result<(String, Option<usize>)> {
        self.store.list(scope, At::Exactly(revision), Some(last), Some(1)).await?;
        let remaining = self.remaining(scope, revision, (last, count), filtered, start).await?;
        Ok((Token::after(revision, last, remaining)?.encode(), remaining))
    }
}

/// The last key of a page of so many matches, if there are more behind it.
async fn end_of_page(mut slices: Slices, limit: usize) -> Result<Option<RawKey>> {
    let (mut count, mut last) = (0, None);
    while let Some(objects) = slices.next().await? {
        for object in objects {
            if count == limit {
                return Ok(last);
            }
            count += 1;
            last = Some(object.key);
        }
    }
    Ok(None)
}
