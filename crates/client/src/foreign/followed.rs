//! A kind as the feed sees it: what is known of it, and what its follower is told to do.

use sexton_model::feed::FeedKind;
use tokio::sync::watch;

use super::follow::{Fate, Order};
use crate::kinds::ServedKind;

/// What is known of a kind's objects.
#[derive(Debug, PartialEq)]
pub(super) enum Knowledge {
    Unlisted,
    Whole,
    Broken(String),
}

pub(super) struct Followed {
    pub(super) kind: ServedKind,
    pub(super) versions: Vec<FeedKind>,
    pub(super) orders: watch::Sender<Order>,
    pub(super) knowledge: Knowledge,
    /// Discovery does not name it any more.
    pub(super) unserved: bool,
    /// It is being told as gone, or looked at whether it is.
    pub(super) leaving: bool,
}

impl Followed {
    /// Why nothing may be concluded from an object of it that was not told.
    pub(super) fn broken(&self) -> Option<String> {
        match &self.knowledge {
            _ if self.unserved => Some("the server does not serve it any more".into()),
            Knowledge::Unlisted => Some("not listed yet".into()),
            Knowledge::Broken(why) => Some(why.clone()),
            Knowledge::Whole => None,
        }
    }

    /// Discovery names it.
    pub(super) fn serve_again(&mut self, kind: &ServedKind, versions: Vec<FeedKind>) {
        if self.leaving {
            return;
        }
        self.unserved = false;
        self.versions = versions;
        self.kind = kind.clone();
        self.order(Fate::Follow);
    }

    /// Gives an order, if it is a new one.
    pub(super) fn order(&self, fate: Fate) {
        self.orders.send_if_modified(|order| {
            let new = order.fate != fate || order.kind != self.kind;
            *order = Order { kind: self.kind.clone(), fate };
            new
        });
    }
}
