//! Programs in Luau: the sandbox, declarations, objects in scripts, green threads.
//!
//! Nothing outside of this folder touches the script engine.
