//! Collections that began or ended since the last Events.

use sexton_model::Uid;
use sexton_model::collection::{Collection, Phase};

use super::{Ledger, Open};

/// Further news are dropped: so many collections at once have a record each.
const MOST: usize = 20;

/// The beginning or the end of a collection.
#[derive(Debug)]
pub(crate) struct News {
    pub(crate) record: Collection,
    pub(crate) over: bool,
}

impl Open {
    /// The news of this collection: its beginning, once; and its end, if it had more objects than its root.
    pub(super) fn news(&mut self) -> Option<News> {
        let over = self.record.status.phase == Phase::Done;
        // Objects that moved to another collection are not gone: that collection tells of its end.
        let ends = over && self.record.status.doomed > 1 && self.handed_over.is_none();
        if !self.loud || (over && !ends) || (self.told && !over) {
            return None;
        }
        self.told = true;
        Some(News { record: self.record.clone(), over })
    }
}

impl Ledger {
    /// Takes the news since the last call.
    pub(crate) fn take_news(&mut self) -> Vec<News> {
        let mut news = std::mem::take(&mut self.news);
        news.truncate(MOST);
        news
    }

    /// Whether an Event told of the beginning of the collection of this root.
    pub(crate) fn has_told(&self, root: &Uid) -> bool {
        self.by_root.get(root).and_then(|name| self.open.get(name)).is_none_or(|open| open.told)
    }
}
