//! Modules: deployments that clean up after themselves.

#![allow(clippy::unwrap_used)]

mod chance;
mod common;
mod crash;
mod destroy;
mod drift;
mod dry;
mod exact;
mod foreign;
mod locks;
mod order;
mod others;
mod records;
mod redefined;
mod refused;
mod renew;
mod scope;
mod selfcontained;
mod sweep;
mod transfer;
