//! A collection as a program sees it: who is unreachable, the session that is told to handlers, and the steps.
//!
//! It must not know of any script language.
