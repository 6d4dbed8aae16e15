//! Laws of modules.
