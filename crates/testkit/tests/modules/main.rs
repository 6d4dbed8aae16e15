//! Modules: deployments that clean up after themselves.

mod common;
mod crash;
mod destroy;
mod dry;
mod foreign;
mod locks;
mod order;
mod records;
mod refused;
mod scope;
mod selfcontained;
mod sweep;
mod transfer;
