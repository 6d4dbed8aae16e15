//! Plans of small worlds written as text, plans against a naive model, and plans that were tampered with.

mod circles;
mod given;
mod large;
mod mutations;
mod naive;
mod order;
mod world;
