//! Objects as JSON with a header each, in and out.
//!
//! It must not know where the text comes from.
