//! Who is garbage. Each detector is a function of a snapshot; none of them deletes anything.

mod judgement;

pub use judgement::{
    Cause, Detector, Finding, Hold, Hypothetical, Invalid, Judgement, Strip, Unknown, WhyHeld,
};
