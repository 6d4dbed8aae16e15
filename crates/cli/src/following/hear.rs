//! Reads the feed of the target for [`Follow`]: updates the snapshot, and writes a line for each followed object that
//! is gone.
//!
//! An object counts as gone when the feed says that it was deleted, or when a complete new listing lacks its uid. The
//! second covers deletions during a gap: after a feed broke off, everything is listed anew. A successor of the same
//! name has another uid and is not followed. Each object is reported exactly once, because it leaves `left` then.
//!
//! It must not know when following is over: that is [`Follow::is_over`].

use std::time::Duration;

use futures::{FutureExt, Stream, StreamExt};
use sexton_client::resources::FeedError;
use sexton_collector::preview::World as Seen;
use sexton_model::feed::Line;
use sexton_model::{GroupResource, Key, Uid};
use tokio::time::Instant;

use super::Follow;
use crate::failure::Failure;

/// Lines of the feed that are taken in before the output about them is written, in one piece.
const TOGETHER: usize = 1_024;
/// Attempts to open the feed anew without a line in between. The pauses grow by [`PAUSE`] each time and add up to some
/// seconds, in which a server can restart.
const TRIES: u32 = 7;
const PAUSE: Duration = Duration::from_millis(200);

/// Turns the label and uid of an object that is gone into text for stdout: a line, or nothing.
pub(crate) type Obituary<'a> = dyn Fn(&str, &Uid) -> String + 'a;

/// The [`Obituary`] that writes nothing.
pub(crate) fn silence(_: &str, _: &Uid) -> String {
    String::new()
}

impl Follow<'_> {
    /// Lists everything once more after the work has ended, so that deletions of the last moment are counted. Does
    /// nothing if no followed object is left.
    pub(super) async fn hear_the_rest(&mut self, says: &Obituary<'_>) {
        if self.left.is_empty() {
            return;
        }
        let seen = Seen::look(&*self.place.gateway, &self.place.resources).await;
        // If the server does not answer any more, the last snapshot stays.
        if let Ok(seen) = seen {
            self.seen = seen;
        }
        self.catch_up(says);
    }

    /// Takes in a line of the feed and those that arrived after it, without waiting. Returns false if the feed has
    /// ended.
    pub(super) fn hear_what_is_there(
        &mut self,
        first: Option<Result<Line, FeedError>>,
        says: &Obituary<'_>,
    ) -> bool {
        let (lines, more) = what_is_there(first, &mut self.lines);
        lines.into_iter().for_each(|line| self.hear(line, says));
        more
    }

    fn hear(&mut self, line: Line, says: &Obituary<'_>) {
        self.broken = 0;
        if self.concerns(&line) {
            self.moved = Instant::now();
        }
        let gone = match &line {
            Line::Deleted(gone) => Some(Uid(gone.object.metadata.uid.clone())),
            _ => None,
        };
        self.seen.hear(line);
        if let Some((uid, label)) = gone.and_then(|uid| self.left.remove_entry(&uid)) {
            self.told += &says(&label, &uid);
        }
    }

    /// Writes the collected lines to stdout. The first error is kept in `unheard`; following goes on without a reader.
    pub(super) fn write_told(&mut self) {
        if self.told.is_empty() {
            return;
        }
        let written = self.output.data(&std::mem::take(&mut self.told));
        if self.unheard.is_ok() {
            self.unheard = written;
        }
    }

    /// Whether a line counts as progress: it is about a followed object, a dependent of one, a terminating object (on
    /// our own servers), the contents of a followed namespace (on other clusters), or the listing itself. Other lines
    /// come all the time, such as renewals of the collector's lease, and say nothing about progress.
    fn concerns(&self, line: &Line) -> bool {
        match line {
            Line::Added(seen) | Line::Modified(seen) | Line::Deleted(seen) => {
                let metadata = &seen.object.metadata;
                let followed = |uid: &String| self.left.contains_key(&Uid(uid.clone()));
                // Other clusters have unrelated deletions all the time: pods, for example.
                (metadata.deletion_timestamp.is_some() && !self.place.foreign)
                    || (self.is_in_followed_namespace(&metadata.namespace) && seen.resource != "events")
                    || followed(&metadata.uid)
                    || metadata.owner_references.iter().any(|owner| followed(&owner.uid))
            }
            Line::Kinds { .. } | Line::Synced { .. } => true,
            Line::Bookmark { .. } | Line::Error { .. } => false,
        }
    }

    /// Whether a namespace is followed and still exists. Always false on our own servers, where [`Follow::concerns`]
    /// needs no such answer.
    fn is_in_followed_namespace(&self, namespace: &str) -> bool {
        let kind = GroupResource::new("", "namespaces");
        let key = Key { kind, namespace: String::new(), name: namespace.to_owned() };
        let snapshot = self.seen.snapshot();
        let life = snapshot.find(&key).filter(|_| self.place.foreign && !namespace.is_empty());
        life.is_some_and(|life| self.left.contains_key(&snapshot.uid(life)))
    }

    /// Opens the feed anew after it broke off, and lists everything.
    ///
    /// # Errors
    /// The feed could not be opened in [`TRIES`] attempts.
    pub(super) async fn again(&mut self, says: &Obituary<'_>) -> Result<(), Failure> {
        // The first attempt comes at once; each further one waits longer.
        tokio::time::sleep(PAUSE * self.broken).await;
        self.broken += 1;
        let opened = Seen::open(&*self.place.gateway, &self.place.resources).await;
        match opened {
            Ok((seen, lines)) => {
                (self.seen, self.lines) = (seen, lines.fuse());
                self.catch_up(says);
                Ok(())
            }
            Err(error) if self.broken >= TRIES => Err(Failure::from(error)
                .detail("it is not followed any further; what is marked goes on")
                .next("see how far it is", "sexton collections")),
            Err(_) => Ok(()),
        }
    }

    /// Reports followed objects that are not in the snapshot: they were deleted while the feed was not read.
    pub(super) fn catch_up(&mut self, says: &Obituary<'_>) {
        let snapshot = self.seen.snapshot();
        let gone: Vec<Uid> = self.left.keys().filter(|uid| snapshot.get(uid).is_none()).cloned().collect();
        for uid in gone {
            if let Some(label) = self.left.remove(&uid) {
                self.told += &says(&label, &uid);
            }
        }
    }
}

/// The first line and those that are ready, at most [`TOGETHER`]. The second value is false if the stream has ended or
/// failed.
fn what_is_there<L, E>(
    first: Option<Result<L, E>>,
    lines: &mut (impl Stream<Item = Result<L, E>> + Unpin),
) -> (Vec<L>, bool) {
    let (mut there, mut next) = (Vec::new(), first);
    loop {
        match next {
            Some(Ok(line)) => there.push(line),
            Some(Err(_)) | None => return (there, false),
        }
        let at_hand = if there.len() < TOGETHER { lines.next().now_or_never() } else { None };
        let Some(line) = at_hand else { return (there, true) };
        next = line;
    }
}

#[cfg(test)]
mod tests {
    use futures::stream;

    use super::*;

    type Read = Result<usize, ()>;

    /// A stream with the lines `1..count` ready, and then none.
    fn silent(count: usize) -> impl Stream<Item = Read> + Unpin {
        stream::iter((1..count).map(Ok)).chain(stream::pending())
    }

    #[test]
    fn every_line_is_heard_once_and_in_order() {
        let mut lines = silent(3 * TOGETHER);
        let (mut heard, mut next) = (Vec::new(), Some(Some(Ok(0))));
        while let Some(first) = next {
            let (there, more) = what_is_there(first, &mut lines);
            assert!(more && there.len() <= TOGETHER);
            heard.extend(there);
            next = lines.next().now_or_never();
        }
        assert_eq!(heard, (0..3 * TOGETHER).collect::<Vec<_>>());
    }

    #[test]
    fn the_end_is_told_and_what_came_before_it_is_heard() {
        for last in [None, Some(Err(()))] {
            let mut lines = stream::iter([Ok(1), Ok(2)].into_iter().chain(last));
            assert_eq!(what_is_there(Some(Ok(0)), &mut lines), (vec![0, 1, 2], false));
        }
        assert_eq!(what_is_there(None::<Read>, &mut silent(0)), (Vec::new(), false));
    }
}
