//! Objects instead of bytes.
