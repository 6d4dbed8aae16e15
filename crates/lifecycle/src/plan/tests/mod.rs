//! Plans of small worlds written as text, plans against a naive model, and plans that somebody tampered with.

mod circles;
mod found;
mod large;
mod mutations;
mod naive;
mod order;
mod world;
