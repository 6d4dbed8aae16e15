//! What is new in the books, for whoever tells it: collections that began, and those that are over.

use sexton_model::Uid;
use sexton_model::collection::{Collection, Phase};

use super::{Ledger, Open};

/// More news than this are not kept: whoever begins so much at once has a record of it.
const MOST: usize = 20;

/// A collection that is worth telling of.
#[derive(Debug)]
pub(crate) struct News {
    pub(crate) record: Collection,
    pub(crate) over: bool,
}

impl Open {
    /// That it began, as soon as that is worth telling; and that it is over, if others than its root were in it.
    pub(super) fn news(&mut self) -> Option<News> {
        let over = self.record.status.phase == Phase::Done;
        // What went over to another collection is not over: that one tells of its end.
        let ends = over && self.record.status.doomed > 1 && self.handed_over.is_none();
        if !self.loud || (over && !ends) || (self.told && !over) {
            return None;
        }
        self.told = true;
        Some(News { record: self.record.clone(), over })
    }
}

impl Ledger {
    /// What began and ended since the last time.
    pub(crate) fn take_news(&mut self) -> Vec<News> {
        let mut news = std::mem::take(&mut self.news);
        news.truncate(MOST);
        news
    }

    /// Whether it was told that the collection of a root began.
    pub(crate) fn has_told(&self, root: &Uid) -> bool {
        self.by_root.get(root).and_then(|name| self.open.get(name)).is_none_or(|open| open.told)
    }
}
