//! Classes, objects and their values, and the handles that keep objects alive.
//!
//! It must not know what garbage is, who runs code, or how objects are written down.
