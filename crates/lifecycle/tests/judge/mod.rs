//! The tests of judgements, one file per question.

mod laws;
mod naive;
mod orphans;
mod policies;
mod protect;
mod races;
mod scale;
mod scopes;
mod shapes;
mod snapshot;
