//! Many deletions, patches and puts in one request, each with the evidence on which it rests.
//!
//! Items are decided one by one on what is stored now, and committed by the hundreds, in order: the conditions of each
//! are checked in the committing transaction, after what those before it wrote. An item that lost a race is decided
//! again. It must not know why anything is deleted, nor follow a reference to do so.

mod epoch;
mod item;
mod patch;
mod put;
mod refusal;
mod tombstone;

use std::task::Poll;

use futures::FutureExt;
use futures::future::BoxFuture;
use sexton_model::Status;
use sexton_model::bulk::{Bulk, BulkResult, ItemResult};
use sexton_store::{CommitError, Committed, Transaction};

use self::epoch::Turn;
use self::item::{Asked, Decided, Rests};
use super::{Api, Failure, RACES, Result, Target};

/// So many items are committed together, unless they write more than this.
const PART: usize = 256;
const PART_BYTES: usize = 4 << 20;
/// So many items are tried one by one on a full disk; when none of them has space, the others that write are not tried.
const TRIES_WITHOUT_SPACE: usize = 4;
/// As much is decided before it is known what became of it.
const ROUND_BYTES: usize = 16 << 20;

/// What became of the items so far.
struct Progress<'a> {
    asked: Vec<Asked<'a>>,
    results: Vec<Option<ItemResult>>,
    /// Not decided for good yet, in order.
    pending: Vec<usize>,
    /// Of each kind that others depend on, one that was written.
    written: Vec<Target>,
    /// Whether the disk is full, as far as is known.
    space: Space,
}

/// What is committed together has space or not as one. So on a full disk first the records are left out, and then items
/// are committed one by one.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Space {
    Plenty,
    ForNoRecords,
    /// So many items had none, even alone.
    OneByOne(usize),
}

impl Space {
    /// So many items are committed together.
    fn part(self) -> usize {
        if matches!(self, Space::OneByOne(_)) { 1 } else { PART }
    }

    fn less(self) -> Space {
        match self {
            Space::Plenty => Space::ForNoRecords,
            Space::ForNoRecords => Space::OneByOne(0),
            Space::OneByOne(tries) => Space::OneByOne(tries + 1),
        }
    }
}

/// Items that are decided, and the commit under way.
struct Part<'a> {
    decisions: Vec<(usize, Decided)>,
    commit: BoxFuture<'a, Vec<std::result::Result<Committed, CommitError>>>,
}

impl Api {
    /// Does what the items say, as far as their conditions hold.
    pub async fn bulk(&self, bulk: &Bulk) -> Result<BulkResult> {
        bulk.check().map_err(Status::bad_request)?;
        let asked: Vec<Asked<'_>> = bulk.items.iter().flat_map(Asked::each).collect();
        let mut progress = Progress {
            results: vec![None; asked.len()],
            pending: (0..asked.len()).collect(),
            asked,
            written: Vec::new(),
            space: Space::Plenty,
        };
        let (mut races, mut claiming) = (0, None);
        while !progress.pending.is_empty() && races < RACES {
            let turn = match &bulk.epoch {
                None => Turn::default(),
                Some(epoch) => match self.turn(epoch).await {
                    // As long as nothing is done the request as a whole is refused; after that it must be told what is.
                    Err(failure) if progress.untouched() => return Err(failure),
                    Err(failure) => {
                        progress.refuse_rest(&failure);
                        break;
                    }
                    Ok(turn) => turn,
                },
            };
            // What is proved for the request is proved for each of its items.
            let api = claiming.get_or_insert_with(|| self.under(&turn.rights));
            races += usize::from(api.round(&mut progress, &turn).await);
        }
        progress.refuse_rest(&CommitError::Conflict { guard: 0 }.into());
        for target in &progress.written {
            self.wrote(target).await?;
        }
        Ok(BulkResult { items: progress.results.into_iter().flatten().collect() })
    }

    /// Decides pending items and commits what they come to, part by part: while one is made durable, the next is
    /// decided. Whether a race was lost.
    async fn round(&self, progress: &mut Progress<'_>, turn: &Turn) -> bool {
        let mut pending = std::mem::take(&mut progress.pending).into_iter();
        let (mut parts, mut bytes) = (Vec::new(), 0);
        let most_parts = if progress.space.part() == 1 { TRIES_WITHOUT_SPACE } else { usize::MAX };
        while bytes < ROUND_BYTES && parts.len() < most_parts && pending.len() > 0 {
            parts.push(self.begin_part(progress, turn, &mut pending, &mut bytes).await);
        }
        let mut lost = Vec::new();
        let (space, mut left) = (progress.space, progress.space);
        for part in parts {
            let outcomes = part.commit.await;
            let full = outcomes.iter().any(|outcome| matches!(outcome, Err(CommitError::Full(_))));
            if full && !matches!(space, Space::OneByOne(_)) {
                // Nothing of it was done; some of it may have space.
                left = space.less();
                lost.extend(part.decisions.into_iter().map(|(index, _)| index));
                continue;
            }
            for ((index, decided), outcome) in part.decisions.into_iter().zip(outcomes) {
                match self.outcome(progress, index, &decided, outcome, &lost).await {
                    Some(result) => progress.settle(index, result),
                    None => lost.push(index),
                }
            }
        }
        let raced = !lost.is_empty() && left == space;
        progress.space = progress.space.max(left);
        progress.pending = lost.into_iter().chain(pending).collect();
        raced
    }

    /// Decides as many items as one commit takes, and queues that commit.
    async fn begin_part<'a>(
        &'a self,
        progress: &mut Progress<'_>,
        turn: &Turn,
        pending: &mut std::vec::IntoIter<usize>,
        bytes: &mut usize,
    ) -> Part<'a> {
        let most_items = progress.space.part();
        let mut decisions = Vec::with_capacity(pending.len().min(most_items));
        let mut transactions = Vec::with_capacity(pending.len().min(most_items));
        let most = *bytes + PART_BYTES;
        while decisions.len() < most_items
            && *bytes < most
            && let Some(index) = pending.next()
        {
            let asked = Asked { records: progress.space == Space::Plenty, ..progress.asked[index] };
            match self.decide_item(asked, turn).await {
                // What removes needs no space to speak of.
                Ok(decided) if progress.has_no_space() && decided.bytes() > 0 => {
                    let full = CommitError::Full("the disk is full; free some space".into());
                    progress.settle(index, refused(&full.into()));
                }
                Ok(mut decided) => {
                    *bytes += decided.bytes();
                    let guards = std::mem::take(&mut decided.guards);
                    transactions.push(Transaction { guards, ops: std::mem::take(&mut decided.ops) });
                    decisions.push((index, decided));
                }
                Err(failure) => progress.settle(index, refused(&failure)),
            }
        }
        let mut commit = self.store.engine().commit_all(transactions).boxed();
        // Asked once, it stands in the queue; the answer can wait. Others get the processor in between.
        if let Poll::Ready(outcomes) = futures::poll!(&mut commit) {
            commit = std::future::ready(outcomes).boxed();
        }
        tokio::task::yield_now().await;
        Part { decisions, commit }
    }

    /// What became of a decided item; nothing if it is to be decided again.
    async fn outcome(
        &self,
        progress: &mut Progress<'_>,
        index: usize,
        decided: &Decided,
        outcome: std::result::Result<Committed, CommitError>,
        lost: &[usize],
    ) -> Option<ItemResult> {
        match outcome {
            Ok(committed) => {
                progress.wrote(decided);
                Some(done(decided, committed))
            }
            Err(CommitError::Conflict { guard }) => match decided.rests_on(guard) {
                Rests::OnTheMoment => None,
                // What was in the way may be gone once those before it had their turn.
                Rests::OnCondition(_) if !lost.is_empty() => None,
                Rests::OnCondition(condition) => {
                    match self.condition_failed(progress.asked[index], decided, condition).await {
                        Ok(status) | Err(Failure(status)) => Some(refused(&Failure(status))),
                    }
                }
            },
            Err(error) => {
                if matches!(error, CommitError::Full(_)) {
                    progress.space = progress.space.less();
                }
                Some(refused(&error.into()))
            }
        }
    }
}

impl Progress<'_> {
    fn settle(&mut self, index: usize, result: ItemResult) {
        self.results[index] = Some(result);
    }

    fn wrote(&mut self, decided: &Decided) {
        let kind = &decided.target.kind;
        let known = |other: &Target| other.kind.resource == kind.resource;
        if decided.writes && kind.holds_others() && !self.written.iter().any(known) {
            self.written.push(decided.target.clone());
        }
    }

    /// Whether items that write need not be tried.
    fn has_no_space(&self) -> bool {
        matches!(self.space, Space::OneByOne(tries) if tries >= TRIES_WITHOUT_SPACE)
    }

    fn untouched(&self) -> bool {
        !self.results.iter().flatten().any(|result| result.outcome.is_some())
    }

    fn refuse_rest(&mut self, failure: &Failure) {
        for index in std::mem::take(&mut self.pending) {
            self.settle(index, refused(failure));
        }
    }
}

fn done(decided: &Decided, committed: Committed) -> ItemResult {
    let revision = if decided.writes { committed.revision } else { decided.revision };
    ItemResult {
        code: 200,
        outcome: Some(decided.outcome),
        resource_version: Some(revision.to_string()),
        status: None,
        weaker: None,
    }
}

fn refused(failure: &Failure) -> ItemResult {
    let status = failure.0.clone();
    ItemResult {
        code: status.code,
        outcome: None,
        resource_version: None,
        status: Some(status),
        weaker: None,
    }
}
