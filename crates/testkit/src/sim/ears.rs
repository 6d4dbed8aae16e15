//! The feed of one collector: lines that come late, twice, or not at all. What is lost is always followed by the end of
//! the feed, as a real one promises: either it goes on where it stopped, or everything is told again.

use std::collections::VecDeque;
use std::sync::atomic::Ordering;

use async_trait::async_trait;
use futures::StreamExt;
use futures::stream;
use sexton_client::gateway::{Gateway, Lines};
use sexton_client::resources::{BulkError, FeedError};
use sexton_client::{CallError, Resources};
use sexton_model::bulk::{Bulk, BulkResult};
use sexton_model::feed::Line;
use sexton_model::{Revision, Status};

use super::wire::Wire;

/// A gateway with a bad ear.
#[derive(Debug)]
pub struct Ears {
    /// What it listens to.
    pub resources: Resources,
    /// Its wire.
    pub wire: Wire,
}

struct Hearing {
    lines: Lines,
    wire: Wire,
    /// Lines that come once more.
    again: VecDeque<Line>,
    last: VecDeque<Line>,
    /// From now on lines are lost; after so many that are not, the feed ends.
    gap: Option<u64>,
    over: bool,
}

fn too_old() -> FeedError {
    FeedError::TooOld(Box::new(Status::expired("too late")))
}

fn cut() -> FeedError {
    FeedError::Call(CallError::Strange("the feed was cut".into()))
}

impl Hearing {
    async fn next(&mut self) -> Option<Result<Line, FeedError>> {
        if let Some(line) = self.again.pop_front() {
            return Some(Ok(line));
        }
        loop {
            self.wire.gate().await;
            if self.gap == Some(0) {
                return self.end(too_old());
            }
            let line = match self.lines.next().await {
                Some(Ok(line)) => line,
                // However it ends, no reader may go on behind what was lost.
                _ if self.gap.is_some() => return self.end(too_old()),
                Some(Err(error)) => return self.end(error),
                None => return None,
            };
            self.wire.gate().await;
            let air = self.wire.air.clone();
            if let Line::Synced { .. } = line {
                // Nothing of which something was lost is said to be complete.
                if self.gap.is_some() {
                    return self.end(too_old());
                }
                self.wire.blind.store(false, Ordering::SeqCst);
                return Some(Ok(line));
            }
            if !matches!(line, Line::Added(_) | Line::Modified(_) | Line::Deleted(_)) {
                return Some(Ok(line));
            }
            if air.roll(|weather| weather.late) {
                air.count("late lines");
                tokio::time::sleep(air.while_()).await;
                self.wire.gate().await;
            }
            if air.roll(|weather| weather.cut) {
                air.count("cut feeds");
                return self.end(if self.gap.is_some() { too_old() } else { cut() });
            }
            if self.gap.is_none() && air.roll(|weather| weather.gap) {
                air.count("feeds with a gap");
                self.wire.blind.store(true, Ordering::SeqCst);
                self.gap = Some(air.chance.lock().unwrap().below(8));
            }
            if let Some(left) = &mut self.gap {
                *left = left.saturating_sub(1);
                if air.chance.lock().unwrap().percent(50) {
                    continue;
                }
            }
            return Some(Ok(self.perhaps_again(line)));
        }
    }

    fn end(&mut self, error: FeedError) -> Option<Result<Line, FeedError>> {
        self.over = true;
        Some(Err(error))
    }

    fn perhaps_again(&mut self, line: Line) -> Line {
        let air = &self.wire.air;
        if air.roll(|weather| weather.again) {
            air.count("repeated lines");
            self.again.push_back(line.clone());
        }
        if self.last.len() > 1 && air.roll(|weather| weather.again / 2) {
            self.again.extend(self.last.front().cloned());
        }
        self.last.push_back(line.clone());
        if self.last.len() > 4 {
            self.last.pop_front();
        }
        line
    }
}

#[async_trait]
impl Gateway for Ears {
    fn resumes(&self) -> bool {
        true
    }

    async fn changes(&self, from: Option<Revision>) -> Result<Lines, FeedError> {
        if from.is_some() && self.wire.air.roll(|weather| weather.gap) {
            self.wire.air.count("feeds too late");
            return Err(too_old());
        }
        let lines = Gateway::changes(&self.resources, from).await?;
        let (again, last) = (VecDeque::new(), VecDeque::new());
        let hearing = Hearing { lines, wire: self.wire.clone(), again, last, gap: None, over: false };
        let heard = stream::unfold(hearing, |mut hearing| async move {
            if hearing.over {
                return None;
            }
            let line = hearing.next().await?;
            Some((line, hearing))
        });
        Ok(heard.boxed())
    }

    async fn bulk(&self, bulk: &Bulk) -> Result<BulkResult, BulkError> {
        let result = Gateway::bulk(&self.resources, bulk).await;
        let mut judge = self.wire.air.judge.lock().unwrap();
        let lives = bulk.items.iter().flat_map(|item| item.lives().map(|(_, uid)| (&item.resource, uid)));
        for ((resource, uid), done) in lives.zip(result.iter().flat_map(|result| &result.items)) {
            if done.code >= 400 {
                let why = done.status.as_ref().map(|status| status.message.clone()).unwrap_or_default();
                judge.note(format!("        {resource} {uid} refused: {why}"));
            }
        }
        drop(judge);
        result
    }
}
