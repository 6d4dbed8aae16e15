//! Standing rules on a whole server in this process: orphans and leftovers, by interval and when an owner comes or goes.

#![allow(clippy::unwrap_used)]

mod common;
mod foreign;
mod hold;
mod leftovers;
mod orphans;
mod rss;
